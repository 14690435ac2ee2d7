"""Drops books that overlap larger kept books: the selection of SimpleBooks.

Books are processed from the largest to the smallest. A book is dropped if at least the share `threshold` of
its n-grams is in the larger books already kept (Nguyen, "SimpleBooks", 2019, section 2). The parallel steps
give exactly the result of this sequential procedure; book_overlap.py explains them.

Decides which overlapping books are dropped, given the n-grams that they share.

The terms are explained in book_overlap.py.

Finds the n-grams that several books share.

The n-grams are partitioned by their hashes, and each partition is searched separately.

"""

import collections
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton, TaggedOutput

from ..duplicates.minhash import (
    Pairs,
    Uint64s,
    hash_ngrams,
    link_to_smallest,
    to_plain_words,
)
from ..duplicates.similar_documents import (
    CombinePairs,
    different_pairs,
)
from ..files import counters
from ..files.counters import reject
from ..files.distribution import Gather, transform
from ..files.records import MeasuredBook, OverlapVerdict
from ..files.scratch import Scratch, fetch, fetch_text
from . import book_overlap


@transform
def DecideContested(
    shared: beam.PCollection, counts: beam.PCollection, threshold: Fraction
) -> beam.PCollection:
    """Decides which contested books are dropped.

    A book is contested if it shares so many n-grams with larger books that it may have to be dropped. The
    decision depends on which of these larger books are kept. So contested books that share n-grams form
    connected components, and one worker decides all books of a component.

    PCollection of SharedNgrams, as references to scratch files → PCollection of one ascending array with the
    ids of dropped books.

    Args:
      counts: PCollection of one array with a row (id, number of tokens, number of n-grams, number of n-grams
        that are also in larger books) for each book.
      threshold: a book is dropped if at least this share of its n-grams is in larger kept books.
    """
    contested = counts | "Contested" >> beam.Map(book_overlap.contested_books, threshold)
    found = shared | "FindChains" >> beam.FlatMap(
        chain_partition, AsSingleton(contested)
    ).with_output_types(tuple[bytes, int]).with_outputs("certain", "links", main="chains")
    certain = found.certain | "AddCertain" >> beam.CombineGlobally(
        CombinePairs(functools.partial(book_overlap.sum_rows, keys=1))
    )
    links = AsSingleton(
        found.links | "LinkBooks" >> beam.CombineGlobally(CombinePairs(link_to_smallest))
    )
    return (
        {
            "books": contested
            | "KeyContested" >> beam.FlatMap(key_contested, AsSingleton(certain), links),
            "chains": found.chains
            | "AddChains" >> beam.CombinePerKey(sum)
            | "KeyChains" >> beam.Map(key_chain, links),
        }
        | "MeetContested" >> beam.CoGroupByKey()
        | "Decide" >> beam.FlatMap(decide_component, threshold)
        | "GatherDropped" >> GatherNumbers()
    )


@transform
def GatherNumbers(numbers: beam.PCollection) -> beam.PCollection:
    """Gathers different numbers in an ascending array. PCollection[int] → PCollection of one array."""
    return (
        numbers
        | "Rows" >> beam.Map(lambda number: numpy.array([[number]], numpy.int64))
        | "Different" >> beam.CombineGlobally(CombinePairs(different_pairs, columns=1))
        | "Flat" >> beam.Map(numpy.ravel)
    )


def chain_partition(packed: bytes, contested: book_overlap.Int64s) -> Iterator[Any]:
    """Finds the chains of contested books in one partition of the n-grams.

    The chain of an n-gram lists the contested books that have it, the largest first. Books are left out if a
    larger book that is certainly kept has the n-gram. Yields (chain, number of n-grams that have this chain).
    Other outputs are:
      "certain": for each contested book, the number of its n-grams that are certainly in larger kept books.
      "links": pairs of books that are in the same chain.

    Args:
      packed: reference to the SharedNgrams of the partition.
      contested: rows (id, number of tokens, number of n-grams, number of n-grams that are also in larger
        books) of the contested books.
    """
    if not len(contested):
        return
    chains = book_overlap.find_chains(
        book_overlap.shared_from_bytes(fetch(packed)), contested[:, 0]
    )
    yield TaggedOutput("certain", chains.certain)
    yield TaggedOutput("links", chains.links)
    yield from chains.ngrams.items()


