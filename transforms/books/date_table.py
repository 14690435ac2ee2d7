"""Makes the table of the dates of all books: the year from each source, and how well the sources agree."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from corpusmill.transforms.books.publication_dates import (
    RELEASED,
    BookEvidence,
    PublicationDate,
    choose_date,
)

NEAR_YEARS = 2

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
