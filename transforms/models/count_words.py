"""Counts the words in the elements of a PCollection, and partitions the counts into buckets of words."""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from ..files.builds.ledger import AccountingError
from ..files.distribution import Gather
from ..files.scratch import Scratch, fetch
from . import word_vocabulary
from .word_vocabulary import VocabularyPart, add_counts, cut_by_bucket, negative_words, pack_counts

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
    """
    counts = add_pieces(grouped[1])
    check_counts(counts)
    return word_vocabulary.select_words(counts, min_count)


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
