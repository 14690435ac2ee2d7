"""Counts the words in the elements of a PCollection, and partitions the counts into buckets of words.

Makes the vocabulary of a corpus from such counts, and measures how much of the held-out text it covers.
"""

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from ..files.builds.ledger import AccountingError
from ..files.distribution import Gather
from ..files.records import OutputFile
from ..files.scratch import Scratch, fetch
from ..files.write_files import write_file
from . import word_vocabulary
from .word_vocabulary import (
    SIGNS,
    HeldoutStats,
    VocabularyPart,
    add_counts,
    cut_by_bucket,
    negative_words,
    pack_counts,
)

GATHERED_WORDS = 1 << 18
"""Number of words with counts that a worker collects before it partitions them."""

Join = Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch]


class DealWords(beam.PTransform):
    """Counts the words in the elements of a PCollection, and partitions the counts into buckets of words.

    PCollection[Any] → PCollection[(bucket, reference to word counts in scratch)].

    Counts of several elements are combined before they are partitioned, so that few pieces are shuffled.

    Args:
      folder: folder for temporary counts (see scratch.py).
      count: function from an element to its word counts (see word_vocabulary.py), or None if there are none.
      buckets: number of buckets.
      join: function that combines batches of counts into one; by default the counts of equal words are added
        up.
    """

    def __init__(
        self,
        folder: str,
        count: Callable[..., pa.RecordBatch | None],
        buckets: int,
        *side_inputs: Any,
        join: Join = add_counts,
    ):
        super().__init__()
        hand_on = functools.partial(_deal, scratch=Scratch(folder), buckets=buckets, join=join)
        self.gather, self.side_inputs = Gather(count, hand_on, GATHERED_WORDS), side_inputs

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        deal = beam.ParDo(self.gather, *self.side_inputs)
        return elements | "Deal" >> deal.with_output_types(tuple[int, bytes])


def _deal(
    gathered: Sequence[pa.RecordBatch], scratch: Scratch, buckets: int, join: Join
) -> Iterator[tuple[int, bytes]]:
    for bucket, part in cut_by_bucket(join(gathered), buckets):
        yield bucket, scratch.put(pack_counts(part))


def add_pieces(pieces: Iterable[bytes]) -> pa.RecordBatch:
    """Adds up the word counts in several pieces. `pieces` are references to them in scratch.

    Only a few pieces are in memory at a time, because a large corpus has thousands of them.
    """
    gathered: list[pa.RecordBatch] = []
    words = 0
    for packed in pieces:
        gathered.append(word_vocabulary.unpack_counts(fetch(packed)))
        words += gathered[-1].num_rows
        if words >= 2 * GATHERED_WORDS:
            gathered = [add_counts(gathered)]
            words = 0
    return add_counts(gathered)


def add_bucket(grouped: tuple[int, Iterable[bytes]], min_count: int) -> VocabularyPart:
    """Adds up the word counts of a bucket, and selects the words of the vocabulary.

    Args:
      grouped: (bucket, references to counts in scratch).
      min_count: minimum count of a selected word.

    Raises AccountingError if a word has a negative count: it would be more frequent in the held-out lines
    than in all lines.
    """
    counts = add_pieces(grouped[1])
    if wrong := negative_words(counts):
        raise AccountingError(
            f"{len(wrong)} words are more frequent in the held-out lines than in the whole corpus:"
            f" {wrong[:3]}"
        )
    return word_vocabulary.select_words(counts, min_count)


GATHERED_BYTES = 1 << 24
"""Number of bytes of held-out lines that are measured together, so that the vocabulary is unpacked once."""


class WrittenVocabulary(NamedTuple):
    """A vocabulary that was written to a file, and the size of the training text."""

    file: OutputFile
    packed: bytes  # the words of the vocabulary (see `word_vocabulary.unpack_words`)
    vocabulary_words: int  # number of words in the vocabulary, without special tokens
    sentences: int  # lines of the training text
    words: int  # running words of the training text
    distinct_words: int
    known_words: int  # running words that are in the vocabulary


