import csv
import gzip

import pytest

from corpusmill.transforms.books.file_text import (
    FileText,
    decode_file,
    number_in_name,
    parse_date,
    parse_header,
)
from corpusmill.transforms.files.records import BookHeader
from tests.tools.real_data import DATA, needs_real_data

MODERN = """\
The Project Gutenberg eBook of The Lamp; or, a light
    
This ebook is for the use of anyone anywhere.

Title: The Lamp;
        or, a light in the   window

Author: Ann Lee
        Bob Ray
        Carl Moe and
        Dora Moe

Translator: Eve Fox

Release date: June 17, 2008 [eBook #84321]
                Most recently updated: November 10, 2024

Language: English, French

Original publication: New York: Harper & Brothers,
        1899

Credits: Produced by Some One

*** START OF THE PROJECT GUTENBERG EBOOK THE LAMP ***

Title: Not this one
[eBook #1]
"""
TIGHT = """\
Title: A Spring
in two lines
Author: Ann Lee
Author: Bob Ray
Posting Date: July 2, 2009 [EBook 4217]
Release Date: July, 2003
[Last updated: March 30, 2014]
Language: Middle English
Chatacter set encoding: ISO-8859-1


***START OF THE PROJECT GUTENBERG EBOOK A SPRING***
"""
SMALL_PRINT = """\
*The Project Gutenberg Etext of The Lamp, by Ann Lee*
#3 in our series by Ann Lee

you may want to look at our Etext #1000 in the original Italian

further information is included below.  We need your donations.


The Lamp

by Ann Lee [Third edition]

Translated by Eve Fox

October, 1993  [Etext #84]


*****This file should be named lamp10.txt or lamp10.zip*****

***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***
[Etext #7]
"""


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (
            MODERN,
            BookHeader(
                84321,
                "The Lamp; or, a light in the window",
                ("Ann Lee", "Bob Ray", "Carl Moe and Dora Moe"),
                ("en", "fr"),
                "",
                "2008-06-17",
                "New York: Harper & Brothers, 1899",
            ),
        ),
        (
            TIGHT,
            BookHeader(
                4217,
                "A Spring in two lines",
                ("Ann Lee", "Bob Ray"),
                ("enm",),
                "ISO-8859-1",
                "2003-07",
            ),
        ),
        (SMALL_PRINT, BookHeader(84, "The Lamp", ("Ann Lee",), (), "", "1993-10")),
        ("", BookHeader()),
        ("A story that begins at once.\n", BookHeader()),
        (
            "Project Gutenberg's Etext of Sonnets\nby Ann Lee\n\nThis is no. 7 [Etext# 572]\n",
            BookHeader(572, "Sonnets", ("Ann Lee",)),
        ),
        (
            "The Project Gutenberg EBook of Stand By, by Ann Lee\n\nshould be named 1995.txt or",
            BookHeader(1995, "Stand By", ("Ann Lee",)),
        ),
        (
            "AN IMPROVED EDITION MAY BE VIEWED AS EBOOK\n(#100) at https://x.org/ebooks/100\n\n"
            "information is included below\n\nThe Works\nA Tragedy\n\nJune, 1999 [Etext 1777]\n",
            BookHeader(1777, "The Works A Tragedy", (), (), "", "1999-06"),
        ),
        (
            "Title: Guide - 1913\nby hand,\nEdited by Ann Lee\n\n[eBook #10028]",
            BookHeader(10028, "Guide - 1913 by hand, Edited by Ann Lee"),
        ),
    ],
)
def test_heads(text: str, header: BookHeader) -> None:
    assert parse_header(text) == header


def test_numbers_behind_the_head_are_those_of_other_books() -> None:
    text = "A story.\n" * 2000 + "End of the Project Gutenberg EBook [EBook #84]\n"
    assert parse_header(text).number == 0
    assert parse_header("A story\n*** END OF THE PROJECT ***\n[EBook #84]").number == 0


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("84-0.txt", 84),
        ("pg84.txt", 84),
        ("84.txt.utf8", 84),
        ("PG84.TXT", 84),
        ("84-8.txt.gz", 84),
        ("a.tar.zip/cache/84/pg84-images.txt.utf-8", 84),
        ("84.zip/84.txt", 84),
        ("7tcng10.txt", 0),
        ("dvldc10.txt", 0),
        ("84/notes.txt", 0),
        ("1234567.txt", 0),
        ("84-draft.txt", 0),
    ],
)
def test_numbers_in_names(name: str, number: int) -> None:
    assert number_in_name(name) == number


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("June 17, 2008 [EBook #84]", "2008-06-17"),
        ("October, 1993", "1993-10"),
        ("March 1st, 1994", "1994-03-01"),
        ("May 2001", "2001-05"),
        ("17 June 2008", "2008-06-17"),
        ("2005-01-31", "2005-01-31"),
        ("some time in 1996", "1996"),
        ("soon [EBook #1996]", "1996"),
        ("soon", ""),
    ],
)
def test_dates(text: str, date: str) -> None:
    assert parse_date(text) == date


LANGUAGES = {
    "English": ("en",),
    "French": ("fr",),
    "German": ("de",),
    "Tagalog": ("tl",),
    "Latin": ("la",),
    "Dutch": ("nl",),
    "Chinese": ("zh",),
    "Spanish": ("es",),
    "English, Spanish, Tagalog": ("en", "es", "tl"),
    "": (),
}
WRONG_IDS = {"books/1000.txt.gz": 1995, "oddities/no-ebook-number.txt.gz": 1096}
"""The ids in the files themselves: the table took a number from a remark, and overlooked one without "#"."""
ENCODINGS = {"ascii": "ascii", "utf-8": "utf-8", "cp1252": "latin-1/cp1252"}


@needs_real_data
def test_real_heads() -> None:
    folder = DATA / "gutenberg"
    with (folder / "books.tsv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 330
    for row in rows:
        decoded = decode_file(gzip.decompress((folder / row["file"]).read_bytes()))
        if "404" in row["file"]:
            assert not isinstance(decoded, FileText)
            continue
        assert isinstance(decoded, FileText), row
        header = parse_header(decoded.text)
        assert header.number == WRONG_IDS.get(row["file"]) or header.number == int(row["id"])
        assert ENCODINGS[decoded.encoding] == row["enc"], row
        assert header.languages == LANGUAGES[row["lang"]], row
        assert header.title.startswith(" ".join(row["title"].split())), row  # it has its first line
        assert ", ".join(header.authors).startswith(" ".join(row["author"].split())), row
        assert header.title, row
        assert header.release_date, row


def test_the_edition_that_was_transcribed_is_told_where_no_other_is() -> None:
    text = (
        "[EBook #90001]\n\nTranscribed from the 1886 Fernby & Co. edition by A. Wren\n\nA tale.\n"
    )
    assert (
        parse_header(text).original_publication == "Transcribed from the 1886 Fernby & Co. edition"
    )
    told = f"Original publication: London: Fernby, 1880\n\n{text}"
    assert parse_header(told).original_publication == "London: Fernby, 1880"
