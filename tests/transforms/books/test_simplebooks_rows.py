import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.simplebooks_rows import (
    SCHEMA,
    SPLITS_WITH_SMALL,
    TEXT,
    BookVocabularyStats,
    Considered,
    Placement,
    Sized,
    make_line,
    make_rows,
    plan_sizes,
)
from corpusmill.transforms.files.builds.paper_figures import SIMPLEBOOKS, Beside
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.records import BookRow, OverlapVerdict, Rejected, TokenizedBook
from corpusmill.transforms.files.text import fingerprint
from corpusmill.transforms.models.word_vocabulary import HeldoutStats
from tests.tools.case_tables import read_cases

BOOK = TokenizedBook(90_001, "The Hen", 2, b"raw", b"tokens", 9)
VALUES = (90_001, "The Hen", b"tokens", b"raw")


@pytest.mark.parametrize(
    ("split", "is_small", "splits"),
    read_cases("books/simplebooks_rows", "a_training_book_of_the_small_size_is_in_two_splits"),
)
def test_a_training_book_of_the_small_size_is_in_two_splits(
    split: str, is_small: bool, splits: list[str]
) -> None:
    rows = list(make_rows(BOOK, split, is_small))
    assert rows == [BookRow(name, 90_001, VALUES) for name in splits]
    assert set(splits) <= set(SPLITS_WITH_SMALL)


def test_the_small_training_set_may_have_other_tokens() -> None:
    rows = list(make_rows(BOOK, "train", True, b"some <unk>"))
    assert [row.values[2] for row in rows] == [b"tokens", b"some <unk>"]
    assert [row.values[2] for row in make_rows(BOOK, "test", True, b"some <unk>")] == [b"tokens"]


def test_the_tokens_are_the_text() -> None:
    assert dict(zip(SCHEMA.names, VALUES, strict=True)) == {
        "book_id": 90_001,
        "book_title": "The Hen",
        "text": b"tokens",
        "raw_text": b"raw",
    }
    assert SCHEMA.types == [pa.int32(), pa.string(), pa.string(), pa.string()]
    assert SCHEMA.names[TEXT] == "text"


def figures(tokens: int, words: int, share: float, *splits: str) -> dict[str, Any]:
    return {
        "min_count": 3,
        "vocabulary_with_unk_and_eos": words,
        "tokens_per_vocabulary_word": tokens / words,
        "splits": {
            split: {
                "tokens": tokens - 7,
                "tokens_with_eos": tokens,
                "out_of_vocabulary_share": share + place / 10,
            }
            for place, split in enumerate(splits)
        },
    }


def card_of(stats: dict[str, Any], no_size: str = "") -> str:
    books = {"total": {"books": 5}}
    facts = {"kept": books, "paper": SIMPLEBOOKS, "read": 5, "unit": "files", "rejected": {}}
    beside = Beside(no_size, differs="input of 1999")
    return "\n".join(render("simplebooks", stats=stats | books, beside=beside, **facts))


def test_the_card_shows_the_paper_beside() -> None:
    stats = {
        "simplebooks-92": figures(20_000_000, 50_000, 0.0011, "train", "test", "validation"),
        "simplebooks-2": figures(2_000, 100, 0.05, "train", "test"),
    }
    card = card_of(stats)
    assert (
        "| simplebooks-92 | 20,000,000 | 50,000 | 0.11 % | 400.00 | input of 1999 |\n"
        "| simplebooks-92 of the paper | 91.5M | 98,304 | 0.11 % | 931.40 | – |\n"
        "| simplebooks-2 | 2,000 | 100 | 5.00 % | 20.00 | input of 1999 |\n"
        "| simplebooks-2 of the paper | 2.2M | 11,492 | 0.47 % | 195.43 | – |\n"
    ) in card
    assert "words that occur 3 times or more in training" in card
    assert (
        "| corpus | train | validation | test |\n|---|---:|---:|---:|\n"
        "| simplebooks-92 | 0.11 % | 20.11 % | 10.11 % |\n"
        "| simplebooks-2 | 5.00 % | – | 15.00 % |\n"  # has no book of validation
    ) in card
    assert "are the same text" not in card
    card = card_of(stats, "other settings")
    assert (
        "| simplebooks-2 of the paper | – | – | – | – | – |\n\nNo figures of the paper: other"
        in card
    )