class CountedVocabulary(NamedTuple):
    """The outputs of WriteVocabulary: the vocabulary file, its statistics, its words, and its coverage."""

    files: beam.PCollection  # of one OutputFile
    stats: beam.PCollection  # one WrittenVocabulary; the statistics of a corpus replace it
    words: beam.PCollection  # one packed list of the words (see `word_vocabulary.unpack_words`)
    heldout: beam.PCollection  # of (key, HeldoutStats), for each block of held-out lines


class WriteVocabulary(beam.PTransform):
    """Writes the vocabulary of a corpus, and measures how much of the held-out lines it covers.

    (PCollection[(bucket, reference to word counts in scratch)], PCollection of one int, the number of lines
    of the training text, PCollection[(key, block of held-out lines)]) → CountedVocabulary. A worker adds up
    one bucket at a time, in memory. Then one worker holds the whole vocabulary and writes it.

    Args:
      folder: output folder of the build.
      name: name of the file.
      min_count: minimum count of a word of the vocabulary.
      has_signs: True if the file begins with the special tokens <S>, </S> and <UNK>.

    Raises AccountingError if a word or the number of lines has a negative count.
    """

    def __init__(self, folder: str, name: str, min_count: int, *, has_signs: bool):
        super().__init__()
        self.folder, self.min_count, self.file = folder, min_count, (name, has_signs)

    def expand(self, counted: tuple[beam.PCollection, ...]) -> CountedVocabulary:
        pieces, sentences, heldout = counted
        add = beam.Map(add_bucket, self.min_count)
        parts = pieces | "GroupBuckets" >> beam.GroupByKey() | "AddBuckets" >> add
        write = beam.Map(write_vocabulary, *self.file, AsList(parts), AsSingleton(sentences))
        written = (
            pieces.pipeline
            | "Once" >> beam.Create([self.folder])
            | "WriteFile" >> write.with_output_types(WrittenVocabulary)
        )
        file, packed = map(operator.attrgetter, WrittenVocabulary._fields[:2])
        words = written | "Words" >> beam.Map(packed).with_output_types(bytes)
        measure = Gather(_with_words, measure_blocks, GATHERED_BYTES, _weigh)
        return CountedVocabulary(
            written | "Files" >> beam.Map(file).with_output_types(OutputFile),
            written,
            words,
            heldout
            | "MeasureHeldout"
            >> beam.ParDo(measure, AsSingleton(words)).with_output_types(tuple[Any, HeldoutStats]),
        )


def write_vocabulary(
    folder: str, name: str, has_signs: bool, parts: Sequence[VocabularyPart], sentences: int
) -> WrittenVocabulary:
    """Writes the file of a vocabulary from its parts, one for each bucket of words.

    In the manifest, the number of records of this file is the number of its words and special tokens.

    Args:
      folder: output folder of the build.
      name: name of the file.
      has_signs: True if the file begins with the special tokens.
      parts: the counted words of each bucket.
      sentences: number of lines of the training text.
    """
    if sentences < 0:
        raise AccountingError(f"{-sentences} more lines are held out than there are in the corpus")
    merged = word_vocabulary.merge_parts(parts, sentences)
    counts = merged.counts
    rows = word_vocabulary.table_of(merged) if has_signs else word_vocabulary.rows_of(counts)
    records = len(counts) + (len(SIGNS) if has_signs else 0)
    return WrittenVocabulary(
        write_file(folder, name, rows, "text", records),
        word_vocabulary.pack_words(counts["word"]),
        len(counts),
        *merged[1:],
        word_vocabulary.total_of(counts),
    )


_Heldout = tuple[tuple[Any, bytes], bytes]  # (key, block of lines), packed words


def _with_words(block: tuple[Any, bytes], packed_words: bytes) -> _Heldout:
    return block, packed_words


def _weigh(heldout: _Heldout) -> int:
    return len(heldout[0][1])


def measure_blocks(heldout: Sequence[_Heldout]) -> Iterator[tuple[Any, HeldoutStats]]:
    """Counts how many words of each block of held-out lines are in the vocabulary. Yields (key, counts)."""
    keys, blocks = zip(*(block for block, _ in heldout), strict=True)
    words = word_vocabulary.unpack_words(heldout[0][1])
    return zip(keys, word_vocabulary.measure_heldout(blocks, words), strict=True)
