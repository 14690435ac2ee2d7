import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.title_page import (
    COPYRIGHT,
    FIRST_PUBLISHED,
    IMPRINT,
    ISSUE_DATE,
    LATER_EDITION,
    PREFACE,
    REPRINT,
    ROMAN_IMPRINT,
    TRANSCRIBED,
    YEAR_LINE,
    find_years,
    issue_year,
    transcribed_edition,
    years_in,
)
from tests.tools.growth import call_linear

PROSE = "\n".join(["It was a wet day in the month of May, and nobody in the house"] * 3)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Imprints.
        ("LONDON\nMACMILLAN AND CO.\n1897", [(1897, IMPRINT)]),
        ("LONDON\n\nMACMILLAN AND CO.\n\n1897", [(1897, IMPRINT)]),
        ("_New York_:\n_Nobody & Sons_, 1910", [(1910, IMPRINT)]),
        ("NEW YORK 1910", [(1910, IMPRINT)]),
        ("LONDON              1899              W.C.", [(1899, IMPRINT)]),
        ("Nobody and Co.\n\n1899              W.C.", [(1899, IMPRINT)]),
        ("Printed for A. Nobody, at the Lion. 1751.", [(1751, IMPRINT)]),
        ("Published September 1903", [(1903, IMPRINT)]),
        ("PUBLISHED BY NOBODY\nBOSTON, 1864", [(1864, IMPRINT)]),
        ("1898\n\nLONDON: A. NOBODY", [(1898, IMPRINT)]),
        ("London\n1849-50", [(1850, IMPRINT)]),
        ("London\n1849-1850", [(1850, IMPRINT)]),
        ("London: 1898-1901", [(1901, IMPRINT)]),
        ("LONDON\nMDCCCXCIX", [(1899, ROMAN_IMPRINT)]),
        ("AND COMPANY       M DCCCC XI", [(1911, ROMAN_IMPRINT)]),
        ("In New Bond-street, London. M.DCC.XXXVIII.", [(1738, ROMAN_IMPRINT)]),
        # Statements of rights and of editions.
        ("Copyright, 1905, by\nA. NOBODY", [(1905, COPYRIGHT)]),
        ("COPYRIGHT 1899", [(1899, COPYRIGHT)]),
        ("© 1899 A. Nobody", [(1899, COPYRIGHT)]),
        ("(c) A. Nobody 1899", [(1899, COPYRIGHT)]),
        ("Copyright MCMVI by A. Nobody", [(1906, COPYRIGHT)]),
        ("Copyright\n\n1912", [(1912, COPYRIGHT)]),
        ("COPYRIGHT, 1879 AND 1898, BY\nA. NOBODY.", [(1879, COPYRIGHT), (1898, COPYRIGHT)]),
        (
            "Entered according to Act of Congress, in the year 1868, by\nA. Nobody, in the Clerk's Office",
            [(1868, COPYRIGHT)],
        ),
        (
            "Entered, according to the Act of Congress, in the year\n\n1847, by\nA. Nobody",
            [(1847, COPYRIGHT)],
        ),
        ("First published 1911", [(1911, FIRST_PUBLISHED)]),
        ("_First published in_ 1869.", [(1869, FIRST_PUBLISHED)]),
        ("First Edition, October 1886", [(1886, FIRST_PUBLISHED)]),
        ("First edition, published in 1653", [(1653, FIRST_PUBLISHED)]),
        ("Originally published by Nobody, 1897", [(1897, FIRST_PUBLISHED)]),
        (
            "First Published    May 1905\nSecond Edition     June 1906\nReprinted    1907, 1908",
            [(1905, FIRST_PUBLISHED), (1906, LATER_EDITION), (1907, REPRINT), (1908, REPRINT)],
        ),
        ("Twenty-second Edition, 1909", [(1909, LATER_EDITION)]),
        ("3rd revised edition, 1909", [(1909, LATER_EDITION)]),
        ("Second large impression, 1909", [(1909, REPRINT)]),
        ("Fifth illustrated edition, 1909", [(1909, LATER_EDITION)]),
        ("New Impression, 1911", [(1911, REPRINT)]),
        (
            "Copyright 1904 by A. Nobody. Renewed 1932 by B. Nobody",
            [(1904, COPYRIGHT), (1932, REPRINT)],
        ),
        ("Copyright 1993 by A. Typist", [(1993, COPYRIGHT)]),
        ("A TALE\n\nCopyright\n\n1903 by Nobody & Co.", [(1903, COPYRIGHT)]),
        ("1903 by Nobody & Co.\n\nPrinted by A. Typist", [(1903, COPYRIGHT)]),
        ("1903 by the side of a lamp", []),
        # Of those who reprint.
        (
            "This new Nobody edition, first published in 1963, is an unabridged\n"
            "republication of the work first published by A. Nobody in\n1886.",
            [(1963, REPRINT), (1886, FIRST_PUBLISHED)],
        ),
        (
            "This Nobody edition, first published in 2006, is an unabridged and\n"
            "unaltered republication of the 1941 printing of the work originally published by\n"
            "A. Nobody, London and New York, in 1907. We have moved a few of the pictures.",
            [(1907, FIRST_PUBLISHED)],
        ),
        (
            "\n".join(
                [PROSE, "It is no reprint of what was first published in a life of 1812-1870."]
            ),
            [],
        ),
        # The word of a transcriber, in running text too.
        (
            "Transcribed from the 1886 Nobody & Co. edition by A. Typist",
            [(1886, TRANSCRIBED)],
        ),
        (f"{PROSE} transcribed from\nthe 1849-1850 Nobody edition", [(1850, TRANSCRIBED)]),
        # Periodicals.
        ("VOL. 10, No. 268.] SATURDAY, AUGUST 11, 1827. [PRICE 2d.", [(1827, ISSUE_DATE)]),
        # A year and nothing else.
        ("A TALE\n\nBy Nobody\n\n(1818)", [(1818, YEAR_LINE)]),
        ("By Nobody\n1909", [(1909, YEAR_LINE)]),
        # Dates.
        (f"{PROSE}\n\nA. NOBODY.\nLONDON, May 1872.", [(1872, PREFACE)]),
        (f"{PROSE}\n\n_March, 1872_", [(1872, PREFACE)]),
        ("Acted the first time\nFebruary 14th, 1895", [(1895, PREFACE)]),
        # No dates of the book.
        ("HENRY NOBODY (1812-1870)", []),
        ("(1812-1870)", []),
        ("London\n(1812-1870)", []),
        ("London: 12, Long Street, No. 1872a", []),
        ("Price $1900", []),
        ("London, 1872/3", []),
        ("www.example.org/1897", []),
        ("The Tale of the Year 1776", []),
        ("CHAPTER I.    The Storm of 1703    1", []),
        ("CHAPTER MDX", []),
        (PROSE + " London, 1872.", []),
        (f"{PROSE} Copyright, 1872", []),
        ("[Illustration: London in 1850]", []),
        ("[Illustration: 1850]", []),
        ("\n\n".join([PROSE] * 8) + "\n\nLondon, of Nobody & Co.\n\n1897", []),
        ("\n\n".join([PROSE] * 8) + "\n\nCopyright 1897", []),
        ("", []),
    ],
)
def test_what_says_a_year(text: str, found: list[tuple[int, str]]) -> None:
    assert [tuple(year) for year in find_years(text)] == found


