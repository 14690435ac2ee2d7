import re
import tarfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books import catalog
from corpusmill.transforms.files.markup import read_toml
from corpusmill.transforms.files.records import Author, CatalogEntry
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import read_table

CASES = read_table("catalog")

HEADER = b"Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves\n"
ROW = b"%d,Text,2001-01-01,A Title,en,,,,\n"


def read(data: bytes) -> list[CatalogEntry | catalog.BadRow]:
    return list(catalog.read_catalog_lines(data.splitlines(keepends=True)))


@pytest.mark.parametrize(("text", "author"), CASES["author"])
def test_authors(text: str, author: list[Any]) -> None:
    assert catalog.parse_author(text) == Author(*author)


@pytest.mark.parametrize(("field", "authors"), CASES["authors"])
def test_several_authors(field: str, authors: list[list[Any]]) -> None:
    assert catalog.parse_authors(field) == tuple(Author(*one) for one in authors)


_names = st.text("abc, ()[]é?", min_size=1).filter(lambda name: name.strip(" ,") == name)


@given(_names, st.integers(-999, 1999), st.integers(-999, 1999))
def test_years_are_read_as_they_are_written(name: str, birth: int, death: int) -> None:
    birth, death = sorted((birth, death))

    def written(year: int) -> str:
        return f"{-year} BCE" if year < 0 else str(year or "")

    if death < 0 or not (birth or death):  # a year 0 is none
        birth, death = -2, -1
    found = catalog.parse_author(f"{name}, {written(birth)}-{written(death)}")
    assert found == Author(name, birth, death)


@pytest.mark.parametrize(("code", "language"), CASES["language_codes"])
def test_languages(code: str, language: str) -> None:
    assert catalog.parse_language(code) == language


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
    with pytest.raises(
        catalog.NotACatalogError, match="the first line is not the header of the catalogue"
    ):
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
    assert isinstance(bad, catalog.BadRow)
    assert isinstance(last, CatalogEntry)
    assert (first.book_id, bad.line, last.book_id) == (1, 4, 3)
    assert bad.message.startswith(message)


def test_a_quotation_mark_too_few_takes_what_follows() -> None:
    table = HEADER + ROW % 1 + b'2,Text,2001-01-01,"A Title,en,,,,\n' + ROW % 3
    first, bad = read(table)
    assert isinstance(first, CatalogEntry)
    assert first.book_id == 1
    assert bad == catalog.BadRow(3, "unexpected end of data")


@needs_real_data
def test_the_head_of_the_real_catalogue() -> None:
    with (DATA / "gutenberg/pg_catalog.csv").open("rb") as lines:
        found = list(catalog.read_catalog_lines(lines))
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


