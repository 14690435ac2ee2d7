import random
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy
import pytest

from corpusmill.transforms.books import select_books
from corpusmill.transforms.books.book_overlap import EXACT
from corpusmill.transforms.books.select_books import (
    Plan,
    SelectBooks,
    chain_partition,
    check_ids,
    key_chain,
    plan_parts,
)
from corpusmill.transforms.files.records import MeasuredBook, OverlapVerdict, Rejected
from tests.makers.made_books import make_book
from tests.tools.real_data import needs_real_data
from tests.tools.real_gutenberg import read_bodies
from tests.tools.run_pipeline import Outcome, run_transform
from tests.transforms.books.sequential_selection import CountedText, numbered, select_texts

WORDS = [f"w{number}" for number in range(5000)]


def words(start: int, count: int) -> str:
    return " ".join(WORDS[start : start + count])


def mixtures(count: int) -> list[CountedText]:
    """Books of three parts of one long text each: of many, others have parts."""
    chance = random.Random(count)
    texts = []
    for _ in range(count):
        starts = chance.choices(range(1200), k=3)
        texts.append(" ".join(words(start, chance.randrange(5, 60)) for start in starts))
    return numbered(texts)


def measured(folder: Path, books: Iterable[CountedText]) -> list[MeasuredBook]:
    folder.mkdir(exist_ok=True)
    return [
        MeasuredBook(make_book(book.book_id, book.text, folder), book.tokens, 1) for book in books
    ]


def verdicts_of(outcome: Outcome) -> dict[int, OverlapVerdict]:
    verdicts = {verdict.book_id: verdict for verdict in outcome.elements["verdicts"]}
    assert len(verdicts) == len(outcome.elements["verdicts"])
    return verdicts


def test_the_largest_of_overlapping_books_stays(tmp_path: Path) -> None:
    books = [
        CountedText(5921, 400, words(0, 400)),
        CountedText(5903, 107, words(0, 107)),  # a part of it: 100 n-grams
        CountedText(7, 107, words(350, 50) + " " + words(1000, 57)),  # 43 of 100
        # 50 of 100 in the one before:
        CountedText(11, 107, words(1000, 57) + " " + words(2000, 50)),
        CountedText(12, 30, words(2000, 30)),  # only in one that does not stay
        CountedText(13, 3, "one two three"),
        CountedText(14, 3, "one\ntwo three"),
        CountedText(15, 0, ""),
    ]
    elements = measured(tmp_path, books)
    outcome = run_transform(SelectBooks(str(tmp_path)), elements)
    dropped = {5903, 11, 14}
    assert sorted(outcome.elements["kept"]) == sorted(
        element for element in elements if element.book.book_id not in dropped
    )
    assert sorted(outcome.elements["rejected"]) == [
        rejected(11, "0.50 of its 8-grams are in 7 (0.50)"),
        rejected(14, "1.00 of its 8-grams are in 13 (1.00)"),
        rejected(5903, "1.00 of its 8-grams are in 5921 (1.00)"),
    ]
    assert outcome.counters == {
        "hash-books/books": len(books),
        "hash-books/tokens": sum(book.tokens for book in books),
        "select-books/overlaps": 3,
    }
    assert verdicts_of(outcome) == {
        5921: OverlapVerdict(5921, 393, 0, True, ()),
        5903: OverlapVerdict(5903, 100, 100, False, ((5921, 100),)),
        7: OverlapVerdict(7, 100, 43, True, ((5921, 43),)),
        11: OverlapVerdict(11, 100, 50, False, ((7, 50),)),
        12: OverlapVerdict(12, 23, 0, True, ()),
        13: OverlapVerdict(13, 1, 0, True, ()),
        14: OverlapVerdict(14, 1, 1, False, ((13, 1),)),
        15: OverlapVerdict(15, 0, 0, True, ()),
    }


def rejected(book_id: int, detail: str) -> Rejected:
    return Rejected(str(book_id), f"Tale {book_id}", "select-books", "overlaps", detail)


