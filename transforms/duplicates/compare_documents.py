"""Pairs of documents → how similar they are, by joins on their numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy

from transforms.files.scratch import fetch
from transforms.text.duplicates.components import Pairs

DOCUMENTS, WANTED = "documents", "wanted"


class Sketch(NamedTuple):
    """What is compared of a document."""

    number: int
    name: str  # the key
    rank: int
    packed: bytes  # its hashes or its signature; see Scratch


class ComparedPair(NamedTuple):
    """Two documents, whose `packed` is empty, and how similar they are."""

    first: Sketch
    second: Sketch
    similarity: Fraction


class CompareDocuments(beam.PTransform):
    """PCollection of arrays of pairs → PCollection[ComparedPair], of each pair one.

    A worker holds two sketches at a time. What travels of a document is its sketch, as often as it is the
    first of a pair: on a local file system, the word where that is.

    Args:
      number_to_sketch: (number, Sketch) of all that are in a pair, and maybe of others; one for each number.
      measure: two sketches in bytes → their similarity.
    """

    def __init__(
        self, number_to_sketch: beam.PCollection, measure: Callable[[bytes, bytes], Fraction]
    ):
        super().__init__()
        self.number_to_sketch = number_to_sketch
        self.measure = measure

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        wanted = pairs | "SplitPairs" >> beam.FlatMap(split_pairs).with_output_types(
            tuple[int, Any]
        )
        firsts = (
            {DOCUMENTS: self.number_to_sketch, WANTED: wanted}
            | "MeetFirst" >> beam.CoGroupByKey()
            | "SendFirst" >> beam.FlatMap(send_first).with_output_types(tuple[int, Sketch])
        )
        return (
            {DOCUMENTS: self.number_to_sketch, WANTED: firsts}
            | "MeetSecond" >> beam.CoGroupByKey()
            | "CompareWithFirsts"
            >> beam.FlatMap(compare_with_firsts, self.measure).with_output_types(ComparedPair)
        )


def split_pairs(pairs: Pairs) -> Iterator[tuple[int, Any]]:
    """(first, all its seconds)."""
    order = numpy.lexsort((pairs[:, 1], pairs[:, 0]))
    firsts, starts = numpy.unique(pairs[order, 0], return_index=True)
    parts = numpy.split(pairs[order, 1], starts[1:])
    return zip(firsts.tolist(), parts, strict=False)  # of no rows `split` makes one part


def send_first(joined: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[tuple[int, Sketch]]:
    """(second, the first of the pair)."""
    _, found = joined
    (own,) = found[DOCUMENTS]
    for seconds in found[WANTED]:
        for second in seconds.tolist():
            if second != own.number:  # which chance may bring into a bucket twice
                yield second, own


def compare_with_firsts(
    joined: tuple[int, Mapping[str, Iterable[Any]]], measure: Callable[[bytes, bytes], Fraction]
) -> Iterator[ComparedPair]:
    """The pairs that have come to their second."""
    _, found = joined
    (own,) = found[DOCUMENTS]
    data = b""
    for first in found[WANTED]:
        data = data or fetch(own.packed)
        similarity = measure(fetch(first.packed), data)
        yield ComparedPair(first._replace(packed=b""), own._replace(packed=b""), similarity)
