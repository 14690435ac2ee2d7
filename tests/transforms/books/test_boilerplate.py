import csv
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books import boilerplate
from corpusmill.transforms.books.boilerplate import (
    MAX_MARKS,
    StrippedText,
    find_licence,
    find_marks,
    find_restriction,
    is_boilerplate,
    strip_boilerplate,
)
from corpusmill.transforms.books.file_text import decode_file
from corpusmill.transforms.files.records import Reason
from tests.tools.case_tables import read_tables
from tests.tools.growth import call_linear
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import Case, read_cases

TABLES = read_tables("books/boilerplate")
START = "*** START OF THE PROJECT GUTENBERG EBOOK THE LANTERN ***\n"
END = "*** END OF THE PROJECT GUTENBERG EBOOK THE LANTERN ***\n"
PROSE = "He walked on through the rain, and no lamp was lit in any house.\n" * 40
LICENCE = "You may copy this Project Gutenberg eBook under the terms of its licence.\n" * 200


@pytest.mark.parametrize("case", read_cases("strip"), ids=lambda case: case.label)
def test_case(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boilerplate, "MIN_LETTERS", 1)  # cases are short
    stripped = strip_boilerplate(case.text)
    if isinstance(stripped, Reason):
        assert f"! {stripped.slug}: {stripped.detail}" == case.expected
    else:
        assert stripped.text == case.expected + "\n"


def test_removed_notes_are_counted() -> None:
    credit = "Produced by Jo Marsh at http://www.pgdp.net\n\n"
    text = START + credit + PROSE + END + LICENCE
    assert strip_boilerplate(text) == StrippedText(PROSE, len(credit))


@pytest.mark.parametrize(
    ("text", "slug", "detail"),
    [
        ("", "kept-too-little", "0 characters"),
        (START + "He slept.\n" + END, "kept-too-little", "10 characters"),
        # A mark in the middle of a book cuts nothing off, and chapters before the start stay.
        (f"{START}{PROSE}\n{END}\n{PROSE}\n{END}{LICENCE}", "licence-inside", END.strip()),
        (PROSE + START + PROSE + END, "not-boilerplate", "before " + START.strip()),
        (
            START * (MAX_MARKS + 1) + PROSE + END,
            "licence-inside",
            f"{MAX_MARKS + 2:,} lines of Project Gutenberg",
        ),
    ],
    ids=["empty", "too little", "mark inside", "before the start", "too many marks"],
)
def test_files_that_no_book_is_taken_from(text: str, slug: str, detail: str) -> None:
    assert strip_boilerplate(text) == Reason(slug, detail)


def test_a_closing_line_with_long_notes_behind_it_goes_by_itself() -> None:
    closing = "End of the Project Gutenberg EBook of The Lantern, by Ada\nFenn\n"
    appendix = "The lamp is now in the museum, and is lit on Sundays.\n" * 50
    text = START + PROSE + "\n\n\n" + closing + "\n" + appendix + "\n" + END + LICENCE
    stripped = strip_boilerplate(text)
    assert isinstance(stripped, StrippedText)
    assert stripped.text.split() == (PROSE + appendix).split()


def test_chapters_between_two_books_are_not_thrown_away() -> None:
    text = START + PROSE + END + PROSE + START + PROSE + END
    stripped = strip_boilerplate(text)
    assert isinstance(stripped, Reason)
    assert stripped.slug in ("not-boilerplate", "no-end", "licence-inside")


def test_a_tiny_book_is_kept_though_nearly_all_of_the_file_goes() -> None:
    tale = "This is a rabbit. He has long ears and no manners at all.\n" * 8
    stripped = strip_boilerplate(LICENCE + START + tale + END + LICENCE)
    assert isinstance(stripped, StrippedText)
    assert stripped.text == tale
    assert len(tale) < 0.02 * 2 * len(LICENCE)


def test_a_book_that_would_be_mostly_notes_is_refused() -> None:
    notes = "".join(
        f"[Transcriber's Note: Page {n} was not clear in the scan.]\n\n" for n in range(99)
    )
    text = START + "A tale.\n\n" + notes + PROSE[:1000] + "\n" + END
    stripped = strip_boilerplate(text)
    assert isinstance(stripped, Reason)
    assert stripped.slug == "too-many-notes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, True) for text in ("", "a" * 2000, "a" * 2000 + "eBook" + "a" * 1990, LICENCE)),
        *((text, False) for text in ("a" * 2001, "a" * 2001 + "eBook", LICENCE + PROSE)),
    ],
)
def test_boilerplate_has_words_of_its_own_everywhere(text: str, expected: bool) -> None:
    assert is_boilerplate(text) is expected


@pytest.mark.parametrize(("text", "line"), TABLES["licence_words"])
def test_only_the_licence_says_so(text: str, line: str) -> None:
    assert (find_licence(text) or "") == line


@pytest.mark.parametrize(("place", "text", "notice"), TABLES["rights"])
def test_a_file_that_is_not_free_for_every_use_says_so(place: str, text: str, notice: str) -> None:
    head, front, inside, back, tail = (
        f"{text}\n\n" if place == one else "" for one in ("head", "front", "inside", "back", "tail")
    )
    file = f"{head}{START}\n{front}{PROSE * 6}\n{inside}{PROSE * 6}\n{back}{END}\n{tail}"
    assert (find_restriction(file, find_marks(file)) or "") == notice


LINES = st.lists(
    st.sampled_from(["The lamp was lit.", "", "CHAPTER I", "  He slept.", "* * *"]), max_size=30
)


@settings(max_examples=50)
@given(LINES)
def test_the_text_between_the_marks_comes_out_whole(lines: list[str]) -> None:
    book = PROSE + "\n".join(lines).rstrip() + "\n"
    stripped = strip_boilerplate(LICENCE + START + "\n" + book + "\n" + END + LICENCE)
    assert isinstance(stripped, StrippedText)
    assert stripped.text == book.rstrip() + "\n"
    assert strip_boilerplate(stripped.text) == StrippedText(stripped.text, 0)


MAX_ENDS_CHARACTERS = 400


@pytest.mark.parametrize("unit", TABLES["bad_input_takes_linear_time"])
def test_bad_input_takes_linear_time(unit: str) -> None:
    call_linear(
        strip_boilerplate, lambda size: START + unit * (size // len(unit)) + "\n" + END, 1_000_000
    )


@needs_real_data
def test_real_books_are_kept_whole() -> None:
    folder = DATA / "gutenberg"
    with (folder / "books.tsv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    unlike = []
    for row in rows:
        if "404" in row["file"]:  # no book, but a page; see file_text.py
            continue
        decoded = decode_file(gzip.decompress((folder / row["file"]).read_bytes()))
        stripped = strip_boilerplate(getattr(decoded, "text", ""))
        if row["id"] in TABLES["copyrighted"]:
            assert isinstance(stripped, Reason), row["file"]
            assert stripped.slug == "copyrighted"
            continue
        assert isinstance(stripped, StrippedText), (row["file"], stripped)
        assert find_licence(stripped.text) is None
        if row["start"] == "START OF":
            # `body` counts characters of lines that end with CR LF. Besides notes, whose CRs are not counted,
            # only the closing line and the blank lines at both ends are gone: 8 to 282 characters.
            kept = len(stripped.text) + stripped.text.count("\n")
            if not 0 <= int(row["body"]) - kept - stripped.notes <= MAX_ENDS_CHARACTERS:
                unlike.append((row["file"], int(row["body"]), kept, stripped.notes))
    assert unlike == []
    assert len(rows) == 330
