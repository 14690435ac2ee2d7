import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corpusmill.transforms.books import take_simplest
from corpusmill.transforms.books.take_simplest import TakeSimplest
from corpusmill.transforms.files.records import MeasuredBook, Rejected
from corpusmill.transforms.models import count_words
from tests.makers.made_books import make_book
from tests.tools.run_pipeline import Outcome, run_transform


class Text(NamedTuple):
    """A tokenised book for tests, with what its ratio is made of."""

    book_id: int
    tokens: str  # with blanks between them
    measured: tuple[int, int]  # L, V


def take_in_sequence(
    texts: Sequence[Text], target_tokens: int, max_vocabulary: int, min_count: int
) -> tuple[list[int], str]:
    """The ids that are kept, and why the next one is not: by adding up book after book."""
    counts: Counter[str] = Counter()
    kept: list[int] = []
    in_order = sorted(
        texts,
        key=lambda text: (-Fraction(text.measured[0] ** 20, text.measured[1] ** 27), text.book_id),
    )
    for text in in_order:
        added = counts + Counter(text.tokens.split())
        if added.total() > target_tokens:
            return sorted(kept), "beyond-target-tokens"
        if sum(count >= min_count for count in added.values()) > max_vocabulary:
            return sorted(kept), "beyond-vocabulary"
        counts = added
        kept.append(text.book_id)
    return sorted(kept), ""


def random_texts(seed: int) -> list[Text]:
    chance = random.Random(seed)
    return [
        Text(
            book_id,
            " ".join(f"w{int(chance.paretovariate(0.6))}" for _ in range(chance.randrange(1, 120))),
            (chance.randrange(1, 40), chance.randrange(1, 9)),
        )
        for book_id in chance.sample(range(1, 99), 25)
    ]


def take(
    folder: Path, texts: Sequence[Text], settings: Mapping[str, Any], workers: int = 0
) -> Outcome:
    measured = [
        MeasuredBook(make_book(text.book_id, text.tokens, folder), *text.measured) for text in texts
    ]
    return run_transform(TakeSimplest(str(folder), **settings), measured, workers)


def ids_of(outcome: Outcome) -> list[int]:
    return sorted(measured.book.book_id for measured in outcome.elements["kept"])


TEXTS = [Text(3, "a b a", (3, 2)), Text(1, "a b c", (3, 3)), Text(2, "c c d", (3, 3))]


def test_the_first_that_does_not_fit_and_all_behind_it_are_rejected(tmp_path: Path) -> None:
    outcome = take(tmp_path, TEXTS, {"target_tokens": 100, "max_vocabulary": 1, "min_count": 2})
    assert ids_of(outcome) == [3]
    detail = "1 simpler books have 1 words, the next one adds 1"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("1", "Tale 1", "take-simplest", "beyond-vocabulary", detail),
        Rejected("2", "Tale 2", "take-simplest", "beyond-vocabulary", detail),
    ]
    assert outcome.counters == {
        "tokenize-books/books": 3,
        "tokenize-books/text_bytes": 15,
        "take-simplest/books": 1,
        "take-simplest/beyond-vocabulary": 2,
    }
    outcome = take(tmp_path, TEXTS, {"target_tokens": 8})
    assert ids_of(outcome) == [1, 3]
    detail = "2 simpler books have 6 tokens, the next one is too long"
    assert outcome.elements["rejected"] == [
        Rejected("2", "Tale 2", "take-simplest", "beyond-target-tokens", detail)
    ]


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"target_tokens": 9, "max_vocabulary": 3, "min_count": 2}, [1, 2, 3]),
        ({"max_vocabulary": 1, "min_count": 1}, []),
    ],
)
def test_limits(tmp_path: Path, settings: Mapping[str, int], kept: list[int]) -> None:
    outcome = take(tmp_path, TEXTS, settings)
    assert ids_of(outcome) == kept
    assert len(outcome.elements["rejected"]) == 3 - len(kept)


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_same_as_book_after_book(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = random_texts(seed)
    chance = random.Random(seed)
    settings = {
        "target_tokens": chance.randrange(300, 1500),
        "max_vocabulary": chance.randrange(20, 90),
        "min_count": chance.randrange(1, 4),
    }
    kept, reason = take_in_sequence(texts, **settings)
    monkeypatch.setattr(count_words, "GATHERED_WORDS", chance.choice([1, 50, 10_000]))
    shuffled = chance.sample(texts, len(texts))
    monkeypatch.setattr(take_simplest, "BUCKETS", chance.choice([1, 7]))
    outcome = take(tmp_path, shuffled, settings)
    assert ids_of(outcome) == kept
    assert {one.reason for one in outcome.elements["rejected"]} == ({reason} if reason else set())
    assert len(kept) + len(outcome.elements["rejected"]) == len(texts)


def test_the_random_books_end_in_both_ways() -> None:
    """Checks an assumption of the test before this one."""
    assert take_in_sequence(random_texts(1), 500, 10_000, 3)[1] == "beyond-target-tokens"
    assert take_in_sequence(random_texts(1), 10_000, 30, 3)[1] == "beyond-vocabulary"
    assert len(take_in_sequence(random_texts(1), 500, 10_000, 3)[0]) > 3


def test_two_workers_take_the_same(tmp_path: Path) -> None:
    kept, _ = take_in_sequence(random_texts(1), 10_000, 30, 3)
    settings = {"target_tokens": 10_000, "max_vocabulary": 30, "min_count": 3}
    assert ids_of(take(tmp_path, random_texts(1), settings, workers=2)) == kept != []


def test_without_books(tmp_path: Path) -> None:
    outcome = take(tmp_path, [], {})
    assert outcome.elements == {"kept": [], "rejected": []}
