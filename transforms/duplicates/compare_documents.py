"""Computes the similarity of pairs of documents, which are identified by their numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy

from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.duplicates.document_signatures import exact_jaccard
from corpusmill.transforms.duplicates.find_similar_documents import DocumentFacts
from corpusmill.transforms.duplicates.hashed_ngrams import Uint64s
from corpusmill.transforms.files.line_ids import group_places
from corpusmill.transforms.files.scratch import fetch

DOCUMENTS, WANTED = "documents", "wanted"
Met = tuple[int, Mapping[str, Iterable[Any]]]
"""(number of a document, {DOCUMENTS: its Sketch, WANTED: the elements that were sent to it})."""


class Sketch(NamedTuple):
    """The data of a document that is needed to compare it: the hashes of its n-grams."""

    number: int
    facts: DocumentFacts
    packed: bytes  # the hashes of its n-grams, in scratch


class ComparedPair(NamedTuple):
    """Two documents and their similarity. The field `packed` of their sketches is empty."""

    first: Sketch
    second: Sketch
    similarity: Fraction


class CompareDocuments(beam.PTransform):
    """Compares pairs of documents.

    PCollection of arrays of pairs of document numbers → PCollection[ComparedPair], one for each pair. A
    worker holds two sketches at a time. The sketch of a document is shuffled once for each pair in which the
    document is the first; on a local file system, only a reference to the sketch is shuffled.

    Args:
      number_to_sketch: PCollection[(number, Sketch)] with one sketch for each document that occurs in a pair.
        Sketches of other documents are ignored.
      compare: function that compares a document with the first documents of its pairs; by default
        `compare_with_firsts`, which yields ComparedPairs.
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
    """Groups pairs by their first document.

    Yields (number of a first document, sorted numbers of its second documents).
    """
    return ((first, pairs[places, 1]) for first, places in group_places(pairs[:, 0]))


def send_first(joined: Met) -> Iterator[tuple[int, Sketch]]:
    """Sends the sketch of a document to the second document of each pair in which it is the first.

    Yields (number of the second document, sketch of the first document). `joined` is (number of the first
    document, its sketch and its pairs), as produced by CoGroupByKey.
    """
    _, found = joined
    (own,) = found[DOCUMENTS]
    for seconds in found[WANTED]:
        for second in seconds.tolist():
            if second != own.number:  # a document may be in a bucket twice by chance
                yield second, own


def compare_with_firsts(joined: Met) -> Iterator[ComparedPair]:
    """Yields a ComparedPair for each pair whose second document is the document of `joined`.

    `joined` is (number of this document, its sketch and the sketches of the first documents), as produced by
    CoGroupByKey. `send_first` sends the first documents.
    """
    _, found = joined
    (own,) = found[DOCUMENTS]
    hashes = None
    for first in found[WANTED]:
        hashes = hashes_of(own) if hashes is None else hashes
        similarity = exact_jaccard(hashes_of(first), hashes)
        yield ComparedPair(first._replace(packed=b""), own._replace(packed=b""), similarity)


def hashes_of(sketch: Sketch) -> Uint64s:
    """Reads the hashes of a document's n-grams from the scratch folder."""
    return numpy.frombuffer(fetch(sketch.packed), "<u8")
