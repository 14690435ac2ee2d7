from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.models import word_vocabulary
from corpusmill.transforms.models.word_vocabulary import (
    SCHEMA,
    add_counts,
    count_words,
    cut_by_bucket,
    negate_counts,
    negative_words,
    pack_counts,
    spread_words,
    total_of,
    unpack_counts,
)

# Any bytes but the blank and the line feed may be in a word.
WORDS = st.one_of(
    st.sampled_from(
        [b"the", b"The", b".", b"\xed\xa0\x80", b"a\tb", b"a\xc2\xa0b", b"\xff", b"\0", b"\r"]
    ),
    st.binary(max_size=5).map(lambda word: word.translate(None, b" \n")),  # "" is no word
)
LINES = st.lists(st.lists(WORDS, max_size=8).map(b" ".join), max_size=20)


def as_dict(counts: pa.RecordBatch) -> dict[bytes, int]:
    assert counts.schema == SCHEMA
    rows = counts.to_pylist()
    found = {row["word"]: row["count"] for row in rows}
    assert len(found) == len(rows)
    return found


def batch_of(counts: dict[bytes, int]) -> pa.RecordBatch:
    return pa.record_batch([[*counts], [*counts.values()]], schema=SCHEMA)


@given(LINES)
def test_counts_are_those_of_a_plain_count(lines: list[bytes]) -> None:
    expected = Counter(word for line in lines for word in line.split(b" ") if word)
    counts = count_words(block_of(lines))
    assert as_dict(counts) == expected
    assert total_of(counts) == sum(expected.values())


@pytest.mark.parametrize("chunk_bytes", [1, 5, 40])
def test_chunks_make_no_difference(chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    block = block_of([b"a bb ccc"[: number % 9] for number in range(50)])
    expected = as_dict(count_words(block))
    monkeypatch.setattr(word_vocabulary, "CHUNK_BYTES", chunk_bytes)
    assert as_dict(count_words(block)) == expected


def test_a_line_that_is_cut_off_raises() -> None:
    with pytest.raises(ValueError, match="not found"):
        count_words(b"a b\nc")


def test_spread_words_keeps_order_and_repeats() -> None:
    assert spread_words(b"b a\n\na  b\n").to_pylist() == [b"b ", b"a ", b" ", b"a ", b" ", b"b "]


@given(LINES, LINES)
def test_counts_of_parts_add_up(first: list[bytes], second: list[bytes]) -> None:
    parts = [count_words(block_of(lines)) for lines in (first, second)]
    whole = as_dict(count_words(block_of([*first, *second])))
    assert as_dict(add_counts(parts)) == whole
    assert as_dict(add_counts(parts[::-1])) == whole


@given(LINES, LINES)
def test_what_is_taken_away_is_gone(kept: list[bytes], taken: list[bytes]) -> None:
    whole = count_words(block_of([*kept, *taken]))
    left = add_counts([whole, negate_counts(count_words(block_of(taken)))])
    assert as_dict(left) == as_dict(count_words(block_of(kept)))
    assert negative_words(left) == []


def test_negative_words_are_told() -> None:
    left = add_counts([batch_of({b"a": 1, b"b": 1, b"c": 5}), batch_of({b"c": -6, b"b": -2})])
    assert as_dict(left) == {b"a": 1, b"b": -1, b"c": -1}
    assert negative_words(left) == [b"b", b"c"]
    assert total_of(add_counts([])) == 0


@given(LINES, LINES, st.integers(1, 9))
def test_a_word_is_always_in_the_same_bucket(
    first: list[bytes], second: list[bytes], buckets: int
) -> None:
    of_first, of_second = (
        {bucket: as_dict(part) for bucket, part in cut_by_bucket(count_words(lines), buckets)}
        for lines in (block_of(first), block_of([*second, *first]))
    )
    for found, lines in ((of_first, first), (of_second, [*second, *first])):
        assert all(found.values())
        assert set(found) <= set(range(buckets))
        merged: Counter[bytes] = Counter()
        for part in found.values():
            assert not merged.keys() & part.keys()
            merged.update(part)
        assert merged == as_dict(count_words(block_of(lines)))
    assert all(part.keys() <= of_second[bucket].keys() for bucket, part in of_first.items())


def test_buckets_are_used_alike() -> None:
    counts = batch_of({b"word%d" % number: 1 for number in range(8000)})
    sizes = [part.num_rows for _, part in cut_by_bucket(counts, 8)]
    assert sum(sizes) == 8000
    assert len(sizes) == 8
    assert all(900 < size < 1100 for size in sizes)


@given(LINES, st.integers(1, 4))
def test_packing_loses_nothing(lines: list[bytes], buckets: int) -> None:
    counts = count_words(block_of(lines))
    for part in [counts, *(part for _, part in cut_by_bucket(counts, buckets))]:
        assert unpack_counts(pack_counts(part)).equals(part)


def test_a_packed_part_holds_no_more_than_the_part() -> None:
    counts = batch_of({b"word%d" % number: number for number in range(64_000)})
    (_, part), *_ = cut_by_bucket(counts, 64)
    assert len(pack_counts(part)) < len(pack_counts(counts)) / 32