def test_years_are_told_in_the_order_of_the_text() -> None:
    page = "A TALE\n\nLONDON\nNOBODY & CO.\n1906\n\nCopyright, 1905, by A. Nobody\n\nFirst published 1904"
    assert [tuple(year) for year in find_years(page)] == [
        (1906, IMPRINT),
        (1905, COPYRIGHT),
        (1904, FIRST_PUBLISHED),
    ]


@pytest.mark.parametrize(
    ("line", "year"),
    [
        ("Nobody's Magazine, Volume 99, August 2, 1890", 1890),
        ("Nobody's Weekly, No. 5, April 1881", 1881),
        ("Notes of Nobody, Number 12 January 19 1850", 1850),
        ("The Battle of April 19, 1775", None),
        ("Nobody's Life, Volume 2: 1886-1900", None),
        ("The Nonsense of May 1890", None),
    ],
)
def test_an_issue_has_a_number_and_a_month(line: str, year: int | None) -> None:
    assert issue_year(line) == year


def test_the_words_of_a_transcriber() -> None:
    head = "The Tale\n\nTranscribed from the 1913\nNobody and Co. edition by David Typist, email"
    assert transcribed_edition(head) == "Transcribed from the 1913 Nobody and Co. edition"
    assert transcribed_edition("The second edition of 1913") == ""


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("London: A. Nobody,1872, reprinted 1881", [1872, 1881]),
        ("1898-1901", [1901]),
        ("Copyright (C) 2004", [2004]),
        ("1812-1870", []),
        ("1901-1899", []),
        ("1399, 2100, 18990, 1.899", []),
        ("MDCCCXCIX and MILD", [1899]),
    ],
)
def test_years_of_a_text(text: str, years: list[int]) -> None:
    assert years_in(text) == years


@given(st.text(st.sampled_from("MDXVI 189-(,)\n.Copyright©edition"), max_size=200))
def test_nothing_is_too_odd(text: str) -> None:
    for year, _ in find_years(text):
        assert 1000 <= year < 4000


HOSTILE = (
    *("M ", "M.", "-a", "1899 ", "1899\n\n", "a ", "(c) ", "copyright\n\n", "ty-", "vol ", "no "),
    *("transcribed from the ", "second a edition ", "new ", "London\n\n", "[", "  ", "_", "seven"),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_is_bounded(piece: str) -> None:
    call_linear(find_years, lambda size: piece * (size // len(piece)), 1_000_000)
