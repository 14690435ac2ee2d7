"""Joins files of books with the catalogue and the metadata of PG-19."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.books.choose_file import choose_file
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import reject
from corpusmill.transforms.files.records import (
    Author,
    Book,
    BookFile,
    CatalogEntry,
    Reason,
    ReleasedBook,
)

STAGE = "choose-file"
BOOKS, CATALOG, RELEASED = "books", "catalog", "released"

_TEXT = "Text"


class JoinedBooks(NamedTuple):
    """The outputs of JoinCatalog: books and rejected files. Each file becomes a book or is rejected."""

    books: beam.PCollection  # of Book, one for each id
    rejected: beam.PCollection  # of Rejected: unused files of a book, other media


class JoinCatalog(beam.PTransform):
    """Joins files of books with the catalogue and PG-19's list of released books, by ebook number.

    {"books": PCollection[BookFile], "catalog": PCollection[CatalogEntry], "released":
    PCollection[ReleasedBook]} → JoinedBooks. The keys "catalog" and "released" are optional.

    If a book has several files, one is chosen (see text/books/files/choose_file.py). If it has several
    catalogue entries, `choose_entry` chooses one. If it is listed several times as released,
    `choose_released` chooses one line of the list. Entries and released books without a file are ignored. The
    result does not depend on the order of the elements.
    """

    def expand(self, inputs: Mapping[str, beam.PCollection]) -> JoinedBooks:
        keyed = {
            tag: elements | f"Key {tag}" >> beam.Map(key_by_id).with_output_types(tuple[int, Any])
            for tag, elements in inputs.items()
        }
        joined = (
            keyed
            | "JoinById" >> beam.CoGroupByKey()
            | "JoinBooks"
            >> beam.FlatMap(join_books)
            .with_output_types(Book)
            .with_outputs("rejected", main="books")
        )
        return JoinedBooks(joined.books, joined.rejected)


def join_books(joined: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
    """Yields the book with a given ebook number, or nothing if there is no file with this number.

    A book that is not a text according to the catalogue, such as a sound recording, is rejected. So are files
    that are not chosen. Rejections are on the output "rejected".

    Args:
      joined: (ebook number, {"books": files, "catalog": entries, "released": released books}), with all
        elements that have this number; from CoGroupByKey.
    """
    book_id, found = joined
    if not (files := list(found[BOOKS])):
        return
    file, others = choose_file(files)
    entry = choose_entry(found.get(CATALOG, ()))
    book = join_book(file, entry, choose_released(found.get(RELEASED, ())))
    for _, detail in others:
        yield reject(book_id, book.title, STAGE, Reason("other-file-of-book", detail))
    if entry is not None and entry.kind not in ("", _TEXT):
        yield reject(book_id, book.title, STAGE, Reason("not-text", entry.kind))
        return
    _count(book)
    yield book


def _count(book: Book) -> None:
    counters.count("join-catalog", "books")
    if book.is_in_catalog:
        counters.count("join-catalog", "in-catalog")
    if book.released_year:
        counters.count("join-catalog", "released")


def key_by_id(element: BookFile | CatalogEntry | ReleasedBook) -> tuple[int, Any]:
    """Returns (ebook number, element), the key by which elements are joined."""
    return element.book_id, element


def join_book(
    file: BookFile, entry: CatalogEntry | None, released: ReleasedBook | None = None
) -> Book:
    """Returns the book in a file, with its metadata.

    Title, authors and languages are taken from the catalogue if it has them, otherwise from the header of the
    file.
    """
    known = entry or CatalogEntry(file.book_id, "", "", (), (), (), ())
    header = file.header
    return Book(
        book_id=file.book_id,
        name=file.name,
        encoding=file.encoding,
        title=known.title or header.title,
        authors=known.authors or tuple(map(Author, header.authors)),
        languages=known.languages or header.languages,
        subjects=known.subjects,
        bookshelves=known.bookshelves,
        original_publication=header.original_publication,
        released_year=released.year if released else 0,
        is_in_catalog=entry is not None,
        characters=file.characters,
        packed_text=file.packed_text,
    )


def choose_entry(entries: Iterable[CatalogEntry]) -> CatalogEntry | None:
    """Returns the catalogue entry that contains the most values; None if `entries` is empty.

    If several entries have equally many values, the one that sorts last is returned.
    """
    return max(entries, key=lambda entry: (_facts_in(entry), entry), default=None)


def choose_released(released: Iterable[ReleasedBook]) -> ReleasedBook | None:
    """Returns the released book with the earliest year; None if `released` is empty.

    If several books have the earliest year, the first one by title and URL is returned.
    """
    return min(released, key=lambda book: (book.year, book.title, book.url), default=None)


def _facts_in(entry: CatalogEntry) -> int:
    """Returns the number of values in a catalogue entry."""
    return sum(len(values) for values in entry[3:]) + bool(entry.title) + bool(entry.kind)
