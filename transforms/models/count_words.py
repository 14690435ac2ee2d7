"""Counts the words in the elements of a PCollection, and partitions the counts into buckets of words.

Counts the words of the sentences from which a vocabulary is learned.

No worker holds the whole text of a language. The worker that trains the vocabulary receives only words with
counts. The words are partitioned into buckets, which are counted in parallel (see
transforms/models/count_words.py).
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import AsSingleton

from ..files.builds.ledger import AccountingError
from ..files.distribution import Gather
from ..files.line_blocks import block_of
from ..files.scratch import Scratch, fetch
from .sentence_sampling import Choice, is_last, is_once_more
from .train_pieces import SentenceBlock, is_of_train
from .word_vocabulary import (
    VocabularyPart,
    add_counts,
    count_words,
    cut_by_bucket,
    negative_words,
    pack_counts,
    select_words,
    unpack_counts,
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
        gathered.append(unpack_counts(fetch(packed)))
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
    """
    counts = add_pieces(grouped[1])
    check_counts(counts)
    return select_words(counts, min_count)


def check_counts(counts: pa.RecordBatch) -> None:
    """Raises AccountingError if a word has a negative count.

    Such a word would be more frequent in the held-out lines than in all lines.
    """
    wrong = negative_words(counts)
    if wrong:
        raise AccountingError(
            f"{len(wrong)} words are more frequent in the held-out lines than in the whole corpus:"
            f" {wrong[:3]}"
        )


BUCKETS = 64

Choices = Mapping[str, Choice]


class SampleWords(NamedTuple):
    """The outputs of CountSampleWords: the word counts, and the number of counted sentences per language."""

    words: beam.PCollection  # of (bucket, word counts in scratch); each word is in one bucket
    sampled: beam.PCollection  # of (language, sentences that were counted)


class CountSampleWords(beam.PTransform):
    """Counts the words of the sentences chosen for training. PCollection[SentenceBlock] → SampleWords.

    Args:
      folder: output folder of the build.
      choices: side input with one mapping {language: Choice}. A Choice says which sentences of a language
        are used for training, and how often.
      buckets: number of buckets, which are counted in parallel. It determines the order in which the trainer
        reads the words.
    """

    def __init__(self, folder: str, choices: beam.PCollection, buckets: int = BUCKETS):
        super().__init__()
        self.folder = folder
        self.choices = choices
        self.buckets = buckets

    def expand(self, blocks: beam.PCollection) -> SampleWords:
        choices = AsSingleton(self.choices)
        train = blocks | "OfTrain" >> beam.Filter(is_of_train)
        lasts = (
            train
            | "LastSentences" >> beam.FlatMap(last_sentences, choices)
            # Sentences with the last rank have the same text. If two texts have the same rank, the first one
            # is used.
            | "OneOfThem" >> beam.CombinePerKey(min)
        )
        words = (
            (
                train | "CountBlocks" >> DealWords(self.folder, count_block, self.buckets, choices),
                lasts | "CountLasts" >> DealWords(self.folder, count_last, self.buckets, choices),
            )
            | "Pieces" >> beam.Flatten()
            | "GroupBuckets" >> beam.GroupByKey()
            | "AddBuckets" >> beam.Map(add_sample_bucket, Scratch(self.folder))
        )
        sampled = (
            (
                train | "Sampled" >> beam.Map(sampled_of_block, choices),
                lasts | "SampledLasts" >> beam.Map(sampled_of_last, choices),
            )
            | "AllSampled" >> beam.Flatten()
            | "AddSampled" >> beam.CombinePerKey(sum)
        )
        return SampleWords(words, sampled)


def count_block(block: SentenceBlock, choices: Choices) -> pa.RecordBatch | None:
    """Counts the words of the chosen sentences of a block. Returns None if no sentence is chosen.

    A sentence that is used several times for training is counted as many times.
    """
    choice = choices[block.language]
    counted = []
    if choice.share.times:
        counted.append(_multiply(count_words(fetch(block.packed_lines)), choice.share.times))
    chosen = np.flatnonzero(is_once_more(block.ranks(), choice))
    if len(chosen):
        lines = block.lines()
        counted.append(count_words(block_of([lines[place] for place in chosen])))
    return add_counts(counted) if counted else None


def last_sentences(block: SentenceBlock, choices: Choices) -> Iterator[tuple[str, bytes]]:
    """Yields (language, sentence) if the last chosen sentence of the language is in the block.

    Sentences are chosen in the order of their ranks, which are hashes. The last chosen sentence is the one
    with the rank `Choice.last`. If the block has several copies of it, all of them are yielded.
    """
    places = np.flatnonzero(is_last(block.ranks(), choices[block.language]))
    if len(places):
        lines = block.lines()
        yield from ((block.language, lines[place]) for place in places)


def count_last(last: tuple[str, bytes], choices: Choices) -> pa.RecordBatch:
    """Counts the words of the last chosen sentence of a language. `last` is (language, sentence).

    The input may have several copies of this sentence. `Choice.copies` of them are used one more time than
    `count_block` has counted, so all counts are multiplied by this number.
    """
    language, sentence = last
    return _multiply(count_words(block_of([sentence])), choices[language].copies)


def sampled_of_block(block: SentenceBlock, choices: Choices) -> tuple[str, int]:
    """Returns (language, number of sentences that `count_block` counts)."""
    choice = choices[block.language]
    once_more = int(is_once_more(block.ranks(), choice).sum())
    return block.language, block.sentences * choice.share.times + once_more


def sampled_of_last(last: tuple[str, bytes], choices: Choices) -> tuple[str, int]:
    """Returns (language, number of sentences that `count_last` counts)."""
    return last[0], choices[last[0]].copies


def add_sample_bucket(grouped: tuple[int, Iterable[bytes]], scratch: Scratch) -> tuple[int, bytes]:
    """Adds up the word counts of a bucket. Returns (bucket, reference to the sum, which is in scratch).

    Each word belongs to one bucket. `grouped` is (bucket, references to counts in scratch).
    """
    return grouped[0], scratch.put(pack_counts(add_pieces(grouped[1])))


def _multiply(counts: pa.RecordBatch, times: int) -> pa.RecordBatch:
    return pa.record_batch(
        [counts["word"], pc.multiply(counts["count"], times)], schema=counts.schema
    )
