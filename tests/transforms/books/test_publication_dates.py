import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.publication_dates import (
    BOUND,
    EXACT,
    LIKELY,
    SOURCES,
    PublicationDate,
    choose_date,
    date_evidence,
    reason_to_reject,
)
from corpusmill.transforms.files.records import Author, Book, Reason
from tests.tools.measure_dates import (
    VERDICTS,
    is_right,
    measure_books,
    read_catalog,
    read_released,
)
from tests.tools.real_data import needs_real_data

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
    of_book = book(title, authors, "London: A. Nobody,1872, reprinted 1881", 1891)
    assert date_evidence(of_book, f"{PAGE}\n\n{PROSE}\n\nLondon, May 1904") == (
        PublicationDate(1891, "released", EXACT),
        PublicationDate(1872, "original-publication", EXACT),
        PublicationDate(1890, "issue-date", EXACT),
        PublicationDate(1906, "imprint", EXACT),
        PublicationDate(1907, "copyright", EXACT),
        PublicationDate(1904, "preface", LIKELY),
        PublicationDate(1908, "reprint", BOUND),
        PublicationDate(1911, "author-death", BOUND),
    )


@pytest.mark.parametrize(
    ("sources", "chosen"),
    [
        ({}, None),
        ({"author-death": 1850}, "author-death"),
        ({"reprint": 1850, "author-death": 1849}, "reprint"),
        ({"preface": 1840, "reprint": 1850}, "preface"),
        ({"year-line": 1830, "preface": 1840}, "year-line"),
        ({"first-published": 1820, "year-line": 1830}, "first-published"),
        ({"first-published": 1820, "imprint": 1825, "copyright": 1824}, "imprint"),
        ({"first-published": 1820, "imprint": 1825, "copyright": 1826}, "copyright"),
        ({"imprint": 1826, "copyright": 1826}, "imprint"),
        ({"transcribed-edition": 1885, "imprint": 1905}, "imprint"),
        ({"later-edition": 1906, "first-published": 1904}, "later-edition"),
        ({"issue-date": 1820, "imprint": 1899}, "issue-date"),
        ({"original-publication": 1820, "imprint": 1899}, "original-publication"),
        ({"released": 1820, "original-publication": 1899}, "released"),
    ],
)
def test_the_chain(sources: dict[str, int], chosen: str | None) -> None:
    evidence = [PublicationDate(year, source, EXACT) for source, year in sources.items()]
    for ordered in (evidence, evidence[::-1]):
        date = choose_date(ordered)
        assert (date.source if date else None) == chosen


@given(
    st.lists(
        st.builds(PublicationDate, st.integers(1450, 1970), st.sampled_from(SOURCES), st.just("")),
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


@pytest.mark.parametrize(
    ("page", "title", "authors", "told"),
    [
        ("London\n1449", "", (), []),
        ("London\n1450", "", (), [(1450, "imprint")]),
        ("London\n1970", "", (), [(1970, "imprint")]),
        ("Copyright 1993 by A. Typist", "", (), []),
        ("Copyright 1971", "", (), []),
        # Nobody's book is older than its maker's tenth year, whatever was made of it.
        ("London\n1859", "", (Author("Nobody", 1850),), []),
        ("London\n1860", "", (Author("Nobody", 1850),), [(1860, "imprint")]),
        ("London\n1860", "", (Author("No", 1812), Author("Nobody", 1851, role="Translator")), []),
        # A year in the title is half the time one of the story.
        ("THE TALE OF 1812\n\n1812", "The Tale of 1812", (), []),
        ("THE TALE OF 1812\n\nLondon\n1812", "The Tale of 1812", (), [(1812, "imprint")]),
        ("THE TALE OF 1812\n\n1840", "The Tale of 1812", (), [(1840, "year-line")]),
        # All who made it must be known to be dead.
        ("", "", (Author("Nobody", 1850, 1900),), [(1900, "author-death")]),
        ("", "", (Author("Nobody", 0, 1900),), [(1900, "author-death")]),
        ("", "", (Author("Nobody", 1850),), []),
        (
            "",
            "",
            (Author("No", -70, -19), Author("N", 1835, 1902, "Translator")),
            [(1902, "author-death")],
        ),
        ("", "", (Author("No", 1800, 1850), Author("N", 1890, 0, "Translator")), []),
        ("", "", (Author("No", -70, -19),), []),
        ("", "", (Author("Nobody", 1900, 1980),), []),
        ("Copyright 2004, by B. Nobody", "", (Author("Nobody", 1850, 1900),), []),
        (
            "Copyright 1899",
            "",
            (Author("N", 1850, 1900),),
            [(1899, "copyright"), (1900, "author-death")],
        ),
    ],
)
def test_what_is_plausible(
    page: str, title: str, authors: tuple[Author, ...], told: list[tuple[int, str]]
) -> None:
    assert evidence_of(book(title, authors), page) == told


def test_the_released_year_is_taken_as_released() -> None:
    assert evidence_of(book(authors=(Author("Nobody", 1850),), released_year=1625), "") == [
        (1625, "released")
    ]


def test_a_header_may_name_the_transcribed_edition() -> None:
    header = "Transcribed from the 1849-1850 Nobody and Co. edition"
    assert evidence_of(book(original_publication=header), "") == [(1850, "transcribed-edition")]
    assert evidence_of(book(original_publication="United Kingdom: A. Nobody"), "") == []


@pytest.mark.parametrize(
    ("date", "reason"),
    [
        (None, Reason("undated", "")),
        (PublicationDate(1918, "imprint", EXACT), None),
        (PublicationDate(1919, "imprint", EXACT), Reason("too-new", "1919 (imprint)")),
        (PublicationDate(1920, "preface", LIKELY), Reason("too-new", "1920 (preface)")),
        (PublicationDate(1918, "author-death", BOUND), None),
        (PublicationDate(1930, "author-death", BOUND), Reason("undated", "1930 (author-death)")),
        (PublicationDate(1921, "reprint", BOUND), Reason("undated", "1921 (reprint)")),
    ],
)
def test_what_is_kept(date: PublicationDate | None, reason: Reason | None) -> None:
    assert reason_to_reject(date, 1919) == reason


@needs_real_data
def test_real_books() -> None:
    measured, unread = measure_books(read_catalog(), read_released())
    assert (len(measured), unread) == (180, [])
    dates = {one: choose_date(one.evidence) for one in measured}
    told = {one: date for one, date in dates.items() if date and date.confidence != BOUND}
    right = [one for one, date in told.items() if is_right(date, one.released_year)]
    assert (len(told), len(right)) == (94, 82)
    assert {one.book.book_id for one in told.keys() - set(right)} == VERDICTS.keys()
