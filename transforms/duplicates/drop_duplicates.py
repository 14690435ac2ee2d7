"""Drops near-duplicate documents. One document of each group of near-duplicates is kept.

Two documents are near-duplicates if the Jaccard similarity of the sets of their word n-grams is at least the
threshold. MinHash and banding (see minhash.py) find candidate pairs, whose n-grams are then all compared.
"""

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from corpusmill.transforms.duplicates.compare_documents import CompareDocuments, ComparedPair
from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.duplicates.document_signatures import parse_similarity
from corpusmill.transforms.duplicates.duplicate_groups import choose_kept
from corpusmill.transforms.duplicates.find_near_pairs import FindNearPairs, NearPairs, is_among
from corpusmill.transforms.duplicates.find_similar_documents import Describe, number_of
from corpusmill.transforms.duplicates.hashed_ngrams import Int64s, Uint64s, hash_ngrams
from corpusmill.transforms.duplicates.minhash import NGRAM_WORDS
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import Screened
from corpusmill.transforms.files.records import Rejected

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
        self.threshold = parse_similarity(threshold)
        self.describe = describe
        ngrams_of = functools.partial(ngrams_of_text, text_of=text_of)
        self.find = FindNearPairs(folder, describe, ngrams_of, self.threshold)

    def expand(self, documents: beam.PCollection) -> Screened:
        near = documents | "FindNearPairs" >> self.find
        dropped = self._choose(near)
        numbers = AsSingleton(dropped | "DroppedNumbers" >> beam.Map(dropped_numbers))
        kept = documents | "KeepDocuments" >> beam.Filter(is_kept, numbers, self.describe)
        rejected = (
            dropped
            | "CompareDropped" >> CompareDocuments(near.sketches)
            | "RejectDocuments" >> beam.Map(reject_document)
        )
        return Screened(kept, rejected)

    def _choose(self, near: NearPairs) -> beam.PCollection:
        """Chooses the documents to keep.

        Returns a PCollection of one array of rows (number of a kept document, number of a document dropped
        for it).
        """
        ranks = (
            near.pairs
            | "PairRanks" >> beam.Map(ranks_of)
            | "GatherRanks" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )
        return near.links | "ChooseKept" >> beam.Map(choose_kept, AsSingleton(ranks))


def ngrams_of_text(document: Any, text_of: TextOf) -> Uint64s:
    """Returns the hashes of the n-grams of a document's text."""
    return hash_ngrams(text_of(document), NGRAM_WORDS)


def ranks_of(pair: ComparedPair) -> Pairs:
    """Returns an array with a row (document number, rank) for each of the two documents of a pair."""
    return numpy.array([(one.number, one.facts.rank) for one in pair[:2]], numpy.int64)


def dropped_numbers(pairs: Pairs) -> Int64s:
    """Returns the numbers of the dropped documents, ascending.

    `pairs` has rows (number of a kept document, number of a document that is dropped for it).
    """
    return pairs[:, 1].copy()


def is_kept(document: Any, dropped: Int64s, describe: Describe) -> bool:
    """Returns True if a document is kept, because its number is not in `dropped`.

    `describe` returns the DocumentFacts of the document. Its number is computed from the key in them.
    """
    return not is_among(number_of(describe(document).key), dropped)


def reject_document(pair: ComparedPair) -> Rejected:
    """Returns the rejection of the second document of a pair, and counts it. The first document is kept.

    The detail of the rejection names the first document: "8-gram similarity 0.998 to 2591, which stays".
    """
    counters.count(STAGE, NEAR_DUPLICATE)
    similarity = f"{NGRAM_WORDS}-gram similarity {float(pair.similarity):.3f}"
    detail = f"{similarity} to {pair.first.facts.key}, which stays"
    facts = pair.second.facts
    return Rejected(str(facts.key), facts.title, STAGE, NEAR_DUPLICATE, detail)
