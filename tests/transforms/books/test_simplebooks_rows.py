from typing import Any

import pyarrow as pa
import pytest

from corpusmill.transforms.books.simplebooks_rows import (
    SCHEMA,
    SPLITS_WITH_SMALL,
    TEXT,
    make_rows,
)
from corpusmill.transforms.files.builds.paper_figures import SIMPLEBOOKS
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.records import BookRow, TokenizedBook

BOOK = TokenizedBook(90_001, "The Hen", 2, b"raw", b"tokens", 9)
VALUES = (90_001, "The Hen", b"tokens", b"raw")


@pytest.mark.parametrize(
    ("split", "is_small", "splits"),
    [
        ("train", False, ["train"]),
        ("train", True, ["train", "train_2"]),
        ("validation", True, ["validation"]),
        ("test", True, ["test"]),
    ],
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


def card_of(stats: dict[str, Any], why_not: str = "") -> str:
    books = {"total": {"books": 5}}
    facts = {"kept": books, "paper": SIMPLEBOOKS, "read": 5, "unit": "files", "rejected": {}}
    return "\n".join(render("simplebooks", stats=stats | books, why_not=why_not, **facts))


def test_the_card_shows_the_paper_beside() -> None:
    stats = {
        "simplebooks-92": figures(20_000_000, 50_000, 0.0011, "train", "test", "validation"),
        "simplebooks-2": figures(2_000, 100, 0.05, "train", "test"),
    }
    card = card_of(stats)
    assert (
        "| simplebooks-92 | 20,000,000 | 50,000 | 0.11 % | 400.00 |\n"
        "| simplebooks-92 of the paper | 91.5M | 98,304 | 0.11 % | 931.40 |\n"
        "| simplebooks-2 | 2,000 | 100 | 5.00 % | 20.00 |\n"
        "| simplebooks-2 of the paper | 2.2M | 11,492 | 0.47 % | 195.43 |\n"
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
        "| simplebooks-2 of the paper | – | – | – | – |\n\nNo figures of the paper: other" in card
    )


def test_the_card_says_where_both_sizes_are_the_same() -> None:
    same = figures(2_000, 100, 0.05, "train")
    card = card_of({"simplebooks-92": same, "simplebooks-2": same})
    assert "simplebooks-92 and simplebooks-2 are the same text" in card
