"""The miniature Project Gutenberg of the bundled samples: its sources read, and the files that they give."""

import gzip
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.makers import book_files
from tests.makers.book_files import CatalogRow

LIBRARY = "library"  # the folder of the files of books
TXT_FILES = "txt-files.tar"  # in the archive of all texts that Gutenberg packs every week
_AFTER_TITLE_PAGE = "\n\n\n\n"


class SampleBook(NamedTuple):
    """A text and what the sources say of it."""

    number: int  # 0 for a text that has none
    title: str
    author: str
    text: str  # with its title page, without a frame
    table: Mapping[str, Any]  # its row in books.toml


class ExpectedFile(NamedTuple):
    """The expected result for a file: "kept", or stage and reason, "select-books/overlaps"."""

    path: str
    pg19: str
    simplebooks: str
    year: int  # that PG-19 shall give it; 0 where it gives none
    source: str  # of the year


def load_books(folder: Path) -> list[SampleBook]:
    """Reads `books.toml` and the texts that it names."""
    return [_sample_book(folder, row) for row in _read_table(folder)["book"]]


def load_expected(folder: Path) -> list[ExpectedFile]:
    """Reads `expected.toml`."""
    rows = tomllib.loads((folder / "expected.toml").read_text("utf-8"))["file"]
    return [
        ExpectedFile(
            row["path"], row["pg19"], row["simplebooks"], row.get("year", 0), row.get("source", "")
        )
        for row in rows
    ]


def _read_table(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "books.toml").read_text("utf-8"))


def _sample_book(folder: Path, row: dict[str, Any]) -> SampleBook:
    return SampleBook(row["id"], row["title"], row["author"], _read_text(folder, row), row)


def _read_text(folder: Path, row: dict[str, Any]) -> str:
    text = _find_text(folder, row.get("version_of", row["id"]))
    for old, new in row.get("changes", []):
        if text.count(old) != 1:
            raise ValueError(f"books.toml: {row['id']}: {old!r} is {text.count(old)} times in it")
        text = text.replace(old, new)
    lines = [_included(folder, line) for line in text.split("\n")]
    return "\n".join(lines)


def _included(folder: Path, line: str) -> str:
    if not (line.startswith("{") and line.endswith("}")):
        return line
    _, body = _find_text(folder, int(line[1:-1])).split(_AFTER_TITLE_PAGE, 1)
    return body.strip("\n")


def _find_text(folder: Path, number: int) -> str:
    start = str(number or "no-number")
    (path,) = (folder / "texts").glob(f"{start} *.txt")
    return path.read_text("utf-8")


def library_files(folder: Path) -> dict[str, bytes]:
    """The files of books by their paths in the library, those in archives as well."""
    credits = _read_table(folder)["credits"]
    files = {row["path"]: row["contents"].encode() for row in _read_table(folder)["other"]}
    for book in load_books(folder):
        for row in book.table["file"]:
            files[row["path"]] = _make_file(book, dict(row), credits)
    return files


def _make_file(book: SampleBook, row: dict[str, Any], credits: str) -> bytes:
    row.pop("path")
    header, footer = (*row.pop("frame", ["modern"]), "")[:2]
    text, author, title = book.text, book.author, book.title
    if row.pop("transliterate", False):
        text, author, title = map(_without_marks, (text, author, title))
    return book_files.make_book(
        text,
        book.number,
        title,
        author,
        header=header,
        footer=footer,
        language=book.table.get("languages", ["en", "English"])[1],
        **{"credits": credits, **row},
    )


def _without_marks(text: str) -> str:
    """The text with letters in place of those with accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def pack_library(folder: Path) -> dict[str, bytes]:
    """All files that are packed from the sources in `folder`, by their paths."""
    table, books = _read_table(folder), load_books(folder)
    packed = {
        f"{LIBRARY}/{path}": contents for path, contents in _archived(library_files(folder)).items()
    }
    csv_rows = [_catalog_row(book) for book in books if "csv" in book.table.get("catalog", ())]
    rdf_rows = [_catalog_row(book) for book in books if "rdf" in book.table.get("catalog", ())]
    packed["pg_catalog.csv"] = book_files.catalog_csv(csv_rows)
    packed["rdf-files.tar.bz2"] = book_files.tar_bz2_file(
        dict(map(book_files.rdf_member, rdf_rows))
    )
    packed["metadata.csv"] = _released_csv(books, table["released"])
    return packed


def _archived(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Path → contents, where the files of an archive are one."""
    archived: dict[str, bytes] = {}
    members: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path, contents in files.items():
        archive, is_member, name = path.partition(".zip/")
        if is_member:
            members[f"{archive}.zip"][name] = contents
        else:
            archived[path] = gzip.compress(contents, mtime=0) if path.endswith(".gz") else contents
    for path, contents_by_name in members.items():
        is_tar = path == f"{TXT_FILES}.zip"
        archived[path] = book_files.zip_file(
            {TXT_FILES: book_files.tar_file(contents_by_name)} if is_tar else contents_by_name
        )
    return archived


def _catalog_row(book: SampleBook) -> CatalogRow:
    row = book.table
    return CatalogRow(
        number=book.number,
        kind=row.get("kind", "Text"),
        issued="2004-05-10",
        title=row.get("catalog_title", book.title),
        languages=row.get("languages", ["en", "English"])[0],
        authors=row.get("catalog_authors", ""),
        subjects=row.get("subjects", ""),
        bookshelves=row.get("bookshelves", ""),
    )


def _released_csv(books: list[SampleBook], others: list[Mapping[str, Any]]) -> bytes:
    """metadata.csv as DeepMind released it: no header, no quotes, so no comma in a title."""
    rows = [book.table for book in books if "year" in book.table] + others
    lines = []
    for row in rows:
        title = f"{row['title']} by {row['author']}".replace(",", "")
        url = f"http://www.gutenberg.org/ebooks/{row['id']}"
        lines.append(f"{row['id']},{title},{row['year']},{url}\n")
    return "".join(sorted(lines)).encode()
