"""Books with <unk> for the words that the vocabulary of their size lacks."""

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from corpusmill.transforms.books import count_book_vocabulary
from corpusmill.transforms.books.book_rows import SizedBook
from corpusmill.transforms.books.count_book_vocabulary import (
    CountBookVocabulary,
    CountSizes,
    map_book,
)
from corpusmill.transforms.books.simplebooks_rows import LARGE, SMALL, BookVocabularyStats
from corpusmill.transforms.files.records import OutputFile, TokenizedBook
from corpusmill.transforms.files.scratch import Scratch, fetch_text
from corpusmill.transforms.models import count_words
from corpusmill.transforms.models.word_vocabulary import HeldoutStats, pack_words
from tests.tools.run_pipeline import Outcome, run_transform

BOOKS = [
    ("train", "the hen sat .\nthe wren sat .\n"),
    ("train", "the hen !\n"),
    ("validation", "the owl sat .\n"),
    ("test", "the hen\n"),
    ("train", ""),
    ("test", "wren .\n.\n"),
]


def count(folder: Path, books: Sequence[tuple[str, str]], min_count: int = 2) -> Outcome:
    folder.mkdir()
    scratch = Scratch(str(folder))
    placed = [
        (split, TokenizedBook(number, "", text.count("\n"), b"", scratch.put_text(text), 0))
        for number, (split, text) in enumerate(books)
    ]
    return run_transform(
        CountBookVocabulary(str(folder), "vocabulary-2.tsv", min_count, str(folder)), placed
    )


def test_the_vocabulary_is_that_of_the_training_split(tmp_path: Path) -> None:
    outcome = count(tmp_path / "a", BOOKS)
    data = (tmp_path / "a" / "vocabulary-2.tsv").read_bytes()
    assert data == b"the\t3\n.\t2\nhen\t2\nsat\t2\n"
    digest = hashlib.sha256(data).hexdigest()
    file = OutputFile("vocabulary-2.tsv", "", "text", 4, len(data), digest)
    assert outcome.elements["files"] == [file]
    assert outcome.elements["stats"] == [
        BookVocabularyStats(
            min_count=2,
            distinct_words=6,
            vocabulary_words=4,
            splits=(
                ("train", HeldoutStats(3, 11, 2)),
                ("test", HeldoutStats(3, 5, 1)),
                ("validation", HeldoutStats(1, 4, 1)),
            ),
        )
    ]
    assert outcome.counters == {"count-vocabulary/words": 11}


@pytest.mark.parametrize("seed", range(2))
def test_many_words_equal_a_plain_count(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(count_words, "GATHERED_WORDS", chance.choice([1, 100, 10_000]))
    books = [
        (
            chance.choice(["train", "train", "test"]),
            "".join(f"w{int(chance.paretovariate(0.7))} é\n" for _ in range(chance.randrange(90))),
        )
        for _ in range(20)
    ]
    monkeypatch.setattr(count_book_vocabulary, "BUCKETS", chance.choice([1, 5]))
    outcome = count(tmp_path / "a", books, min_count=3)
    words = Counter(word for split, text in books if split == "train" for word in text.split())
    frequent = {word: number for word, number in words.items() if number >= 3}
    rows = sorted((-number, word.encode()) for word, number in frequent.items())
    assert (tmp_path / "a" / "vocabulary-2.tsv").read_bytes() == b"".join(
        b"%s\t%d\n" % (word, -number) for number, word in rows
    )
    test = [word for split, text in books if split == "test" for word in text.split()]
    (stats,) = outcome.elements["stats"]
    counts = dict(stats.splits)
    assert counts["train"][1:] == (words.total(), words.total() - sum(frequent.values()))
    assert counts["test"][1:] == (len(test), sum(word not in frequent for word in test))
    assert 0 < counts["test"].out_of_vocabulary < len(test)


def test_without_books_the_vocabulary_is_empty(tmp_path: Path) -> None:
    outcome = count(tmp_path / "a", [])
    assert (tmp_path / "a" / "vocabulary-2.tsv").read_bytes() == b""
    assert outcome.elements["stats"] == [BookVocabularyStats(2, 0, 0, (("train", HeldoutStats()),))]


PLACED = [
    ("train", True, "the hen sat .\n"),
    ("train", False, "the owl sat .\nthe owl !\n"),
    ("validation", True, "the hen ran .\n"),
    ("test", True, "an owl sat .\n"),
]


def test_each_size_has_a_vocabulary_and_figures_of_its_own(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    sized = [
        SizedBook(
            TokenizedBook(
                number, "", text.count("\n"), b"", scratch.put_text(text), len(text.split())
            ),
            split,
            is_small,
        )
        for number, (split, is_small, text) in enumerate(PLACED, start=1)
    ]
    counted = run_transform(CountSizes(str(tmp_path), 2, str(tmp_path)), sized)
    files = {file.name: file for file in counted.elements["files"]}
    assert files.keys() == {"vocabulary-92.tsv", "vocabulary-2.tsv"}
    assert (tmp_path / "vocabulary-92.tsv").read_text() == "the\t3\n.\t2\nowl\t2\nsat\t2\n"
    assert (tmp_path / "vocabulary-2.tsv").read_text() == ""  # no word is twice in its one book
    assert [files[name].records for name in sorted(files)] == [0, 4]
    facts = dict(counted.elements["facts"])
    assert facts.keys() == {"simplebooks-92", "simplebooks-2"}
    large, small = facts["simplebooks-92"]["splits"], facts["simplebooks-2"]["splits"]
    assert (large["train"]["tokens"], small["train"]["tokens"]) == (11, 4)
    assert (large["train"]["out_of_vocabulary"], small["train"]["out_of_vocabulary"]) == (2, 4)
    for split in ("validation", "test"):
        assert large[split]["tokens"] == small[split]["tokens"] == 4
    assert large["test"]["out_of_vocabulary"] == 1
    assert facts["simplebooks-92"]["vocabulary_words"] == 4


def test_each_size_has_its_own_vocabulary(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    packed = scratch.put_text("the red hen\nthe end .\n")
    large, small = (
        pack_words(pa.array(words, pa.binary()))
        for words in ([b"the", b"hen", b"."], [b"the", b"."])
    )
    book = TokenizedBook(7, "Hen", 2, b"raw", packed, 6)
    mapped = map_book(SizedBook(book, "train", True), scratch, large, small)
    text_in = {size: fetch_text(mapped.in_size(size).packed_tokens) for size in (LARGE, SMALL)}
    assert text_in[LARGE] == "the <unk> hen\nthe <unk> .\n"
    assert text_in[SMALL] == "the <unk> <unk>\nthe <unk> .\n"
    assert mapped.book.packed_raw == b"raw"
    alone = map_book(SizedBook(book, "train", False), scratch, large, small)
    assert alone.packed_small == b""
    assert alone.in_size(SMALL) == alone.book
