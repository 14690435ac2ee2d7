"""A shuffled corpus → its vocabulary with counts, and how it covers what was held out."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from transforms.files import counters
from transforms.files.scratch import fetch
from transforms.files.write_files import HashedFile
from transforms.lines.deal_words import DealWords, add_dealt
from transforms.records import LineRange, LineShard, OutputFile
from transforms.text.builds.ledger import AccountingError
from transforms.text.lines.line_blocks import count_lines
from transforms.text.news.shard_names import HELDOUT
from transforms.text.vocabularies import vocabulary, word_counts
from transforms.text.vocabularies.vocabulary import (
    HeldoutStats,
    VocabularyPart,
    VocabularyStats,
)

STAGE = "count-vocabulary"

FILE = "vocabulary.tsv"
BUCKETS = 64


class CorpusLines(NamedTuple):
    """What CountVocabulary takes: the lines of a corpus, tokenised."""

    ranges: beam.PCollection  # of LineRange: all lines
    shards: (
        beam.PCollection
    )  # of LineShard; those of series "heldout" are used, any others passed over


class CountedVocabulary(NamedTuple):
    """What CountVocabulary gives."""

    files: beam.PCollection  # of OutputFile: vocabulary.tsv
    stats: beam.PCollection  # one VocabularyStats
    vocabulary: beam.PCollection  # one packed list of words (see `vocabulary.unpack_words`)


class CorpusSize(NamedTuple):
    """What was found of a training corpus, beside its words."""

    sentences: int
    words: int
    distinct_words: int
    vocabulary_words: int


class CountVocabulary(beam.PTransform):
    """CorpusLines → CountedVocabulary.

    The training corpus is counted as all lines less those held out, so that its lines are counted where
    they lie, before they are shuffled. Words are added up in buckets: a worker holds those of one bucket
    at a time, and one worker those of the vocabulary.

    Raises AccountingError where a word or a line is held out that is not in the corpus.

    Args:
      folder: of the build.
      min_count: what a word must be counted in the training corpus to be in the vocabulary.
      buckets: so many parts can be added up at once. Their number changes no result.
      scratch: folder in which counts wait; "" is that of the build.
    """

    def __init__(self, folder: str, min_count: int = 3, buckets: int = BUCKETS, scratch: str = ""):
        super().__init__()
        if min_count < 1:
            raise ValueError(f"min_count is {min_count}, and must be positive")
        if buckets < 1:
            raise ValueError(f"buckets is {buckets}, and must be positive")
        self.folder = folder
        self.scratch = scratch or folder
        self.min_count = min_count
        self.buckets = buckets

    def expand(self, lines: CorpusLines) -> CountedVocabulary:
        root = lines.ranges.pipeline
        heldout = lines.shards | "OnlyHeldout" >> beam.Filter(_is_heldout)
        sentences = (
            (
                lines.ranges | "RangeLines" >> beam.Map(_lines_of_range).with_output_types(int),
                heldout | "HeldoutLines" >> beam.Map(_heldout_lines).with_output_types(int),
            )
            | "Lines" >> beam.Flatten()
            | "AddLines" >> beam.CombineGlobally(sum)
        )
        parts = (
            (
                lines.ranges | "CountRanges" >> DealWords(self.scratch, count_range, self.buckets),
                heldout | "CountHeldout" >> DealWords(self.scratch, count_heldout, self.buckets),
            )
            | "Pieces" >> beam.Flatten()
            | "GroupBuckets" >> beam.GroupByKey()
            | "AddBuckets" >> beam.Map(add_bucket, self.min_count)
        )
        written = (
            root
            | "Once" >> beam.Create([self.folder])
            | "WriteVocabulary"
            >> beam.Map(write_vocabulary, parts=AsList(parts), sentences=AsSingleton(sentences))
        )
        words = written | "Words" >> beam.Map(_words_of).with_output_types(bytes)
        coverage = heldout | "MeasureHeldout" >> beam.Map(
            measure_shard, AsSingleton(words)
        ).with_output_types(tuple[int, HeldoutStats])
        stats = (
            written
            | "Size" >> beam.Map(_size_of)
            | "MakeStats" >> beam.Map(make_stats, self.min_count, AsList(coverage))
        )
        return CountedVocabulary(written | "Files" >> beam.Map(_file_of), stats, words)


def _is_heldout(shard: LineShard) -> bool:
    return shard.series == HELDOUT


def _lines_of_range(lines: LineRange) -> int:
    return lines.lines


def _heldout_lines(shard: LineShard) -> int:
    return -count_lines(shard.block)


def count_range(lines: LineRange) -> pa.RecordBatch:
    """The words of a range."""
    counts = word_counts.count_words(fetch(lines.packed))
    counters.count(STAGE, "words", word_counts.total_of(counts))
    counters.flush()
    return counts


def count_heldout(shard: LineShard) -> pa.RecordBatch:
    """The words of a held-out shard, to be taken away: their counts are negative."""
    return word_counts.negate_counts(word_counts.count_words(shard.block))


def add_bucket(grouped: tuple[int, Iterable[bytes]], min_count: int) -> VocabularyPart:
    """Adds up (bucket, counts put away)."""
    counts = add_dealt(grouped[1])
    check_counts(counts)
    return vocabulary.select_words(counts, min_count)


def check_counts(counts: pa.RecordBatch) -> None:
    """Raises AccountingError where more was held out than there is."""
    wrong = word_counts.negative_words(counts)
    if wrong:
        raise AccountingError(
            f"{len(wrong)} words are held out more often than they are in the corpus: {wrong[:3]}"
        )


class WrittenVocabulary(NamedTuple):
    """What writing gives."""

    file: OutputFile
    size: CorpusSize
    words: bytes  # packed (see `vocabulary.unpack_words`)


def write_vocabulary(
    folder: str, *, parts: Sequence[VocabularyPart], sentences: int
) -> WrittenVocabulary:
    """Writes vocabulary.tsv. Its records are the words and the signs."""
    if sentences < 0:
        raise AccountingError(f"{-sentences} more lines are held out than there are in the corpus")
    merged = vocabulary.merge_parts(parts, sentences)
    with HashedFile.in_folder(folder, FILE) as file:
        for rows in vocabulary.table_of(merged):
            file.write(rows)
    words = merged.counts["word"]
    return WrittenVocabulary(
        file.output_file(FILE, "", "text", len(words) + len(vocabulary.SIGNS)),
        CorpusSize(sentences, merged.words, merged.distinct_words, len(words)),
        vocabulary.pack_words(words),
    )


def _file_of(written: WrittenVocabulary) -> OutputFile:
    return written.file


def _size_of(written: WrittenVocabulary) -> CorpusSize:
    return written.size


def _words_of(written: WrittenVocabulary) -> bytes:
    return written.words


def measure_shard(shard: LineShard, packed_words: bytes) -> tuple[int, HeldoutStats]:
    """(shard, how the vocabulary covers it)."""
    words = vocabulary.unpack_words(packed_words)
    return shard.shard, vocabulary.measure_heldout(shard.block, words)


def make_stats(
    size: CorpusSize, min_count: int, coverage: Iterable[tuple[int, HeldoutStats]]
) -> VocabularyStats:
    """Sums up what was found; the held-out shards come in any order."""
    return VocabularyStats(min_count, *size, tuple(stats for _, stats in sorted(coverage)))