def test_the_card_says_where_both_sizes_are_the_same() -> None:
    same = figures(2_000, 100, 0.05, "train")
    card = card_of({"simplebooks-92": same, "simplebooks-2": same})
    assert "simplebooks-92 and simplebooks-2 are the same text" in card


ORDER = sorted(range(1, 41), key=lambda book_id: fingerprint(f"simplebooks {book_id}"))
FACTS = st.dictionaries(st.integers(1, 99), st.integers(1, 1000), min_size=5, max_size=40).map(
    lambda sizes: list(sizes.items())
)


def test_books_are_placed_in_the_order_of_their_fingerprints() -> None:
    plan = plan_sizes([(book_id, 100) for book_id in range(1, 41)], 3, small_tokens=1250)
    expected = ["validation"] * 3 + ["test"] * 3 + ["train"] * 34
    assert [plan[book_id].split for book_id in ORDER] == expected
    assert [plan[book_id].is_small for book_id in ORDER] == [True] * 18 + [False] * 22


def test_the_order_is_fixed_forever() -> None:
    assert ORDER[:6] == [23, 25, 38, 3, 30, 2]


def test_books_of_no_ordinary_length_are_held_out_only_where_there_are_no_others() -> None:
    sizes = dict.fromkeys(range(1, 41), 100)
    sizes |= {ORDER[0]: 201, ORDER[2]: 200, ORDER[3]: 49, ORDER[4]: 50}
    plan = plan_sizes(list(sizes.items()), 2)
    heldout = [book_id for book_id in ORDER if plan[book_id].split != "train"]
    assert heldout == [ORDER[1], ORDER[2], ORDER[4], ORDER[5]]
    few = [(book_id, 1000 if book_id in ORDER[:2] else 1) for book_id in ORDER[:5]]
    plan = plan_sizes(few, 2)
    splits = [plan[book_id].split for book_id in ORDER[:5]]
    assert splits == ["test", "train", "validation", "validation", "test"]


def test_a_book_that_does_not_fit_into_the_small_size_is_passed_over() -> None:
    tokens = [50, 50, 50, 60, 51, 49, 2]
    plan = plan_sizes(list(zip(ORDER, tokens, strict=False)), 1, small_tokens=100)
    assert [plan[book_id] for book_id in ORDER[:7]] == [
        Placement("validation", True),
        Placement("test", True),
        Placement("train", True),
        Placement("train", False),
        Placement("train", False),
        Placement("train", True),
        Placement("train", False),
    ]


@given(FACTS, st.integers(1, 2), st.integers(1, 5000), st.randoms())
def test_laws(
    facts: list[tuple[int, int]], heldout: int, small_tokens: int, chance: random.Random
) -> None:
    plan = plan_sizes(facts, heldout, small_tokens)
    sizes = dict(facts)
    assert plan.keys() == sizes.keys()
    counts = Counter(placement.split for placement in plan.values())
    assert counts == {"validation": heldout, "test": heldout, "train": len(facts) - 2 * heldout}
    assert all(placement.is_small for placement in plan.values() if placement.split != "train")
    train = {one: placement for one, placement in plan.items() if placement.split == "train"}
    small = sum(sizes[one] for one, placement in train.items() if placement.is_small)
    left = [sizes[one] for one, placement in train.items() if not placement.is_small]
    assert small <= small_tokens < small + min(left, default=small_tokens + 1)
    assert plan_sizes(chance.sample(facts, len(facts)), heldout, small_tokens) == plan


