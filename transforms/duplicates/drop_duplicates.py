"""Drops near-duplicate documents. One document of each group of near-duplicates is kept.

Two documents are near-duplicates if the Jaccard similarity of the sets of their word n-grams is at least the
threshold. MinHash and banding (see minhash.py) find candidate pairs, whose n-grams are then all compared.

Finds pairs of near-duplicate documents, and the groups that these pairs form.

MinHash selects the pairs to compare. Then all n-grams of the two documents are compared.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton

from ..files import counters
from ..files.counters import Screened
from ..files.records import Rejected
from ..files.scratch import Scratch
from . import minhash, similar_documents
from .similar_documents import CombinePairs, CompareDocuments, ComparedPair, Describe, Sketch


class NearPairs(NamedTuple):
    """The outputs of FindNearPairs: pairs of near-duplicates, the groups that they form, and sketches.

    The sketch of a document refers to the hashes of its n-grams. Only documents that were compared with
    others have one.
    """

    pairs: beam.PCollection  # of ComparedPair
    # of one array: rows (document number, smallest number in its connected component)
    links: beam.PCollection
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
        ngrams_of: similar_documents.NgramsOf,
        threshold: Fraction,
        pair: similar_documents.PairMembers = minhash.pair_members,
        again: beam.PCollection | None = None,
    ):
        super().__init__()
        self.sketch = Scratch(folder), describe, ngrams_of
        bands = similar_documents.bands_for(float(threshold))
        self.find_similar = similar_documents.FindSimilarDocuments(
            folder, describe, ngrams_of, bands, pair
        )
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
            | "LinkDocuments" >> beam.CombineGlobally(CombinePairs(minhash.link_to_smallest))
        )
        return NearPairs(near, links, sketches)


def sketch_similar(
    document: Any,
    wanted: minhash.Int64s,
    scratch: Scratch,
    describe: Describe,
    ngrams_of: similar_documents.NgramsOf,
) -> Iterator[tuple[int, Sketch]]:
    """Yields (number of the document, its Sketch) if the number is in `wanted`, an ascending array.

    The hashes of the document's n-grams are stored in scratch, and the Sketch refers to them. `describe`
    returns the DocumentFacts of a document, `ngrams_of` the hashes of its n-grams.
    """
    facts = describe(document)
    number = similar_documents.number_of(facts.key)
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


def numbers_of(pair: ComparedPair) -> minhash.Pairs:
    """Returns the document numbers of a pair, as an array of one row."""
    return numpy.array([[pair.first.number, pair.second.number]], numpy.int64)


def is_among(number: int, numbers: minhash.Int64s) -> bool:
    """Returns True if a number is in the ascending array `numbers`."""
    place = int(numpy.searchsorted(numbers, number))
    return place < len(numbers) and int(numbers[place]) == number


TextOf = Callable[[Any], str]

STAGE = "drop-duplicates"
NEAR_DUPLICATE = "near-duplicate"


class DropDuplicates(beam.PTransform):
    """Drops near-duplicate documents. PCollection[document] → Screened.

    The result does not depend on workers or the order of documents. Groups are connected components: if A is
    similar to B, and B to C, one of the three is kept, even if the similarity of A and C is below the
    threshold. The detail of a rejection names the kept document and the similarity to it. Documents without
    words are always kept.

    Documents are not shuffled. For documents that share a band with another, the hashes (8 bytes per n-gram)
    are written to scratch, and references to them are shuffled. One worker holds all candidate pairs, and two
    numbers for each document that has a near-duplicate.

    Bands miss some pairs. With 128 permutations and a threshold from 0.3 to 0.9, they miss 0.4 % to 2 % of
    the pairs whose similarity is exactly the threshold, and at most 0.1 % of the pairs whose similarity is
    0.05 higher. The missed pairs depend only on the texts.

    Args:
      folder: folder for temporary hashes (see scratch.py).
      describe: picklable function from a document to its DocumentFacts. The key must be unique. The document
        with the greatest rank is kept; if ranks are equal, that with the smallest `number_of(key)`.
      text_of: picklable function from a document to its text, called at most twice for each document.
      threshold: minimum similarity of near-duplicates; above 0 and below 1. It is compared exactly: "0.1" is
        one tenth. A threshold far below 0.3 gives too many pairs to compare.

    Raises ValueError for an invalid threshold, and if two near-duplicates have the same key.
    """

    def __init__(
        self, folder: str, describe: Describe, text_of: TextOf, threshold: str | float | Fraction
    ):
        super().__init__()
        self.threshold = minhash.parse_similarity(threshold)
        self.describe = describe
        self.find = FindNearPairs(
            folder,
            describe,
            lambda document: minhash.hash_ngrams(text_of(document), minhash.NGRAM_WORDS),
            self.threshold,
        )

    def expand(self, documents: beam.PCollection) -> Screened:
        near = documents | "FindNearPairs" >> self.find
        ranks = (
            near.pairs
            | "PairRanks" >> beam.Map(ranks_of)
            | "GatherRanks" >> beam.CombineGlobally(CombinePairs(similar_documents.different_pairs))
        )
        # One array of rows (number of a kept document, number of a document dropped for it).
        dropped = near.links | "ChooseKept" >> beam.Map(minhash.choose_kept, AsSingleton(ranks))
        numbers = AsSingleton(
            dropped | "DroppedNumbers" >> beam.Map(lambda pairs: pairs[:, 1].copy())
        )
        kept = documents | "KeepDocuments" >> beam.Filter(is_kept, numbers, self.describe)
        rejected = (
            dropped
            | "CompareDropped" >> CompareDocuments(near.sketches)
            | "RejectDocuments" >> beam.Map(reject_document)
        )
        return Screened(kept, rejected)


def ranks_of(pair: ComparedPair) -> minhash.Pairs:
    """Returns an array with a row (document number, rank) for each of the two documents of a pair."""
    return numpy.array([(one.number, one.facts.rank) for one in pair[:2]], numpy.int64)


def is_kept(document: Any, dropped: minhash.Int64s, describe: Describe) -> bool:
    """Returns True if a document is kept, because its number is not in `dropped`.

    `describe` returns the DocumentFacts of the document. Its number is computed from the key in them.
    """
    return not is_among(similar_documents.number_of(describe(document).key), dropped)


def reject_document(pair: ComparedPair) -> Rejected:
    """Returns the rejection of the second document of a pair, and counts it. The first document is kept.

    The detail of the rejection names the first document: "8-gram similarity 0.998 to 2591, which stays".
    """
    counters.count(STAGE, NEAR_DUPLICATE)
    similarity = f"{minhash.NGRAM_WORDS}-gram similarity {float(pair.similarity):.3f}"
    detail = f"{similarity} to {pair.first.facts.key}, which stays"
    facts = pair.second.facts
    return Rejected(str(facts.key), facts.title, STAGE, NEAR_DUPLICATE, detail)
