"""Documents → those without near-duplicates: of each group of alike ones, one stays.

Two documents are alike if the Jaccard similarity of the sets of their word n-grams is at least the threshold.
Candidates are found by MinHash and bands; a candidate is compared by all n-grams.
"""

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton

from transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from transforms.duplicates.compare_documents import CompareDocuments, ComparedPair
from transforms.duplicates.find_near_pairs import FindNearPairs, NearPairs, is_among
from transforms.duplicates.find_similar_documents import NGRAM_WORDS, Describe, number_of
from transforms.files import counters
from transforms.files.screen import Screened
from transforms.records import Rejected
from transforms.text.duplicates.components import Pairs
from transforms.text.duplicates.document_signatures import parse_similarity
from transforms.text.duplicates.duplicate_groups import choose_kept
from transforms.text.duplicates.hashed_ngrams import Int64s, Uint64s, hash_ngrams

TextOf = Callable[[Any], str]

STAGE = "drop-duplicates"
NEAR_DUPLICATE = "near-duplicate"


class DropDuplicates(beam.PTransform):
    """PCollection[document] → Screened; the same on any number of workers, in whatever order documents come.

    Groups are connected components: if A is like B, and B like C, one of the three stays. The detail of a
    rejection says how similar it is to the one that stays, which in a chain may be less than the threshold.
    A document without words is like no other.

    Documents stay where they are. Of those alone that share a band with another, the hashes (8 bytes an
    n-gram) wait in scratch, and their references travel. In one place come together the pairs of these, and
    two numbers of each document that has a near-duplicate.

    Bands miss some pairs: with 128 permutations 0.4 % to 2 % of those that are just as similar as the
    threshold, where that is from 0.3 to 0.9, and 0.1 % at most of those more similar by 0.05. Which ones is
    no matter of chance: it depends on the texts alone.

    Args:
      folder: in which hashes wait (see scratch.py).
      describe: document → DocumentFacts; see there for the key, and for which one stays. Of those with the
        same rank, it is the one with the smallest number (`number_of` its key). It has to be picklable.
      text_of: document → its text; it is called twice at most. It has to be picklable.
      threshold: least similarity of near-duplicates; above 0 and below 1. It is compared exactly: "0.1" is
        one tenth. Far below 0.3 there is too much to compare.

    Raises ValueError for a threshold that makes no sense, and where two near-duplicates have the same key.
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
        """One array: rows (number of the one that stays, number of one that does not)."""
        ranks = (
            near.pairs
            | "PairRanks" >> beam.Map(ranks_of)
            | "GatherRanks" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )
        return near.links | "ChooseKept" >> beam.Map(choose_kept, AsSingleton(ranks))


def ngrams_of_text(document: Any, text_of: TextOf) -> Uint64s:
    """The hashes of the n-grams of its text."""
    return hash_ngrams(text_of(document), NGRAM_WORDS)


def ranks_of(pair: ComparedPair) -> Pairs:
    """Rows (number, rank) of both."""
    return numpy.array([(one.number, one.facts.rank) for one in pair[:2]], numpy.int64)


def dropped_numbers(pairs: Pairs) -> Int64s:
    """The numbers that do not stay, ascending, of what `choose_kept` gives."""
    return pairs[:, 1].copy()


def is_kept(document: Any, dropped: Int64s, describe: Describe) -> bool:
    """Returns True if the number of the document is not among those dropped."""
    return not is_among(number_of(describe(document).key), dropped)


def reject_document(pair: ComparedPair) -> Rejected:
    """The rejection of the second, counted. Its detail: "8-gram similarity 0.998 to 2591, which stays"."""
    counters.count(STAGE, NEAR_DUPLICATE)
    similarity = f"{NGRAM_WORDS}-gram similarity {float(pair.similarity):.3f}"
    detail = f"{similarity} to {pair.first.facts.key}, which stays"
    facts = pair.second.facts
    return Rejected(str(facts.key), facts.title, STAGE, NEAR_DUPLICATE, detail)
