from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.models import word_vocabulary
from corpusmill.transforms.models.word_vocabulary import (
    SIGNS,
    HeldoutStats,
    Vocabulary,
    VocabularyStats,
    add_heldout,
    count_words,
    cut_by_bucket,
    map_unknown,
    measure_heldout,
    merge_parts,
    pack_words,
    select_words,
    table_of,
    unpack_words,
)

ODD = b"<s> S> <UNK>s a\\tb a\tb \t a\r \0 \xc2\xa0 a\xe2\x80\xa8b \xff \xed\xa0\x80".split(b" ")
WORDS = [b"the", b"a", b".", b"Ma\xc3\x9f", b"<UNK>", b"<S>", *ODD]
LINES = st.lists(st.lists(st.sampled_from([*WORDS, b""]), max_size=8).map(b" ".join), max_size=20)


def words_of(*words: bytes) -> pa.BinaryArray:
    return pa.array(words, pa.binary())


def learn(block: bytes, min_count: int = 3, buckets: int = 1) -> Vocabulary:
    parts = cut_by_bucket(count_words(block), buckets)
    return merge_parts([select_words(part, min_count) for _, part in parts], block.count(b"\n"))


def rows_of(learned: Vocabulary) -> list[tuple[bytes, int]]:
    return [tuple(row.values()) for row in learned.counts.to_pylist()]


def test_frequent_words_come_first_and_equals_by_bytes() -> None:
    learned = learn(b"c b a Z b\nc b a Z\nrare c b a Z rarer\nrare b \xc3\xa9 \xc3\xa9 \xc3\xa9\n")
    assert rows_of(learned) == [(b"b", 5), (b"Z", 3), (b"a", 3), (b"c", 3), (b"\xc3\xa9", 3)]
    assert (learned.sentences, learned.words, learned.distinct_words) == (4, 20, 7)
    assert b"".join(table_of(learned)) == (
        b"<S>\t4\n</S>\t4\n<UNK>\t3\nb\t5\nZ\t3\na\t3\nc\t3\n\xc3\xa9\t3\n"
    )


@pytest.mark.parametrize("word", [b"<S>", b"</S>", b"<UNK>"])
def test_words_that_could_pass_for_signs_are_unknown(word: bytes) -> None:
    learned = learn(block_of([word + b" fine"] * 4))
    assert b"".join(table_of(learned)) == b"<S>\t4\n</S>\t4\n<UNK>\t4\nfine\t4\n"
    assert (learned.words, learned.distinct_words) == (8, 2)


def test_without_lines_there_are_the_signs() -> None:
    learned = merge_parts([], 0)
    assert b"".join(table_of(learned)) == b"<S>\t0\n</S>\t0\n<UNK>\t0\n"
    assert learned[1:] == (0, 0, 0)


@given(LINES, st.integers(1, 4), st.integers(1, 6))
def test_buckets_make_no_difference(lines: list[bytes], min_count: int, buckets: int) -> None:
    block = block_of(lines)
    one, several = learn(block, min_count), learn(block, min_count, buckets)
    assert rows_of(one) == rows_of(several)
    assert one[1:] == several[1:]


@given(LINES, st.integers(1, 4))
def test_the_table_adds_up_to_the_words(lines: list[bytes], min_count: int) -> None:
    counted = Counter(word for line in lines for word in line.split(b" ") if word)
    rows = [
        row.rsplit(b"\t", 1)
        for row in lines_of(b"".join(table_of(learn(block_of(lines), min_count))))
    ]
    assert sum(int(count) for _, count in rows[2:]) == counted.total()
    assert [int(count) for _, count in rows[:2]] == [len(lines)] * 2
    frequent = {word for word in counted if word not in SIGNS and counted[word] >= min_count}
    assert {word for word, _ in rows[3:]} == frequent


def test_a_long_table_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = learn(block_of([b"a b c d e f g"] * 3))
    whole = b"".join(table_of(learned))
    monkeypatch.setattr(word_vocabulary, "_ROWS", 3)
    parts = list(table_of(learned))
    assert [part.count(b"\n") for part in parts] == [3, 3, 3, 1]
    assert b"".join(parts) == whole


@given(st.sets(st.binary(max_size=4)))
def test_packed_words_come_back_by_bytes(words: set[bytes]) -> None:
    packed = pack_words(words_of(*words))
    assert unpack_words(packed).to_pylist() == sorted(words)
    assert packed == pack_words(words_of(*sorted(words)))


@given(LINES, st.sets(st.sampled_from(WORDS)))
def test_mapping_keeps_all_but_unknown_words(lines: list[bytes], known: set[bytes]) -> None:
    expected = [
        b" ".join(word if word in known or not word else b"<UNK>" for word in line.split(b" "))
        for line in lines
    ]
    assert map_unknown(block_of(lines), words_of(*known)) == block_of(expected)


@given(LINES, st.sets(st.sampled_from(WORDS)))
def test_held_out_lines_are_measured_as_they_would_be_mapped(
    lines: list[bytes], known: set[bytes]
) -> None:
    block = block_of(lines)
    blocks = [block, b"", block]
    stats, empty, again = measure_heldout(blocks, words_of(*(known - {b"<UNK>"})))
    assert (again, empty) == (stats, HeldoutStats())
    mapped = count_words(map_unknown(block, words_of(*(known - {b"<UNK>"})))).to_pylist()
    unknown = [row["count"] for row in mapped if row["word"] == b"<UNK>"]
    assert stats == HeldoutStats(len(lines), sum(row["count"] for row in mapped), sum(unknown))
    assert stats.predicted_words == stats.words + len(lines)


@pytest.mark.parametrize("chunk_bytes", [1, 9])
def test_chunks_make_no_difference(chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    block, known = block_of([b"a x b", b"", b"x x", b"b"] * 5), words_of(b"a", b"b")
    expected = map_unknown(block, known)
    monkeypatch.setattr(word_vocabulary, "CHUNK_BYTES", chunk_bytes)
    assert map_unknown(block, known) == expected
    assert measure_heldout([block], known) == [HeldoutStats(20, 30, 15)]


def shard(*counts: int) -> dict[str, int]:
    names = ("sentences", "predicted_words_with_end", "out_of_vocabulary")
    return dict(zip(names, counts, strict=True))


def test_stats_say_what_readers_of_the_benchmark_ask() -> None:
    heldout = (HeldoutStats(2, 10, 1), HeldoutStats(), HeldoutStats(1, 5, 2))
    stats = VocabularyStats(3, 100, 1000, 200, 80, heldout)
    assert stats.as_dict() == {
        "training_sentences": 100,
        "training_words": 1000,
        "training_words_with_boundaries": 1200,
        "training_distinct_words": 200,
        "words_with_count_at_least_3": 80,
        "vocabulary_with_S_slashS_UNK": 83,
        "heldout_shard_0": shard(2, 12, 1),
        "heldout": shard(3, 18, 3),
        "all_heldout": shard(6, 36, 6),
        "heldout_shards": [shard(2, 12, 1), shard(0, 0, 0), shard(1, 6, 2)],
    }
    assert add_heldout([]) == HeldoutStats(0, 0, 0)
