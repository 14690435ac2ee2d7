"""Books for tests, of which only what a test is about has to be said."""

from transforms.records import Book


def book(
    title: str = "",
    languages: tuple[str, ...] = ("en",),
    subjects: tuple[str, ...] = (),
    bookshelves: tuple[str, ...] = (),
    book_id: int = 1,
    packed_text: bytes = b"",
) -> Book:
    """A book of which nothing else is known."""
    return Book(
        book_id=book_id,
        name=f"{book_id}.txt",
        encoding="utf-8",
        title=title,
        authors=(),
        languages=languages,
        subjects=subjects,
        bookshelves=bookshelves,
        original_publication="",
        released_year=0,
        is_in_catalog=bool(subjects or bookshelves),
        characters=0,
        packed_text=packed_text,
    )