def test_too_few_books() -> None:
    assert len(plan_sizes([(book_id, 9) for book_id in range(11)])) == 11
    with pytest.raises(ValueError, match="10 books are left, but 11 are needed: 5 each"):
        plan_sizes([(book_id, 9) for book_id in range(10)])
    with pytest.raises(ValueError, match="0 books are left, but 3 are needed"):
        plan_sizes([], 1)


def test_the_figures_of_table_1() -> None:
    """Ends of lines are tokens, and <unk> and <eos> words of the vocabulary."""
    splits = (("train", HeldoutStats(150, 3000, 63)), ("test", HeldoutStats(20, 300, 8)))
    stats = BookVocabularyStats(3, 60, 40, splits)
    assert stats.frequency == 75
    assert stats.as_dict() == {
        "min_count": 3,
        "distinct_words": 60,
        "vocabulary_words": 40,
        "vocabulary_with_unk_and_eos": 42,
        "tokens_per_vocabulary_word": 75.0,
        "splits": {
            "train": {
                "lines": 150,
                "tokens": 3000,
                "tokens_with_eos": 3150,
                "out_of_vocabulary": 63,
                "out_of_vocabulary_share": 0.02,
            },
            "test": {
                "lines": 20,
                "tokens": 300,
                "tokens_with_eos": 320,
                "out_of_vocabulary": 8,
                "out_of_vocabulary_share": 0.025,
            },
        },
    }


def test_the_figures_of_wikitext_2() -> None:
    """Table 1 of the paper has 62.76 for its 2,088,628 tokens, of which 36,718 are ends of lines."""
    stats = BookVocabularyStats(3, 0, 33_276, (("train", HeldoutStats(36_718, 2_051_910, 0)),))
    assert stats.as_dict()["tokens_per_vocabulary_word"] == 62.76


def test_without_words_all_is_0() -> None:
    stats = BookVocabularyStats(3, 0, 0, (("train", HeldoutStats()),))
    assert stats.frequency == 0
    assert stats.as_dict()["splits"]["train"]["out_of_vocabulary_share"] == 0


MEASURED = (1200, 500), "L/V^2"


def test_a_kept_book() -> None:
    verdict = OverlapVerdict(7, 1000, 125, True, ((5, 100), (6, 25)))
    line = make_line(7, "Hen", *MEASURED, verdict, None, Sized("train", True, 101, 40))
    assert line == Considered(
        book_id=7,
        title="Hen",
        tokens=1200,
        vocabulary=500,
        ratio="0.0048",
        ngrams=1000,
        overlap="0.1250",
        verdict="kept",
        detail="",
        covered_by="5:0.1000 6:0.0250",
        split="train",
        in_simplebooks_2="yes",
        first_line=101,
        lines=40,
    )


def test_a_rejected_book_has_what_it_came_to() -> None:
    rejected = Rejected("7", "Hen", "screen-books", "poems", "verse lines")
    line = make_line(7, "Hen", *MEASURED, None, rejected, None)
    assert (line.verdict, line.detail) == ("screen-books/poems", "verse lines")
    assert (line.tokens, line.overlap, line.split, line.in_simplebooks_2) == (1200, "", "", "")
    assert make_line(7, "Hen", None, "L/V^2", None, rejected, None).ratio == ""


def test_what_has_no_ngrams_overlaps_nothing() -> None:
    verdict = OverlapVerdict(7, 0, 0, True, ())
    line = make_line(7, "Hen", *MEASURED, verdict, None, Sized("test", False, 1, 0))
    assert (line.overlap, line.covered_by, line.in_simplebooks_2) == ("0.0000", "", "no")


def test_a_book_has_one_fate() -> None:
    rejected = Rejected("7", "Hen", "screen-books", "poems")
    sized = Sized("test", False, 1, 1)
    for fates in ((None, None), (rejected, sized)):
        with pytest.raises(ValueError, match="book 7 is both kept and rejected, or neither"):
            make_line(7, "Hen", *MEASURED, None, *fates)
