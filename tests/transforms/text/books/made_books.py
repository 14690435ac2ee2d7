"""Books that are made up, for tests that look at one thing about them."""

from pathlib import Path

from transforms.files.scratch import Scratch
from transforms.records import Author, Book
from transforms.text.books.dating.publication_dates import DatedBook, PublicationDate

TEXT = "The hen sat on the wall.\n\nThe hen sat there all day.\n"


def make_book(
    book_id: int = 90_001, text: str = TEXT, folder: Path | None = None, **said: object
) -> Book:
    """A book; its text can be fetched where a folder is given."""
    packed = Scratch(str(folder)).put_text(text) if folder else b""
    book = Book(
        book_id=book_id,
        name=f"{book_id}-0.txt",
        encoding="utf-8",
        title=f"Tale {book_id}",
        authors=(Author("Wren, Ada", 1850, 1910),),
        languages=("en",),
        subjects=(),
        bookshelves=(),
        original_publication="",
        released_year=0,
        is_in_catalog=True,
        characters=len(text),
        packed_text=packed,
    )
    return book._replace(**said)  # type: ignore[arg-type]


def make_dated(year: int = 1899, **said: object) -> DatedBook:
    """A dated book; takes the arguments of make_book."""
    date = PublicationDate(year, "copyright", "exact")
    return DatedBook(make_book(**said), date, (date,))  # type: ignore[arg-type]