def key_contested(
    contested: book_overlap.Int64s, certain: book_overlap.Int64s, links: Pairs
) -> Iterator[tuple[int, book_overlap.ContestedBook]]:
    """Yields (component, contested book) for each contested book.

    A component is a group of books that are connected by chains. Its name is the smallest id of its books.

    Args:
      contested: rows (id, number of tokens, number of n-grams, number of n-grams that are also in larger
        books) of the contested books.
      certain: rows (id, number of the book's n-grams that are certainly in larger kept books).
      links: rows (id, smallest id in the component of the book).
    """
    id_to_certain = dict(certain.tolist())
    id_to_component = dict(links.tolist())
    for book_id, tokens, ngrams, _ in contested.tolist():
        book = book_overlap.ContestedBook(book_id, tokens, ngrams, id_to_certain.get(book_id, 0))
        yield id_to_component.get(book_id, book_id), book


def key_chain(counted: tuple[bytes, int], links: Pairs) -> tuple[int, tuple[bytes, int]]:
    """Returns (component of the books in a chain, counted). See `key_contested` for components.

    Args:
      counted: (chain, number of n-grams that have this chain). For chains, see `chain_partition`.
      links: rows (book id, smallest id in the component of the book).
    """
    return component_of(book_overlap.chain_ids(counted[0])[0], links), counted


def component_of(number: int, links: Pairs) -> int:
    """Returns the smallest number in the component to which a number belongs.

    `links` has ascending rows (number, smallest number in its component). The smallest number has no row.
    """
    place = int(numpy.searchsorted(links[:, 0], number))
    is_linked = place < len(links) and links[place, 0] == number
    return int(links[place, 1]) if is_linked else number


def decide_component(
    joined: tuple[int, Mapping[str, Iterable[Any]]], threshold: Fraction
) -> list[int]:
    """Returns the ids of the dropped books of a connected component.

    Args:
      joined: (component, its contested books and its chains), as produced by CoGroupByKey.
      threshold: a book is dropped if at least this share of its n-grams is in larger kept books.
    """
    _, found = joined
    chains = [(book_overlap.chain_ids(chain), ngrams) for chain, ngrams in found["chains"]]
    return book_overlap.decide(found["books"], chains, threshold)


HASH_BOOKS = "hash-books"
GATHERED_HASHES = 1 << 23
"""Number of hashes (64 MB) that a worker collects from several books before it partitions them."""
PARTITION_HASHES = 1 << 21
"""Maximum number of hashes in a partition. With the results, they take about 100 MB."""
MIN_PARTITIONS = 16
"""Minimum number of partitions, so that several workers also share a small corpus."""
MAX_PARTITIONS = 1 << 14
"""Maximum number of partitions. All of Project Gutenberg needs 2,500. With more than 3e10 n-grams, partitions
become larger; `sample` prevents this."""
BUCKET_BOOKS = 256
"""Number of books that are decided together in a bucket."""


class Plan(NamedTuple):
    """The number of partitions of the n-grams, and the number of buckets of the books.

    The two numbers do not change the result.
    """

    partitions: int  # of the n-grams
    buckets: int  # of the books


class SharedParts(NamedTuple):
    """The outputs of ShareNgrams: the shared n-grams of each partition, and n-gram counts of each book."""

    shared: beam.PCollection  # of SharedNgrams as bytes, in scratch: one for each partition
    counts: beam.PCollection  # one array of rows (id, tokens, n-grams, n-grams in earlier books)


