"""Computes the similarity of pairs of documents, by joins on their numbers."""

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
"""(number, {DOCUMENTS: its Sketch, WANTED: what was sent to it})."""


class Sketch(NamedTuple):
    """The compared data of a document: the hashes of its n-grams."""

    number: int
    facts: DocumentFacts
    packed: bytes  # the hashes of its n-grams, in scratch


class ComparedPair(NamedTuple):
    """Two documents and their similarity. Their `packed` is empty."""

    first: Sketch
    second: Sketch
    similarity: Fraction


class CompareDocuments(beam.PTransform):
    """PCollection of arrays of pairs → PCollection[ComparedPair], one for each pair.

    A worker holds two sketches at a time. The sketch of a document is shuffled once for each pair in which it
    is the first; on a local file system, only a reference to it.

    Args:
      number_to_sketch: (number, Sketch) of all documents in pairs; others are ignored. One for each number.
      compare: result for a sketch and the first documents of its pairs; by default ComparedPairs.
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
    """Yields (first document, all its second documents in order)."""
    return ((first, pairs[places, 1]) for first, places in group_places(pairs[:, 0]))


def send_first(joined: Met) -> Iterator[tuple[int, Sketch]]:
    """Yields (second document, sketch of the first)."""
    _, found = joined
    (own,) = found[DOCUMENTS]
    for seconds in found[WANTED]:
        for second in seconds.tolist():
            if second != own.number:  # a document may be in a bucket twice by chance
                yield second, own


def compare_with_firsts(joined: Met) -> Iterator[ComparedPair]:
    """Yields the compared pairs of a second document."""
    _, found = joined
    (own,) = found[DOCUMENTS]
    hashes = None
    for first in found[WANTED]:
        hashes = hashes_of(own) if hashes is None else hashes
        similarity = exact_jaccard(hashes_of(first), hashes)
        yield ComparedPair(first._replace(packed=b""), own._replace(packed=b""), similarity)


def hashes_of(sketch: Sketch) -> Uint64s:
    """Returns the hashes of a sketch from scratch."""
    return numpy.frombuffer(fetch(sketch.packed), "<u8")
