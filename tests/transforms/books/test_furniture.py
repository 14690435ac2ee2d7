import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books.boilerplate import StrippedText, strip_boilerplate
from corpusmill.transforms.books.contents import (
    CutText,
    check_furniture,
    cut_furniture,
    join_broken_words,
)
from corpusmill.transforms.files.records import Reason
from tests.tools.case_tables import read_tables
from tests.tools.growth import call_linear
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import Case, read_cases

CASES = read_tables("books/furniture")
PROSE = "He walked on through the rain, and no lamp was lit in any house.\n" * 40


@pytest.mark.parametrize("case", read_cases("furniture"), ids=lambda case: case.label)
def test_case(case: Case) -> None:
    # What a book has before and after it must not matter, and a list may be a fourth of the text.
    text = f"{PROSE}\n\n\n{case.text}\n\n\n\n{PROSE}"
    expected = f"{PROSE}\n\n\n{case.expected}\n\n\n\n\n{PROSE}"
    assert _without_ends(cut_furniture(text).text) == _without_ends(expected)


def _without_ends(text: str) -> str:
    return text.removeprefix(PROSE).removesuffix(PROSE).strip("\n")


def test_what_was_removed_is_counted() -> None:
    contents = "CONTENTS\n\nI. The Lamp    1\n\nII. The Wick    9\n\n\n\n\n"
    picture = "[Illustration: A lamp]\n\n"
    cut = cut_furniture(contents + picture + "[Pg 1] " + PROSE)
    assert cut == CutText(PROSE, len(contents), len(picture), page_marks=7)


def test_contents_are_a_fourth_of_the_text_at_most() -> None:
    entries = "".join(f"{n}. The Lamp    {n}\n" for n in range(1, 150))
    contents = f"CONTENTS\n\n{entries}\n\n\n\n"
    text = contents + PROSE
    assert len(contents) > len(PROSE)
    assert cut_furniture(text).text == text
    assert cut_furniture(contents + 4 * PROSE).text == 4 * PROSE


def test_text_that_is_furniture_only_is_empty() -> None:
    assert cut_furniture("[Illustration]\n") == CutText("", 0, len("[Illustration]\n"), 0)


@pytest.mark.parametrize(
    ("text", "cut", "expected"),
    [
        (PROSE, CutText(PROSE, 0, 0, 0), None),
        (PROSE, CutText(PROSE[:700], 0, len(PROSE) - 700, 0), None),  # a picture book
        (
            PROSE * 3,
            CutText(PROSE, 1000, 2 * len(PROSE) - 1500, 500),
            Reason("too-much-furniture", "5,200 of 7,800 characters"),
        ),
        (PROSE, CutText("He slept.\n", 0, 9, 0), Reason("kept-too-little", "10 characters")),
    ],
)
def test_what_is_not_to_be_trusted(text: str, cut: CutText, expected: Reason | None) -> None:
    assert check_furniture(text, cut) == expected


def test_an_illustration_of_many_pages_is_taken_for_a_bracket_closed_elsewhere() -> None:
    text = f"[Illustration: A lamp\n\n{2 * PROSE}\n[so]]\n\n[Illustration: {PROSE}]\n\nThe end.\n"
    assert cut_furniture(text).text == f"[Illustration: A lamp\n\n{2 * PROSE}\n[so]]\n\nThe end.\n"


LINES = st.lists(
    st.sampled_from(
        ["The lamp was lit.", "", "CHAPTER I", "CONTENTS", "I. The Lamp   3", "[1] So."]
    ),
    max_size=40,
)


@settings(max_examples=100)
@given(LINES)
def test_prose_and_what_follows_it_are_never_cut(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n\n" + PROSE
    assert cut_furniture(text).text.endswith(PROSE)


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["The lamp was lit.", "[1] So.", "{2}", "_so_", "[so]"])))
def test_text_without_furniture_stays(paragraphs: list[str]) -> None:
    text = "\n\n".join([*paragraphs, "The end."]) + "\n"
    assert cut_furniture(text) == CutText(text, 0, 0, 0)


@pytest.mark.parametrize("unit", CASES["bad_input_takes_linear_time"])
def test_bad_input_takes_linear_time(unit: str) -> None:
    for function in (cut_furniture, join_broken_words):
        call_linear(
            function, lambda size: f"CONTENTS\n\na-{unit * (size // len(unit))}\n", 1_000_000
        )


@pytest.mark.parametrize(("text", "expected", "joined", "left"), CASES["broken_words"])
def test_words_are_joined_that_the_book_has_whole(
    text: str, expected: str, joined: int, left: int
) -> None:
    assert join_broken_words(text) == (expected, joined, left)


@given(st.text(st.sampled_from("abA-\xad \n."), max_size=60))
def test_only_hyphens_and_white_space_change_when_words_are_joined(text: str) -> None:
    joined, before = join_broken_words(text).text, re.sub(r"[-\xad\s]", "", text)
    assert re.sub(r"[-\xad\s]", "", joined) == before


@needs_real_data
def test_real_books_lose_their_contents_and_illustrations_only() -> None:
    with_contents = with_illustrations = 0
    shares = {}
    for path in sorted((DATA / "gutenberg/books").glob("*.gz")):
        data = gzip.decompress(path.read_bytes())
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            text = data.decode("latin-1").replace("\r\n", "\n")
        stripped = strip_boilerplate(text)
        if isinstance(stripped, Reason) and stripped.slug == "copyrighted":
            continue
        assert isinstance(stripped, StrippedText)
        cut = cut_furniture(stripped.text)
        assert check_furniture(stripped.text, cut) is None, path.name
        with_contents += bool(cut.contents)
        with_illustrations += bool(cut.illustrations)
        shares[path.name] = len(cut.text) / len(stripped.text)
        assert "[Illustration" not in cut.text, path.name
    # Picture books of 1,500 characters, and Mother Goose with her 230 lines of contents.
    low = {name.split(".")[0] for name, share in shares.items() if share < 0.86}
    assert low == {"14848", "26060", "39784", "45265"}
    assert (with_contents, with_illustrations) == (152, 123)
