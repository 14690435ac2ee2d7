"""Computes the Kneser-Ney weights of counted n-grams, in the buckets of their suffixes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsDict

from corpusmill.transforms.files import counters
from corpusmill.transforms.models import kneser_ney
from corpusmill.transforms.models.count_grams import Tally
from corpusmill.transforms.models.gram_tables import ADJUSTED_COUNTS, UNKNOWN
from corpusmill.transforms.models.interpolate import (
    CONTEXTS,
    SHORTER,
    STAGE,
    WEIGHED,
    levels_of,
    send,
)
from corpusmill.transforms.models.pieces import Dealer, GroupBuckets, Pieces, join_pieces


class WeighKneserNey(beam.PTransform):
    """Computes the Kneser-Ney weights of n-grams.

    PCollection[((order, bucket), reference to ADJUSTED_COUNTS in scratch)] → {level: PCollection}, the input
    of Interpolate.

    Args:
      dealer: partitions n-grams into buckets.
      tallies: PCollection[(order, Tally)], a summary of the counts of each order.
      cut: order → maximum count of pruned n-grams.
    """

    def __init__(self, dealer: Dealer, tallies: beam.PCollection, cut: Mapping[int, int]):
        super().__init__()
        self.dealer, self.tallies, self.cut = dealer, tallies, cut

    def expand(self, grams: beam.PCollection) -> Any:
        weigh = beam.FlatMap(weigh_bucket, self.cut, self.dealer, AsDict(self.tallies))
        levels = levels_of(max(self.cut))
        weighed = (
            grams
            | "GroupContexts" >> GroupBuckets(self.dealer)
            | "Weigh" >> weigh.with_output_types(Pieces).with_outputs(*levels)
        )
        return {level: weighed[level] for level in levels}


def weigh_bucket(
    grouped: tuple[tuple[int, int], Iterable[bytes]],
    cut: Mapping[int, int],
    dealer: Dealer,
    tallies: Mapping[int, Tally],
) -> Iterator[Any]:
    """Computes the weights of the n-grams in a bucket, and the back-off weights of their contexts.

    A weight is yielded on the output that has the name of its level (see Interpolate).

    Args:
      grouped: ((order, bucket), references to the n-grams).
      cut: order → maximum count of pruned n-grams.
      dealer: partitions n-grams into buckets.
      tallies: order → summary of the counts of this order.
    """
    order = grouped[0][0]
    table = join_pieces(grouped[1], order, ADJUSTED_COUNTS)
    discounts = kneser_ney.estimate_discounts(tallies[order])
    if order == 1:  # all unigrams are in one bucket
        has_unknown = bool((table["words"] == UNKNOWN).any())
        size = kneser_ney.vocabulary_size(tallies[1], has_unknown=has_unknown)
        known = tallies[1], discounts, size
        found = kneser_ney.estimate_unigrams(table, *known)
        further = kneser_ney.further_unigrams(*known, has_unknown=has_unknown)
        for unigrams in (found, further):
            yield from send(2, SHORTER, dealer.deal(unigrams, unigrams["words"]))
        return
    weighed, contexts = kneser_ney.weigh(table, discounts, cut[order])
    yield from send(order, WEIGHED, dealer.deal(weighed, weighed["words"][:, 1:]))
    yield from send(order, CONTEXTS, dealer.deal(contexts, contexts["words"]))
    counters.count(STAGE, "weighed", len(table))
