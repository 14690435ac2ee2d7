"""Counts the vocabulary of a shuffled corpus, and the share of the held-out words that it covers.

Replaces words that are not in the vocabulary by <UNK>, in shuffled shards.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from ..files import counters
from ..files.distribution import Gather, transform
from ..files.line_blocks import count_lines
from ..files.records import LineRange, LineShard
from ..files.scratch import Scratch, fetch
from ..models import word_vocabulary
from ..models.count_words import CountedVocabulary, DealWords, WriteVocabulary, WrittenVocabulary
from ..models.word_vocabulary import HeldoutStats, VocabularyStats
from .sentence_accounts import HELDOUT
from .write_lines import lines_of_range

STAGE = "count-vocabulary"

FILE = "vocabulary.tsv"
BUCKETS = 64
GATHERED_BYTES = 1 << 24
"""Number of bytes of held-out lines that are measured together, so that the vocabulary is unpacked once."""


@transform
def CountVocabulary(
    lines: tuple[beam.PCollection, beam.PCollection],
    folder: str,
    min_count: int = 3,
    buckets: int = BUCKETS,
    scratch: str = "",
) -> CountedVocabulary:
    """Counts and writes the vocabulary of a corpus.

    (PCollection[LineRange], PCollection[LineShard]) → CountedVocabulary, whose statistics are one
    VocabularyStats. The ranges contain all tokenised lines of a corpus. Of the shards, only those of the
    series "heldout" are used.

    The counts of the held-out lines are subtracted from the counts of all lines, so words can be counted
    before the lines are shuffled.

    Args:
      folder: output folder of the build.
      min_count: minimum count of a word of the vocabulary in the training corpus.
      buckets: number of parts in which words are counted in parallel. It does not change the results.
      scratch: folder for temporary counts; "" to use the folder of the build.

    Raises AccountingError if a held-out word or line is not in the corpus.
    """
    ranges, shards = lines
    to_buckets = functools.partial(DealWords, scratch or folder)
    heldout = shards | "OnlyHeldout" >> beam.Filter(lambda shard: shard.series == HELDOUT)
    lines_of = (
        ranges | "RangeLines" >> beam.Map(lines_of_range),
        heldout | "HeldoutLines" >> beam.Map(lambda shard: -count_lines(shard.block)),
    )
    added = lines_of | "Lines" >> beam.Flatten() | "AddLines" >> beam.CombineGlobally(sum)
    sentences = AsSingleton(added)
    pieces = (
        ranges | "CountRanges" >> to_buckets(count_range, buckets),
        heldout | "CountHeldout" >> to_buckets(count_heldout, buckets),
    )
    write = WriteVocabulary(folder, FILE, min_count, sentences)
    written: CountedVocabulary = pieces | "Pieces" >> beam.Flatten() | "WriteVocabulary" >> write
    measure = Gather(
        lambda *one: one, measure_shards, GATHERED_BYTES, lambda one: len(one[0].block)
    )
    coverage = heldout | "MeasureHeldout" >> beam.ParDo(
        measure, AsSingleton(written.words)
    ).with_output_types(tuple[int, HeldoutStats])
    stats = written.stats | "Stats" >> beam.Map(make_stats, min_count, sentences, AsList(coverage))
    return written._replace(stats=stats)


def count_range(lines: LineRange) -> pa.RecordBatch:
    """Returns the counts of the words in a range of lines."""
    counts = word_vocabulary.count_words(fetch(lines.packed))
    counters.count(STAGE, "words", word_vocabulary.total_of(counts))
    counters.flush()
    return counts


def count_heldout(shard: LineShard) -> pa.RecordBatch:
    """Returns the word counts of a held-out shard as negative numbers.

    They are added to the counts of all lines, which subtracts the held-out words.
    """
    return word_vocabulary.negate_counts(word_vocabulary.count_words(shard.block))


def measure_shards(
    heldout: Sequence[tuple[LineShard, bytes]],
) -> Iterator[tuple[int, HeldoutStats]]:
    """Counts how many words of each held-out shard are in the vocabulary.

    Yields (number of the shard, counts). Each shard is given with the packed words of the vocabulary, which
    are unpacked once for all shards.
    """
    words = word_vocabulary.unpack_words(heldout[0][1])
    measured = word_vocabulary.measure_heldout([shard.block for shard, _ in heldout], words)
    return zip((shard.shard for shard, _ in heldout), measured, strict=True)


def make_stats(
    written: WrittenVocabulary,
    min_count: int,
    sentences: int,
    coverage: Iterable[tuple[int, HeldoutStats]],
) -> VocabularyStats:
    """Returns the statistics of a vocabulary.

    Args:
      written: the vocabulary, with the counts of the training corpus.
      min_count: minimum count of a word of the vocabulary.
      sentences: number of sentences of the training corpus.
      coverage: (number of the shard, its counts), for each held-out shard.
    """
    vocabulary_words = written.file.records - len(word_vocabulary.SIGNS)
    counts = (sentences, written.words, written.distinct_words, vocabulary_words)
    return VocabularyStats(min_count, *counts, tuple(counted for _, counted in sorted(coverage)))


@transform
def MapUnknown(shards: beam.PCollection, folder: str, words: beam.PCollection) -> beam.PCollection:
    """Replaces words that are not in the vocabulary by <UNK>.

    PCollection[LineShard] → PCollection[LineShard].

    The shards are stored until the vocabulary is complete. Every worker holds the vocabulary in memory, about
    ten bytes per word.

    Args:
      folder: output folder of the build.
      words: side input with one packed list of the words to keep (see word_vocabulary.py).
    """
    return (
        shards
        | "PutAway" >> beam.Map(put_away, Scratch(folder))
        | "MapShard" >> beam.Map(map_shard, AsSingleton(words))
    )


def put_away(shard: LineShard, scratch: Scratch) -> LineShard:
    """Stores the lines of a shard in scratch.

    Returns the shard with a reference to the stored lines instead of the lines.
    """
    return shard._replace(block=scratch.put(shard.block))


def map_shard(shard: LineShard, packed_words: bytes) -> LineShard:
    """Fetches a shard from scratch, and replaces words that are not in the vocabulary by <UNK>.

    `packed_words` is the packed list of the words of the vocabulary.
    """
    words = _unpack_words(packed_words)
    return shard._replace(block=word_vocabulary.map_unknown(fetch(shard.block), words))


_unpack_words = functools.lru_cache(1)(word_vocabulary.unpack_words)
