"""Counts millions of words in Arrow columns, which need a tenth of the memory of Python objects.

Words are separated by spaces (U+0020) and line feeds, and may contain any other bytes. Empty words are not
counted. Tokenised lines have only single spaces between words. They contain other white space only if the
tokeniser left the line unchanged.

Computes the word vocabulary of a corpus, and how much of the held-out text the vocabulary covers.

The rules are those of the One Billion Word benchmark (Chelba et al. 2013, section 2, and
README.perplexity_and_such of its repository). A vocabulary contains the words that occur at least 3 times,
and three special tokens: <S> and </S> for the beginning and end of a sentence, and <UNK> for any other word.
A language model predicts the end of a sentence like a word, but not its beginning.

If the text contains a word that is spelled like a special token, the word is not added to the vocabulary.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..files.line_blocks import (
    block_of,
    count_lines,
    cut_block,
    group_places,
    pack_block,
    unpack_block,
)

SCHEMA = pa.schema(
    [pa.field("word", pa.binary(), nullable=False), pa.field("count", pa.int64(), nullable=False)]
)
"""Schema of word counts: record batches with each word once, in any order. Counts may be negative."""

CHUNK_BYTES = 1 << 24  # bytes of text counted at a time; Arrow's offsets must be below 2**31


def count_words(block: bytes) -> pa.RecordBatch:
    """Counts how often each word occurs in a block of lines."""
    texts = [spread_words(chunk) for chunk in cut_block(block, CHUNK_BYTES)]
    counted = pa.chunked_array(texts, pa.binary()).value_counts()
    return _drop_absent(pc.binary_slice(counted.field("values"), 0, -1), counted.field("counts"))


def spread_words(block: bytes) -> pa.BinaryArray:
    """Returns the words of a block of lines in order, each followed by one space.

    An empty word becomes a single space. Because the spaces are included, the array can use the bytes of the
    block, and words need not be copied one by one.
    """
    text = block.replace(b"\n", b" ")
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(" ")) + 1
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.binary(), len(ends), buffers)


def _drop_absent(words: pa.BinaryArray, counts: pa.Array) -> pa.RecordBatch:
    """Returns the words with their counts. The empty word and words with a count of 0 are left out."""
    batch = pa.record_batch([words, counts], schema=SCHEMA)
    is_word = pc.greater(pc.binary_length(words), 0)
    return batch.filter(pc.and_(is_word, pc.not_equal(counts, 0)))


def add_counts(parts: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Adds up several word counts. Words whose counts add up to 0 are dropped."""
    table = pa.Table.from_batches(parts, SCHEMA)
    summed = table.group_by("word", use_threads=False).aggregate([("count", "sum")])
    return _drop_absent(*(summed[name].combine_chunks() for name in ("word", "count_sum")))


