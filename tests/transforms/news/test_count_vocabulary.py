import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpusmill.transforms.files.builds.ledger import AccountingError
from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.files.records import LineRange, LineShard, OutputFile
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.models import count_words as deal_words
from corpusmill.transforms.models.word_vocabulary import (
    HeldoutStats,
    VocabularyStats,
    count_words,
    negate_counts,
    pack_counts,
    unpack_words,
)
from corpusmill.transforms.news.count_vocabulary import CountVocabulary
from tests.makers.line_ranges import cut
from tests.tools.run_pipeline import Outcome, run_inputs

LINES = [
    b"the cat sat .",
    b"the dog sat .",
    b"a cat , a dog",
    b"the cow",
    b"rare <UNK> <UNK> <UNK>",
] * 3
HELDOUT = [b"the cow", b"a cat , a dog", b"the cow"]  # "cow" is left once, and "a" four times
SPLIT = [HELDOUT[:2], [], HELDOUT[2:]]


def shards_of(split: Sequence[Sequence[bytes]]) -> list[LineShard]:
    return [
        LineShard("heldout", number, len(split), block_of(lines))
        for number, lines in enumerate(split)
    ]


def count(
    folder: Path,
    ranges: Sequence[LineRange],
    shards: Sequence[LineShard],
    min_count: int = 3,
    buckets: int = 4,
) -> Outcome:
    folder.mkdir()
    counting = CountVocabulary(str(folder), min_count, buckets)
    return run_inputs(
        lambda ranges, shards: (ranges, shards) | counting, ranges=ranges, shards=shards
    )


def test_a_vocabulary_is_that_of_the_lines_not_held_out(tmp_path: Path) -> None:
    outcome = count(tmp_path / "a", cut(LINES, 4), shards_of(SPLIT))
    data = (tmp_path / "a" / "vocabulary.tsv").read_bytes()
    assert data == (
        b"<S>\t12\n</S>\t12\n<UNK>\t12\nthe\t7\n.\t6\nsat\t6\ncat\t5\ndog\t5\na\t4\nrare\t3\n"
    )
    assert outcome.elements["files"] == [
        OutputFile("vocabulary.tsv", "", "text", 10, len(data), hashlib.sha256(data).hexdigest())
    ]
    assert outcome.elements["stats"] == [
        VocabularyStats(
            min_count=3,
            training_sentences=12,
            training_words=48,
            training_distinct_words=10,
            vocabulary_words=7,
            heldout=(HeldoutStats(2, 7, 2), HeldoutStats(0, 0, 0), HeldoutStats(1, 2, 1)),
        )
    ]
    (packed,) = outcome.elements["words"]
    assert unpack_words(packed).to_pylist() == [b".", b"a", b"cat", b"dog", b"rare", b"sat", b"the"]
    assert outcome.counters == {"count-vocabulary/words": 57}


@pytest.mark.parametrize(
    ("size", "buckets", "gathered_words"), [(1, 1, 1), (2, 64, 5), (15, 3, 1000), (4, 2, 20)]
)
def test_results_do_not_depend_on_order_ranges_or_buckets(
    tmp_path: Path, size: int, buckets: int, gathered_words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = count(tmp_path / "a", cut(LINES, 5), shards_of(SPLIT))
    monkeypatch.setattr(deal_words, "GATHERED_WORDS", gathered_words)
    chance = random.Random(size)
    ranges, shards = cut(LINES, size), shards_of(SPLIT)
    chance.shuffle(ranges)
    chance.shuffle(shards)
    outcome = count(tmp_path / "b", ranges, shards, buckets=buckets)
    assert outcome.elements == expected.elements
    assert outcome.counters == expected.counters


def test_many_words_equal_a_plain_count(tmp_path: Path) -> None:
    chance = random.Random(1)
    lines = [
        b" ".join(b"w%d" % int(chance.paretovariate(0.7)) for _ in range(chance.randrange(30)))
        for _ in range(3000)
    ]
    split = [lines[:20], lines[20:50]]
    outcome = count(tmp_path / "a", cut(lines, 400), shards_of(split), min_count=2, buckets=7)
    words = Counter(word for line in lines[50:] for word in line.split())
    rows = sorted(((-number, word) for word, number in words.items() if number >= 2))
    unknown = sum(number for number in words.values() if number < 2)
    assert unknown > 100
    assert (tmp_path / "a" / "vocabulary.tsv").read_bytes() == b"".join(
        b"%s\t%d\n" % row
        for row in [
            (b"<S>", 2950),
            (b"</S>", 2950),
            (b"<UNK>", unknown),
            *((word, -number) for number, word in rows),
        ]
    )
    (stats,) = outcome.elements["stats"]
    assert stats[:5] == (2, 2950, words.total(), len(words), len(rows))
    assert stats.heldout == tuple(
        HeldoutStats(
            len(shard),
            sum(len(line.split()) for line in shard),
            sum(words[word] < 2 for line in shard for word in line.split()),
        )
        for shard in split
    )
    assert sum(shard.out_of_vocabulary for shard in stats.heldout) > 0


def test_shards_that_are_not_held_out_are_passed_over(tmp_path: Path) -> None:
    others = [
        LineShard("train", number, 2, block_of(lines))
        for number, lines in enumerate([HELDOUT, LINES])
    ]
    expected = count(tmp_path / "a", cut(LINES, 4), shards_of(SPLIT))
    outcome = count(tmp_path / "b", cut(LINES, 4), [*others, *shards_of(SPLIT)])
    assert outcome.elements == expected.elements


@pytest.mark.parametrize("shards", [[], shards_of([[], []])])
def test_without_lines_there_are_the_signs(tmp_path: Path, shards: list[LineShard]) -> None:
    outcome = count(tmp_path / "a", [], shards)
    data = (tmp_path / "a" / "vocabulary.tsv").read_bytes()
    assert data == b"<S>\t0\n</S>\t0\n<UNK>\t0\n"
    heldout = (HeldoutStats(),) * len(shards)
    assert outcome.elements["stats"] == [VocabularyStats(3, 0, 0, 0, 0, heldout)]
    assert [unpack_words(packed).to_pylist() for packed in outcome.elements["words"]] == [[]]


def test_what_is_held_out_must_be_in_the_corpus(tmp_path: Path) -> None:
    ranges = cut([b"a b", b"a"], 1)
    message = r"1 words are more frequent in the held-out lines .*\[b'b'\]"
    with pytest.raises(Exception, match=message):
        count(tmp_path / "a", ranges, shards_of([[b"b b"]]))
    with pytest.raises(AccountingError, match="2 more lines are held out"):
        deal_words.write_vocabulary(str(tmp_path), "vocabulary.tsv", [], -2)


def test_many_pieces_of_a_bucket_are_added_up_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = Scratch(str(tmp_path))
    monkeypatch.setattr(deal_words, "GATHERED_WORDS", 1)
    plus, minus = count_words(b"a b a\n"), negate_counts(count_words(b"a\n"))
    parts = [minus, plus, minus, plus, plus, minus]
    pieces = [scratch.put(pack_counts(counts)) for counts in parts]
    part = deal_words.add_bucket((0, iter(pieces)), 1)
    assert part[1:] == (6, 2)
