import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corpusmill.transforms.books import take_simplest
from corpusmill.transforms.books.book_rows import Place, SizedBook
from corpusmill.transforms.books.take_simplest import (
    BookFates,
    ListBooks,
    TakeSimplest,
    TokenizeBooks,
    title_of,
)
from corpusmill.transforms.files import records
from corpusmill.transforms.files.scratch import Scratch, fetch_text
from corpusmill.transforms.models import count_words
from tests.makers.made_books import make_book
from tests.tools.case_tables import read_cases
from tests.tools.run_pipeline import Outcome, run_inputs, run_transform

TEXTS = {
    90_001: "CHAPTER I\n\nThe hen sat\non the wall.\n\n\n“I'm 1,5,” said she—\nand\tslept.\n",
    90_002: "",
    90_003: "It was\xa0Mr. Öhl.\n\nÉlan!",
}
TOKENIZED = {
    90_001: (
        "CHAPTER I\nThe hen sat on the wall.\n“I'm 1,5,” said she—and slept.\n",
        "CHAPTER I\nThe hen sat on the wall .\n“ I 'm 1 @,@ 5 , ” said she — and slept .\n",
        2 + 7 + 14,
    ),
    90_002: ("", "", 0),
    90_003: ("It was Mr. Öhl.\nÉlan!\n", "It was Mr. Öhl .\nÉlan !\n", 5 + 2),
}


def books_in(folder: Path) -> list[records.MeasuredBook]:
    books = [make_book(book_id, text, folder) for book_id, text in TEXTS.items()]
    return [records.MeasuredBook(book, 1, 1) for book in books]


def tokenize(folder: Path, style: str = "distinct") -> Outcome:
    return run_transform(TokenizeBooks(str(folder), style), books_in(folder))


def unpack(book: records.TokenizedBook) -> tuple[str, str, int]:
    return fetch_text(book.packed_raw), fetch_text(book.packed_tokens), book.tokens


def test_books_come_in_both_forms(tmp_path: Path) -> None:
    outcome = tokenize(tmp_path)
    books = outcome.elements["main"]
    assert {book.book_id: unpack(book) for book in books} == TOKENIZED
    assert {book.title for book in books} == {"Tale 90001", "Tale 90002", "Tale 90003"}
    for book in books:
        raw, tokens, count = unpack(book)
        assert raw.count("\n") == tokens.count("\n") == book.paragraphs
        assert len(tokens.split()) == count
    size = sum(len(text.encode()) for text in TEXTS.values())
    assert outcome.counters == {"tokenize-books/books": 3, "tokenize-books/text_bytes": size}


def test_the_style_of_numbers(tmp_path: Path) -> None:
    text = "It cost 1.5.\n"
    measured = records.MeasuredBook(make_book(7, text, tmp_path), 1, 1)
    for style, tokens in (("distinct", "1 @.@ 5"), ("comma", "1 @,@ 5")):
        (book,) = run_transform(TokenizeBooks(str(tmp_path), style), [measured]).elements["main"]
        assert unpack(book) == (text, f"It cost {tokens} .\n", 6)


def test_nothing_depends_on_workers_or_order(tmp_path: Path) -> None:
    books = books_in(tmp_path)[::-1]
    found = run_transform(TokenizeBooks(str(tmp_path)), books, workers=2).elements["main"]
    assert {book.book_id: unpack(book) for book in found} == TOKENIZED


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
    scratch = Scratch(str(folder))
    books = [
        records.TokenizedBook(
            text.book_id,
            f"Tale {text.book_id}",
            paragraphs=1,
            packed_raw=b"",
            packed_tokens=scratch.put_text(f"{text.tokens}\n"),
            tokens=len(text.tokens.split()),
        )
        for text in texts
    ]
    return run_inputs(
        lambda books, measures: books | TakeSimplest(str(folder), measures, **settings),
        workers,
        books=books,
        measures=[(text.book_id, text.measured) for text in texts],
    )


def ids_of(outcome: Outcome) -> list[int]:
    return sorted(book.book_id for book in outcome.elements["kept"])


COUNTED = [Text(3, "a b a", (3, 2)), Text(1, "a b c", (3, 3)), Text(2, "c c d", (3, 3))]


def test_the_first_that_does_not_fit_and_all_behind_it_are_rejected(tmp_path: Path) -> None:
    outcome = take(tmp_path, COUNTED, {"target_tokens": 100, "max_vocabulary": 1, "min_count": 2})
    assert ids_of(outcome) == [3]
    detail = "1 simpler books have 1 words, the next one adds 1"
    assert sorted(outcome.elements["rejected"]) == [
        records.Rejected("1", "Tale 1", "take-simplest", "beyond-vocabulary", detail),
        records.Rejected("2", "Tale 2", "take-simplest", "beyond-vocabulary", detail),
    ]
    assert outcome.counters == {"take-simplest/books": 1, "take-simplest/beyond-vocabulary": 2}
    outcome = take(tmp_path, COUNTED, {"target_tokens": 8})
    assert ids_of(outcome) == [1, 3]
    detail = "2 simpler books have 6 tokens, the next one is too long"
    assert outcome.elements["rejected"] == [
        records.Rejected("2", "Tale 2", "take-simplest", "beyond-target-tokens", detail)
    ]


@pytest.mark.parametrize(("settings", "kept"), read_cases("books/take_simplest", "limits"))
def test_limits(tmp_path: Path, settings: Mapping[str, int], kept: list[int]) -> None:
    outcome = take(tmp_path, COUNTED, settings)
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


def test_every_book_has_a_line_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    books = [make_book(number) for number in (10, 9, 8)]
    fates = BookFates(
        titles=[title_of(book) for book in books],
        measures=[(10, (1200, 500)), (9, (300, 100))],
        verdicts=[
            records.OverlapVerdict(10, 1000, 10, True, ((7, 10),)),
            records.OverlapVerdict(9, 200, 150, False, ((10, 150),)),
        ],
        rejected=[
            records.Rejected("9", "Tale 9", "select-books", "overlaps", "0.75"),
            records.Rejected("8", "Tale 8", "strip-books", "kept-too-little", "1 %"),
        ],
        sized=[SizedBook(records.TokenizedBook(10, "Tale 10", 7, b"", b"", 1300), "train", True)],
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
