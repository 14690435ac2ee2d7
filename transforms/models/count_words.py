"""Counts the words in the elements of a PCollection, and partitions the counts into buckets of words."""

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from ..files.builds.ledger import AccountingError
from ..files.distribution import Gather, MapOnce, transform
from ..files.records import OutputFile
from ..files.scratch import Scratch, fetch
from ..files.write_files import write_file
from . import word_vocabulary
from .word_vocabulary import VocabularyPart, add_counts, cut_by_bucket, negative_words, pack_counts

GATHERED_WORDS = 1 << 18
"""Number of words with counts that a worker collects before it partitions them."""

Join = Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch]


@transform
def DealWords(
    elements: beam.PCollection,
    folder: str,
    count: Callable[..., pa.RecordBatch | None],
    buckets: int,
    *side_inputs: Any,
    join: Join = add_counts,
) -> beam.PCollection:
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
    hand_on = functools.partial(_deal, scratch=Scratch(folder), buckets=buckets, join=join)
    gather = Gather(count, hand_on, GATHERED_WORDS)
    deal = beam.ParDo(gather, *side_inputs)
    return elements | "Deal" >> deal.with_output_types(tuple[int, bytes])


def _deal(
    gathered: Sequence[pa.RecordBatch], scratch: Scratch, buckets: int, join: Join
) -> Iterator[tuple[int, bytes]]:
    for bucket, part in cut_by_bucket(join(gathered), buckets):
        yield bucket, scratch.put(pack_counts(part))


def add_pieces(
    pieces: Iterable[bytes], schema: pa.Schema = word_vocabulary.SCHEMA, join: Join = add_counts
) -> pa.RecordBatch:
    """Adds up the word counts in several pieces. `pieces` are references to them in scratch.

    Only a few pieces are in memory at a time, because a large corpus has thousands of them. For `join` see
    DealWords.
    """
    gathered: list[pa.RecordBatch] = []
    words = 0
    for packed in pieces:
        gathered.append(word_vocabulary.unpack_counts(fetch(packed), schema))
        words += gathered[-1].num_rows
        if words >= 2 * GATHERED_WORDS:
            gathered = [join(gathered)]
            words = 0
    return join(gathered)


def add_bucket(grouped: tuple[int, Iterable[bytes]], min_count: int) -> VocabularyPart:
    """Adds up the word counts of a bucket, and selects the words of the vocabulary.

    Args:
      grouped: (bucket, references to counts in scratch).
      min_count: minimum count of a selected word.
    """
    counts = add_pieces(grouped[1])
    check_counts(counts)
    return word_vocabulary.select_words(counts, min_count)


def check_counts(counts: pa.RecordBatch) -> None:
    """Raises AccountingError if a word has a negative count.

    Such a word would be more frequent in the held-out lines than in all lines.
    """
    if wrong := negative_words(counts):
        raise AccountingError(
            f"{len(wrong)} words are more frequent in the held-out lines than in the whole corpus:"
            f" {wrong[:3]}"
        )


class CountedVocabulary(NamedTuple):
    """A written vocabulary, its statistics, and its words."""

    files: beam.PCollection  # of OutputFile: the vocabulary
    stats: beam.PCollection  # of one record of statistics
    words: beam.PCollection  # one packed list of the words (see `word_vocabulary.unpack_words`)


class WrittenVocabulary(NamedTuple):
    """A written vocabulary: its file, its words in packed form, and word counts of the training text."""

    file: OutputFile
    words: int  # running words of the training text
    distinct_words: int
    known_words: int  # running words that are in the vocabulary
    packed: bytes  # the words of the vocabulary (see `word_vocabulary.unpack_words`)


@transform
def WriteVocabulary(
    pieces: beam.PCollection,
    folder: str,
    name: str,
    min_count: int,
    sentences: AsSingleton | None = None,
) -> CountedVocabulary:
    """Adds up the counts that DealWords has partitioned, and writes the words that are frequent.

    PCollection[(bucket, reference)] → CountedVocabulary, whose statistics are one WrittenVocabulary.

    Each bucket is added up by one worker, in memory. Then one worker holds the whole vocabulary and writes
    it. Its file has one line per word: the word, a tab and its count. Lines are sorted by descending count,
    then by the bytes of the word.

    Args:
      folder: output folder of the build.
      name: file name, such as "vocabulary.tsv".
      min_count: minimum count of a word of the vocabulary.
      sentences: side input with the number of sentences; the file then begins with the special tokens.

    Raises AccountingError if a count is negative.
    """
    grouped = pieces | "GroupBuckets" >> beam.GroupByKey()
    parts = AsList(grouped | "AddBuckets" >> beam.Map(add_bucket, min_count))
    write = MapOnce(write_vocabulary, folder, name, parts, sentences)
    written = pieces.pipeline | "WriteFile" >> write
    file_of = beam.Map(operator.attrgetter("file")).with_output_types(OutputFile)
    words_of = beam.Map(operator.attrgetter("packed")).with_output_types(bytes)
    return CountedVocabulary(written | "Files" >> file_of, written, written | "Words" >> words_of)


def write_vocabulary(
    folder: str, name: str, parts: Sequence[VocabularyPart], sentences: int | None = None
) -> WrittenVocabulary:
    """Writes the vocabulary file from its parts, one for each bucket of words.

    In the manifest, the number of records of this file is the number of its lines. For the arguments see
    WriteVocabulary.
    """
    if sentences is not None and sentences < 0:
        raise AccountingError(f"{-sentences} more lines are held out than there are in the corpus")
    merged = word_vocabulary.merge_parts(parts, sentences or 0)
    rows, lines = word_vocabulary.rows_of(merged.counts), merged.counts.num_rows
    if sentences is not None:
        rows, lines = word_vocabulary.table_of(merged), lines + len(word_vocabulary.SIGNS)
    return WrittenVocabulary(
        file=write_file(folder, name, rows, "text", lines),
        words=merged.words,
        distinct_words=merged.distinct_words,
        known_words=word_vocabulary.total_of(merged.counts),
        packed=word_vocabulary.pack_words(merged.counts["word"]),
    )
