"""Strips and dates books of Project Gutenberg."""

from collections.abc import Iterable

from ._errors import CorpusmillError, check_text, reported
from .transforms.books.boilerplate import find_marks, strip_boilerplate
from .transforms.books.file_text import parse_header, tidy_text
from .transforms.books.publication_dates import PublicationDate, choose_date, date_evidence
from .transforms.files.records import Author, Book, BookHeader, Reason

_WHY = {
    "copyrighted": "the book is copyrighted",
    "no-start": "the start of the book is not marked",
    "no-end": "the end of the book is not marked",
    "no-start-and-no-end": "neither the start nor the end of the book is marked",
    "not-boilerplate": "the text outside the marks is not that of Project Gutenberg",
    "licence-inside": "a part of the licence would be left in the book",
    "too-many-notes": "most of the text is notes",
    "kept-too-little": "almost no text would be left",
}


def strip_gutenberg(text: str) -> str:
    """Removes the header, the footer, the licence and the transcriber's notes from a book.

    Parameters
    ----------
    text : str
        The text of a file of Project Gutenberg.

    Returns
    -------
    str
        The book, which ends with a line feed.

    Raises
    ------
    CorpusmillError
        The text has no marks of Project Gutenberg; or the book cannot be told apart from the licence; or it
        is copyrighted, or has fewer than 200 letters.

    Examples
    --------
    >>> import corpusmill
    >>> text = (
    ...     "The Project Gutenberg EBook of The Pond, by Ann Lee\\n\\n"
    ...     "*** START OF THIS PROJECT GUTENBERG EBOOK THE POND ***\\n\\n"
    ...     + "The pond lay still, and nobody came. " * 10
    ...     + "\\n\\n*** END OF THIS PROJECT GUTENBERG EBOOK THE POND ***\\n"
    ... )
    >>> corpusmill.strip_gutenberg(text)[:36]
    'The pond lay still, and nobody came.'
    """
    check_text(text, "text")
    with reported():
        tidy = tidy_text(text)
        if not find_marks(tidy):
            raise CorpusmillError("the text has no marks of Project Gutenberg")
        return _strip(tidy)


def _strip(text: str) -> str:
    stripped = strip_boilerplate(text)
    if isinstance(stripped, Reason):
        detail = f" ({stripped.detail})" if stripped.detail else ""
        raise CorpusmillError(f"{_WHY.get(stripped.slug, stripped.slug)}{detail}")
    return stripped.text


def date_book(text: str, authors: Iterable[Author] = ()) -> PublicationDate | None:
    """Finds the year in which a book was published.

    The year is read from the header of the file and from the title page: from the imprint, the copyright and
    the dates of prefaces.

    Parameters
    ----------
    text : str
        The text of a file of Project Gutenberg, or of a book whose header has been removed.
    authors : iterable of Author, optional
        Authors, translators and editors with the years of their births and deaths. Years before they were ten
        years old are not believed. If a book has no other date, the latest death bounds it.

    Returns
    -------
    PublicationDate or None
        A tuple with `year`, `source` and `confidence`. Its property `published` is the year of publication,
        or None if only the latest possible year is known, which is the property `latest`. None if there is
        no date at all.

    Raises
    ------
    CorpusmillError
        The text cannot be stripped, see `strip_gutenberg`. (A text without any marks is read as it is.)

    Examples
    --------
    >>> import corpusmill
    >>> page = "THE POND\\n\\nBy Ann Lee\\n\\nLONDON\\nSMITH & CO., PUBLISHERS\\n1893\\n\\n\\n"
    >>> date = corpusmill.date_book(page + "The pond lay still, and nobody came. " * 10)
    >>> date.year, date.source, date.confidence
    (1893, 'imprint', 'exact')
    """
    check_text(text, "text")
    people = tuple(authors) if isinstance(authors, Iterable) else (authors,)
    if not all(isinstance(one, Author) for one in people):
        raise CorpusmillError("authors must be tuples of the type corpusmill.Author")
    with reported():
        tidy = tidy_text(text)
        header = parse_header(tidy) if find_marks(tidy) else None
        stripped = _strip(tidy)
        return choose_date(date_evidence(_book(header, people), stripped))


def _book(header: BookHeader | None, authors: tuple[Author, ...]) -> Book:
    return Book(
        book_id=0,
        name="",
        encoding="",
        title=header.title if header else "",
        authors=authors,
        languages=(),
        subjects=(),
        bookshelves=(),
        original_publication=header.original_publication if header else "",
        released_year=0,
        is_in_catalog=False,
        characters=0,
        packed_text=b"",
    )
