"""Prints, as Markdown, how the dates that books tell agree with those released with PG-19.

    CORPUSMILL_DATA=… python -m tests.tools.measure_dates

The released years are no truth: they are noisy, and all before 1919. A date is taken as right within two
years of them; every other one is listed. The rules were written while looking at the books with an even
number; those of odd numbers are counted apart, though their title pages had been leafed through before.
"""

import collections
import gzip
import pathlib
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from corpusmill.transforms.books import title_page
from corpusmill.transforms.books.boilerplate import strip_boilerplate
from corpusmill.transforms.books.catalog import read_catalog_lines, read_released_lines
from corpusmill.transforms.books.file_text import (
    choose_file,
    decode_file,
    number_in_name,
    parse_header,
)
from corpusmill.transforms.books.gather_books import join_book
from corpusmill.transforms.books.publication_dates import (
    AUTHOR_DEATH,
    BEFORE,
    BOUND,
    SOURCES,
    PublicationDate,
    choose_date,
    date_evidence,
)
from corpusmill.transforms.files.markup import make_table
from corpusmill.transforms.files.records import (
    Book,
    BookFile,
    CatalogEntry,
    Reason,
    ReleasedBook,
)
from corpusmill.transforms.files.scratch import Scratch, fetch_text
from tests.tools.real_data import DATA

WITHIN_YEARS = 2

VERDICTS = {
    844: "ours is of the first performance, which the title page has; no year of the edition is told",
    1727: "ours: the preface is of 1900; 1897 is the year of another book that it speaks of",
    9198: "neither: a facsimile of the edition of 1653; 1676 is the year of a later one that it speaks of",
    14304: "ours: the edition is of 1916",
    16259: "ours; 1625 is nothing but the first digits of 16259",
    31012: "ours: the edition is of 1912",
    35497: "ours; 1869 is the year of another book that the preface speaks of",
    35589: "ours; 1878 is when the author began to write, as the preface tells",
    45806: "ours: the copyright of the English words is of 1906; the opera is of 1859",
    47960: "both: copyrights of 1879, 1898, 1904 and 1907",
    48795: "ours; 1889 is a year that the preface speaks of",
    50352: "ours: the copyright is of 1868, the title page has 1872; 1835 is the year of a part of it",
}
"""The evidence in the books themselves where we differ from the release: read by a person."""


class Measured(NamedTuple):
    """A book, what it says of its date, and the year released for it."""

    book: Book  # without the released year, which would be the first to be believed
    evidence: tuple[PublicationDate, ...]
    released_year: int


def main() -> None:
    """Prints all tables."""
    released = read_released()
    catalog = read_catalog()
    measured, unread = measure_books(catalog, released)
    known = [one for one in measured if one.released_year]
    print(
        f"{len(measured)} books, {len(known)} of them with a released year; not stripped: {unread}"
    )
    for lines in (
        _of_all_sources(known),
        _of_deaths(catalog, released),
        _wrong_ones(known, released),
    ):
        print("", *lines, sep="\n")


def measure_books(
    catalog: dict[int, CatalogEntry], released: dict[int, ReleasedBook]
) -> tuple[list[Measured], list[int]]:
    """The released books of the data, in the order of their ids, and those that cannot be stripped."""
    measured, unread = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = collections.defaultdict(list)
        for path in sorted(DATA.glob("gutenberg/books/*.txt.gz")):
            file = _read_file(path, Scratch(folder))
            if file.book_id in released:
                files[file.book_id].append(file)
        for book_id, of_one in sorted(files.items()):
            file, _ = choose_file(of_one)
            whole = fetch_text(file.packed_text)
            stripped = strip_boilerplate(whole)
            if isinstance(stripped, Reason):
                unread.append(book_id)
                continue
            book = with_edition(join_book(file, catalog.get(book_id)), whole)
            evidence = date_evidence(book, stripped.text)
            measured.append(Measured(book, evidence, released[book_id].year))
    return measured, unread


