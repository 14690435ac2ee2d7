"""Interpolates weighted n-grams and computes the entries of a back-off model, in buckets.

The shortest n-grams are processed first. Each n-gram is joined with its suffix (the n-gram without its first
word), in the bucket of the suffix. The back-off weight of the suffix is sent to the same bucket.

Computes the Kneser-Ney weights of counted n-grams, in the buckets of their suffixes.

Computes normalised Stupid Backoff probabilities of counted n-grams, in the buckets of their suffixes.

The formulae are in smoothing.py. The context of an n-gram is the n-gram without its last
word; its suffix is the n-gram without its first word. N-grams with the same context are normalised together,
in the bucket of the context. For this, the frequencies of their suffixes are requested from the buckets of
the suffixes, and the answers are sent to the bucket of the context. Then the scaling factor of each context
is computed, in the bucket of the suffix of the context. The shortest contexts are processed first.

Writes the entries of a model to model.arpa, a file in the ARPA format.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsSingleton, TaggedOutput

from ..files import counters
from ..files.distribution import transform
from ..files.line_blocks import pack_block, unpack_block
from ..files.records import OutputFile
from ..files.scratch import Scratch, fetch
from ..files.write_files import HashedFile
from . import count_ngrams, gram_tables, smoothing
from .count_ngrams import Counts, Dealer, GroupBuckets, Join, Pieces, Values, join_pieces
from .gram_tables import Tally, make_table
from .smoothing import FREQUENCIES, LEFT, OWN, SCALES, USED, join_backoffs

STAGE = "estimate-ngrams"

WEIGHED, CONTEXTS, SHORTER = "weighed", "contexts", "shorter"  # kinds of pieces
ENTRIES_TAG = "entries"

FIRST_LEVEL = 2


class ModelPart(NamedTuple):
    """The n-grams of a model that have the same order and are in the same bucket (see `bucketed_by`)."""

    order: int
    bucket: int
    grams: int
    packed: bytes  # ENTRIES in scratch, in the order of the file


def bucketed_by(words: gram_tables.Words, highest: int) -> gram_tables.Words:
    """Returns, for each n-gram, those of its words that determine its bucket in the model.

    These are all its words, except for n-grams of the highest order. Those remain in the buckets of their
    suffixes, because they are not suffixes of longer n-grams.
    """
    return words[:, 1:] if words.shape[1] == highest > 1 else words


@transform
def Interpolate(
    weighed: Mapping[str, beam.PCollection], dealer: Dealer, order: int
) -> beam.PCollection:
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
    entries = []
    shorter: tuple[beam.PCollection, ...] = ()
    for number, level in enumerate(levels_of(order), FIRST_LEVEL):
        interpolated = (
            (weighed[level], *shorter)
            | f"GroupEnds {number}" >> GroupBuckets(dealer, Pieces)
            | f"Interpolate {number}"
            >> beam.FlatMap(interpolate_bucket, number, order, dealer)
            .with_output_types(Pieces)
            .with_outputs(ENTRIES_TAG, main=SHORTER)
        )
        shorter = (interpolated[SHORTER],)
        entries.append(interpolated[ENTRIES_TAG])
    return tuple(entries) | "Entries" >> Join(ModelPart)


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
    bucket, pieces = grouped
    shorter = _join(pieces, SHORTER, order - 1, gram_tables.PROBABILITIES)
    contexts = _join(pieces, CONTEXTS, order - 1, gram_tables.BACKOFFS)
    yield _keep(join_backoffs(shorter, contexts), bucket, highest, dealer)
    if highest == 1:
        return
    found = smoothing.interpolate(_join(pieces, WEIGHED, order, gram_tables.WEIGHTS), shorter)
    if order == highest:  # these n-grams are not contexts of others, so their factors are 1
        entries = make_table(found["words"], gram_tables.ENTRIES, found["probability"], 1.0)
        yield _keep(entries, bucket, highest, dealer)
        return
    for target, piece in dealer.deal(found, found["words"]):
        yield target, (SHORTER, piece)


def _keep(entries: gram_tables.Table, bucket: int, highest: int, dealer: Dealer) -> TaggedOutput:
    counters.count(STAGE, "estimated", len(entries))
    order = entries["words"].shape[1]
    packed = dealer.put(gram_tables.sort_table(entries, bucketed_by(entries["words"], highest)))
    return TaggedOutput(ENTRIES_TAG, ModelPart(order, bucket, len(entries), packed))


@transform
def WeighKneserNey(
    grams: beam.PCollection, dealer: Dealer, tallies: beam.PCollection, cut: Mapping[int, int]
) -> Any:
    """Computes the Kneser-Ney weights of n-grams.

    PCollection[((order, bucket), reference to ADJUSTED_COUNTS in scratch)] → {level: PCollection}, the input
    of Interpolate.

    Args:
      dealer: partitions n-grams into buckets.
      tallies: PCollection[(order, Tally)], a summary of the counts of each order.
      cut: order → maximum count of pruned n-grams.
    """
    weigh = beam.FlatMap(weigh_kneser_ney, cut, dealer, AsDict(tallies))
    grouped = grams | "GroupContexts" >> GroupBuckets(dealer, Counts)
    return _by_level(grouped, weigh, max(cut))


def weigh_kneser_ney(
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
    table = join_pieces(grouped[1], order, gram_tables.ADJUSTED_COUNTS)
    discounts = smoothing.estimate_discounts(tallies[order])
    if order == 1:  # all unigrams are in one bucket
        unigrams = smoothing.estimate_unigrams(table, tallies[1], discounts)
        yield from send(2, SHORTER, dealer.deal(unigrams, unigrams["words"]))
        return
    weighed, contexts = smoothing.weigh(table, discounts, cut[order])
    yield from send(order, WEIGHED, dealer.deal(weighed, weighed["words"][:, 1:]))
    yield from send(order, CONTEXTS, dealer.deal(contexts, contexts["words"]))
    counters.count(STAGE, "weighed", len(table))


COUNTED, ASKING, DIVIDED, OF_CONTEXTS, OF_USED = "counted", "asking", "divided", "own", "used"
SCALED = "scaled"  # further kinds of pieces

Keyed = tuple[tuple[int, int], tuple[str, bytes]]  # (order, bucket), (kind, rows in scratch)


@transform
def WeighStupidBackoff(grams: beam.PCollection, dealer: Dealer, cut: Mapping[int, int]) -> Any:
    """Computes the Stupid Backoff weights of n-grams.

    PCollection[((order, bucket), reference to ADJUSTED_COUNTS in scratch)] → {level: PCollection}, the input
    of Interpolate.

    Args:
      cut: order → maximum count of pruned n-grams.
    """
    highest = max(cut)
    grouped = grams | "GroupContexts" >> GroupBuckets(dealer, Counts)
    divide = beam.FlatMap(divide_bucket, cut, dealer).with_output_types(Keyed)
    divided = grouped | "Divide" >> divide.with_outputs(OF_CONTEXTS, main=ASKING)
    used = (
        divided[ASKING]
        | "GroupEnds" >> GroupBuckets(dealer, Keyed)
        | "Answer" >> beam.FlatMap(answer_bucket, dealer).with_output_types(Keyed)
    )
    grouped = (used, divided[OF_CONTEXTS]) | "GroupUsed" >> GroupBuckets(dealer, Keyed)
    left = _by_level(grouped, beam.FlatMap(leave_over_bucket, dealer), highest)
    scaled: list[beam.PCollection] = []
    shorter: tuple[beam.PCollection, ...] = ()
    for order in range(2, highest + 1):
        group = f"GroupLeft {order}" >> GroupBuckets(dealer, Pieces)
        scale = beam.FlatMap(scale_bucket, order, dealer).with_output_types(Pieces)
        scale = f"Scale {order}" >> scale.with_outputs(SCALED, main=SHORTER)
        scales = (left[level_of(order)], *shorter) | group | scale
        shorter = (scales[SHORTER],)
        scaled.append(scales[SCALED])
    counted = grams | "Counted" >> beam.MapTuple(lambda key, piece: (key, (COUNTED, piece)))
    grouped = (counted, *scaled) | "GroupScaled" >> GroupBuckets(dealer, Keyed)
    weigh = beam.FlatMap(weigh_stupid_backoff, cut, dealer)
    return _by_level(grouped, weigh, highest)


def _by_level(
    grouped: beam.PCollection, weigh: beam.ParDo, highest: int
) -> dict[str, beam.PCollection]:
    """Applies a transform with an output for each level. Returns level → output."""
    levels = levels_of(highest)
    found = grouped | weigh.with_output_types(Pieces).with_outputs(*levels)
    return {level: found[level] for level in levels}


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
    table = join_pieces(grouped[1], order, gram_tables.ADJUSTED_COUNTS)
    if order == 1:
        found = smoothing.divide_unigrams(table)
    else:
        found, contexts = smoothing.divide_by_contexts(table, cut[order])
        for bucket, piece in dealer.deal(
            gram_tables.make_table(found["words"], ()), found["words"][:, 1:]
        ):
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
    (order, _), pieces = grouped
    asking = _join(pieces, ASKING, order + 1, ())
    used = smoothing.use_shorter(asking["words"], _join(pieces, DIVIDED, order, FREQUENCIES))
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
    (order, _), pieces = grouped
    used = _join(pieces, OF_USED, order, USED)
    left = smoothing.leave_over(used, _join(pieces, OF_CONTEXTS, order - 1, OWN))
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
    pieces = grouped[1]
    shorter = _join(pieces, SHORTER, max(order - 2, 1), SCALES)
    scales = smoothing.scale_contexts(_join(pieces, WEIGHED, order - 1, LEFT), shorter)
    for bucket, piece in dealer.deal(scales, scales["words"]):
        yield bucket, (SHORTER, piece)
        yield TaggedOutput(SCALED, ((order, bucket), (SCALED, piece)))


def weigh_stupid_backoff(
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
    (order, _), pieces = grouped
    table = _join(pieces, COUNTED, order, gram_tables.ADJUSTED_COUNTS)
    counters.count(STAGE, "weighed", len(table))
    if order == 1:
        unigrams = smoothing.divide_unigrams(table)
        found = smoothing.with_start(unigrams["words"], unigrams["frequency"])
        yield from send(2, SHORTER, dealer.deal(found, found["words"]))
        return
    found, _ = smoothing.divide_by_contexts(table, cut[order])
    scales = _join(pieces, SCALED, order - 1, SCALES)
    weighed = smoothing.weigh_by_scales(found, scales)
    contexts = gram_tables.make_table(scales["words"], gram_tables.BACKOFFS, scales["backoff"])
    yield from send(order, WEIGHED, dealer.deal(weighed, weighed["words"][:, 1:]))
    yield from send(order, CONTEXTS, dealer.deal(contexts, contexts["words"]))


def _join(pieces: Iterable[tuple[str, bytes]], wanted: str, order: int, values: Values) -> Any:
    return join_pieces([piece for kind, piece in pieces if kind == wanted], order, values)


FILE, KIND = "model.arpa", "arpa"


@transform
def WriteArpa(
    parts: beam.PCollection, folder: str, scratch: str, words: beam.PCollection, order: int
) -> beam.PCollection:
    """Writes a model to model.arpa. PCollection[ModelPart] → PCollection[OutputFile].

    All workers format lines; one worker concatenates them.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary lines.
      words: side input with one element, a reference to the vocabulary in scratch.
      order: highest order of the model.
    """
    make = beam.Map(make_part, order, Scratch(scratch), AsSingleton(words))
    return (
        parts
        | "MakeLines" >> make.with_output_types(ModelPart)
        | "KeyByFile" >> beam.WithKeys(FILE).with_output_types(tuple[str, ModelPart])
        | "GroupFile" >> beam.GroupByKey()
        | "WriteFile" >> beam.Map(write_file, folder, order).with_output_types(OutputFile)
    )


def make_part(part: ModelPart, highest: int, scratch: Scratch, words: bytes) -> ModelPart:
    """Formats the n-grams of a part of the model as lines of the ARPA file. Returns it with these lines.

    Args:
      part: n-grams of the same order and bucket.
      highest: highest order of the model. N-grams of this order have no back-off weight.
      scratch: stores the lines.
      words: reference to the vocabulary in scratch.
    """
    entries = join_pieces([part.packed], part.order, gram_tables.ENTRIES)
    lines = smoothing.make_lines(
        entries, count_ngrams.load_words(words), has_backoffs=part.order < highest
    )
    return part._replace(packed=scratch.put(pack_block(lines)))


def write_file(grouped: tuple[str, Iterable[ModelPart]], folder: str, highest: int) -> OutputFile:
    """Writes model.arpa. In the manifest, its number of records is the number of n-grams of all orders.

    `grouped` is (file name, the parts of the model as lines). `highest` is the highest order of the model. An
    order has no parts if no sentence is long enough.
    """
    name, unordered = grouped
    parts: dict[int, list[ModelPart]] = {order: [] for order in range(1, highest + 1)}
    for part in sorted(unordered):
        parts[part.order].append(part)
    grams = {order: sum(part.grams for part in of_order) for order, of_order in parts.items()}
    with HashedFile.in_folder(folder, name) as file:
        file.write(smoothing.make_head(grams))
        for order, of_order in parts.items():
            file.write(b"\n\\%d-grams:\n" % order)
            for part in of_order:
                file.write(unpack_block(fetch(part.packed)))
        file.write(smoothing.END)
    return file.output_file(name, "", KIND, sum(grams.values()))
