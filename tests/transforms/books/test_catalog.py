import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.catalog import (
    BadRow,
    NotACatalogError,
    parse_author,
    parse_authors,
    parse_language,
    read_catalog_lines,
)
from corpusmill.transforms.files.records import Author, CatalogEntry
from tests.tools.real_data import DATA, needs_real_data

HEADER = b"Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves\n"
ROW = b"%d,Text,2001-01-01,A Title,en,,,,\n"


def read(data: bytes) -> list[CatalogEntry | BadRow]:
    return list(read_catalog_lines(data.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Doe, Jane, 1797-1851", Author("Doe, Jane", 1797, 1851)),
        ("Doe, Jane (Jane Roe), 1797-1851", Author("Doe, Jane (Jane Roe)", 1797, 1851)),
        ("Doe, Jane, Lady, 1850?-1911", Author("Doe, Jane, Lady", 1850, 1911)),
        ("Doe, Jane, 1850-1911?", Author("Doe, Jane", 1850, 1911)),
        ("Doe, Jane, 1850?-1911?", Author("Doe, Jane", 1850, 1911)),
        ("Doe, Jane, -1911", Author("Doe, Jane", 0, 1911)),
        ("Doe, Jane, 1957-", Author("Doe, Jane", 1957, 0)),
        ("Doe, Jane, 1957?-", Author("Doe, Jane", 1957, 0)),
        ("Doe, 38?-100?", Author("Doe", 38, 100)),
        ("Doe, 384 BCE-322 BCE", Author("Doe", -384, -322)),
        ("Doe, 78? BCE-7? BCE", Author("Doe", -78, -7)),
        ("Doe, 5? BCE-65", Author("Doe", -5, 65)),
        ("Doe, 100-44 B.C.", Author("Doe", -100, -44)),
        ("Doe, -646 BCE", Author("Doe", 0, -646)),
        ("Doe, John [Translator]", Author("Doe, John", role="Translator")),
        (
            "Doe, John, 1801-1877 [Author of introduction, etc.]",
            Author("Doe, John", 1801, 1877, "Author of introduction, etc."),
        ),
        # No years of life.
        ("United States", Author("United States")),
        ("Doe, Jane", Author("Doe, Jane")),
        ("Doe, Jane, active 5th century", Author("Doe, Jane, active 5th century")),
        ("Doe, Jane, active 317-322", Author("Doe, Jane, active 317-322")),
        ("Doe, Jane, active 796", Author("Doe, Jane, active 796")),
        ("Doe, Jane, 1st century", Author("Doe, Jane, 1st century")),
        ("Doe, Jane, -", Author("Doe, Jane, -")),
        ("Smith-Doe, Jane", Author("Smith-Doe, Jane")),
        ("Doe, Jane 1850-1911", Author("Doe, Jane 1850-1911")),
        ("Doe, Jane, 18500-1911", Author("Doe, Jane, 18500-1911")),
        (", 1850-1911", Author(", 1850-1911")),
        ("[Editor]", Author("[Editor]")),
        ("Doe [Jane], 1850-1911", Author("Doe [Jane]", 1850, 1911)),
    ],
)
def test_authors(text: str, author: Author) -> None:
    assert parse_author(text) == author


@pytest.mark.parametrize(
    ("field", "authors"),
    [
        ("", ()),
        (" ; ", ()),
        (
            "Roe, Ann, 1797-1851; Doe, John [Translator]",
            (Author("Roe, Ann", 1797, 1851), Author("Doe, John", role="Translator")),
        ),
        ("Zoe; Ann; Zoe", (Author("Zoe"), Author("Ann"))),
        ("Roe [Editor]; Roe", (Author("Roe", role="Editor"), Author("Roe"))),
        ("Roe,\n Ann ;Doe", (Author("Roe, Ann"), Author("Doe"))),
    ],
)
def test_several_authors(field: str, authors: tuple[Author, ...]) -> None:
    assert parse_authors(field) == authors


_names = st.text("abc, ()[]é?", min_size=1).filter(lambda name: name.strip(" ,") == name)


@given(_names, st.integers(-999, 1999), st.integers(-999, 1999))
def test_years_are_read_as_they_are_written(name: str, birth: int, death: int) -> None:
    birth, death = sorted((birth, death))

    def written(year: int) -> str:
        return f"{-year} BCE" if year < 0 else str(year or "")

    if death < 0 or not (birth or death):  # a year 0 is none
        birth, death = -2, -1
    found = parse_author(f"{name}, {written(birth)}-{written(death)}")
    assert found == Author(name, birth, death)


@pytest.mark.parametrize(
    ("code", "language"),
    [("en", "en"), ("EN", "en"), ("nah", "nah"), ("zh-TW", "zh"), ("English", "English")],
)
def test_languages(code: str, language: str) -> None:
    assert parse_language(code) == language


