"""Finds the year of publication of a book: reads a year from each source, and chooses one of them.

The catalogue of Project Gutenberg has the year of publication of few books, so sources are tried in a
fixed order. The year is that of the transcribed edition; if a title page has several years, the latest one
is used. PG-19 mostly gives such years, too: 1912 for a book that names its edition of 1912, although the work
is from 1893. (tests/tools/measure_dates.py compares the years.) A reprint or a renewal of a copyright does
not change the text, so its year is only an upper bound of the year of publication: it is the latest possible
year, and not a date. A title page that is years later than the copyright is that of a reprint.

Implausible years are ignored. These are years before the invention of printing; years before an author,
translator or editor was ten years old, such as "1690" at the beginning of a novel of 1896; and years since
Project Gutenberg began, which are the dates of transcriptions. Without another source, the year of the
author's death is the latest possible year. It is not used for a book with a copyright from 1971 or later,
because such a text, for example a new translation, may be later than the author's death.

Makes the table of the dates of all books: the year from each source, and how well the sources agree.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..files.records import Book, MeasuredBook, Reason
from . import title_page
from .title_page import find_years, issue_year, transcribed_years, years_in

BEFORE = 1919
"""The year before which the books of PG-19 were published: 100 years before its release."""

RELEASED = "released"  # metadata.csv of PG-19
ORIGINAL_PUBLICATION = "original-publication"  # a line of the file's header, since 2023
CATALOG_IMPRINT = "catalog-imprint"  # marc260 of RDF: "$aLondon :$bNobody & Co., $c1903."
CATALOG_YEAR = "catalog-year"  # marc906 of RDF
AUTHOR_DEATH = "author-death"

# Measured against PG-19 by tests/tools/measure_dates.py.
# 71 of 80 within two years of PG-19; for 7 of the 9 others, the book confirms our year
EXACT = "exact"
LIKELY = "likely"  # 13 of 16 within two years
BOUND = "bound"  # published in this year or before: right for 9 of 10, within two years

NEAR_YEARS = 2  # of two years that agree

_FIRST_PRINTED = 1450
_GUTENBERG_SINCE = 1971  # year of its first text
_MIN_AGE_YEARS = 10
_SHOWN_CHARACTERS = 160  # of the words that have a year

# The first group with a year decides; if it has several years, the latest is taken.
_CHAIN: tuple[tuple[str, ...], ...] = (
    (RELEASED,),
    (ORIGINAL_PUBLICATION,),
    (CATALOG_IMPRINT,),
    (CATALOG_YEAR,),
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
"""All sources, the most trusted first."""

_CONFIDENCE = {
    title_page.YEAR_LINE: LIKELY,
    title_page.PREFACE: LIKELY,
    title_page.REPRINT: BOUND,
    AUTHOR_DEATH: BOUND,
}


class PublicationDate(NamedTuple):
    """A year from one source: the year of publication, or the latest possible year of publication."""

    year: int
    source: str  # one of SOURCES
    confidence: str  # EXACT or LIKELY; BOUND: the year is only the latest possible one
    line: str = ""  # the words that say so

    @property
    def published(self) -> int | None:
        """The year of publication; None if only the latest possible year is known."""
        return None if self.confidence == BOUND else self.year

    @property
    def latest(self) -> int | None:
        """The latest possible year of publication; None if the year of publication is known."""
        return self.year if self.confidence == BOUND else None


class DatedBook(NamedTuple):
    """A book with its chosen date of publication, and the dates from all sources."""

    book: Book
    date: PublicationDate
    evidence: tuple[PublicationDate, ...]  # at most one date per source, see date_evidence


def book_of(element: Book | MeasuredBook | DatedBook) -> Book:
    """Returns the book in an element. An element that is a book itself is returned unchanged."""
    return element if isinstance(element, Book) else element.book


class BookEvidence(NamedTuple):
    """The dates of one book from all sources. They are recorded for rejected books, too."""

    book_id: int
    title: str
    released_year: int  # in PG-19; 0 for other books
    evidence: tuple[PublicationDate, ...]  # see date_evidence


def date_evidence(book: Book, text: str) -> tuple[PublicationDate, ...]:
    """Returns at most one date from each source, in the order of SOURCES.

    Args:
      book: metadata of the book.
      text: text of the book. Only its first 40,000 characters are read.
    """
    said: dict[str, tuple[int, str]] = {}
    if book.released_year:
        said[RELEASED] = book.released_year, "metadata.csv"
    for source, year, line in _told_years(book, text):
        if is_plausible(year, book):
            take = min if source == title_page.REPRINT else max
            told = year, " ".join(line.split())[:_SHOWN_CHARACTERS]
            said[source] = take(said.get(source, told), told, key=operator.itemgetter(0))
    return tuple(
        PublicationDate(said[source][0], source, _CONFIDENCE.get(source, EXACT), said[source][1])
        for source in SOURCES
        if source in said
    )


def choose_date(evidence: Sequence[PublicationDate]) -> PublicationDate | None:
    """Returns the date from the most trusted source, or None if `evidence` is empty."""
    for group in _CHAIN:
        dates = [
            date for date in evidence if date.source in group and not _is_reprint(date, evidence)
        ]
        if dates:
            return max(dates, key=lambda date: (date.year, -group.index(date.source)))
    return None


def _is_reprint(date: PublicationDate, evidence: Sequence[PublicationDate]) -> bool:
    """Returns True for the year on the title page of a book that was first printed years before.

    The book has an older copyright, and does not say that it is a new edition.
    """
    years = {one.source: one.year for one in evidence}
    return (
        date.source in (title_page.IMPRINT, title_page.ROMAN_IMPRINT)
        and date.year > years.get(title_page.COPYRIGHT, date.year) + NEAR_YEARS
        and title_page.LATER_EDITION not in years
    )


def reason_to_reject(date: PublicationDate | None, before: int) -> Reason | None:
    """Returns None if the date of a book is before the year `before`, otherwise the reason to reject it.

    `date` is None for a book without a date. Such a book is rejected.
    """
    if date is None:
        return Reason("undated", "")
    if date.year < before:
        return None
    detail = f"{date.year} ({date.source})"
    # An upper bound after the limit does not exclude that the book is older than the limit.
    return Reason("undated" if date.confidence == BOUND else "too-new", detail)


def _told_years(book: Book, text: str) -> Iterable[tuple[str, int, str]]:
    """Yields (source, year, line) for every year from a source other than PG-19.

    Implausible years are included.
    """
    original = book.original_publication
    if transcribed := transcribed_years(original):
        yield title_page.TRANSCRIBED, transcribed[-1].year, transcribed[-1].line
    elif years := years_in(original):
        yield ORIGINAL_PUBLICATION, years[0], original  # "1872, reprinted 1881"
    if years := years_in(book.catalog_imprint.rpartition("$c")[2]):
        yield CATALOG_IMPRINT, years[0], book.catalog_imprint  # "$c1903, reprint 1907"
    if book.catalog_year:
        yield CATALOG_YEAR, book.catalog_year, str(book.catalog_year)
    if year_of_issue := issue_year(book.title):
        yield title_page.ISSUE_DATE, year_of_issue, book.title
    years_of_title = years_in(book.title)
    told = find_years(text)
    for year, source, line in told:
        # The year in "The Vigilance Committee of 1856" is the year of the story in half the cases.
        if source != title_page.YEAR_LINE or year not in years_of_title:
            yield source, year, line
    # A text with its own copyright, such as a new translation, is later than the author's death.
    is_new = any(
        source == title_page.COPYRIGHT and year >= _GUTENBERG_SINCE for year, source, _ in told
    )
    # Translators and editors count as authors, since a translation may be later than the author's death.
    deaths = [author.death_year for author in book.authors]
    if deaths and all(deaths) and not is_new:
        last = max(book.authors, key=lambda author: author.death_year)
        yield (
            AUTHOR_DEATH,
            last.death_year,
            f"{last.name}, {last.birth_year or ''}-{last.death_year}",
        )


def is_plausible(year: int, book: Book) -> bool:
    """Returns True if a year may be the year of publication of a book.

    All authors, translators and editors must have been at least ten years old. Years before the invention of
    printing, and years since Project Gutenberg began, are not plausible.
    """
    births = [author.birth_year for author in book.authors if author.birth_year]
    earliest = max([_FIRST_PRINTED, *(birth + _MIN_AGE_YEARS for birth in births)])
    return earliest <= year < _GUTENBERG_SINCE


Outcome = tuple[str, str]  # (name of a table in stats.json, row of this table)


class DateLine(NamedTuple):
    """A line of the table of dates, which describes one book. Unknown values are ""."""

    book_id: int
    title: str
    year: int | str  # year of publication
    latest_year: int | str  # latest possible year, of a book without a year of publication
    source: str  # source of either year
    confidence: str
    released_year: int | str  # year of publication in the PG-19 release
    evidence: str  # "copyright 1905 exact; author-death 1910 bound"
    line: str  # the words that have the year: "Copyright, 1905, by A. Nobody"


def make_line(found: BookEvidence) -> DateLine:
    """Returns the line of the table of dates for one book."""
    date = choose_date(found.evidence)
    return DateLine(
        book_id=found.book_id,
        title=found.title,
        year=(date and date.published) or "",
        latest_year=(date and date.latest) or "",
        source=date.source if date else "",
        confidence=date.confidence if date else "",
        released_year=found.released_year or "",
        evidence="; ".join(f"{one.source} {one.year} {one.confidence}" for one in found.evidence),
        line=date.line if date else "",
    )


def outcomes_of(found: BookEvidence) -> Iterable[Outcome]:
    """Yields the rows of stats.json in which a book is counted, as (name of the table, name of the row).

    Each book is counted in the row of the source of its date, in the table "dated_by". A book of which only
    the latest possible year is known has no date, and is counted in the table "latest_year_by" instead. If
    the PG-19 release has a year for the book, the book is also counted in the table "without_released_years".
    Its row there says how far the date from the other sources is from this year, see `compare`.
    """
    date = choose_date(found.evidence)
    if date and date.latest:
        yield "latest_year_by", date.source
    else:
        yield "dated_by", date.source if date else "nothing"
    if found.released_year:
        others = [one for one in found.evidence if one.source != RELEASED]
        yield "without_released_years", compare(choose_date(others), found.released_year)


def compare(date: PublicationDate | None, released_year: int) -> str:
    """Compares the date of a book with its year of publication in the PG-19 release, `released_year`.

    `date` is from other sources. Returns a phrase with the confidence of the date, and how far it is from
    `released_year`, such as "exact: within 2 years" or "bound: later". Returns "undated" if `date` is None.
    """
    if date is None:
        return "undated"
    if abs(date.year - released_year) <= NEAR_YEARS:
        return f"{date.confidence}: within {NEAR_YEARS} years"
    return f"{date.confidence}: {'later' if date.year > released_year else 'earlier'}"


def sum_up(counts: Iterable[tuple[Outcome, int]]) -> dict[str, Mapping[str, int]]:
    """Groups the rows of `outcomes_of` by table. Returns table → row → number of books.

    `counts` has (outcome, number of books with this outcome) for each outcome.
    """
    summed: dict[str, dict[str, int]] = {"dated_by": {}}
    for (what, outcome), count in sorted(counts):
        summed.setdefault(what, {})[outcome] = count
    return dict(summed)
