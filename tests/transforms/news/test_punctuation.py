import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.news import punctuation
from tests.tools.case_tables import read_cases
from tests.transforms.news.cases import CASES


def test_lines_come_out_as_perl_writes_them() -> None:
    for case in CASES:
        assert punctuation.normalize_line(case.line, case.language, case.perl) == case.normalized, (
            case
        )


def test_many_lines_at_once_come_out_as_each_alone() -> None:
    for language, perl in {(case.language, case.perl) for case in CASES}:
        own = [case for case in CASES if (case.language, case.perl) == (language, perl)]
        text = "".join(f"{case.line}\n" for case in own)
        expected = "".join(f"{case.normalized}\n" for case in own)
        assert punctuation.normalize_text(text, language, perl) == expected


def test_the_end_of_a_line_counts_as_something_after_a_quote() -> None:
    assert punctuation.normalize_text('a."\n<b\n', "de") == 'a".\n<b\n'


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("." * 100_000, "." * 100_000),
        ("a" + "." * 100_000 + "<", "a" + "." * 100_000 + "<"),
        (" " * 100_000, " "),
        ("(" * 100_000, " " + "(" * 100_000),
        (")" * 50_000, ")" * 50_000 + " "),
        ("(a) " * 25_000, " " + "(a) " * 25_000),
    ],
)
def test_long_lines_take_no_quadratic_time(line: str, expected: str, language: str) -> None:
    assert punctuation.normalize_line(line, language) == expected


blocks = st.lists(st.text("ab").map(str.encode)).map(block_of)


@given(blocks, st.data())
def test_lines_that_are_put_stand_where_others_were_taken(
    block: bytes, data: st.DataObject
) -> None:
    lines = lines_of(block)
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(lines)))))) if lines else []
    text = punctuation.frame(block)
    line_feeds = punctuation.line_feeds_in(text)
    assert punctuation.take_lines(text, line_feeds, chosen) == [lines[index] for index in chosen]
    changed = punctuation.unframe(
        punctuation.put_lines(text, line_feeds, chosen, [b"new"] * len(chosen))
    )
    expected = [b"new" if index in chosen else line for index, line in enumerate(lines)]
    assert lines_of(changed) == expected


@pytest.mark.parametrize(
    ("places", "lines"), [([], []), ([1, 2, 3], [0]), ([4], [1]), ([5, 6], [2]), ([2, 5], [0, 2])]
)
def test_places_lie_in_lines(places: list[int], lines: list[int]) -> None:
    text = punctuation.frame(b"ab\n\nc\n")
    assert punctuation.lines_at(np.array(places, np.intp), punctuation.line_feeds_in(text)) == lines


@pytest.mark.parametrize(
    ("language", "chosen"), read_cases("news/punctuation", "lines_that_a_rule_may_change")
)
def test_lines_that_a_rule_may_change(language: str, chosen: list[int]) -> None:
    lines = ["an 'x', \"y\": it's; 5%", "\r", "a(", ")b", "a  b", "a :", "a ;", " %", "''", "é"]
    text = punctuation.frame(
        block_of([line.encode() for line in [*lines, '",', '".', ',"', '."', ""]])
    )
    assert punctuation.lines_to_normalize(text, punctuation.line_feeds_in(text), language) == chosen
