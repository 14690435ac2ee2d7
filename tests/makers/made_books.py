"""Books that are made up, for tests that look at one thing about them."""

from pathlib import Path

from corpusmill.transforms.books.publication_dates import DatedBook, PublicationDate
from corpusmill.transforms.files.records import Author, Book
from corpusmill.transforms.files.scratch import Scratch

TEXT = "The hen sat on the wall.\n\nThe hen sat there all day.\n"


def book(
    title: str = "",
    languages: tuple[str, ...] = ("en",),
    subjects: tuple[str, ...] = (),
    bookshelves: tuple[str, ...] = (),
    book_id: int = 1,
    packed_text: bytes = b"",
) -> Book:
    """A book of which nothing else is known."""
    is_in_catalog = bool(subjects or bookshelves)
    said = (title, (), languages, subjects, bookshelves, "", 0, is_in_catalog, 0, packed_text)
    return Book(book_id, f"{book_id}.txt", "utf-8", *said)


def make_book(
    book_id: int = 90_001, text: str = TEXT, folder: Path | None = None, **said: object
) -> Book:
    """A book; its text can be fetched where a folder is given."""
    packed = Scratch(str(folder)).put_text(text) if folder else b""
    made = book(f"Tale {book_id}", book_id=book_id, packed_text=packed)._replace(
        name=f"{book_id}-0.txt",
        authors=(Author("Wren, Ada", 1850, 1910),),
        is_in_catalog=True,
        characters=len(text),
    )
    return made._replace(**said)  # type: ignore[arg-type]


def make_dated(year: int = 1899, **said: object) -> DatedBook:
    """A dated book; takes the arguments of make_book."""
    date = PublicationDate(year, "copyright", "exact")
    return DatedBook(make_book(**said), date, (date,))  # type: ignore[arg-type]
