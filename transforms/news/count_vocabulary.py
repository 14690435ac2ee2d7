"""Counts the vocabulary of a shuffled corpus, and the share of the held-out words that it covers.

Replaces words that are not in the vocabulary by <UNK>, in shuffled shards.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from ..files import counters
from ..files.line_blocks import count_lines
from ..files.records import LineRange, LineShard
from ..files.scratch import Scratch, fetch
from ..models import word_vocabulary
from ..models.count_words import (
    CountedVocabulary,
    DealWords,
    WriteVocabulary,
    WrittenVocabulary,
)
from ..models.word_vocabulary import HeldoutStats, VocabularyStats
from .artefacts import HELDOUT
from .write_lines import lines_of_range

STAGE = "count-vocabulary"

FILE = "vocabulary.tsv"
BUCKETS = 64


@dataclass(eq=False, repr=False)
class CountVocabulary(beam.PTransform):
    """Counts and writes the vocabulary of a corpus.

    (PCollection[LineRange], PCollection[LineShard]) → CountedVocabulary. The ranges contain all tokenised
    lines of a corpus. Of the shards, only those of the series "heldout" are used.

    The counts of the held-out lines are subtracted from the counts of all lines, so words can be counted
    before the lines are shuffled. The statistics are one VocabularyStats.

    Args:
      folder: output folder of the build.
      min_count: minimum count of a word of the vocabulary in the training corpus.
      buckets: number of parts in which words are counted in parallel. It does not change the results.
      scratch: folder for temporary counts; "" to use the folder of the build.

    Raises AccountingError if a held-out word or line is not in the corpus.
    """

    folder: str
    min_count: int = 3
    buckets: int = BUCKETS
    scratch: str = ""

    def expand(self, lines: tuple[beam.PCollection, beam.PCollection]) -> CountedVocabulary:
        ranges, shards = lines
        to_buckets = functools.partial(DealWords, self.scratch or self.folder)
        heldout = shards | "OnlyHeldout" >> beam.Filter(lambda shard: shard.series == HELDOUT)
        sentences = (
            (
                ranges | "RangeLines" >> beam.Map(lines_of_range),
                heldout | "HeldoutLines" >> beam.Map(_heldout_lines),
            )
            | "Lines" >> beam.Flatten()
            | "AddLines" >> beam.CombineGlobally(sum)
        )
        pieces = (
            ranges | "CountRanges" >> to_buckets(count_range, self.buckets),
            heldout | "CountHeldout" >> to_buckets(count_heldout, self.buckets),
        ) | "Pieces" >> beam.Flatten()
        blocks = heldout | "Blocks" >> beam.Map(lambda shard: (shard.shard, shard.block))
        write = WriteVocabulary(self.folder, FILE, self.min_count, has_signs=True)
        counted: CountedVocabulary = (pieces, sentences, blocks) | "WriteVocabulary" >> write
        stats = beam.Map(make_stats, self.min_count, AsList(counted.heldout))
        made = counted.stats | "Stats" >> stats.with_output_types(VocabularyStats)
        return counted._replace(stats=made)


def _heldout_lines(shard: LineShard) -> int:
    return -count_lines(shard.block)


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


def make_stats(
    written: WrittenVocabulary, min_count: int, coverage: Iterable[tuple[int, HeldoutStats]]
) -> VocabularyStats:
    """Returns the statistics of the vocabulary.

    Args:
      written: the vocabulary, with the size of the corpus without the held-out lines.
      min_count: minimum count of a word of the vocabulary.
      coverage: (number of a shard, counts of its words) for each held-out shard, in any order.
    """
    heldout = tuple(of_shard for _, of_shard in sorted(coverage))
    sizes = written.sentences, written.words, written.distinct_words, written.vocabulary_words
    return VocabularyStats(min_count, *sizes, heldout)


@dataclass(eq=False, repr=False)
class MapUnknown(beam.PTransform):
    """Replaces words that are not in the vocabulary by <UNK>.

    PCollection[LineShard] → PCollection[LineShard].

    The shards are stored until the vocabulary is complete. Every worker holds the vocabulary in memory, about
    ten bytes per word.

    Args:
      folder: output folder of the build.
      words: side input with one packed list of the words to keep (see word_vocabulary.py).
    """

    folder: str
    words: beam.PCollection

    def expand(self, shards: beam.PCollection) -> beam.PCollection:
        return (
            shards
            | "PutAway" >> beam.Map(put_away, Scratch(self.folder))
            | "MapShard" >> beam.Map(map_shard, AsSingleton(self.words))
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
