import tarfile

import pytest

from corpusmill.transforms.books.catalog import (
    MalformedRdfError,
    parse_catalog_rdf,
    read_catalog_lines,
)
from corpusmill.transforms.files.records import Author, CatalogEntry
from tests.tools.real_data import DATA, needs_real_data

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
            "<dcterms:title>A &amp; B\nor, C</dcterms:title>",
            f"<dcterms:creator>{agent(2, 'Roe, Ann', '-70', '18')}</dcterms:creator>",
            "<dcterms:hasFormat><pgterms:file>",
            value("dcterms:format", "text/plain"),
            "<dcterms:title>Of a file</dcterms:title></pgterms:file></dcterms:hasFormat>",
        ]
    )
    assert parse_catalog_rdf(document(ebook)) == CatalogEntry(
        book_id=84,
        kind="Text",
        title="A & B or, C",
        authors=(Author("Roe, Ann", -70, 18), Author("Doe, John", 1801, 1877, "Translator")),
        languages=("en", "zh"),
        subjects=("Ice", "Monsters -- Fiction"),
        bookshelves=("Gothic Fiction",),
    )


def test_persons_that_are_referred_to() -> None:
    ebook = (
        f"<dcterms:creator>{agent(2, 'Roe', '', '1851')}</dcterms:creator>"
        '<marcrel:ill rdf:resource="2009/agents/2"/>'
        '<marcrel:edt rdf:resource="2009/agents/3"/>'
        '<marcrel:edt rdf:resource="2009/agents/4"/>'
        '<marcrel:edt rdf:resource="2009/agents/3"/>'
    )
    assert parse_catalog_rdf(document(ebook, beside=agent(3, "Doe", "1801"))).authors == (
        Author("Roe", 0, 1851),
        Author("Roe", 0, 1851, "Illustrator"),
        Author("Doe", 1801, 0, "Editor"),
    )


@pytest.mark.parametrize(
    ("code", "role"),
    [
        ("aut", ""),
        ("aui", "Author of introduction, etc."),
        ("clb", "Collaborator"),
        ("unk", "Unknown role"),
        ("xyz", "xyz"),
    ],
)
def test_roles(code: str, role: str) -> None:
    ebook = f"<marcrel:{code}>{agent(2, 'Roe')}</marcrel:{code}>"
    assert parse_catalog_rdf(document(ebook)).authors == (Author("Roe", role=role),)


def test_values_without_content() -> None:
    ebook = (
        "<dcterms:title> </dcterms:title><dcterms:language/>"
        + value("dcterms:subject", "")
        + f"<dcterms:creator>{agent(2, ' ')}</dcterms:creator>"
        + f"<dcterms:creator>{agent(3, 'Roe', 'unknown', '18th')}</dcterms:creator>"
    )
    assert parse_catalog_rdf(document(ebook)) == ENTRY._replace(authors=(Author("Roe"),))


@pytest.mark.parametrize("about", ["ebooks/84", "http://www.gutenberg.org/ebooks/84"])
def test_the_number(about: str) -> None:
    assert parse_catalog_rdf(document("", about)) == ENTRY


def test_what_the_declaration_says_of_the_encoding_does_not_count() -> None:
    data = document("<dcterms:title>é</dcterms:title>").replace(b'"utf-8"', b'"iso-8859-1"')
    assert parse_catalog_rdf(data).title == "é"
    assert parse_catalog_rdf(b"\xef\xbb\xbf" + data).title == "é"


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
    with pytest.raises(MalformedRdfError, match=message):
        parse_catalog_rdf(data)


@needs_real_data
def test_the_real_sample_agrees_with_the_table() -> None:
    folder = DATA / "gutenberg"
    with (folder / "pg_catalog.csv").open("rb") as lines:
        table = {
            entry.book_id: entry
            for entry in read_catalog_lines(lines)
            if isinstance(entry, CatalogEntry)
        }
    with tarfile.open(folder / "rdf-files-sample.tar.bz2") as archive:
        members = [archive.extractfile(member) for member in archive]
        entries = {
            entry.book_id: entry
            for entry in (parse_catalog_rdf(member.read()) for member in members if member)
        }
    assert sorted(entries) == [5, 2701, 14287, 23962, 30929, 50405]
    for book_id in (5, 2701):
        ours, newer = entries[book_id], table[book_id]
        assert ours._replace(bookshelves=()) == newer._replace(bookshelves=())
        assert set(newer.bookshelves) - set(ours.bookshelves) == {
            shelf for shelf in newer.bookshelves if shelf.startswith("Browsing: ")
        }
    assert {entry.languages for entry in entries.values()} == {("en",), ("fr",), ("zh",), ("nl",)}
    assert entries[50405].authors == (Author("Garis, Howard Roger", 1873, 1962),)
