import csv
from pathlib import Path

import pytest

from corpusmill.transforms.books.book_rows import Place, SizedBook
from corpusmill.transforms.books.take_simplest import BookFates, ListBooks, line_of, title_of
from corpusmill.transforms.files.records import OverlapVerdict, Rejected, TokenizedBook
from tests.makers.made_books import make_book
from tests.tools.run_pipeline import run_inputs


def test_every_book_has_a_line_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    books = [make_book(number) for number in (10, 9, 8)]
    fates = BookFates(
        titles=[title_of(book) for book in books],
        measures=[(10, (1200, 500)), (9, (300, 100))],
        verdicts=[
            OverlapVerdict(10, 1000, 10, True, ((7, 10),)),
            OverlapVerdict(9, 200, 150, False, ((10, 150),)),
        ],
        rejected=[
            Rejected("9", "Tale 9", "select-books", "overlaps", "0.75"),
            Rejected("8", "Tale 8", "strip-books", "kept-too-little", "1 %"),
        ],
        sized=[SizedBook(TokenizedBook(10, "Tale 10", 7, b"", b"", 1300), "train", True)],
        places=[Place(10, 101, 7)],
    )
    listing = ListBooks(str(tmp_path), "L/V^2")
    outcome = run_inputs(lambda **given: BookFates(**given) | listing, **fates._asdict())
    (file,) = outcome.elements["main"]
    assert file.name == "books-00000-of-00001.tsv"
    with (tmp_path / file.name).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert [row["book_id"] for row in rows] == ["8", "9", "10"]
    assert rows[0]["verdict"] == "strip-books/kept-too-little"
    assert (rows[0]["tokens"], rows[0]["ratio"]) == ("", "")
    assert rows[1] == rows[1] | {
        "title": "Tale 9",
        "tokens": "300",
        "vocabulary": "100",
        "ratio": "0.03",
        "overlap": "0.7500",
        "verdict": "select-books/overlaps",
        "covered_by": "10:0.7500",
        "split": "",
    }
    assert rows[2] == rows[2] | {
        "ratio": "0.0048",
        "overlap": "0.0100",
        "verdict": "kept",
        "split": "train",
        "in_simplebooks_2": "yes",
        "first_line": "101",
        "lines": "7",
    }


def test_a_book_without_a_fate_is_an_error() -> None:
    with pytest.raises(ValueError, match="book 7 is both kept and rejected, or neither"):
        line_of((7, dict.fromkeys(BookFates._fields, ()) | {"titles": ["Hen"]}), "L/V^2")
