"""N-grams with their counts → the entries of a Kneser-Ney model, in buckets.

N-grams of one context are weighed in one bucket. Then, from the shortest to the longest, each n-gram meets
the shorter one at its end: in the bucket that has the shorter one, whose own back-off comes there, too.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, TaggedOutput

from transforms.files import counters
from transforms.ngrams.pieces import Dealer, join_pieces
from transforms.text.ngrams import kneser_ney
from transforms.text.ngrams.backoff import join_backoffs, without_backoffs
from transforms.text.ngrams.count_grams import Tally
from transforms.text.ngrams.gram_tables import (
    ADJUSTED_COUNTS,
    BACKOFFS,
    PROBABILITIES,
    UNKNOWN,
    WEIGHTS,
    Table,
    Words,
    sort_table,
)

STAGE = "estimate-ngrams"

WEIGHED, CONTEXTS, SHORTER = "weighed", "contexts", "shorter"  # kinds of pieces
ENTRIES = "entries"

Pieces = tuple[int, tuple[str, bytes]]  # (bucket, (kind, rows put away))


class ModelPart(NamedTuple):
    """N-grams of a model, of one order and one bucket (see `bucketed_by`)."""

    order: int
    bucket: int
    grams: int
    packed: bytes  # ENTRIES put away, in the order of the file


def bucketed_by(words: Words, highest: int) -> Words:
    """What decides about the bucket of n-grams of a model.

    Those of the highest order, which no longer n-gram ends with, stay where they were made.
    """
    return words[:, 1:] if words.shape[1] == highest > 1 else words


class EstimateKneserNey(beam.PTransform):
    """PCollection[((order, bucket), ADJUSTED_COUNTS put away)] → PCollection[ModelPart].

    Args:
      tallies: of (order, Tally).
      cut: order → the largest count that is cut off.
    """

    def __init__(self, dealer: Dealer, tallies: beam.PCollection, cut: Mapping[int, int]):
        super().__init__()
        self.dealer, self.tallies, self.cut = dealer, tallies, cut

    def expand(self, grams: beam.PCollection) -> beam.PCollection:
        highest = max(self.cut)
        levels = range(2, max(highest, 2) + 1)
        weigh = beam.FlatMap(weigh_bucket, self.cut, self.dealer, AsDict(self.tallies))
        weighed = (
            grams
            | "GroupContexts" >> beam.GroupByKey()
            | "Weigh" >> weigh.with_output_types(Pieces).with_outputs(*map(_level, levels))
        )
        entries = []
        shorter: tuple[beam.PCollection, ...] = ()
        for n in levels:
            together = (weighed[_level(n)], *shorter) | f"Pieces {n}" >> beam.Flatten()
            interpolated = (
                together
                | f"Typed {n}" >> beam.Map(_as_is).with_output_types(Pieces)
                | f"GroupEnds {n}" >> beam.GroupByKey()
                | f"Interpolate {n}"
                >> beam.FlatMap(interpolate_bucket, n, highest, self.dealer)
                .with_output_types(Pieces)
                .with_outputs(ENTRIES, main=SHORTER)
            )
            shorter = (interpolated[SHORTER],)
            entries.append(interpolated[ENTRIES])
        return entries | "Entries" >> beam.Flatten() | beam.Map(_as_is).with_output_types(ModelPart)


def _level(order: int) -> str:
    return f"level{order}"


def weigh_bucket(
    grouped: tuple[tuple[int, int], Iterable[bytes]],
    cut: Mapping[int, int],
    dealer: Dealer,
    tallies: Mapping[int, Tally],
) -> Iterator[Any]:
    """Returns what the n-grams of some contexts add to the buckets of their ends."""
    order = grouped[0][0]
    table = join_pieces(grouped[1], order, ADJUSTED_COUNTS)
    discounts = kneser_ney.estimate_discounts(tallies[order])
    if order == 1:  # all are in one bucket
        has_unknown = bool((table["words"] == UNKNOWN).any())
        size = kneser_ney.vocabulary_size(tallies[1], has_unknown=has_unknown)
        known = tallies[1], discounts, size
        found = kneser_ney.estimate_unigrams(table, *known)
        further = kneser_ney.further_unigrams(*known, has_unknown=has_unknown)
        for unigrams in (found, further):
            yield from _send(2, SHORTER, dealer.deal(unigrams, unigrams["words"]))
        return
    weighed, contexts = kneser_ney.weigh(table, discounts, cut[order])
    yield from _send(order, WEIGHED, dealer.deal(weighed, weighed["words"][:, 1:]))
    yield from _send(order, CONTEXTS, dealer.deal(contexts, contexts["words"]))
    counters.count(STAGE, "weighed", len(table))


def _send(level: int, kind: str, dealt: Iterable[tuple[int, bytes]]) -> Iterator[TaggedOutput]:
    for bucket, piece in dealt:
        yield TaggedOutput(_level(level), (bucket, (kind, piece)))


def interpolate_bucket(
    grouped: tuple[int, Iterable[tuple[str, bytes]]], order: int, highest: int, dealer: Dealer
) -> Iterator[Any]:
    """The entries of n-grams that are one word shorter, and the probabilities of those that end with them."""
    bucket, tagged = grouped
    pieces: dict[str, list[bytes]] = {WEIGHED: [], CONTEXTS: [], SHORTER: []}
    for kind, piece in tagged:
        pieces[kind].append(piece)
    shorter = join_pieces(pieces[SHORTER], order - 1, PROBABILITIES)
    contexts = join_pieces(pieces[CONTEXTS], order - 1, BACKOFFS)
    yield _keep(join_backoffs(shorter, contexts), bucket, highest, dealer)
    if highest == 1:
        return
    weighed = join_pieces(pieces[WEIGHED], order, WEIGHTS)
    found = kneser_ney.interpolate(weighed, shorter)
    if order == highest:
        yield _keep(without_backoffs(found), bucket, highest, dealer)
        return
    for target, piece in dealer.deal(found, found["words"]):
        yield target, (SHORTER, piece)


def _keep(entries: Table, bucket: int, highest: int, dealer: Dealer) -> TaggedOutput:
    counters.count(STAGE, "estimated", len(entries))
    order = entries["words"].shape[1]
    packed = dealer.put(sort_table(entries, bucketed_by(entries["words"], highest)))
    return TaggedOutput(ENTRIES, ModelPart(order, bucket, len(entries), packed))


def _as_is(element: Any) -> Any:
    return element
