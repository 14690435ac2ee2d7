from pathlib import Path

from corpusmill.transforms.books.publication_dates import BookEvidence, DatedBook, PublicationDate
from corpusmill.transforms.books.screen_books import DateBooks
from corpusmill.transforms.files.records import Author, Book, Rejected
from tests.makers.made_books import make_book
from tests.tools.run_pipeline import Outcome, run_transform

OLD = PublicationDate(1897, "imprint", "exact")
NEW = PublicationDate(1919, "copyright", "exact")
LATE = PublicationDate(1930, "author-death", "bound")
EARLY = PublicationDate(1850, "author-death", "bound")
RELEASED = PublicationDate(1891, "released", "exact")


def books_in(folder: Path) -> list[Book]:
    def book(book_id: int, text: str, death_year: int, released_year: int = 0) -> Book:
        authors = (Author("Nobody, A.", 0, death_year),)
        return make_book(book_id, text, folder, authors=authors, released_year=released_year)

    return [
        book(1, "LONDON\nNOBODY & CO.\n1897\n", 0),
        book(2, "Copyright, 1919, by A. Nobody\n", 0),
        book(3, "Once there was.\n", 0),
        book(4, "Once there was.\n", 1930),
        book(5, "Once there was.\n", 1850),
        book(6, "LONDON\nNOBODY & CO.\n1897\n", 0, 1891),
    ]


EVIDENCE = {1: (OLD,), 2: (NEW,), 3: (), 4: (LATE,), 5: (EARLY,), 6: (RELEASED, OLD)}


def date(folder: Path, before: int = 1919, workers: int = 0) -> Outcome:
    return run_transform(DateBooks(before), books_in(folder), workers)


def test_books_are_kept_by_their_dates(tmp_path: Path) -> None:
    outcome = date(tmp_path)
    kept = sorted(outcome.elements["kept"])
    assert [(one.book.book_id, one.date) for one in kept] == [(1, OLD), (5, EARLY), (6, RELEASED)]
    assert all(isinstance(one, DatedBook) for one in kept)
    assert all(one.evidence == EVIDENCE[one.book.book_id] for one in kept)
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Tale 2", "date-books", "too-new", "1919 (copyright)"),
        Rejected("3", "Tale 3", "date-books", "undated", ""),
        Rejected("4", "Tale 4", "date-books", "undated", "1930 (author-death)"),
    ]
    assert outcome.counters == {
        "date-books/imprint": 1,
        "date-books/author-death": 1,
        "date-books/released": 1,
        "date-books/too-new": 1,
        "date-books/undated": 2,
    }


def test_the_evidence_is_told_of_every_book(tmp_path: Path) -> None:
    assert sorted(date(tmp_path).elements["evidence"]) == [
        BookEvidence(book_id, f"Tale {book_id}", 1891 if book_id == 6 else 0, evidence)
        for book_id, evidence in EVIDENCE.items()
    ]


def test_the_year_can_be_chosen(tmp_path: Path) -> None:
    outcome = date(tmp_path, before=1897)
    assert sorted(one.book.book_id for one in outcome.elements["kept"]) == [5, 6]
    assert [one.reason for one in sorted(outcome.elements["rejected"])] == [
        *("too-new", "too-new", "undated", "undated")
    ]


def test_books_travel_between_workers(tmp_path: Path) -> None:
    """Through the coders of the runner, and the elements are what they were."""
    one, two = (sorted(date(tmp_path, workers=workers).elements["kept"]) for workers in (0, 2))
    unpacked = [[dated.book._replace(packed_text=b"") for dated in kept] for kept in (one, two)]
    assert unpacked[0] == unpacked[1] != []
    assert [dated[1:] for dated in one] == [dated[1:] for dated in two]
    assert {type(dated) for dated in two} == {DatedBook}