def read_released() -> dict[int, ReleasedBook]:
    """The books of metadata.csv by their ids."""
    with (DATA / "gutenberg/metadata.csv").open("rb") as lines:
        return {book.book_id: book for book in read_released_lines(lines)}


def read_catalog() -> dict[int, CatalogEntry]:
    """The entries of the catalogue by their ids; its last row is cut off."""
    with (DATA / "gutenberg/pg_catalog.csv").open("rb") as lines:
        rows = list(read_catalog_lines(lines))
    return {row.book_id: row for row in rows if isinstance(row, CatalogEntry)}


def with_edition(book: Book, whole: str) -> Book:
    """The book with the edition that its transcriber names, where the header names none."""
    edition = book.original_publication or title_page.transcribed_edition(whole)
    return book._replace(original_publication=edition)


def is_right(date: PublicationDate, released_year: int) -> bool:
    """Returns True if a date agrees with the released one; a bound if that is not much later."""
    if date.confidence == BOUND:
        return released_year <= date.year + WITHIN_YEARS
    return abs(date.year - released_year) <= WITHIN_YEARS


def _read_file(path: pathlib.Path, scratch: Scratch) -> BookFile:
    decoded = decode_file(gzip.decompress(path.read_bytes()))
    if isinstance(decoded, Reason):
        raise ValueError(f"{path}: {decoded}")
    text = decoded.text
    header = parse_header(text)
    name = path.name.removesuffix(".gz")
    number = header.number or number_in_name(name)
    return BookFile(number, name, decoded.encoding, header, len(text), scratch.put_text(text))


def _of_all_sources(known: Sequence[Measured]) -> list[str]:
    rows = []
    for source in [*SOURCES[1:], ""]:
        chosen = [(one, choose_date(one.evidence)) for one in known]
        own = [(one, date) for one, date in chosen if (date.source if date else "") == source]
        if own:
            name = f"{source}, {own[0][1].confidence}" if own[0][1] else "none: undated"
            rows.append((name, *_right_of(own, 0), *_right_of(own, 1)))
    head = ("date taken from", "books, even id", "right", "books, odd id", "right")
    return make_table(head, rows)


def _right_of(
    own: Sequence[tuple[Measured, PublicationDate | None]], parity: int
) -> tuple[int, int]:
    half = [(one, date) for one, date in own if one.book.book_id % 2 == parity]
    return len(half), sum(is_right(date, one.released_year) for one, date in half if date)


def _of_deaths(catalog: dict[int, CatalogEntry], released: dict[int, ReleasedBook]) -> list[str]:
    """The bound of all books that both have; no text is needed for it."""
    bounds = []
    for book_id in sorted(catalog.keys() & released.keys()):
        bare = BookFile(book_id, "", "", parse_header(""), 0, b"")
        evidence = date_evidence(join_book(bare, catalog[book_id]), "")
        year = released[book_id].year
        bounds += [(date, year) for date in evidence if date.source == AUTHOR_DEATH]
    before = sum(date.year < BEFORE for date, _ in bounds)
    row = ("all", len(bounds), sum(is_right(*pair) for pair in bounds), before)
    head = ("author-death, all books of the catalogue", "books", "right", f"before {BEFORE}")
    return make_table(head, [row])


def _wrong_ones(known: Sequence[Measured], released: dict[int, ReleasedBook]) -> list[str]:
    rows = []
    for one in known:
        date = choose_date(one.evidence)
        if date and date.confidence != BOUND and not is_right(date, one.released_year):
            book_id = one.book.book_id
            ours = f"{date.year} ({date.source})"
            title = f"{book_id} {released[book_id].title}"
            rows.append(
                (title, str(one.released_year), ours, VERDICTS.get(book_id, "not read yet"))
            )
    return make_table(("differ", "released", "ours", "the book says"), rows)


if __name__ == "__main__":
    main()
