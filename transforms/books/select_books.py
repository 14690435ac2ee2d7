"""Drops books that overlap larger kept books: the selection of SimpleBooks.

Books are processed from the largest to the smallest. A book is dropped if at least the share `threshold` of
its n-grams is in the larger books already kept (Nguyen, "SimpleBooks", 2019, section 2). The parallel steps
give exactly the result of this sequential procedure; text/books/simple/overlap.py explains them.
"""

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton, TaggedOutput

from corpusmill.transforms.books import overlap
from corpusmill.transforms.books.decide_contested import DecideContested
from corpusmill.transforms.books.ngram_blocks import Int64s, shared_from_bytes
from corpusmill.transforms.books.overlap import NGRAM_WORDS
from corpusmill.transforms.books.share_ngrams import Plan, ShareNgrams, plan_parts
from corpusmill.transforms.files.files_screen import reject
from corpusmill.transforms.files.records import MeasuredBook, OverlapVerdict
from corpusmill.transforms.files.scratch import Scratch, fetch

STAGE = "select-books"


class SelectedBooks(NamedTuple):
    """The outputs of SelectBooks: kept books, rejections, and the decision about each book."""

    kept: beam.PCollection  # of MeasuredBook
    rejected: beam.PCollection  # of Rejected
    verdicts: beam.PCollection  # of OverlapVerdict: of every book


class SelectBooks(beam.PTransform):
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

    def __init__(
        self,
        folder: str,
        threshold: str | float | Fraction = overlap.THRESHOLD,
        ngram_words: int = NGRAM_WORDS,
        sample: int = 1,
        words: str = overlap.PLAIN,
    ):
        super().__init__()
        self.threshold = overlap.parse_threshold(threshold)
        self.scratch = Scratch(folder)
        self.ngram_words = ngram_words
        self.sample = sample
        self.words = words

    def expand(self, books: beam.PCollection) -> SelectedBooks:
        plan = AsSingleton(
            books
            | "Sizes" >> beam.Map(lambda book: (1, book.tokens)).with_output_types(tuple[int, int])
            | "AddSizes" >> beam.CombineGlobally(beam.combiners.TupleCombineFn(sum, sum))
            | "Plan" >> beam.Map(plan_parts, self.sample)
        )
        found = books | "ShareNgrams" >> ShareNgrams(
            self.scratch, self.ngram_words, self.sample, self.words, plan
        )
        decide = DecideContested(found.counts, self.threshold)
        dropped = AsSingleton(found.shared | "DecideContested" >> decide)
        met = {
            "books": books
            | "KeyBooks" >> beam.Map(key_book, plan).with_output_types(tuple[int, MeasuredBook]),
            "counts": found.counts
            | "CutCounts" >> beam.FlatMap(cut_rows, plan).with_output_types(tuple[int, Any]),
            "coverings": found.shared
            | "AttributeNgrams"
            >> beam.FlatMap(attribute_partition, dropped, plan, self.scratch).with_output_types(
                tuple[int, bytes]
            ),
        } | "MeetBooks" >> beam.CoGroupByKey()
        judged = met | "JudgeBooks" >> beam.FlatMap(
            judge_bucket, dropped, self.ngram_words
        ).with_output_types(MeasuredBook).with_outputs("rejected", "verdicts", main="kept")
        return SelectedBooks(judged.kept, judged.rejected, judged.verdicts)


def attribute_partition(
    packed: bytes, dropped: Int64s, plan: Plan, scratch: Scratch
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
    rows = overlap.attribute_ngrams(shared_from_bytes(fetch(packed)), dropped)
    for bucket, part in cut_rows(rows, plan):
        yield bucket, scratch.put(part.tobytes())


def cut_rows(rows: Int64s, plan: Plan) -> Iterator[tuple[int, Int64s]]:
    """Distributes rows to buckets, by the book id in their first column. Yields (bucket, its rows).

    `plan` has the number of buckets.
    """
    return overlap.cut_by_id(rows, plan.buckets)


def key_book(measured: MeasuredBook, plan: Plan) -> tuple[int, MeasuredBook]:
    """Returns (bucket, book). The bucket depends on the book's id, and on the number of buckets in `plan`."""
    return measured.book.book_id % plan.buckets, measured


def judge_bucket(
    joined: tuple[int, Mapping[str, Iterable[Any]]], dropped: Int64s, ngram_words: int
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
        verdict = overlap.judge(
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
        reason = overlap.overlap_reason(verdict, ngram_words)
        yield reject(measured.book.book_id, measured.book.title, STAGE, reason)


def add_coverings(pieces: Iterable[bytes]) -> dict[int, dict[int, int]]:
    """Adds up the numbers of n-grams in the rows of `attribute_partition`, over all partitions.

    Returns book id → {id of a larger kept book: number of n-grams}. `pieces` are the rows as bytes.
    """
    rows = numpy.frombuffer(b"".join(pieces), numpy.int64).reshape(-1, overlap.COVERING_COLUMNS)
    id_to_covering: dict[int, dict[int, int]] = collections.defaultdict(dict)
    for book_id, covering, ngrams in overlap.sum_rows(rows, keys=2).tolist():
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
