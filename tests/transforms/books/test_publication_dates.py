import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.publication_dates import (
    BOUND,
    EXACT,
    LIKELY,
    SOURCES,
    BookEvidence,
    DateLine,
    PublicationDate,
    choose_date,
    compare,
    date_evidence,
    make_line,
    outcomes_of,
    reason_to_reject,
    sum_up,
)
from corpusmill.transforms.files.records import Author, Book, Reason
from tests.tools.measure_dates import VERDICTS, is_right, measure_books, read_catalog, read_released
from tests.tools.real_data import needs_real_data
from tests.transforms.books.read_cases import read_table

CASES = read_table("publication_dates")

IMPRINT = "$aLondon :$bNobody & Co., $c1873, reprint 1881."
PROSE = "\n".join(["It was a wet day in the month of May, and nobody in the house"] * 3)
PAGE = "A TALE\n\nLONDON\nNOBODY & CO.\n1906\n\nCopyright, 1905, 1907, by A. Nobody\n\nReprinted 1908, 1909"


def book(
    title: str = "A Tale",
    authors: tuple[Author, ...] = (),
    original_publication: str = "",
    released_year: int = 0,
) -> Book:
    return Book(
        *(7, "7.txt", "ascii", title, authors, ("en",), (), ()),
        original_publication=original_publication,
        released_year=released_year,
        is_in_catalog=True,
        characters=0,
        packed_text=b"",
    )


def evidence_of(of_book: Book, text: str) -> list[tuple[int, str]]:
    return [(date.year, date.source) for date in date_evidence(of_book, text)]


def test_every_source_tells_its_year_once_in_the_order_of_belief() -> None:
    authors = (Author("Nobody, A.", 1850, 1911),)
    title = "Nobody's Weekly, No. 5, April 1890"
    original = "London: A. Nobody,1872, reprinted 1881"
    of_book = book(title, authors, original, 1891)._replace(
        catalog_imprint=IMPRINT, catalog_year=1874
    )
    assert date_evidence(of_book, f"{PAGE}\n\n{PROSE}\n\nLondon, May 1904") == (
        PublicationDate(1891, "released", EXACT, "metadata.csv"),
        PublicationDate(1872, "original-publication", EXACT, original),
        PublicationDate(1873, "catalog-imprint", EXACT, IMPRINT),
        PublicationDate(1874, "catalog-year", EXACT, "1874"),
        PublicationDate(1890, "issue-date", EXACT, title),
        PublicationDate(1906, "imprint", EXACT, "1906"),
        PublicationDate(1907, "copyright", EXACT, "Copyright, 1905, 1907, by A. Nobody"),
        PublicationDate(1904, "preface", LIKELY, "London, May 1904"),
        PublicationDate(1908, "reprint", BOUND, "Reprinted 1908, 1909"),
        PublicationDate(1911, "author-death", BOUND, "Nobody, A., 1850-1911"),
    )


@pytest.mark.parametrize(("imprint", "years"), CASES["catalog_imprints"])
def test_the_first_year_of_an_imprint_in_the_catalogue_counts(
    imprint: str, years: list[int]
) -> None:
    assert [year for year, _ in evidence_of(book()._replace(catalog_imprint=imprint), "")] == years


@pytest.mark.parametrize(("sources", "chosen"), CASES["chain"])
def test_the_chain(sources: dict[str, int], chosen: str) -> None:
    evidence = [PublicationDate(year, source, EXACT) for source, year in sources.items()]
    for ordered in (evidence, evidence[::-1]):
        date = choose_date(ordered)
        assert (date.source if date else "") == chosen


@given(
    st.lists(
        st.builds(
            PublicationDate, st.integers(1450, 1970), st.sampled_from(SOURCES), *[st.just("")] * 2
        ),
        min_size=1,
    ),
    st.randoms(),
)
def test_the_choice_is_one_of_the_evidence_whatever_its_order(
    evidence: list[PublicationDate], chance: random.Random
) -> None:
    date = choose_date(evidence)
    assert date in evidence
    assert choose_date(chance.sample(evidence, len(evidence))) == date


