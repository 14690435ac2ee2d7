from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.spans import (
    Paragraph,
    cut_out,
    line_end,
    line_start,
    match_brackets,
    split_paragraphs,
    with_blank_lines,
)
from tests.transforms.books.read_cases import read_table

CASES = read_table("spans")


@pytest.mark.parametrize(("spans", "expected"), CASES["cut_out"])
def test_places_are_cut_out(spans: list[tuple[int, int]], expected: str) -> None:
    assert cut_out("0123456789", spans) == expected


@pytest.mark.parametrize(("text", "expected"), CASES["blank_lines"])
def test_blank_lines_on_one_side_go_along(text: str, expected: str) -> None:
    start = text.index("[")
    assert cut_out(text, [with_blank_lines(text, start, start + 2)]) == expected


@given(st.text(alphabet="a \n", max_size=40), st.text(alphabet="a \n", max_size=40))
def test_only_white_space_goes_along(before: str, after: str) -> None:
    text = f"{before}[]{after}"
    cut = cut_out(text, [with_blank_lines(text, len(before), len(before) + 2)])
    assert cut.count("a") == text.count("a")
    assert "[" not in cut


@pytest.mark.parametrize(("text", "expected"), CASES["paragraphs"])
def test_paragraphs_and_the_gaps_before_them(text: str, expected: list[list[Any]]) -> None:
    assert split_paragraphs(text) == [Paragraph(*one) for one in expected]


def test_a_part_of_a_text() -> None:
    assert split_paragraphs("ab\n\ncd\n\nef", 1, 5) == [
        Paragraph(1, 2, 0, "b"),
        Paragraph(4, 5, 1, "c"),
    ]


@given(st.text(alphabet="ab \n", max_size=60))
def test_places_and_texts_agree(text: str) -> None:
    paragraphs = split_paragraphs(text)
    assert all(text[one.start : one.end] == one.text for one in paragraphs)
    assert "".join(one.text for one in paragraphs).replace("\n", "").replace(
        " ", ""
    ) == text.replace("\n", "").replace(" ", "")


@given(st.text(alphabet="ab\n", max_size=30), st.data())
def test_ends_of_a_line(text: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    start, end = line_start(text, position), line_end(text, position)
    assert start <= position <= end
    assert "\n" not in text[start:end]
    assert start == 0 or text[start - 1] == "\n"
    assert end == len(text) or text[end] == "\n"


@pytest.mark.parametrize(("text", "expected"), CASES["brackets"])
def test_which_closes_which(text: str, expected: list[list[int]]) -> None:
    assert match_brackets(text) == dict(expected)


@given(st.text(alphabet="[]{}a\n", max_size=60))
def test_places_are_those_of_brackets_and_none_is_used_twice(text: str) -> None:
    matched = match_brackets(text)
    assert len(set(matched.values())) == len(matched)
    for start, end in matched.items():
        assert text[start] + text[end - 1] in ("[]", "{}")
        inside = text[start + 1 : end - 1]
        assert inside.count(text[start]) == inside.count(text[end - 1])
