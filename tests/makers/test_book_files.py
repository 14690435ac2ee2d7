"""The helpers that make files of Project Gutenberg's shape."""

import bz2
import csv
import io
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.makers.book_files import (
    FOOTERS,
    HEADERS,
    CatalogRow,
    catalog_csv,
    make_book,
    rdf_member,
    tar_bz2_file,
    tar_file,
    zip_file,
    zip_members,
)
from tests.transforms.books.read_cases import read_table

TEXT = "THE SNAIL\n\nHe had a house.\n"
TITLE = "The Snail Who Had a House, and Other Stories of Small People at Home"
FRAMES = read_table("frames", UPPER=TITLE.upper())
LAST_LINE_OF_HEADER, FIRST_LINE_OF_FOOTER = FRAMES["headers"], FRAMES["footers"]
ROW = CatalogRow(
    number=90001,
    kind="Text",
    issued="1999-03-01",
    title='The "Snail"\nA Tale',
    languages="en; fr",
    authors="Marrow, Edith, 1851-1913; Pym & Sons; Teague, Ivy, -1930 [Illustrator]",
    subjects="Snails -- Fiction; Houses",
)


def lines_of(book: bytes) -> list[str]:
    return book.decode().split("\r\n")


@pytest.mark.parametrize("header", LAST_LINE_OF_HEADER)
def test_each_header_ends_as_real_ones_do(header: str) -> None:
    lines = lines_of(make_book(TEXT, 90001, TITLE, header=header, credits="", encoding="ascii"))
    text = lines.index("THE SNAIL")
    above = [line for line in lines[:text] if line]
    assert above[-1] == LAST_LINE_OF_HEADER[header]
    numbers = [line for line in above if "#90001]" in line]
    assert len(numbers) == 1
    assert len(lines[0]) <= 72


@pytest.mark.parametrize("footer", FIRST_LINE_OF_FOOTER)
def test_each_footer_begins_as_real_ones_do(footer: str) -> None:
    lines = lines_of(make_book(TEXT, 90001, TITLE, footer=footer))
    below = [line for line in lines[lines.index("He had a house.") + 1 :] if line]
    assert below[0] == FIRST_LINE_OF_FOOTER[footer]


def test_all_forms_are_known() -> None:
    assert HEADERS.keys() == LAST_LINE_OF_HEADER.keys() | {"none"}
    assert FOOTERS.keys() == FIRST_LINE_OF_FOOTER.keys() | {"none"}
    assert HEADERS.keys() <= FOOTERS.keys()
    for frame in ({"header": "1950"}, {"footer": "1950"}):
        with pytest.raises(ValueError, match="no such frame"):
            make_book(TEXT, 1, "A", **frame)


def test_a_text_without_a_frame_stands_alone() -> None:
    assert make_book(TEXT, 90001, TITLE, header="none") == TEXT.replace("\n", "\r\n").encode()


def test_what_the_header_says() -> None:
    book = make_book(
        TEXT,
        90001,
        "The Snail",
        "Edith Marrow",
        header="2004",
        encoding="latin-1",
        original_publication="London: Harl and Sons, 1902",
        release_date="March 1, 1999",
    ).decode("ascii")
    for line in (
        "The Project Gutenberg EBook of The Snail, by Edith Marrow",
        "Title: The Snail",
        "Author: Edith Marrow",
        "Release Date: March 1, 1999 [EBook #90001]",
        "Language: English",
        "Original publication: London: Harl and Sons, 1902",
        "Character set encoding: ISO-8859-1",
        "        http://www.gutenberg.org/9/0/0/0/90001/",
    ):
        assert f"\r\n{line}\r\n" in f"\r\n{book}"


@pytest.mark.parametrize("header", ["1999", "small-print"])
def test_early_headers_tell_number_and_month_only(header: str) -> None:
    book = make_book(TEXT, 90001, "The Snail", header=header, release_date="March 1, 1999")
    assert b"March, 1999 " in book
    assert b"[Etext #90001]" in book
    assert b"Language:" not in book
    assert b"encoding:" not in book


