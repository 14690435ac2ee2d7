"""Finds pairs of near-duplicate documents, and the groups that these pairs form.

MinHash selects the pairs to compare. Then all n-grams of the two documents are compared.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.duplicates.combine_pairs import CombinePairs
from corpusmill.transforms.duplicates.compare_documents import (
    CompareDocuments,
    ComparedPair,
    Sketch,
)
from corpusmill.transforms.duplicates.components import Pairs, link_to_smallest
from corpusmill.transforms.duplicates.find_similar_documents import (
    Describe,
    FindSimilarDocuments,
    NgramsOf,
    PairMembers,
    bands_for,
    number_of,
)
from corpusmill.transforms.duplicates.hashed_ngrams import Int64s
from corpusmill.transforms.duplicates.minhash import pair_members
from corpusmill.transforms.files.scratch import Scratch


class NearPairs(NamedTuple):
    """The outputs of FindNearPairs: pairs of near-duplicates, the groups that they form, and sketches.

    The sketch of a document refers to the hashes of its n-grams. Only documents that were compared with
    others have one.
    """

    pairs: beam.PCollection  # of ComparedPair
    links: (
        beam.PCollection
    )  # of one array: rows (document number, smallest number in its connected component)
    sketches: beam.PCollection  # of (number, Sketch), of documents that share a band with another


class FindNearPairs(beam.PTransform):
    """Finds pairs of near-duplicate documents. PCollection[document] → NearPairs.

    Documents are not shuffled. For documents that share a band with another, the hashes (8 bytes per n-gram)
    are written to scratch, and references to them are shuffled. One worker holds all candidate pairs.

    Args:
      folder: folder for temporary hashes (see scratch.py).
      describe: picklable function from a document to its DocumentFacts. The key must be unique.
      ngrams_of: picklable function from a document to the hashes of its n-grams, called at most twice for
        each document.
      threshold: minimum similarity of near-duplicates.
      pair: function that chooses which documents of a MinHash bucket are compared.
      again: PCollection of the same documents, read a second time, so that the runner need not store them;
        None to use the input twice.

    Raises ValueError if two near-duplicates have the same key.
    """

    def __init__(
        self,
        folder: str,
        describe: Describe,
        ngrams_of: NgramsOf,
        threshold: Fraction,
        pair: PairMembers = pair_members,
        again: beam.PCollection | None = None,
    ):
        super().__init__()
        self.sketch = Scratch(folder), describe, ngrams_of
        bands = bands_for(float(threshold))
        self.find_similar = FindSimilarDocuments(folder, describe, ngrams_of, bands, pair)
        self.threshold, self.again = threshold, again

    def expand(self, documents: beam.PCollection) -> NearPairs:
        similar = documents | "FindSimilar" >> self.find_similar
        wanted = AsSingleton(similar | "SimilarNumbers" >> beam.Map(numpy.unique))
        # Grouped to detect duplicate keys, and for another reason: otherwise the in-process runner would
        # delay the joins of sketches until all work on documents is done, and this step waits for the joins.
        sketches = (
            (documents if self.again is None else self.again)
            | "SketchSimilar" >> beam.FlatMap(sketch_similar, wanted, *self.sketch)
            | "GroupSketches" >> beam.GroupByKey()
            | "CheckNumbers" >> beam.Map(only_sketch)
        )
        near = (
            similar
            | "CompareSimilar" >> CompareDocuments(sketches)
            | "NearPairs" >> beam.Filter(is_near, self.threshold)
        )
        links = (
            near
            | "PairNumbers" >> beam.Map(numbers_of)
            | "LinkDocuments" >> beam.CombineGlobally(CombinePairs(link_to_smallest))
        )
        return NearPairs(near, links, sketches)


def sketch_similar(
    document: Any, wanted: Int64s, scratch: Scratch, describe: Describe, ngrams_of: NgramsOf
) -> Iterator[tuple[int, Sketch]]:
    """Yields (number of the document, its Sketch) if the number is in `wanted`, an ascending array.

    The hashes of the document's n-grams are stored in scratch, and the Sketch refers to them. `describe`
    returns the DocumentFacts of a document, `ngrams_of` the hashes of its n-grams.
    """
    facts = describe(document)
    number = number_of(facts.key)
    if is_among(number, wanted):
        hashes = ngrams_of(document)
        yield number, Sketch(number, facts, scratch.put(hashes.astype("<u8").tobytes()))


def only_sketch(grouped: tuple[int, Iterable[Sketch]]) -> tuple[int, Sketch]:
    """Returns (number of a document, its Sketch) from (number, all sketches with this number).

    Raises ValueError if there are several sketches, because then several documents have the same number.
    """
    number, (sketch, *others) = grouped
    if others:
        names = " and ".join(sorted(str(one.facts.key) for one in (sketch, *others)))
        raise ValueError(
            f"documents have the same key, or keys that are converted to the same number {number}: {names}"
        )
    return number, sketch


def is_near(pair: ComparedPair, threshold: Fraction) -> bool:
    """Returns True if the similarity of a pair is at least the threshold."""
    return pair.similarity >= threshold


def numbers_of(pair: ComparedPair) -> Pairs:
    """Returns the document numbers of a pair, as an array of one row."""
    return numpy.array([[pair.first.number, pair.second.number]], numpy.int64)


def is_among(number: int, numbers: Int64s) -> bool:
    """Returns True if a number is in the ascending array `numbers`."""
    place = int(numpy.searchsorted(numbers, number))
    return place < len(numbers) and int(numbers[place]) == number
