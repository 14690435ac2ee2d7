"""Counts the vocabulary of a shuffled corpus, and the share of the held-out words that it covers.

Replaces words that are not in the vocabulary by <UNK>, in shuffled shards.
"""

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from ..files import counters
from ..files.builds.ledger import AccountingError
from ..files.distribution import Gather
from ..files.line_blocks import count_lines
from ..files.records import LineRange, LineShard, OutputFile
from ..files.scratch import Scratch, fetch
from ..files.write_files import HashedFile
from ..models import word_vocabulary
from ..models.count_words import DealWords, add_bucket
from ..models.word_vocabulary import HeldoutStats, VocabularyPart, VocabularyStats
from .artefacts import HELDOUT
from .write_lines import lines_of_range

STAGE = "count-vocabulary"

FILE = "vocabulary.tsv"
BUCKETS = 64
GATHERED_BYTES = 1 << 24
"""Number of bytes of held-out lines that are measured together, so that the vocabulary is unpacked once."""


class CountedVocabulary(NamedTuple):
    """The outputs of CountVocabulary: the vocabulary file, its statistics and its words."""

    files: beam.PCollection  # of OutputFile: vocabulary.tsv
    stats: beam.PCollection  # one VocabularyStats
    vocabulary: beam.PCollection  # one packed list of words (see `vocabulary.unpack_words`)


@dataclass(eq=False, repr=False)
class CountVocabulary(beam.PTransform):
    """Counts and writes the vocabulary of a corpus.

    (PCollection[LineRange], PCollection[LineShard]) → CountedVocabulary. The ranges contain all tokenised
    lines of a corpus. Of the shards, only those of the series "heldout" are used.

    The counts of the held-out lines are subtracted from the counts of all lines, so words can be counted
    before the lines are shuffled. Words are distributed to buckets. A worker counts one bucket at a time, in
    memory. Then one worker holds the whole vocabulary and writes it.

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
        parts = (
            (
                ranges | "CountRanges" >> to_buckets(count_range, self.buckets),
                heldout | "CountHeldout" >> to_buckets(count_heldout, self.buckets),
            )
            | "Pieces" >> beam.Flatten()
            | "GroupBuckets" >> beam.GroupByKey()
            | "AddBuckets" >> beam.Map(add_bucket, self.min_count)
        )
        written = (
            ranges.pipeline
            | "Once" >> beam.Create([self.folder])
            | "WriteVocabulary"
            >> beam.Map(write_vocabulary, self.min_count, AsList(parts), AsSingleton(sentences))
        )
        file, counts, words_of = map(operator.attrgetter, WrittenVocabulary._fields)
        words = written | "Words" >> beam.Map(words_of).with_output_types(bytes)
        measure = Gather(_Heldout, measure_shards, GATHERED_BYTES, weigh_shard)
        coverage = heldout | "MeasureHeldout" >> beam.ParDo(
            measure, AsSingleton(words)
        ).with_output_types(tuple[int, HeldoutStats])
        stats = written | "Stats" >> beam.Map(counts).with_output_types(VocabularyStats)
        return CountedVocabulary(
            written | "Files" >> beam.Map(file).with_output_types(OutputFile),
            stats | "AddCoverage" >> beam.Map(add_coverage, AsList(coverage)),
            words,
        )


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


class WrittenVocabulary(NamedTuple):
    """A written vocabulary: its file, its statistics, and its words in packed form."""

    file: OutputFile
    stats: VocabularyStats  # without the held-out lines
    words: bytes  # packed (see `vocabulary.unpack_words`)


def write_vocabulary(
    folder: str, min_count: int, parts: Sequence[VocabularyPart], sentences: int
) -> WrittenVocabulary:
    """Writes vocabulary.tsv from its parts, one for each bucket of words.

    In the manifest, the number of records of this file is the number of words and special tokens.

    Args:
      folder: output folder of the build.
      min_count: minimum count of a word of the vocabulary, for the statistics.
      parts: the counted words of each bucket.
      sentences: number of lines of the corpus without the held-out lines.
    """
    if sentences < 0:
        raise AccountingError(f"{-sentences} more lines are held out than there are in the corpus")
    merged = word_vocabulary.merge_parts(parts, sentences)
    with HashedFile.in_folder(folder, FILE) as file:
        for rows in word_vocabulary.table_of(merged):
            file.write(rows)
    words = merged.counts["word"]
    return WrittenVocabulary(
        file.output_file(FILE, "", "text", len(words) + len(word_vocabulary.SIGNS)),
        VocabularyStats(
            min_count, sentences, merged.words, merged.distinct_words, len(words), heldout=()
        ),
        word_vocabulary.pack_words(words),
    )


class _Heldout(NamedTuple):
    shard: LineShard
    packed_words: bytes


def weigh_shard(heldout: _Heldout) -> int:
    """Returns the weight of a shard: the size of its lines in bytes."""
    return len(heldout.shard.block)


def measure_shards(heldout: Sequence[_Heldout]) -> Iterator[tuple[int, HeldoutStats]]:
    """Counts how many words of each held-out shard are in the vocabulary.

    Yields (number of the shard, counts). The vocabulary is unpacked once for all shards.
    """
    words = word_vocabulary.unpack_words(heldout[0].packed_words)
    measured = word_vocabulary.measure_heldout([one.shard.block for one in heldout], words)
    return zip((one.shard.shard for one in heldout), measured, strict=True)


def add_coverage(
    stats: VocabularyStats, coverage: Iterable[tuple[int, HeldoutStats]]
) -> VocabularyStats:
    """Adds the coverage of the held-out shards to the statistics of the vocabulary.

    `coverage` has (number of a shard, counts of its words) for each held-out shard, in any order.
    """
    return stats._replace(heldout=tuple(of_shard for _, of_shard in sorted(coverage)))


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
