"""When a book was published: what each source says, and which is believed.

Project Gutenberg has no year of publication, so there is a chain of sources. The year meant is that of the
text in hand: of the edition that was transcribed, if a title page has several years, the latest one.
That is what PG-19's released years are most often (tests/tools/measure_dates.py compares them); of the books
that name an edition of 1912 of a work of 1893 they have 1912. Reprints and renewals of a copyright are the
same text again and count only as bounds.

What is not plausible is not believed: years before printing; those before somebody who made the book was ten
years old, so that "1690", when a novel of 1896 begins, is not a date of it; and those since Project Gutenberg
began, which are of the transcription. A copyright of such a year makes a death year no bound.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from transforms.records import Book, MeasuredBook, Reason
from transforms.text.books.dating import title_page
from transforms.text.books.dating.title_page import (
    find_years,
    issue_year,
    transcribed_years,
    years_in,
)

RELEASED = "released"  # metadata.csv of PG-19
ORIGINAL_PUBLICATION = "original-publication"  # a line of the header, since 2023
AUTHOR_DEATH = "author-death"

# Measured against PG-19 by tests/tools/measure_dates.py.
EXACT = "exact"  # 70 of 79 within two years; of the 9 others the books side with us in 7
LIKELY = "likely"  # 12 of 15
BOUND = "bound"  # not published later: true of 9 of 10, give or take two years

_FIRST_PRINTED = 1450
_GUTENBERG_SINCE = 1971  # its first text
_MIN_AGE_YEARS = 10

# Years of the first group that says any are taken, of several the latest.
_CHAIN: tuple[tuple[str, ...], ...] = (
    (RELEASED,),
    (ORIGINAL_PUBLICATION,),
    (title_page.ISSUE_DATE,),
    (
        title_page.TRANSCRIBED,
        title_page.IMPRINT,
        title_page.ROMAN_IMPRINT,
        title_page.COPYRIGHT,
        title_page.FIRST_PUBLISHED,
        title_page.LATER_EDITION,
    ),
    (title_page.YEAR_LINE,),
    (title_page.PREFACE,),
    (title_page.REPRINT,),
    (AUTHOR_DEATH,),
)
SOURCES = tuple(source for group in _CHAIN for source in group)
"""All of them, from the first that is believed to the last."""

_CONFIDENCE = {
    title_page.YEAR_LINE: LIKELY,
    title_page.PREFACE: LIKELY,
    title_page.REPRINT: BOUND,
    AUTHOR_DEATH: BOUND,
}


class PublicationDate(NamedTuple):
    """A year of publication as one source has it."""

    year: int
    source: str  # one of SOURCES
    confidence: str  # EXACT, LIKELY or BOUND


class DatedBook(NamedTuple):
    """A book and when it was published."""

    book: Book
    date: PublicationDate
    evidence: tuple[PublicationDate, ...]  # what every source says; see date_evidence


def book_of(element: Book | MeasuredBook | DatedBook) -> Book:
    """The book that is in an element, or is one."""
    return element if isinstance(element, Book) else element.book


class BookEvidence(NamedTuple):
    """The evidence of the sources for the date of a book, which may be kept or not."""

    book_id: int
    title: str
    released_year: int  # of PG-19; 0 for a book that is not in it
    evidence: tuple[PublicationDate, ...]  # see date_evidence


def date_evidence(book: Book, text: str) -> tuple[PublicationDate, ...]:
    """Returns the date that each source gives, each source at most once, in the order of SOURCES.

    Args:
      book: what is known of it.
      text: of the book, or its first 40,000 characters: more is not looked at.
    """
    said: dict[str, int] = {}
    if book.released_year:
        said[RELEASED] = book.released_year
    for source, year in _told_years(book, text):
        if is_plausible(year, book):
            take = min if source == title_page.REPRINT else max
            said[source] = take(year, said.get(source, year))
    return tuple(
        PublicationDate(said[source], source, _CONFIDENCE.get(source, EXACT))
        for source in SOURCES
        if source in said
    )


def choose_date(evidence: Sequence[PublicationDate]) -> PublicationDate | None:
    """The date that is believed, None where no source says one."""
    for group in _CHAIN:
        dates = [date for date in evidence if date.source in group]
        if dates:
            return max(dates, key=lambda date: (date.year, -group.index(date.source)))
    return None


def reason_to_reject(date: PublicationDate | None, before: int) -> Reason | None:
    """Returns the reason to reject a book of this date, which must be before a year; None if it is."""
    if date is None:
        return Reason("undated", "")
    if date.year < before:
        return None
    detail = f"{date.year} ({date.source})"
    # A book that is not younger than some later year may be older than this one.
    return Reason("undated" if date.confidence == BOUND else "too-new", detail)


def _told_years(book: Book, text: str) -> Iterable[tuple[str, int]]:
    """(source, year) of all sources but PG-19, plausible or not."""
    if transcribed := transcribed_years(book.original_publication):
        yield title_page.TRANSCRIBED, transcribed[-1]
    elif original := years_in(book.original_publication):
        yield ORIGINAL_PUBLICATION, original[0]  # "1872, reprinted 1881"
    if year_of_issue := issue_year(book.title):
        yield title_page.ISSUE_DATE, year_of_issue
    years_of_title = years_in(book.title)
    told = find_years(text)
    for year, source in told:
        # The year of "The Vigilance Committee of 1856" is half the time that of the story.
        if source != title_page.YEAR_LINE or year not in years_of_title:
            yield source, year
    # A text with rights of its own, as a new translation has, is younger than the author's death.
    if not any(
        source == title_page.COPYRIGHT and year >= _GUTENBERG_SINCE for year, source in told
    ):
        yield from ((AUTHOR_DEATH, year) for year in _last_death(book))


def _last_death(book: Book) -> Iterable[int]:
    """The year by which all who made the book had died, if that is known of all of them.

    A text may be younger than its author: that of a translator is. An anonymous book has no such year.
    """
    years = [author.death_year for author in book.authors]
    return [max(years)] if years and all(years) else []


def is_plausible(year: int, book: Book) -> bool:
    """Returns True if a book can be of the year: all of its authors, translators and editors took part in
    it.
    """
    births = [author.birth_year for author in book.authors if author.birth_year]
    earliest = max([_FIRST_PRINTED, *(birth + _MIN_AGE_YEARS for birth in births)])
    return earliest <= year < _GUTENBERG_SINCE
