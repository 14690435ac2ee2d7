"""Documents → those without near-duplicates: of each group of alike ones, one stays.

Two documents are alike if the Jaccard similarity of the sets of their word n-grams is at least the threshold.
Candidates are found by MinHash and bands; a candidate is compared by all n-grams, or by the estimate alone.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton, TaggedOutput

from transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from transforms.duplicates.compare_documents import CompareDocuments, ComparedPair, Sketch
from transforms.duplicates.drop_near_duplicates import check_settings
from transforms.duplicates.find_similar_documents import (
    Describe,
    DocumentFacts,
    FindSimilarDocuments,
    TextOf,
    number_of,
)
from transforms.files import counters
from transforms.files.scratch import Scratch
from transforms.files.screen import Screened
from transforms.records import Rejected
from transforms.text.duplicates.components import Pairs, link_to_smallest
from transforms.text.duplicates.document_signatures import (
    estimate_jaccard,
    exact_jaccard,
    parse_similarity,
    sign_documents,
)
from transforms.text.duplicates.duplicate_groups import choose_kept
from transforms.text.duplicates.hashed_ngrams import Int64s, hash_ngrams

STAGE = "drop-duplicates"
NEAR_DUPLICATE = "near-duplicate"
THRESHOLD = "0.8"
PERMUTATIONS = 128
NGRAM_WORDS = 8


class DropDuplicates(beam.PTransform):
    """PCollection[document] → Screened; the same on any number of workers, in whatever order documents come.

    Groups are connected components: if A is like B, and B like C, one of the three stays. The detail of a
    rejection tells how similar it is to the one that stays, which in a chain may be less than the threshold.
    A document without words is like no other.

    Documents stay where they are. Of those alone that share a band with another, the hashes (8 bytes an
    n-gram) or signatures wait in scratch, and their references travel. In one place come together the pairs
    of these, and two numbers of each document that has a near-duplicate.

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
      permutations: of a signature.
      ngram_words: a document with fewer words is one n-gram.
      verify: compare all n-grams of candidates. False: the estimate by signatures decides; it takes less
        disk, and at 0.8 it is off by more than 0.035 in one of three cases, and than 0.07 in one of 20.
      stage: that rejections and counters are filed under.

    Raises ValueError for settings that make no sense, and where two near-duplicates have the same key.
    """

    def __init__(
        self,
        folder: str,
        describe: Describe,
        text_of: TextOf,
        threshold: str | float | Fraction = THRESHOLD,
        permutations: int = PERMUTATIONS,
        ngram_words: int = NGRAM_WORDS,
        verify: bool = True,
        stage: str = STAGE,
    ):
        super().__init__()
        self.threshold = parse_similarity(threshold)
        check_settings(float(self.threshold), permutations, ngram_words)
        self.describe = describe
        self.ngram_words = ngram_words
        self.verify = verify
        self.stage = stage
        self.find_similar = FindSimilarDocuments(
            folder, describe, text_of, float(self.threshold), permutations, ngram_words
        )
        sketch_text = functools.partial(
            hash_text if verify else sign_text, ngram_words, permutations
        )
        self.sketch = _SketchDocuments(Scratch(folder), describe, text_of, sketch_text)

    def expand(self, documents: beam.PCollection) -> Screened:
        similar = documents | "FindSimilar" >> self.find_similar
        wanted = similar | "SimilarNumbers" >> beam.Map(numpy.unique)
        # Grouped not only to find keys that are there twice: the in-process runner would else let the joins
        # of sketches wait for the end of all work on documents, and this waits for the joins.
        sketches = (
            documents
            | "SketchSimilar"
            >> beam.ParDo(self.sketch, AsSingleton(wanted)).with_output_types(tuple[int, Sketch])
            | "GroupSketches" >> beam.GroupByKey()
            | "CheckNumbers" >> beam.Map(only_sketch).with_output_types(tuple[int, Sketch])
        )
        measure = compare_hashes if self.verify else compare_signatures
        near = (
            similar
            | "CompareSimilar" >> CompareDocuments(sketches, measure)
            | "NearPairs" >> beam.Filter(is_near, self.threshold)
        )
        dropped = self._choose(near)
        explained = (
            dropped
            | "CompareDropped" >> CompareDocuments(sketches, measure)
            | "KeyDropped" >> beam.Map(key_dropped).with_output_types(tuple[int, ComparedPair])
        )
        return self._drop(documents, dropped, explained)

    def _choose(self, near: beam.PCollection) -> beam.PCollection:
        """One array: rows (number of the one that stays, number of one that does not)."""
        links = (
            near
            | "PairNumbers" >> beam.Map(numbers_of)
            | "LinkDocuments" >> beam.CombineGlobally(CombinePairs(link_to_smallest))
        )
        ranks = (
            near
            | "PairRanks" >> beam.Map(ranks_of)
            | "GatherRanks" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )
        return links | "ChooseKept" >> beam.Map(choose_kept, AsSingleton(ranks))

    def _drop(
        self, documents: beam.PCollection, dropped: beam.PCollection, explained: beam.PCollection
    ) -> Screened:
        numbers = dropped | "DroppedNumbers" >> beam.Map(dropped_numbers)
        drop = beam.ParDo(_DropDocuments(self.describe), AsSingleton(numbers))
        split = documents | "DropDocuments" >> drop.with_output_types(
            documents.element_type
        ).with_outputs("facts", main="kept")
        rejected = (
            {"facts": split.facts, "pairs": explained}
            | "MeetFacts" >> beam.CoGroupByKey()
            | "RejectDocuments"
            >> beam.Map(
                reject_document, self.stage, self.ngram_words, self.verify
            ).with_output_types(Rejected)
        )
        return Screened(split.kept, rejected)


class _SketchDocuments(beam.DoFn):
    """Document → (number, Sketch), of those whose numbers are wanted."""

    def __init__(
        self,
        scratch: Scratch,
        describe: Describe,
        text_of: TextOf,
        sketch_text: Callable[[str], bytes],
    ):
        self._scratch = scratch
        self._describe = describe
        self._text_of = text_of
        self._sketch_text = sketch_text

    def process(self, document: Any, wanted: Int64s) -> Iterator[tuple[int, Sketch]]:
        facts = self._describe(document)
        number = number_of(facts.key)
        if is_among(number, wanted):
            packed = self._scratch.put(self._sketch_text(self._text_of(document)))
            yield number, Sketch(number, str(facts.key), facts.rank, packed)


class _DropDocuments(beam.DoFn):
    """Document → kept, or (number, DocumentFacts) on the output "facts"."""

    def __init__(self, describe: Describe):
        self._describe = describe

    def process(self, document: Any, dropped: Int64s) -> Iterator[Any]:
        facts = self._describe(document)
        number = number_of(facts.key)
        if is_among(number, dropped):
            yield TaggedOutput("facts", (number, facts))
        else:
            yield document


def only_sketch(grouped: tuple[int, Iterable[Sketch]]) -> tuple[int, Sketch]:
    """(number, its one sketch). Raises ValueError where two documents have the number."""
    number, (sketch, *others) = grouped
    if others:
        names = " and ".join(sorted(one.name for one in (sketch, *others)))
        raise ValueError(f"near-duplicates with the same key or number {number}: {names}")
    return number, sketch


def hash_text(ngram_words: int, permutations: int, text: str) -> bytes:
    """The hashes of the n-grams of a text; `permutations` is for the sake of the other one."""
    return hash_ngrams(text, ngram_words).astype("<u8").tobytes()


def sign_text(ngram_words: int, permutations: int, text: str) -> bytes:
    """The signature of a text."""
    signatures = sign_documents([hash_ngrams(text, ngram_words)], permutations)
    return bytes(signatures[0].astype("<u4").tobytes())


def compare_hashes(first: bytes, second: bytes) -> Fraction:
    """The similarity of two texts by what `hash_text` gives."""
    return exact_jaccard(numpy.frombuffer(first, "<u8"), numpy.frombuffer(second, "<u8"))


def compare_signatures(first: bytes, second: bytes) -> Fraction:
    """The similarity of two texts by what `sign_text` gives."""
    return estimate_jaccard(numpy.frombuffer(first, "<u4"), numpy.frombuffer(second, "<u4"))


def is_near(pair: ComparedPair, threshold: Fraction) -> bool:
    """Whether they are near-duplicates."""
    return pair.similarity >= threshold


def numbers_of(pair: ComparedPair) -> Pairs:
    """The numbers of both, one row."""
    return numpy.array([[pair.first.number, pair.second.number]], numpy.int64)


def ranks_of(pair: ComparedPair) -> Pairs:
    """Rows (number, rank) of both."""
    return numpy.array([(one.number, one.rank) for one in (pair.first, pair.second)], numpy.int64)


def dropped_numbers(pairs: Pairs) -> Int64s:
    """The numbers that do not stay, ascending, of what `choose_kept` gives."""
    return pairs[:, 1].copy()


def is_among(number: int, numbers: Int64s) -> bool:
    """Whether it is one of the numbers, which ascend."""
    place = int(numpy.searchsorted(numbers, number))
    return place < len(numbers) and int(numbers[place]) == number


def key_dropped(pair: ComparedPair) -> tuple[int, ComparedPair]:
    """(number of the one that does not stay, pair)."""
    return pair.second.number, pair


def reject_document(
    joined: tuple[int, Mapping[str, Iterable[Any]]], stage: str, ngram_words: int, verify: bool
) -> Rejected:
    """The rejection, counted. Its detail: "8-gram similarity 0.998 to 2591, which stays"."""
    _, found = joined
    facts: DocumentFacts
    pair: ComparedPair
    (facts,), (pair,) = found["facts"], found["pairs"]
    counters.count(stage, NEAR_DUPLICATE)
    similarity = f"{float(pair.similarity):.3f}"
    told = f"{'' if verify else 'estimated '}{ngram_words}-gram similarity"
    detail = f"{told} {similarity} to {pair.first.name}, which stays"
    return Rejected(str(facts.key), facts.title, stage, NEAR_DUPLICATE, detail)