@transform
def ShareNgrams(
    books: beam.PCollection,
    scratch: Scratch,
    ngram_words: int,
    sample: int,
    words: str,
    plan: AsSingleton,
) -> SharedParts:
    """Finds the n-grams that several books share. PCollection[MeasuredBook] → SharedParts.

    Args:
      scratch: stores the n-grams.
      ngram_words: number of words in an n-gram. A book with fewer words is a single n-gram.
      sample: 1 uses all n-grams. A larger number uses one n-gram in `sample`.
      words: "plain" to compare normalised words, "exact" to compare them unchanged.
      plan: side input with one Plan, the numbers of partitions and buckets.
    """
    how = (ngram_words, sample, words)
    hash_books = Gather(
        lambda measured, plan: _hash(measured, plan, *how),
        functools.partial(_deal, sample=sample, scratch=scratch),
        GATHERED_HASHES,
        lambda hashed: len(hashed[0].hashes),
    )
    found = (
        books
        | "HashBooks" >> beam.ParDo(hash_books, plan).with_output_types(tuple[int, bytes])
        | "GroupPartitions" >> beam.GroupByKey()
        | "ShareNgrams"
        >> beam.FlatMap(share_partition, scratch)
        .with_output_types(bytes)
        .with_outputs("counts", main="shared")
    )
    counts = found.counts | "AddCounts" >> beam.CombineGlobally(
        CombinePairs(functools.partial(book_overlap.sum_rows, keys=2), book_overlap.COUNT_COLUMNS)
    )
    return SharedParts(found.shared, counts)


