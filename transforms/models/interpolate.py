"""Interpolates weighted n-grams and computes the entries of a back-off model, in buckets.

The shortest n-grams are processed first. Each n-gram is joined with its suffix (the n-gram without its first
word), in the bucket of the suffix. The back-off weight of the suffix is sent to the same bucket.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from corpusmill.transforms.files import counters
from corpusmill.transforms.models import kneser_ney
from corpusmill.transforms.models.backoff import join_backoffs, without_backoffs
from corpusmill.transforms.models.gram_tables import (
    BACKOFFS,
    PROBABILITIES,
    WEIGHTS,
    Table,
    Words,
    sort_table,
)
from corpusmill.transforms.models.pieces import Dealer, GroupBuckets, Pieces, join_pieces

STAGE = "estimate-ngrams"

WEIGHED, CONTEXTS, SHORTER = "weighed", "contexts", "shorter"  # kinds of pieces
ENTRIES = "entries"

FIRST_LEVEL = 2


class ModelPart(NamedTuple):
    """The n-grams of a model that have the same order and are in the same bucket (see `bucketed_by`)."""

    order: int
    bucket: int
    grams: int
    packed: bytes  # ENTRIES in scratch, in the order of the file


def bucketed_by(words: Words, highest: int) -> Words:
    """Returns, for each n-gram, those of its words that determine its bucket in the model.

    These are all its words, except for n-grams of the highest order. Those remain in the buckets of their
    suffixes, because they are not suffixes of longer n-grams.
    """
    return words[:, 1:] if words.shape[1] == highest > 1 else words


class Interpolate(beam.PTransform):
    """Computes the entries of a back-off model.

    {level: PCollection[(bucket, (kind, reference to rows in scratch))]} → PCollection[ModelPart]. Each order
    n from 2 on has a level with the name `level_of(n)`. A level has two kinds of rows:
      WEIGHED: weights of the n-grams of this order, partitioned by suffix.
      CONTEXTS: back-off weights of the contexts of these n-grams.
    The level of order 2 also has the probabilities of unigrams, as rows of the kind SHORTER.

    Args:
      dealer: partitions n-grams into buckets.
      order: highest order of the model.
    """

    def __init__(self, dealer: Dealer, order: int):
        super().__init__()
        self.dealer, self.order = dealer, order

    def expand(self, weighed: Mapping[str, beam.PCollection]) -> beam.PCollection:
        entries = []
        shorter: tuple[beam.PCollection, ...] = ()
        for number, level in enumerate(levels_of(self.order), FIRST_LEVEL):
            interpolated = (
                (weighed[level], *shorter)
                | f"Pieces {number}" >> beam.Flatten()
                | f"Typed {number}" >> beam.Map(_as_is).with_output_types(Pieces)
                | f"GroupEnds {number}" >> GroupBuckets(self.dealer)
                | f"Interpolate {number}"
                >> beam.FlatMap(interpolate_bucket, number, self.order, self.dealer)
                .with_output_types(Pieces)
                .with_outputs(ENTRIES, main=SHORTER)
            )
            shorter = (interpolated[SHORTER],)
            entries.append(interpolated[ENTRIES])
        return (
            entries
            | "Entries" >> beam.Flatten()
            | "TypedEntries" >> beam.Map(_as_is).with_output_types(ModelPart)
        )


def level_of(order: int) -> str:
    """Returns the name of an order among the inputs of Interpolate, such as "level2"."""
    return f"level{order}"


def levels_of(highest: int) -> list[str]:
    """Returns the names of all inputs of Interpolate, up to that of the highest order."""
    return [level_of(order) for order in range(FIRST_LEVEL, max(highest, FIRST_LEVEL) + 1)]


def send(level: int, kind: str, dealt: Iterable[tuple[int, bytes]]) -> Iterator[TaggedOutput]:
    """Yields rows on the output that has the name of their level, in the form of Interpolate's inputs.

    Args:
      level: order of the n-grams.
      kind: what the rows describe: n-grams of this order (WEIGHED), their contexts (CONTEXTS), or n-grams
        that are one word shorter (SHORTER).
      dealt: (bucket, reference to rows in scratch), from `Dealer.deal`.
    """
    for bucket, piece in dealt:
        yield TaggedOutput(level_of(level), (bucket, (kind, piece)))


def interpolate_bucket(
    grouped: tuple[int, Iterable[tuple[str, bytes]]], order: int, highest: int, dealer: Dealer
) -> Iterator[Any]:
    """Interpolates the n-grams of an order in one bucket, and yields their probabilities.

    The n-grams of the next order are then interpolated with these probabilities. Finished entries of the
    model are yielded on the output ENTRIES.

    Args:
      grouped: (bucket, its pieces), where a piece is (kind, reference to rows in scratch).
      order: number of words of the n-grams.
      highest: highest order of the model.
      dealer: partitions n-grams into buckets.
    """
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
