"""Counts the n-grams of all orders in blocks of text. The counts are partitioned into buckets.

The n-grams of the highest order are counted first. N-grams that differ only in their first word are in the
same bucket. Their common suffix (the n-gram without the first word) is counted in this bucket; see
text/ngrams/count_grams.py. For each suffix, a bucket has at most as many n-grams as the vocabulary has words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, TaggedOutput

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.gather import Gather
from corpusmill.transforms.models import count_grams as counting
from corpusmill.transforms.models.choose_words import load_words
from corpusmill.transforms.models.count_grams import Tally
from corpusmill.transforms.models.gram_tables import ADJUSTED_COUNTS, COUNTS, Table
from corpusmill.transforms.models.number_words import number_words
from corpusmill.transforms.models.pieces import Dealer, GroupBuckets, join_pieces
from corpusmill.transforms.models.text_blocks import TextBlock

STAGE = "count-ngrams"
GATHERED_GRAMS = 1 << 20  # number of n-grams that a worker collects before it partitions them

GRAMS, TALLIES = "grams", "tallies"


class CountedGrams(NamedTuple):
    """The outputs of CountGrams: the counted n-grams, and for each order a summary of their counts."""

    grams: beam.PCollection
    """((order, bucket), reference to ADJUSTED_COUNTS in scratch). A bucket has all n-grams of a context."""

    tallies: beam.PCollection  # of (order, Tally)


class CountGrams(beam.PTransform):
    """Counts the n-grams of all orders. PCollection[TextBlock] → CountedGrams.

    Args:
      dealer: partitions the n-grams into buckets.
      words: side input with one element, a reference to the vocabulary in scratch.
      cut: order → largest count of the n-grams that are pruned later. Here they are still counted.
    """

    def __init__(self, dealer: Dealer, words: beam.PCollection, cut: Mapping[int, int]):
        super().__init__()
        self.dealer, self.words, self.cut = dealer, words, cut

    def expand(self, blocks: beam.PCollection) -> CountedGrams:
        order = max(self.cut)
        count = Gather(_CountBlock(order), _DealCounts(self.dealer), GATHERED_GRAMS, len)
        dealt = blocks | "CountBlocks" >> beam.ParDo(
            count, AsSingleton(self.words)
        ).with_output_types(tuple[int, bytes])
        found = []
        for n in range(order, 0, -1):
            adjust = beam.FlatMap(adjust_bucket, n, order, self.cut[n], self.dealer)
            adjusted = (
                dealt
                | f"Group {n}" >> GroupBuckets(self.dealer)
                | f"Adjust {n}"
                >> adjust.with_output_types(tuple[int, bytes]).with_outputs(
                    GRAMS, TALLIES, main="shorter"
                )
            )
            dealt = adjusted.shorter
            found.append(adjusted)
        grams = [one[GRAMS] for one in found] | "Grams" >> beam.Flatten()
        tallies = [one[TALLIES] for one in found] | "Tallies" >> beam.Flatten()
        return CountedGrams(
            grams | beam.Map(_as_is).with_output_types(tuple[tuple[int, int], bytes]),
            tallies
            | "AddTallies"
            >> beam.CombinePerKey(counting.add_tallies).with_output_types(tuple[int, Tally]),
        )


class _CountBlock:
    """Counts the n-grams of the highest order in a block. (block, vocabulary) → counts of the n-grams."""

    def __init__(self, order: int):
        self._order = order

    def __call__(self, block: TextBlock, words: bytes) -> Table:
        lines = block.lines()
        counters.count(STAGE, "text_bytes", len(lines))
        return counting.count_grams(number_words(lines, load_words(words)), self._order)


class _DealCounts:
    """Adds up the counts of several blocks, and partitions the sums into buckets.

    Yields (key, reference to the sums in scratch), as `Dealer.deal` does.
    """

    def __init__(self, dealer: Dealer):
        self._dealer = dealer

    def __call__(self, tables: Sequence[Table]) -> Iterator[tuple[int, bytes]]:
        table = counting.add_counts(tables)
        return self._dealer.deal(table, table["words"][:, 1:])


def adjust_bucket(
    grouped: tuple[int, Iterable[bytes]], order: int, highest: int, most_cut: int, dealer: Dealer
) -> Iterator[Any]:
    """Counts the n-grams that are one word shorter than those in a bucket, and yields the counts.

    The n-grams of the bucket itself, with adjusted counts, are yielded on the output GRAMS, partitioned into
    new buckets by their contexts. A summary of their counts is yielded on the output TALLIES.

    Args:
      grouped: (bucket, references to its n-grams).
      order: number of words of these n-grams.
      highest: highest order of the model.
      most_cut: largest count of the n-grams of this order that are pruned later.
      dealer: partitions n-grams into buckets.
    """
    if order == highest:
        counted = counting.add_counts([join_pieces(grouped[1], order, COUNTS)])
        table = counting.adjust_highest(counted)
    else:
        table = join_pieces(grouped[1], order, ADJUSTED_COUNTS)
    if order > 1:
        shorter = counting.count_suffixes(table)
        yield from dealer.deal(shorter, shorter["words"][:, 1:])
    table = counting.only_grams(table)
    yield TaggedOutput(TALLIES, (order, counting.tally_of(table, most_cut)))
    for bucket, piece in dealer.deal(table, table["words"][:, :-1]):
        yield TaggedOutput(GRAMS, ((order, bucket), piece))
    counters.count(STAGE, "ngrams", len(table))


def _as_is(element: Any) -> Any:
    return element