@pytest.mark.parametrize(("page", "title", "authors", "told"), CASES["plausible"])
def test_what_is_plausible(
    page: str, title: str, authors: list[list[Any]], told: list[list[Any]]
) -> None:
    found = evidence_of(book(title, tuple(Author(*one) for one in authors)), page)
    assert found == [tuple(one) for one in told]


def test_the_released_year_is_taken_as_released() -> None:
    assert evidence_of(book(authors=(Author("Nobody", 1850),), released_year=1625), "") == [
        (1625, "released")
    ]


def test_a_header_may_name_the_transcribed_edition() -> None:
    header = "Transcribed from the 1849-1850 Nobody and Co. edition"
    assert evidence_of(book(original_publication=header), "") == [(1850, "transcribed-edition")]
    assert evidence_of(book(original_publication="United Kingdom: A. Nobody"), "") == []


@pytest.mark.parametrize(("date", "reason"), CASES["kept_before_1919"])
def test_what_is_kept(date: list[Any], reason: list[str]) -> None:
    known = PublicationDate(*date) if date else None
    assert reason_to_reject(known, 1919) == (Reason(*reason) if reason else None)


@needs_real_data
def test_real_books() -> None:
    measured, unread = measure_books(read_catalog(), read_released())
    assert (len(measured), unread) == (180, [])
    dates = {one: choose_date(one.evidence) for one in measured}
    told = {one: date for one, date in dates.items() if date and date.confidence != BOUND}
    right = [one for one, date in told.items() if is_right(date, one.released_year)]
    assert (len(told), len(right)) == (96, 84)
    assert {one.book.book_id for one in told.keys() - set(right)} == VERDICTS.keys()


RELEASED = PublicationDate(1891, "released", "exact", "metadata.csv")
COPYRIGHT = PublicationDate(1851, "copyright", "exact")
DEATH = PublicationDate(1890, "author-death", "bound")


def test_a_line_tells_what_is_believed_and_what_every_source_says() -> None:
    found = BookEvidence(90_001, "The Hen", 1891, (RELEASED, COPYRIGHT, DEATH))
    years = "released 1891 exact; copyright 1851 exact; author-death 1890 bound"
    known = (90_001, "The Hen", 1891, "", "released", "exact", 1891)
    assert make_line(found) == DateLine(*known, years, "metadata.csv")
    assert make_line(BookEvidence(90_002, "", 0, ())) == DateLine(90_002, *[""] * 8)


def test_a_bound_is_listed_as_the_latest_year() -> None:
    line = make_line(BookEvidence(11, "Alice", 0, (DEATH,)))
    assert line[2:6] == ("", 1890, "author-death", "bound")


def test_outcomes_are_counted_with_and_without_the_released_year() -> None:
    found = BookEvidence(90_001, "The Hen", 1891, (RELEASED, DEATH))
    assert list(outcomes_of(found)) == [
        ("dated_by", "released"),
        ("without_released_years", "bound: within 2 years"),
    ]
    assert list(outcomes_of(BookEvidence(1, "", 0, ()))) == [("dated_by", "nothing")]
    assert list(outcomes_of(BookEvidence(1, "", 0, (DEATH,)))) == [
        ("latest_year_by", "author-death")
    ]


@pytest.mark.parametrize(("year", "outcome"), CASES["compared"])
def test_years_are_compared(year: int, outcome: str) -> None:
    assert compare(PublicationDate(year, "imprint", "exact"), 1891) == outcome
    assert compare(None, 1891) == "undated"


def test_counts_are_summed_up_in_a_fixed_order() -> None:
    counts = [(("dated_by", "released"), 2), (("dated_by", "nothing"), 1)]
    assert list(sum_up(counts)["dated_by"].items()) == [("nothing", 1), ("released", 2)]
    assert sum_up([]) == {"dated_by": {}}