def plan_parts(size: tuple[int, int], sample: int) -> Plan:
    """Plans the number of partitions of n-grams, and the number of buckets of books.

    Args:
      size: (number of books, their total number of tokens). Books have at most as many n-grams as tokens.
      sample: one n-gram in `sample` is used.
    """
    books, tokens = size
    wanted = tokens // sample // PARTITION_HASHES + 1
    return Plan(min(max(wanted, MIN_PARTITIONS), MAX_PARTITIONS), books // BUCKET_BOOKS + 1)


def hash_book(measured: MeasuredBook, ngram_words: int, words: str) -> Uint64s:
    """Returns the hashes of the n-grams of a book. Counts the book and its tokens.

    Args:
      ngram_words: number of words in an n-gram.
      words: "plain" to hash normalised words, "exact" to hash them unchanged.
    """
    counters.count(HASH_BOOKS, "books")
    counters.count(HASH_BOOKS, "tokens", measured.tokens)
    text = fetch_text(measured.book.packed_text)
    if words == book_overlap.PLAIN:
        text = to_plain_words(text)
    return hash_ngrams(text, ngram_words)


def _hash(
    measured: MeasuredBook, plan: Plan, ngram_words: int, sample: int, words: str
) -> tuple[book_overlap.HashedBook, int]:
    """Returns the hashes of the n-grams of a book, and the number of partitions."""
    hashes = hash_book(measured, ngram_words, words)
    # A copy: a view would keep the unsampled hashes in memory.
    sampled = book_overlap.sample_hashes(hashes, sample).copy()
    book = book_overlap.HashedBook(measured.book.book_id, measured.tokens, sampled)
    return book, plan.partitions


def _deal(
    hashed: Sequence[tuple[book_overlap.HashedBook, int]], sample: int, scratch: Scratch
) -> Iterator[tuple[int, bytes]]:
    """Yields (partition, reference to an NgramBlock in scratch). A block has hashes of several books."""
    books, partitions = zip(*hashed, strict=True)
    for partition, block in book_overlap.deal_hashes(books, sample, partitions[0]):
        yield partition, scratch.put(book_overlap.to_bytes(block))


def share_partition(grouped: tuple[int, Iterable[bytes]], scratch: Scratch) -> Iterator[Any]:
    """Finds the n-grams of one partition that several books share.

    Stores these n-grams in scratch, and yields a reference to them. Also yields, on the output "counts", how
    many n-grams of the partition each book has, and how many of these are also in larger books. `grouped` is
    (partition, references to its NgramBlocks).
    """
    _, packed = grouped
    counts, shared = book_overlap.share_ngrams(
        book_overlap.block_from_bytes(fetch(piece)) for piece in packed
    )
    yield TaggedOutput("counts", counts)
    yield scratch.put(book_overlap.to_bytes(shared))


STAGE = "select-books"


class SelectedBooks(NamedTuple):
    """The outputs of SelectBooks: kept books, rejections, and the decision about each book."""

    kept: beam.PCollection  # of MeasuredBook
    rejected: beam.PCollection  # of Rejected
    verdicts: beam.PCollection  # of OverlapVerdict: of every book


@transform
def SelectBooks(
    books: beam.PCollection,
    folder: str,
    threshold: str | float | Fraction = book_overlap.THRESHOLD,
    ngram_words: int = book_overlap.NGRAM_WORDS,
    sample: int = 1,
    words: str = book_overlap.PLAIN,
) -> SelectedBooks:
    """Drops books that overlap larger kept books. PCollection[MeasuredBook] → SelectedBooks.

    The result does not depend on the number of workers. Every worker holds a few books, or the n-grams of one
    partition, in memory. One worker holds four numbers for each book, and two more for each dropped book.

    Args:
      folder: folder for temporary n-grams (see scratch.py).
      threshold: a book is rejected if at least this share of its n-grams is in larger kept books; above 0, at
        most 1. It is compared exactly: "0.1" is one tenth.
      ngram_words: number of words in an n-gram. A book with fewer words is a single n-gram.
      sample: 1 uses all n-grams. A larger number uses one n-gram in `sample` to estimate the share, which
        reduces memory and disk space by this factor. The numbers of n-grams in the output `verdicts` are then
        those of the sample. With n sampled n-grams, the error of the estimate is at most 1 / (2 √n) in two of
        three cases, for example 0.016 with 1,000 n-grams.
      words: "plain" to compare normalised words, "exact" to compare them unchanged.

    Raises ValueError for an invalid threshold, and if two books have the same id.
    """
    exact = book_overlap.parse_threshold(threshold)
    scratch = Scratch(folder)
    plan = AsSingleton(
        books
        | "Sizes" >> beam.Map(lambda book: (1, book.tokens)).with_output_types(tuple[int, int])
        | "AddSizes" >> beam.CombineGlobally(beam.combiners.TupleCombineFn(sum, sum))
        | "Plan" >> beam.Map(plan_parts, sample)
    )
    found = books | "ShareNgrams" >> ShareNgrams(scratch, ngram_words, sample, words, plan)
    decide = DecideContested(found.counts, exact)
    dropped = AsSingleton(found.shared | "DecideContested" >> decide)
    met = {
        "books": books | "KeyBooks" >> beam.Map(key_book, plan),
        "counts": found.counts
        | "CutCounts" >> beam.FlatMap(cut_rows, plan).with_output_types(tuple[int, Any]),
        "coverings": found.shared
        | "AttributeNgrams" >> beam.FlatMap(attribute_partition, dropped, plan, scratch),
    } | "MeetBooks" >> beam.CoGroupByKey()
    judged = met | "JudgeBooks" >> beam.FlatMap(
        judge_bucket, dropped, ngram_words
    ).with_output_types(MeasuredBook).with_outputs("rejected", "verdicts", main="kept")
    return SelectedBooks(judged.kept, judged.rejected, judged.verdicts)


def attribute_partition(
    packed: bytes, dropped: book_overlap.Int64s, plan: Plan, scratch: Scratch
) -> Iterator[tuple[int, bytes]]:
    """Counts the n-grams that books share with larger kept books, in one partition of the n-grams.

    Yields (bucket of books, reference to rows in scratch). A row is (id of a book, id of a larger kept book,
    number of n-grams). If several larger kept books have an n-gram, it is counted for the largest of them.

    Args:
      packed: reference to the n-grams of the partition that several books share.
      dropped: ids of the dropped books, ascending.
      plan: has the number of buckets.
      scratch: stores the rows.
    """
    rows = book_overlap.attribute_ngrams(book_overlap.shared_from_bytes(fetch(packed)), dropped)
    for bucket, part in cut_rows(rows, plan):
        yield bucket, scratch.put(part.tobytes())


def cut_rows(rows: book_overlap.Int64s, plan: Plan) -> Iterator[tuple[int, book_overlap.Int64s]]:
    """Distributes rows to buckets, by the book id in their first column. Yields (bucket, its rows).

    `plan` has the number of buckets.
    """
    return book_overlap.cut_by_id(rows, plan.buckets)


def key_book(measured: MeasuredBook, plan: Plan) -> tuple[int, MeasuredBook]:
    """Returns (bucket, book). The bucket depends on the book's id, and on the number of buckets in `plan`."""
    return measured.book.book_id % plan.buckets, measured


def judge_bucket(
    joined: tuple[int, Mapping[str, Iterable[Any]]], dropped: book_overlap.Int64s, ngram_words: int
) -> Iterator[Any]:
    """Yields the kept books of a bucket.

    Rejections are on the output "rejected". The decisions about all books of the bucket are on the output
    "verdicts". Raises ValueError if two books have the same id.

    Args:
      joined: (bucket, its books with the counts of their n-grams), as produced by CoGroupByKey.
      dropped: ids of the dropped books.
      ngram_words: number of words in an n-gram, for the reasons of rejections.
    """
    _, found = joined
    id_to_ngrams = {
        book_id: ngrams for rows in found["counts"] for book_id, _, ngrams, _ in rows.tolist()
    }
    id_to_covering = add_coverings(map(fetch, found["coverings"]))
    dropped_ids = set(dropped.tolist())
    for measured in check_ids(found["books"]):
        book = measured.book
        verdict = book_overlap.judge(
            book.book_id,
            id_to_ngrams.get(book.book_id, 0),
            id_to_covering.get(book.book_id, {}),
            book.book_id not in dropped_ids,
        )
        yield from give_verdict(measured, verdict, ngram_words)


def give_verdict(
    measured: MeasuredBook, verdict: OverlapVerdict, ngram_words: int
) -> Iterator[Any]:
    """Yields a book if it is kept, otherwise its rejection on the output "rejected".

    Also yields the decision, `verdict`, on the output "verdicts". `ngram_words` is the number of words in an
    n-gram, for the reason of the rejection.
    """
    yield TaggedOutput("verdicts", verdict)
    if verdict.is_kept:
        yield measured
    else:
        reason = book_overlap.overlap_reason(verdict, ngram_words)
        yield reject(measured.book.book_id, measured.book.title, STAGE, reason)


def add_coverings(pieces: Iterable[bytes]) -> dict[int, dict[int, int]]:
    """Adds up the numbers of n-grams in the rows of `attribute_partition`, over all partitions.

    Returns book id → {id of a larger kept book: number of n-grams}. `pieces` are the rows as bytes.
    """
    rows = numpy.frombuffer(b"".join(pieces), numpy.int64).reshape(
        -1, book_overlap.COVERING_COLUMNS
    )
    id_to_covering: dict[int, dict[int, int]] = collections.defaultdict(dict)
    for book_id, covering, ngrams in book_overlap.sum_rows(rows, keys=2).tolist():
        id_to_covering[book_id][covering] = ngrams
    return id_to_covering


def check_ids(books: Iterable[MeasuredBook]) -> list[MeasuredBook]:
    """Returns the books sorted by id. Raises ValueError if two books have the same id."""
    ordered = sorted(books, key=lambda measured: (measured.book.book_id, measured.book.name))
    for first, second in itertools.pairwise(ordered):
        if first.book.book_id == second.book.book_id:
            names = f"{first.book.name} and {second.book.name}"
            raise ValueError(f"book {first.book.book_id} occurs twice: {names}")
    return ordered