HEAD = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:dcterms="http://purl.org/dc/terms/" xmlns:dcam="http://purl.org/dc/dcam/"
  xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/"
  xmlns:marcrel="http://id.loc.gov/vocabulary/relators/">"""


def document(ebook: str, about: str = "ebooks/84", beside: str = "") -> bytes:
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{HEAD}\n'
        f'<pgterms:ebook rdf:about="{about}">{ebook}</pgterms:ebook>{beside}</rdf:RDF>\n'
    ).encode()


def value(tag: str, text: str, vocabulary: str = "") -> str:
    member = f'<dcam:memberOf rdf:resource="{vocabulary}"/>' if vocabulary else ""
    return (
        f"<{tag}><rdf:Description>{member}<rdf:value>{text}</rdf:value></rdf:Description></{tag}>"
    )


def agent(number: int, name: str, birth: str = "", death: str = "") -> str:
    born = f"<pgterms:birthdate>{birth}</pgterms:birthdate>" if birth else ""
    died = f"<pgterms:deathdate>{death}</pgterms:deathdate>" if death else ""
    return (
        f'<pgterms:agent rdf:about="2009/agents/{number}">'
        f"<pgterms:name>{name}</pgterms:name>{died}{born}</pgterms:agent>"
    )


LCSH, LCC = "http://purl.org/dc/terms/LCSH", "http://purl.org/dc/terms/LCC"
ENTRY = CatalogEntry(84, "", "", (), (), (), ())


def test_an_entry() -> None:
    ebook = "".join(
        [
            f"<marcrel:trl>{agent(3, 'Doe, John', '1801', '1877')}</marcrel:trl>",
            value("dcterms:subject", "Monsters -- Fiction", LCSH),
            value("dcterms:subject", "PR", LCC),
            value("dcterms:subject", "Ice", LCSH),
            value("dcterms:language", "zh-TW"),
            value("dcterms:language", "en"),
            value("pgterms:bookshelf", "Gothic\n  Fiction"),
            value("dcterms:type", "Text"),
            "<dcterms:alternative>Other</dcterms:alternative>",
            "<dcterms:rights>Public domain in\n the USA.</dcterms:rights>",
            "<pgterms:marc260> $aRome :$bNobody,$c1903. </pgterms:marc260>",
            "<pgterms:marc906>189-</pgterms:marc906><pgterms:marc906>1903</pgterms:marc906>",
            "<dcterms:title>A &amp; B\nor, C</dcterms:title>",
            f"<dcterms:creator>{agent(2, 'Roe, Ann', '-70', '18')}</dcterms:creator>",
            "<dcterms:hasFormat><pgterms:file>",
            value("dcterms:format", "text/plain"),
            "<dcterms:title>Of a file</dcterms:title></pgterms:file></dcterms:hasFormat>",
        ]
    )
    assert catalog.parse_catalog_rdf(document(ebook)) == CatalogEntry(
        book_id=84,
        kind="Text",
        title="A & B or, C",
        authors=(Author("Roe, Ann", -70, 18), Author("Doe, John", 1801, 1877, "Translator")),
        languages=("en", "zh"),
        subjects=("Ice", "Monsters -- Fiction"),
        bookshelves=("Gothic Fiction",),
        rights="Public domain in the USA.",
        imprint="$aRome :$bNobody,$c1903.",
        year=1903,
    )


def test_persons_that_are_referred_to() -> None:
    ebook = (
        f"<dcterms:creator>{agent(2, 'Roe', '', '1851')}</dcterms:creator>"
        '<marcrel:ill rdf:resource="2009/agents/2"/>'
        '<marcrel:edt rdf:resource="2009/agents/3"/>'
        '<marcrel:edt rdf:resource="2009/agents/4"/>'
        '<marcrel:edt rdf:resource="2009/agents/3"/>'
    )
    assert catalog.parse_catalog_rdf(document(ebook, beside=agent(3, "Doe", "1801"))).authors == (
        Author("Roe", 0, 1851),
        Author("Roe", 0, 1851, "Illustrator"),
        Author("Doe", 1801, 0, "Editor"),
    )


@pytest.mark.parametrize(("code", "role"), CASES["roles"])
def test_roles(code: str, role: str) -> None:
    ebook = f"<marcrel:{code}>{agent(2, 'Roe')}</marcrel:{code}>"
    assert catalog.parse_catalog_rdf(document(ebook)).authors == (Author("Roe", role=role),)


def test_values_without_content() -> None:
    ebook = (
        "<dcterms:title> </dcterms:title><dcterms:language/>"
        + value("dcterms:subject", "")
        + f"<dcterms:creator>{agent(2, ' ')}</dcterms:creator>"
        + f"<dcterms:creator>{agent(3, 'Roe', 'unknown', '18th')}</dcterms:creator>"
    )
    assert catalog.parse_catalog_rdf(document(ebook)) == ENTRY._replace(authors=(Author("Roe"),))


@pytest.mark.parametrize("about", ["ebooks/84", "http://www.gutenberg.org/ebooks/84"])
def test_the_number(about: str) -> None:
    assert catalog.parse_catalog_rdf(document("", about)) == ENTRY


def test_what_the_declaration_says_of_the_encoding_does_not_count() -> None:
    data = document("<dcterms:title>é</dcterms:title>").replace(b'"utf-8"', b'"iso-8859-1"')
    assert catalog.parse_catalog_rdf(data).title == "é"
    assert catalog.parse_catalog_rdf(b"\xef\xbb\xbf" + data).title == "é"


BOMB = b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not well-formed XML: no element found"),
        (document("")[:-9], "not well-formed XML"),
        (document("")[:200], "not well-formed XML"),
        (
            document("", "ebooks/0"),
            "the ebook has the id 'ebooks/0'; expected one with a positive number",
        ),
        (document("", "ebooks/test"), "expected one with a positive number"),
        (f"{HEAD}</rdf:RDF>".encode(), "the document does not describe an ebook"),
        (b"<html></html>", "the document does not describe an ebook"),
        (BOMB + document("<dcterms:title>&b;</dcterms:title>").partition(b"\n")[2], "a DOCTYPE"),
        (document("<dcterms:title>&b;</dcterms:title>"), "not well-formed XML: undefined entity"),
        (document("é").decode().encode("latin-1"), "not UTF-8"),
        (document("").decode().encode("utf-16"), "not UTF-8"),
        (
            document("").decode().encode("utf-16-le"),
            "not UTF-8: the document has zero bytes, as UTF-16 does",
        ),
        (
            (BOMB + document("").partition(b"\n")[2]).decode().encode("utf-16-be"),
            "not UTF-8: the document has zero bytes, as UTF-16 does",
        ),
    ],
)
def test_no_entry(data: bytes, message: str) -> None:
    with pytest.raises(catalog.MalformedRdfError, match=message):
        catalog.parse_catalog_rdf(data)


@needs_real_data
def test_the_real_sample_agrees_with_the_table() -> None:
    folder = DATA / "gutenberg"
    with (folder / "pg_catalog.csv").open("rb") as lines:
        table = {
            entry.book_id: entry
            for entry in catalog.read_catalog_lines(lines)
            if isinstance(entry, CatalogEntry)
        }
    with tarfile.open(folder / "rdf-files-sample.tar.bz2") as archive:
        members = [archive.extractfile(member) for member in archive]
        entries = {
            entry.book_id: entry
            for entry in (catalog.parse_catalog_rdf(member.read()) for member in members if member)
        }
    assert sorted(entries) == [5, 2701, 14287, 23962, 30929, 50405]
    for book_id in (5, 2701):
        ours, newer = entries[book_id], table[book_id]
        assert ours._replace(bookshelves=(), rights="") == newer._replace(bookshelves=())
        assert set(newer.bookshelves) - set(ours.bookshelves) == {
            shelf for shelf in newer.bookshelves if shelf.startswith("Browsing: ")
        }
    assert {entry.languages for entry in entries.values()} == {("en",), ("fr",), ("zh",), ("nl",)}
    assert entries[50405].authors == (Author("Garis, Howard Roger", 1873, 1962),)


@pytest.mark.parametrize(("names", "codes"), CASES["language_names"])
def test_names(names: str, codes: list[str]) -> None:
    assert catalog.parse_languages(names) == tuple(codes)


def test_the_table_has_names_in_lower_case_and_codes() -> None:
    for name, code in read_toml(catalog.__package__, "language_names.toml").items():
        assert name == name.lower()
        assert re.fullmatch("[a-z]{2,3}", code)