def negate_counts(counts: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the counts with the opposite sign. Adding them to other counts subtracts `counts`."""
    return pa.record_batch([counts["word"], pc.negate(counts["count"])], schema=SCHEMA)


def total_of(counts: pa.RecordBatch) -> int:
    """Returns the sum of all counts."""
    return pc.sum(counts["count"]).as_py() or 0


def negative_words(counts: pa.RecordBatch) -> list[bytes]:
    """Returns the words with a negative count, sorted by bytes."""
    return sorted(counts.filter(pc.less(counts["count"], 0))["word"].to_pylist())


def cut_by_bucket(counts: pa.RecordBatch, buckets: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Divides word counts into buckets. Yields (number of a bucket, its counts) for buckets that have words.

    The bucket of a word depends only on its bytes, so all counts of a word are in the same bucket.
    """
    words = counts["word"].to_pylist()
    bucket_of_word = np.fromiter(map(zlib.crc32, words), np.uint32, len(words)) % buckets
    for bucket, places in group_places(bucket_of_word):
        yield bucket, counts.take(pa.array(places))


def pack_counts(counts: pa.RecordBatch) -> bytes:
    """Compresses word counts to about 6 bytes per word."""
    return pack_block(counts.serialize().to_pybytes())


def unpack_counts(packed: bytes, schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    """Decompresses counts that `pack_counts` has compressed. `schema` is the schema of these counts."""
    return pa.ipc.read_record_batch(pa.py_buffer(unpack_block(packed)), schema)


START, END, UNKNOWN = SIGNS = (b"<S>", b"</S>", b"<UNK>")

_ROWS = 1 << 16  # rows of a table written at a time
_WORDS = pa.schema([SCHEMA.field("word")])


class VocabularyPart(NamedTuple):
    """A part of a vocabulary. Different parts have no word in common."""

    packed: bytes  # counts of the words that are in the vocabulary
    words: int  # number of running words of the part, including rare words
    distinct_words: int


class Vocabulary(NamedTuple):
    """The frequent words of a training corpus, and the size of the corpus."""

    counts: pa.RecordBatch  # the most frequent first, then by bytes
    sentences: int
    words: int  # number of running words, without the ends of sentences
    distinct_words: int


class HeldoutStats(NamedTuple):
    """Counts that show how well a vocabulary covers held-out text."""

    sentences: int = 0
    words: int = 0
    out_of_vocabulary: int = 0  # running words that are not in the vocabulary

    @property
    def predicted_words(self) -> int:
        """The number of predicted tokens: the words, and the end of each sentence."""
        return self.words + self.sentences

    def as_dict(self) -> dict[str, int]:
        """Returns the counts in the form in which stats.json contains them: name of a count → its value."""
        return {
            "sentences": self.sentences,
            "predicted_words_with_end": self.predicted_words,
            "out_of_vocabulary": self.out_of_vocabulary,
        }


class VocabularyStats(NamedTuple):
    """The size of a training corpus and of its vocabulary, and the coverage of the held-out text."""

    min_count: int
    training_sentences: int
    training_words: int
    training_distinct_words: int
    vocabulary_words: int  # number of words in the vocabulary, without the special tokens
    heldout: tuple[HeldoutStats, ...]  # counts of each held-out shard, in order

    def as_dict(self) -> dict[str, Any]:
        """Returns the figures in the form in which stats.json contains them: name of a figure → its value.

        Values are numbers, or mappings with the counts of held-out text (see `HeldoutStats.as_dict`).
        """
        shards = [shard.as_dict() for shard in self.heldout]
        heldout = add_heldout(self.heldout)
        return {
            "training_sentences": self.training_sentences,
            "training_words": self.training_words,
            "training_words_with_boundaries": self.training_words + 2 * self.training_sentences,
            "training_distinct_words": self.training_distinct_words,
            f"words_with_count_at_least_{self.min_count}": self.vocabulary_words,
            "vocabulary_with_S_slashS_UNK": self.vocabulary_words + len(SIGNS),
            **{f"heldout_shard_{shard}": counts for shard, counts in enumerate(shards[:1])},
            "heldout": heldout.as_dict(),
            # Counts over all files of the held-out folder of the original. It has each sentence twice: in the
            # held-out shard and in its parts.
            "all_heldout": add_heldout([heldout, heldout]).as_dict(),
            "heldout_shards": shards,
        }


def add_heldout(stats: Iterable[HeldoutStats]) -> HeldoutStats:
    """Adds up the HeldoutStats of several shards, field by field."""
    return HeldoutStats(*(sum(column) for column in zip(HeldoutStats(), *stats, strict=True)))


def select_words(counts: pa.RecordBatch, min_count: int) -> VocabularyPart:
    """Selects the words with a count of at least `min_count`.

    Args:
      counts: for a part of the distinct words, the number of their occurrences in the whole corpus.
      min_count: the lowest count of a word in the vocabulary.
    """
    frequent = counts.filter(pc.greater_equal(counts["count"], min_count))
    is_sign = pc.is_in(frequent["word"], pa.array(SIGNS, pa.binary()))
    kept = frequent.filter(pc.invert(is_sign))
    return VocabularyPart(pack_counts(kept), total_of(counts), counts.num_rows)


def merge_parts(parts: Sequence[VocabularyPart], sentences: int) -> Vocabulary:
    """Merges parts of a vocabulary that have no word in common.

    `sentences` is the number of sentences in the corpus.
    """
    batches = [unpack_counts(part.packed) for part in parts]
    table = pa.Table.from_batches(batches, SCHEMA).combine_chunks()
    ordered = table.sort_by([("count", "descending"), ("word", "ascending")])
    return Vocabulary(
        counts=pa.record_batch([_whole(column) for column in ordered.columns], schema=SCHEMA),
        sentences=sentences,
        words=sum(part.words for part in parts),
        distinct_words=sum(part.distinct_words for part in parts),
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def table_of(vocabulary: Vocabulary) -> Iterator[bytes]:
    """Yields the content of vocabulary.tsv in blocks. Each line is a word, a tab and its count.

    The first lines are the special tokens. The count of <UNK> is the number of occurrences of words that are
    not in the vocabulary. The words follow, sorted by descending count, then by their bytes. A word may
    contain tabs, because the tokeniser leaves some lines unchanged. So the count is what follows the last tab
    of a line.
    """
    unknown = vocabulary.words - total_of(vocabulary.counts)
    totals = (vocabulary.sentences, vocabulary.sentences, unknown)
    yield block_of([b"%s\t%d" % row for row in zip(SIGNS, totals, strict=True)])
    yield from rows_of(vocabulary.counts)


def rows_of(counts: pa.RecordBatch) -> Iterator[bytes]:
    """Yields `counts` as blocks of lines, in order. A line is a word, a tab and its count."""
    for start in range(0, counts.num_rows, _ROWS):
        columns = counts.slice(start, _ROWS).to_pydict().values()
        yield block_of([b"%s\t%d" % row for row in zip(*columns, strict=True)])


def pack_words(words: pa.BinaryArray) -> bytes:
    """Sorts words and compresses them, so that they can be sent to workers."""
    in_order = words.take(pc.array_sort_indices(words))
    return pack_block(pa.record_batch([in_order], schema=_WORDS).serialize().to_pybytes())


def unpack_words(packed: bytes) -> pa.BinaryArray:
    """Decompresses words that `pack_words` has compressed."""
    return pa.ipc.read_record_batch(pa.py_buffer(unpack_block(packed)), _WORDS)["word"]


def measure_heldout(blocks: Sequence[bytes], words: pa.BinaryArray) -> list[HeldoutStats]:
    """Measures for each block of lines how well a vocabulary covers it.

    `words` are the words of the vocabulary. They are hashed once for all blocks.
    """
    counts = [count_words(block) for block in blocks]
    is_known = pc.is_in(pa.chunked_array([one["word"] for one in counts], pa.binary()), words)
    known = np.split(is_known.to_numpy(), np.cumsum([one.num_rows for one in counts])[:-1])
    return [
        HeldoutStats(count_lines(block), total_of(one), total_of(one.filter(pa.array(~known_here))))
        for block, one, known_here in zip(blocks, counts, known, strict=True)
    ]


def map_unknown(block: bytes, words: pa.BinaryArray, sign: bytes = UNKNOWN) -> bytes:
    """Replaces each word that is not in a vocabulary by a special token. Spaces and line ends are kept.

    Args:
      block: a block of lines.
      words: the words of the vocabulary.
      sign: the special token, by default <UNK>.
    """
    return b"".join(_map_chunk(chunk, words, sign) for chunk in cut_block(block, CHUNK_BYTES))


def _map_chunk(block: bytes, words: pa.BinaryArray, sign: bytes) -> bytes:
    text = spread_words(block)
    encoded = text.dictionary_encode()
    distinct = pc.binary_slice(encoded.dictionary, 0, -1)
    is_known = pc.or_(pc.is_in(distinct, words), pc.equal(pc.binary_length(distinct), 0))
    unknown = np.flatnonzero(~is_known.to_numpy(False)[encoded.indices.to_numpy()])
    offsets = np.frombuffer(text.buffers()[1], np.int32)
    starts, ends = offsets[unknown], offsets[unknown + 1] - 1
    kept = zip([0, *ends.tolist()], [*starts.tolist(), len(block)], strict=True)
    return sign.join([block[start:end] for start, end in kept])