@pytest.mark.parametrize(
    ("declared", "line"),
    [(None, b"Character set encoding: UTF-8"), ("ASCII", b"Character set encoding: ASCII")],
)
def test_what_is_declared_may_be_wrong(declared: str | None, line: bytes) -> None:
    assert line in make_book("café", 1, "A", header="2004", declared=declared)
    assert b"encoding" not in make_book("café", 1, "A", header="2004", declared="")


def test_lines_that_know_nothing_are_left_out() -> None:
    book = make_book(TEXT, 1, "The Snail", "", header="2004", language="", credits="").decode()
    assert "Author:" not in book
    assert "Language:" not in book
    assert "The Project Gutenberg EBook of The Snail\r\n" in book


def test_notes_stand_at_both_ends_of_the_text() -> None:
    book = make_book(TEXT, 1, "A", notes="[Note: one]\n", end_notes="\n[Note: two]", header="2004")
    places = [book.index(part) for part in (b"START OF", b"one]", b"SNAIL", b"two]", b"End of")]
    assert places == sorted(places)


@given(
    text=st.lists(st.text("aé \n“", min_size=1).filter(str.strip), min_size=1).map("\n\n".join),
    header=st.sampled_from(sorted(HEADERS)),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_the_text_comes_through_whole(text: str, header: str, encoding: str, line_end: str) -> None:
    book = make_book(
        text, 90001, "A", header=header, encoding=encoding, declared="", line_end=line_end
    )
    decoded = book.decode(encoding)
    assert text.strip("\n").replace("\n", line_end) in decoded
    assert decoded.count(line_end) == decoded.replace(line_end, "\n").count("\n")
    assert (book[:3] == b"\xef\xbb\xbf") == (encoding == "utf-8-sig")


def test_catalog_csv_reads_back() -> None:
    rows = list(csv.reader(io.StringIO(catalog_csv([ROW]).decode(), newline="")))
    assert rows[0][:5] == ["Text#", "Type", "Issued", "Title", "Language"]
    assert rows[1:] == [[str(field) for field in ROW]]


def test_rdf_tells_the_same_as_the_csv() -> None:
    name, xml = rdf_member(ROW)
    assert name == "cache/epub/90001/pg90001.rdf"
    terms, pgterms = "{http://purl.org/dc/terms/}", "{http://www.gutenberg.org/2009/pgterms/}"
    value = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}value"
    (ebook,) = ElementTree.fromstring(xml)
    assert ebook.findtext(f"{terms}title") == ROW.title
    assert ebook.findtext(f"{terms}issued") == "1999-03-01"
    assert [found.text for found in ebook.iterfind(f"{terms}language//{value}")] == ["en", "fr"]
    subjects = [found.text for found in ebook.iterfind(f"{terms}subject//{value}")]
    assert subjects == ["Snails -- Fiction", "Houses", "PZ"]
    agents = {
        agent.findtext(f"{pgterms}name"): (
            agent.findtext(f"{pgterms}birthdate"),
            agent.findtext(f"{pgterms}deathdate"),
        )
        for agent in ebook.iter(f"{pgterms}agent")
    }
    assert agents == {
        "Marrow, Edith": ("1851", "1913"),
        "Pym & Sons": (None, None),
        "Teague, Ivy": (None, "1930"),
    }
    assert len(list(ebook.iter(f"{terms}creator"))) == 2
    assert len(list(ebook.iter("{http://id.loc.gov/vocabulary/relators/}ill"))) == 1


def test_archives_hold_their_members_and_no_time() -> None:
    members = {"b/2.txt": b"two" * 100, "a.txt": b""}
    packed = zip_file(members)
    assert packed == zip_file(dict(reversed(members.items())))
    assert zip_members(packed) == members
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist() == ["a.txt", "b/2.txt"]
    assert bz2.decompress(tar_bz2_file(members)) == tar_file(members)
    with tarfile.open(fileobj=io.BytesIO(tar_file(members))) as tar:
        assert [(member.name, member.mtime) for member in tar] == [("a.txt", 0), ("b/2.txt", 0)]
