"""Pairs of documents → how similar they are, by joins on their numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy

from transforms.duplicates.find_similar_documents import DocumentFacts
from transforms.files.scratch import fetch
from transforms.text.duplicates.components import Pairs
from transforms.text.duplicates.document_signatures import exact_jaccard
from transforms.text.duplicates.hashed_ngrams import Uint64s
from transforms.text.lines.line_ids import group_places

DOCUMENTS, WANTED = "documents", "wanted"
Met = tuple[int, Mapping[str, Iterable[Any]]]
"""(number, its Sketch in DOCUMENTS, what came to it in WANTED)."""


class Sketch(NamedTuple):
    """The part of a document that is compared."""

    number: int
    facts: DocumentFacts
    packed: bytes  # the hashes of its n-grams; see Scratch


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
      compare: what is made of a sketch and the firsts of its pairs, in place of ComparedPairs.
    """

    def __init__(
        self,
        number_to_sketch: beam.PCollection,
        compare: Callable[[Met], Iterable[Any]] | None = None,
    ):
        super().__init__()
        self.number_to_sketch = number_to_sketch
        self.compare = compare or compare_with_firsts

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        wanted = pairs | "SplitPairs" >> beam.FlatMap(split_pairs)
        firsts = (
            {DOCUMENTS: self.number_to_sketch, WANTED: wanted}
            | "MeetFirst" >> beam.CoGroupByKey()
            | "SendFirst" >> beam.FlatMap(send_first)
        )
        return (
            {DOCUMENTS: self.number_to_sketch, WANTED: firsts}
            | "MeetSecond" >> beam.CoGroupByKey()
            | "CompareWithFirsts" >> beam.FlatMap(self.compare)
        )


def split_pairs(pairs: Pairs) -> Iterator[tuple[int, Any]]:
    """(first, all its seconds, in their order)."""
    return ((first, pairs[places, 1]) for first, places in group_places(pairs[:, 0]))


def send_first(joined: Met) -> Iterator[tuple[int, Sketch]]:
    """(second, the first of the pair)."""
    _, found = joined
    (own,) = found[DOCUMENTS]
    for seconds in found[WANTED]:
        for second in seconds.tolist():
            if second != own.number:  # which chance may bring into a bucket twice
                yield second, own


def compare_with_firsts(joined: Met) -> Iterator[ComparedPair]:
    """The pairs that have come to their second."""
    _, found = joined
    (own,) = found[DOCUMENTS]
    hashes = None
    for first in found[WANTED]:
        hashes = hashes_of(own) if hashes is None else hashes
        similarity = exact_jaccard(hashes_of(first), hashes)
        yield ComparedPair(first._replace(packed=b""), own._replace(packed=b""), similarity)


def hashes_of(sketch: Sketch) -> Uint64s:
    """The hashes that were put away."""
    return numpy.frombuffer(fetch(sketch.packed), "<u8")
