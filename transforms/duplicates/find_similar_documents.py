"""Documents → pairs of documents that may be near-duplicates, by MinHash and bands (see text/minhash.py)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from transforms.files.scratch import Scratch, fetch
from transforms.text.duplicates.components import Pairs
from transforms.text.duplicates.document_signatures import sign_documents
from transforms.text.duplicates.hashed_ngrams import Uint64s, hash_ngrams
from transforms.text.duplicates.minhash import bucket_signatures, choose_bands, pair_members
from transforms.text.fingerprint import fingerprint

MISS_WEIGHT = 0.99
"""A pair that is found wrongly costs a comparison, one that is missed stays in the corpus."""
SIGNED_HASHES = 1 << 16
"""Small documents are signed together, as many as have so many n-grams."""
GATHERED_ROWS = 1 << 20
"""So many buckets, 12 MB, a worker gathers from several documents before it deals them out."""

_PARTITION_BITS = 10
_BUCKET_BITS = 32
_ROW = numpy.dtype([("number", "<i8"), ("bucket", "<u4")])


class DocumentFacts(NamedTuple):
    """What has to be known of a document besides its text."""

    key: int | str  # no other document has it; of 64 bits with sign where it is a number
    title: str
    rank: int  # of near-duplicates, the one with the greatest stays; of 64 bits with sign


Describe = Callable[[Any], DocumentFacts]
TextOf = Callable[[Any], str]


class FindSimilarDocuments(beam.PTransform):
    """PCollection[document] → PCollection of one array: rows (smaller number, greater number), each once.

    A worker holds a 1024th of the buckets at a time: 12 bytes for each document and band. In one place come
    together the pairs: 16 bytes each, and eight of a document and band at most.

    Args: see DropDuplicates.
    """

    def __init__(
        self,
        folder: str,
        describe: Describe,
        text_of: TextOf,
        threshold: float,
        permutations: int,
        ngram_words: int,
    ):
        super().__init__()
        self.bands, self.rows = choose_bands(threshold, permutations, MISS_WEIGHT)
        self.scratch = Scratch(folder)
        self.describe = describe
        self.text_of = text_of
        self.permutations = permutations
        self.ngram_words = ngram_words

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        return (
            documents
            | "BucketDocuments"
            >> beam.ParDo(_BucketDocuments(self)).with_output_types(tuple[int, bytes])
            | "GroupBuckets" >> beam.GroupByKey()
            | "PairMembers" >> beam.Map(pair_partition)
            | "DifferentPairs" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )


def number_of(key: int | str) -> int:
    """The key, if it is a number, else 63 bits of its fingerprint.

    Of 100 million names, two have the same with a chance of one in 2,000. Where they are duplicates of
    something, an error tells; elsewhere it does no harm.
    """
    return fingerprint(key) >> 1 if isinstance(key, str) else key


class _BucketDocuments(beam.DoFn):
    """Document → (partition, rows in bytes, put away); each has rows of several documents."""

    def __init__(self, settings: FindSimilarDocuments):
        self._scratch = settings.scratch
        self._describe = settings.describe
        self._text_of = settings.text_of
        self._permutations = settings.permutations
        self._bands, self._rows = settings.bands, settings.rows
        self._ngram_words = settings.ngram_words

    def start_bundle(self) -> None:
        self._numbers: list[int] = []
        self._ngrams: list[Uint64s] = []
        self._hashes = 0
        self._gathered: list[tuple[list[int], Uint64s]] = []
        self._gathered_rows = 0

    def process(self, document: Any) -> Iterator[tuple[int, bytes]]:
        ngrams = hash_ngrams(self._text_of(document), self._ngram_words)
        if not len(ngrams):  # without words; it is like no other
            return
        self._numbers.append(number_of(self._describe(document).key))
        self._ngrams.append(ngrams)
        self._hashes += len(ngrams)
        if self._hashes >= SIGNED_HASHES:
            self._sign()
        if self._gathered_rows >= GATHERED_ROWS:
            yield from self._deal()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        window = GlobalWindow()
        self._sign()
        for element in self._deal():
            yield WindowedValue(element, window.max_timestamp(), [window])

    def _sign(self) -> None:
        if self._numbers:
            signatures = sign_documents(self._ngrams, self._permutations)
            buckets = bucket_signatures(signatures, self._bands, self._rows)
            self._gathered.append((self._numbers, buckets))
            self._gathered_rows += buckets.size
        self._numbers, self._ngrams, self._hashes = [], [], 0

    def _deal(self) -> Iterator[tuple[int, bytes]]:
        gathered = self._gathered
        self._gathered, self._gathered_rows = [], 0
        if gathered:
            numbers = numpy.concatenate([numpy.array(some, numpy.int64) for some, _ in gathered])
            for partition, rows in cut_rows(
                numbers, numpy.concatenate([rows for _, rows in gathered])
            ):
                yield partition, self._scratch.put(rows)


def cut_rows(numbers: Pairs, buckets: Uint64s) -> Iterator[tuple[int, bytes]]:
    """(partition, rows of a number and a bucket); `buckets` has a row for each number.

    Of a bucket's hash 10 bits are the partition and 32 are in the row: what is equal by chance is no matter,
    as all pairs are compared.
    """
    flat = buckets.reshape(-1)
    rows = numpy.empty(len(flat), _ROW)
    rows["number"] = numpy.repeat(numbers, buckets.shape[1])
    rows["bucket"] = flat >> numpy.uint64(
        64 - _PARTITION_BITS - _BUCKET_BITS
    )  # the last 32 of these
    partitions = (flat >> numpy.uint64(64 - _PARTITION_BITS)).astype(numpy.uint16)
    order = numpy.argsort(partitions, kind="stable")
    present, starts = numpy.unique(partitions[order], return_index=True)
    for partition, chosen in zip(present.tolist(), numpy.split(order, starts[1:]), strict=True):
        yield partition, rows[chosen].tobytes()


def pair_partition(grouped: tuple[int, Iterable[bytes]]) -> Pairs:
    """The pairs of all buckets of a partition."""
    _, pieces = grouped
    rows = numpy.frombuffer(b"".join(map(fetch, pieces)), _ROW)
    return different_pairs(pair_members(rows["bucket"], rows["number"]))