@pytest.mark.parametrize(
    ("workers", "threshold", "ngram_words"), [(1, "0.5", 8), (2, "0.5", 8), (2, "1/3", 3)]
)
def test_nothing_depends_on_workers_order_or_packing(
    tmp_path: Path,
    workers: int,
    threshold: str,
    ngram_words: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same as the loop over all books, on any number of workers."""
    monkeypatch.setattr(select_books, "GATHERED_HASHES", 900 * workers)
    monkeypatch.setattr(select_books, "MIN_PARTITIONS", 1 + 4 * workers)
    monkeypatch.setattr(select_books, "BUCKET_BOOKS", 50 * workers)
    books = mixtures(120)
    expected = select_texts(books, Fraction(threshold), ngram_words)
    shuffled = random.Random(workers).sample(books, len(books))
    select = SelectBooks(str(tmp_path), threshold, ngram_words)
    outcome = run_transform(select, measured(tmp_path, shuffled), workers)
    assert verdicts_of(outcome) == expected
    kept = sorted(one.book.book_id for one in outcome.elements["kept"])
    assert kept == sorted(book_id for book_id, verdict in expected.items() if verdict.is_kept)
    assert 10 < len(kept) < 110


def test_nothing_to_choose_from(tmp_path: Path) -> None:
    outcome = run_transform(SelectBooks(str(tmp_path)), [])
    assert outcome.elements == {"kept": [], "rejected": [], "verdicts": []}


def test_a_sample_decides_by_less(tmp_path: Path) -> None:
    """Of 2,000 n-grams 70 %, of the next 30 % are in the first book; some 500 of each are looked at."""
    books = numbered([words(0, 2507), words(1107, 2000), words(3107, 1300) + " " + words(0, 607)])
    outcome = run_transform(SelectBooks(str(tmp_path), sample=4), measured(tmp_path, books))
    verdicts = verdicts_of(outcome)
    exact = select_texts(books)
    assert [exact[number].is_kept for number in (1, 2, 3)] == [True, False, True]
    for number, verdict in exact.items():
        found = verdicts[number]
        assert found.is_kept == verdict.is_kept
        assert found.ngrams == pytest.approx(verdict.ngrams / 4, rel=0.15)
        assert found.covered / found.ngrams == pytest.approx(
            verdict.covered / verdict.ngrams, abs=0.06
        )


def test_books_are_checked_by_their_ids() -> None:
    books = [MeasuredBook(make_book(book_id), 1, 1) for book_id in (3, 1, 2)]
    assert [one.book.book_id for one in check_ids(books)] == [1, 2, 3]
    again = books[0]._replace(book=books[0].book._replace(name="3.txt"))
    with pytest.raises(ValueError, match=r"book 3 occurs twice: 3-0\.txt and 3\.txt"):
        check_ids([*books, again])


REAL_CASES = [  # not kept → the book that has the most of it
    ("5903", "5921-0"),  # parts of Don Quixote, in its two volumes
    ("5905", "5921-0"),
    ("5926", "5946-0"),
    ("1002", "1004"),  # of the Divine Comedy
    ("1003", "1004"),
    ("8780", "8789"),
    ("8788", "8789"),
    ("14220", "572"),  # tales of Beatrix Potter, in a treasury
    ("14837", "572"),
    ("582", "572"),
    ("84-0", "42324-0"),  # Frankenstein
    ("41445-0", "42324-0"),
    ("11-0.older", "28885-0"),  # Alice; with the other text of it that is half
    ("1122", "1787"),  # Hamlet
    ("1793", "1127"),  # Othello
]
REAL_KEPT = {"12-0", "11-0", "1787", "572", "1004", "5921-0", "5946-0", "42324-0"}


@pytest.mark.slow
@needs_real_data
def test_omnibus_editions_and_their_parts(tmp_path: Path) -> None:
    names = {name for case in REAL_CASES for name in case} | REAL_KEPT
    bodies = list(read_bodies(names=tuple(names)).items())
    assert len(bodies) == len(names)
    books = numbered(body for _, body in bodies)
    outcome = run_transform(SelectBooks(str(tmp_path), words=EXACT), measured(tmp_path, books))
    verdicts = verdicts_of(outcome)
    assert verdicts == select_texts(books)
    found = {
        bodies[book_id - 1][0]: bodies[verdict.covering[0][0] - 1][0]
        for book_id, verdict in verdicts.items()
        if not verdict.is_kept
    }
    assert found == dict(REAL_CASES)


@pytest.mark.parametrize(("first", "component"), [(1, 1), (4, 1), (7, 2), (2, 2), (9, 9)])
def test_chains_go_to_their_component(first: int, component: int) -> None:
    links = numpy.array([[4, 1], [7, 2]])
    chain = numpy.array([first, 100]).tobytes()
    assert key_chain((chain, 3), links) == (component, (chain, 3))


def test_a_partition_is_not_read_where_no_book_is_contested() -> None:
    assert list(chain_partition(b"nothing", numpy.empty((0, 4), numpy.int64))) == []


@pytest.mark.parametrize(
    ("size", "sample", "plan"),
    [
        ((0, 0), 1, Plan(16, 1)),
        ((255, 1 << 21), 1, Plan(16, 1)),
        ((75_000, 5_000_000_000), 1, Plan(2385, 293)),
        ((75_000, 5_000_000_000), 16, Plan(150, 293)),
        ((7_500_000, 500_000_000_000), 1, Plan(1 << 14, 29297)),
    ],
)
def test_the_plan_follows_the_size(size: tuple[int, int], sample: int, plan: Plan) -> None:
    assert plan_parts(size, sample) == plan
