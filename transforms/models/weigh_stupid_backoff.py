"""Computes normalised Stupid Backoff probabilities of counted n-grams, in the buckets of their suffixes.

The formulae are in text/ngrams/stupid_backoff.py. The context of an n-gram is the n-gram without its last
word; its suffix is the n-gram without its first word. N-grams with the same context are normalised together,
in the bucket of the context. For this, the frequencies of their suffixes are requested from the buckets of
the suffixes, and the answers are sent to the bucket of the context. Then the scaling factor of each context
is computed, in the bucket of the suffix of the context. The shortest contexts are processed first.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput

from corpusmill.transforms.files import counters
from corpusmill.transforms.models import stupid_backoff
from corpusmill.transforms.models.gram_tables import (
    ADJUSTED_COUNTS,
    BACKOFFS,
    PROBABILITIES,
    make_table,
)
from corpusmill.transforms.models.interpolate import (
    CONTEXTS,
    SHORTER,
    STAGE,
    WEIGHED,
    level_of,
    levels_of,
    send,
)
from corpusmill.transforms.models.pieces import Dealer, GroupBuckets, Pieces, Values, join_pieces
from corpusmill.transforms.models.stupid_backoff import FREQUENCIES, LEFT, OWN, SCALES, USED

COUNTED, ASKING, DIVIDED, OF_CONTEXTS, OF_USED = "counted", "asking", "divided", "own", "used"
SCALED = "scaled"  # further kinds of pieces

Keyed = tuple[tuple[int, int], tuple[str, bytes]]  # (order, bucket), (kind, rows in scratch)


class WeighStupidBackoff(beam.PTransform):
    """Computes the Stupid Backoff weights of n-grams.

    PCollection[((order, bucket), reference to ADJUSTED_COUNTS in scratch)] → {level: PCollection}, the input
    of Interpolate.

    Args:
      cut: order → maximum count of pruned n-grams.
    """

    def __init__(self, dealer: Dealer, cut: Mapping[int, int]):
        super().__init__()
        self.dealer, self.cut = dealer, cut

    def expand(self, grams: beam.PCollection) -> Any:
        highest = max(self.cut)
        divided = (
            grams
            | "GroupContexts" >> GroupBuckets(self.dealer)
            | "Divide"
            >> beam.FlatMap(divide_bucket, self.cut, self.dealer)
            .with_output_types(Keyed)
            .with_outputs(OF_CONTEXTS, main=ASKING)
        )
        used = (
            divided[ASKING]
            | "GroupEnds" >> GroupBuckets(self.dealer)
            | "Answer" >> beam.FlatMap(answer_bucket, self.dealer).with_output_types(Keyed)
        )
        left = (
            (used, divided[OF_CONTEXTS])
            | "OfContexts" >> beam.Flatten()
            | "TypedContexts" >> beam.Map(_as_is).with_output_types(Keyed)
            | "GroupUsed" >> GroupBuckets(self.dealer)
            | "LeaveOver"
            >> beam.FlatMap(leave_over_bucket, self.dealer)
            .with_output_types(Pieces)
            .with_outputs(*levels_of(highest))
        )
        scaled: list[beam.PCollection] = []
        shorter: tuple[beam.PCollection, ...] = ()
        for order in range(2, highest + 1):
            scales = (
                (left[level_of(order)], *shorter)
                | f"Left {order}" >> beam.Flatten()
                | f"Typed {order}" >> beam.Map(_as_is).with_output_types(Pieces)
                | f"GroupLeft {order}" >> GroupBuckets(self.dealer)
                | f"Scale {order}"
                >> beam.FlatMap(scale_bucket, order, self.dealer)
                .with_output_types(Pieces)
                .with_outputs(SCALED, main=SHORTER)
            )
            shorter = (scales[SHORTER],)
            scaled.append(scales[SCALED])
        weigh = beam.FlatMap(weigh_bucket, self.cut, self.dealer)
        levels = levels_of(highest)
        weighed = (
            (grams | "Counted" >> beam.Map(_counted), *scaled)
            | "Together" >> beam.Flatten()
            | "TypedTogether" >> beam.Map(_as_is).with_output_types(Keyed)
            | "GroupScaled" >> GroupBuckets(self.dealer)
            | "Weigh" >> weigh.with_output_types(Pieces).with_outputs(*levels)
        )
        return {level: weighed[level] for level in levels}


def _as_is(element: Any) -> Any:
    return element


def _counted(keyed: tuple[tuple[int, int], bytes]) -> Any:
    return keyed[0], (COUNTED, keyed[1])


def divide_bucket(
    grouped: tuple[tuple[int, int], Iterable[bytes]], cut: Mapping[int, int], dealer: Dealer
) -> Iterator[Any]:
    """Divides the counts of n-grams by the counts of their contexts, in one bucket. Yields the frequencies.

    Also yields requests for the frequencies of the n-grams' suffixes. The output OF_CONTEXTS has, for each
    context, the total frequency of its n-grams that are not pruned.

    Args:
      grouped: ((order, bucket), references to the counts of n-grams).
      cut: order → maximum count of pruned n-grams.
      dealer: partitions n-grams into buckets.
    """
    order = grouped[0][0]
    table = join_pieces(grouped[1], order, ADJUSTED_COUNTS)
    if order == 1:
        found = stupid_backoff.divide_unigrams(table)
    else:
        found, contexts = stupid_backoff.divide_by_contexts(table, cut[order])
        for bucket, piece in dealer.deal(make_table(found["words"], ()), found["words"][:, 1:]):
            yield (order - 1, bucket), (ASKING, piece)
        for bucket, piece in dealer.deal(contexts, contexts["words"]):
            yield TaggedOutput(OF_CONTEXTS, ((order, bucket), (OF_CONTEXTS, piece)))
    if order < max(cut):
        for bucket, piece in dealer.deal(found, found["words"]):
            yield (order, bucket), (DIVIDED, piece)


def answer_bucket(
    grouped: tuple[tuple[int, int], Iterable[tuple[str, bytes]]], dealer: Dealer
) -> Iterator[Any]:
    """Answers the requests for frequencies of suffixes that were sent to one bucket.

    Each frequency is sent to the bucket of the context of the n-gram for which it was requested.

    Args:
      grouped: ((order, bucket), pieces). There are two kinds of pieces: the requests, and the frequencies of
        the n-grams in this bucket, both from `divide_bucket`.
      dealer: partitions n-grams into buckets.
    """
    order = grouped[0][0]
    pieces = _by_kind(grouped[1])
    asking = _join(pieces, ASKING, order + 1, ())
    shorter = _join(pieces, DIVIDED, order, FREQUENCIES)
    used = stupid_backoff.use_shorter(asking["words"], shorter)
    for bucket, piece in dealer.deal(used, used["words"][:, :-1]):
        yield (order + 1, bucket), (OF_USED, piece)


def leave_over_bucket(
    grouped: tuple[tuple[int, int], Iterable[tuple[str, bytes]]], dealer: Dealer
) -> Iterator[Any]:
    """Computes the probability mass that the contexts in one bucket leave for back-off.

    The mass of a context is sent to the bucket of the suffix of the context.

    Args:
      grouped: ((order of the n-grams, bucket), pieces). There are two kinds of pieces: the frequencies of
        suffixes from `answer_bucket`, and the total frequencies of contexts from `divide_bucket`.
      dealer: partitions n-grams into buckets.
    """
    order = grouped[0][0]
    pieces = _by_kind(grouped[1])
    used = _join(pieces, OF_USED, order, USED)
    left = stupid_backoff.leave_over(used, _join(pieces, OF_CONTEXTS, order - 1, OWN))
    return send(order, WEIGHED, dealer.deal(left, left["words"][:, 1:]))


def scale_bucket(
    grouped: tuple[int, Iterable[tuple[str, bytes]]], order: int, dealer: Dealer
) -> Iterator[Any]:
    """Yields the scaling factors of the contexts in one bucket, on two outputs.

    The main output is for the next call of this function, which computes the factors of the contexts that are
    one word longer. The output SCALED is for `weigh_bucket`, which scales the n-grams with these contexts.

    Args:
      grouped: (bucket, pieces). There are two kinds of pieces: the mass that each context leaves for
        back-off, and the scaling factors of the contexts that are one word shorter.
      order: number of words of the n-grams. Their contexts have one word less.
      dealer: partitions n-grams into buckets.
    """
    pieces = _by_kind(grouped[1])
    shorter = _join(pieces, SHORTER, max(order - 2, 1), SCALES)
    scales = stupid_backoff.scale_contexts(_join(pieces, WEIGHED, order - 1, LEFT), shorter)
    for bucket, piece in dealer.deal(scales, scales["words"]):
        yield bucket, (SHORTER, piece)
        yield TaggedOutput(SCALED, ((order, bucket), (SCALED, piece)))


def weigh_bucket(
    grouped: tuple[tuple[int, int], Iterable[tuple[str, bytes]]],
    cut: Mapping[int, int],
    dealer: Dealer,
) -> Iterator[Any]:
    """Computes the weights of the n-grams in a bucket, and the back-off weights of their contexts.

    A weight is yielded on the output that has the name of its level (see Interpolate).

    Args:
      grouped: ((order, bucket), pieces). There are two kinds of pieces: the counts of the n-grams, and the
        scaling factors of their contexts.
      cut: order → maximum count of pruned n-grams.
      dealer: partitions n-grams into buckets.
    """
    order = grouped[0][0]
    pieces = _by_kind(grouped[1])
    table = _join(pieces, COUNTED, order, ADJUSTED_COUNTS)
    counters.count(STAGE, "weighed", len(table))
    if order == 1:
        unigrams = np.concatenate(
            [stupid_backoff.divide_unigrams(table), stupid_backoff.start_of_sentence()]
        )
        found = make_table(unigrams["words"], PROBABILITIES, unigrams["frequency"])
        yield from send(2, SHORTER, dealer.deal(found, found["words"]))
        return
    found, _ = stupid_backoff.divide_by_contexts(table, cut[order])
    scales = _join(pieces, SCALED, order - 1, SCALES)
    weighed = stupid_backoff.weigh_by_scales(found, scales)
    contexts = make_table(scales["words"], BACKOFFS, scales["backoff"])
    yield from send(order, WEIGHED, dealer.deal(weighed, weighed["words"][:, 1:]))
    yield from send(order, CONTEXTS, dealer.deal(contexts, contexts["words"]))


def _by_kind(tagged: Iterable[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    pieces: dict[str, list[bytes]] = {}
    for kind, piece in tagged:
        pieces.setdefault(kind, []).append(piece)
    return pieces


def _join(pieces: Mapping[str, list[bytes]], kind: str, order: int, values: Values) -> Any:
    return join_pieces(pieces.get(kind, ()), order, values)