def test_a_row() -> None:
    row = (
        b'84,Text,1993-10-01,"One ""Title""\r\nor,  Another",fr; en,'
        b'"Roe, Ann, 1797-1851; Doe, John [Translator]",'
        b'"Monsters -- Fiction; Ice, 1800-1810; Monsters -- Fiction",PR,Gothic; Browsing: Fiction\n'
    )
    assert read(HEADER + row) == [
        CatalogEntry(
            book_id=84,
            kind="Text",
            title='One "Title" or, Another',
            authors=(Author("Roe, Ann", 1797, 1851), Author("Doe, John", role="Translator")),
            languages=("en", "fr"),
            subjects=("Ice, 1800-1810", "Monsters -- Fiction"),
            bookshelves=("Browsing: Fiction", "Gothic"),
        )
    ]


def test_columns_go_by_their_names() -> None:
    table = b"\xef\xbb\xbfType,Extra,Bookshelves,Language,Text#,Subjects,Authors,Title\r\n"
    table += b"Sound,x,Shelf,de,7,Subject,Roe,Title\r\n"
    assert read(table) == [
        CatalogEntry(7, "Sound", "Title", (Author("Roe"),), ("de",), ("Subject",), ("Shelf",))
    ]


@pytest.mark.parametrize(
    "table",
    [
        b"",
        b"<!DOCTYPE html>\n<html>\n",
        HEADER.replace(b"Authors", b"Author"),
        HEADER.replace(b"LoCC", b"Title"),
        b'"Text#,Type\n',
        b"\xff\n",
    ],
)
def test_no_catalog(table: bytes) -> None:
    with pytest.raises(NotACatalogError, match="the first line is not the header of the catalogue"):
        read(table + ROW % 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"2,Text,Title\n", "expected 9 fields as in the header, found 3"),
        (b"2,Text,2001-01-01,A Title,en,,,,,\n", "expected 9 fields as in the header, found 10"),
        (b"x,Text,2001-01-01,A Title,en,,,,\n", "Text# must be a positive number, not 'x'"),
        (ROW % 0, "Text# must be a positive number"),
        (b"-2,Text,2001-01-01,A Title,en,,,,\n", "Text# must be a positive number"),
        (b"\xd9\xa2,Text,2001-01-01,A Title,en,,,,\n", "Text# must be a positive number"),
        (b"2,Text,2001-01-01,A \xe9 Title,en,,,,\n", "not UTF-8"),
        (b'2,Text,2001-01-01,"A" Title,en,,,,\n', "',' expected after '\"'"),
    ],
)
def test_a_bad_row_leaves_the_others(row: bytes, message: str) -> None:
    first, bad, last = read(HEADER + b'1,Text,,"A\nTitle",en,,,,\n' + row + b"\n" + ROW % 3)
    assert isinstance(first, CatalogEntry)
    assert isinstance(bad, BadRow)
    assert isinstance(last, CatalogEntry)
    assert (first.book_id, bad.line, last.book_id) == (1, 4, 3)
    assert bad.message.startswith(message)


def test_a_quotation_mark_too_few_takes_what_follows() -> None:
    table = HEADER + ROW % 1 + b'2,Text,2001-01-01,"A Title,en,,,,\n' + ROW % 3
    first, bad = read(table)
    assert isinstance(first, CatalogEntry)
    assert first.book_id == 1
    assert bad == BadRow(3, "unexpected end of data")


@needs_real_data
def test_the_head_of_the_real_catalogue() -> None:
    with (DATA / "gutenberg/pg_catalog.csv").open("rb") as lines:
        found = list(read_catalog_lines(lines))
    entries = [entry for entry in found if isinstance(entry, CatalogEntry)]
    assert len(entries) == len(found) == len({entry.book_id for entry in entries}) == 7660
    assert {entry.kind for entry in entries} == {
        "Text",
        "Dataset",
        "Sound",
        "Image",
        "MovingImage",
        "StillImage",
        "Collection",
    }
    assert all(re.fullmatch("[a-z]{2,3}", code) for entry in entries for code in entry.languages)
    assert all(entry.title and entry.languages for entry in entries)
    assert all(entry.title == " ".join(entry.title.split()) for entry in entries)
    authors = {author for entry in entries for author in entry.authors}
    assert {author.name for author in authors if re.search(r"\d{3}|BCE|\?", author.name)} == {
        "Adlington, William, active 1566",
        "Gan, Bao, active 317-322",
        "Han, Ying, active 150 B.C.",
        "Hayes, Edward, active 1602",
        "Nennius, active 796",
        "Nichols, Philip, active 1562",
        "Zhong, Rong, active 502-519",
    }
    lives = [author for author in authors if author.birth_year and author.death_year]
    assert all(0 < author.death_year - author.birth_year <= 120 for author in lives)
    assert len(lives) > 2000
    entry = next(entry for entry in entries if entry.book_id == 84)
    assert entry.authors == (Author("Shelley, Mary Wollstonecraft", 1797, 1851),)
