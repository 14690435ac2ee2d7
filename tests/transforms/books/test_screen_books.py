import pickle
from pathlib import Path

import pytest

from corpusmill.transforms.books import screen_books
from corpusmill.transforms.books.screen_books import (
    KeepSimple,
    MeasureBooks,
    ScreenBooks,
    first_reason,
    measure_book,
)
from corpusmill.transforms.books.simplicity import NotSimple
from corpusmill.transforms.books.text_screening import TooShort, not_english
from corpusmill.transforms.files.records import Book, MeasuredBook, Reason, Rejected
from corpusmill.transforms.files.scratch import Scratch, fetch_text
from tests.makers.made_books import book
from tests.tools.run_pipeline import run_transform
from tests.transforms.books.sample_texts import GERMAN, PROSE

TEXTS = ["one two three", "one", "a a a a", "", "b c"]


def reject_b(book: Book, text: str) -> Reason | None:
    return Reason("has-b", book.title) if "b" in text else None


@pytest.fixture
def books(tmp_path: Path) -> list[Book]:
    scratch = Scratch(str(tmp_path))
    return [
        book(f"Title {number}", book_id=number, packed_text=scratch.put_text(text))
        for number, text in enumerate(TEXTS, start=1)
    ]


def test_kept_and_rejected_are_what_was_read(books: list[Book]) -> None:
    outcome = run_transform(ScreenBooks(TooShort(2), reject_b), books)
    assert sorted(outcome.elements["kept"]) == [books[0], books[2]]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Title 2", "screen-books", "too-short", "1 words"),
        Rejected("4", "Title 4", "screen-books", "too-short", "0 words"),
        Rejected("5", "Title 5", "screen-books", "has-b", "Title 5"),
    ]
    assert outcome.counters == {"screen-books/too-short": 2, "screen-books/has-b": 1}


def test_the_stage_may_be_named(books: list[Book]) -> None:
    outcome = run_transform(ScreenBooks(reject_b, stage="look-for-b"), books[4:])
    assert outcome.elements["kept"] == []
    assert outcome.elements["rejected"] == [
        Rejected("5", "Title 5", "look-for-b", "has-b", "Title 5")
    ]
    assert outcome.counters == {"look-for-b/has-b": 1}


def test_a_text_is_fetched_once_for_all_rules(
    books: list[Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[bytes] = []

    def fetch(packed: bytes) -> str:
        fetched.append(packed)
        return fetch_text(packed)

    monkeypatch.setattr(screen_books, "fetch_text", fetch)
    rules = (TooShort(0), TooShort(1), reject_b)
    assert [first_reason(rules, one) for one in books[:3]] == [None] * 3
    assert fetched == [one.packed_text for one in books[:3]]


def reject_long_titles(book: Book, _: str) -> Reason | None:
    return Reason("long-title", book.title) if len(book.title) > 5 else None


def test_the_first_rule_that_speaks_against_a_book_decides(tmp_path: Path) -> None:
    rules = pickle.loads(pickle.dumps((reject_long_titles, TooShort(2), not_english)))

    def reason(title: str, text: str) -> Reason | None:
        packed = Scratch(str(tmp_path)).put_text(text)
        return first_reason(rules, book(title, packed_text=packed))

    assert reason("Hen", PROSE) is None
    assert reason("Hen", "one") == Reason("too-short", "1 words")
    assert reason("Long title", "one") == Reason("long-title", "Long title")
    german = reason("Hen", GERMAN)
    assert german is not None
    assert german.slug == "not-english"
    assert first_reason((), book(packed_text=Scratch(str(tmp_path)).put_text(""))) is None


def test_books_are_measured(books: list[Book]) -> None:
    outcome = run_transform(MeasureBooks(), books)
    assert sorted(outcome.elements["main"]) == [
        MeasuredBook(books[0], 3, 3),
        MeasuredBook(books[1], 1, 1),
        MeasuredBook(books[2], 4, 1),
        MeasuredBook(books[3], 0, 0),
        MeasuredBook(books[4], 2, 2),
    ]


def test_measured_books_are_screened_as_books(books: list[Book]) -> None:
    measured = [measure_book(book) for book in books]
    outcome = run_transform(ScreenBooks(TooShort(3)), measured)
    assert sorted(outcome.elements["kept"]) == [measured[0], measured[2]]
    assert outcome.counters == {"screen-books/too-short": 3}


def test_books_that_are_not_simple_are_rejected(books: list[Book]) -> None:
    measured = [measure_book(book) for book in books]
    low = ("measure-books", "ratio-too-low")
    outcome = run_transform(KeepSimple(NotSimple(min_ratio="0.7")), measured)
    assert [one.book.book_id for one in sorted(outcome.elements["kept"])] == [2, 3, 5]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("1", "Title 1", *low, "L/V^1.35 is 0.680781: 3 tokens, 3 different"),
        Rejected("4", "Title 4", *low, "L/V^1.35 is 0.000000: 0 tokens, 0 different"),
    ]
    assert outcome.counters == {"measure-books/ratio-too-low": 2}
