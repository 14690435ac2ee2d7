"""Drops books that overlap larger kept books. MinHash finds the pairs of books to compare.

The rule is that of select_books.py, and each comparison is exact. But a book is only compared with larger
books whose MinHash signature is equal to its own in at least one position (bands of one row, see minhash.py).
Books with a very low Jaccard similarity often have no such position. So a book may wrongly be kept if it
shares a few n-grams with each of many larger books, or if it is much smaller than the book that contains it.
"""

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton

from ..duplicates.minhash import PERMUTATIONS, Int64s, Pairs, Uint64s, link_to_smallest
from ..duplicates.similar_documents import (
    DOCUMENTS,
    WANTED,
    CombinePairs,
    CompareDocuments,
    DocumentFacts,
    FindSimilarDocuments,
    Met,
    Sketch,
    hashes_of,
)
from ..files.distribution import transform
from ..files.records import MeasuredBook
from ..files.scratch import Scratch, fetch
from . import book_overlap
from .select_books import (
    GatherNumbers,
    SelectedBooks,
    check_ids,
    component_of,
    give_verdict,
    hash_book,
)

BANDS = (PERMUTATIONS, 1)
"""(bands, rows of a band). Two books with a Jaccard similarity of 2 % share a band in 92 of 100 cases, with
5 % in 999 of 1,000."""


class SketchedBook(NamedTuple):
    """A measured book with its number, by which books are sorted, and a reference to its n-gram hashes."""

    measured: MeasuredBook
    number: int  # see number_book
    ngrams: int
    packed: bytes  # the hashes, in scratch


@transform
def SelectByMinHash(
    books: beam.PCollection,
    folder: str,
    threshold: str | float | Fraction = book_overlap.THRESHOLD,
    ngram_words: int = book_overlap.NGRAM_WORDS,
    words: str = book_overlap.PLAIN,
) -> SelectedBooks:
    """Drops books that overlap larger kept books. PCollection[MeasuredBook] → SelectedBooks.

    The result does not depend on the number of workers. Every worker holds the n-grams of two books at a
    time. One worker holds 16 bytes for each compared pair of books.

    Args:
      folder: folder for temporary n-grams (see scratch.py).
      threshold: a book is rejected if at least this share of its n-grams is in larger kept books; above 0, at
        most 1. It is compared exactly: "0.1" is one tenth.
      ngram_words: number of words in an n-gram. A book with fewer words is a single n-gram.
      words: "plain" to compare normalised words, "exact" to compare them unchanged.
    """
    exact, scratch = book_overlap.parse_threshold(threshold), Scratch(folder)
    sketched = books | "SketchBooks" >> beam.Map(sketch_book, scratch, ngram_words, words)
    sketches = (
        sketched
        | "KeySketches" >> beam.Map(key_sketch)
        | "GroupSketches" >> beam.GroupByKey()
        | "CheckBooks" >> beam.Map(only_book)
    )
    compare = functools.partial(compare_books, scratch=scratch)
    covers = (
        sketched
        | "FindSimilar" >> FindSimilarDocuments(folder, describe_book, ngrams_of_book, BANDS)
        | "CoverBooks" >> CompareDocuments(sketches, compare)
    )
    dropped = AsSingleton(covers | "DecideCovers" >> DecideCovers(exact))
    met = {
        "books": sketched | "KeyBooks" >> beam.Map(key_book),
        "covers": covers | "KeyCovers" >> beam.Map(key_cover),
    } | "MeetBooks" >> beam.CoGroupByKey()
    judge = beam.FlatMap(judge_book, dropped, ngram_words).with_output_types(MeasuredBook)
    judged = met | "JudgeBooks" >> judge.with_outputs("rejected", "verdicts", main="kept")
    return SelectedBooks(judged.kept, judged.rejected, judged.verdicts)


@transform
def DecideCovers(covers: beam.PCollection, threshold: Fraction) -> beam.PCollection:
    """Decides which books are dropped. PCollection[Cover] → PCollection of one array.

    The array has the numbers of the dropped books, ascending.
    """
    contested = covers | "Contested" >> beam.Filter(is_open, threshold)
    numbers = AsSingleton(
        contested
        | "Numbers" >> beam.Map(operator.attrgetter("number"))
        | "GatherNumbers" >> GatherNumbers()
    )
    links = AsSingleton(
        contested
        | "PairContested" >> beam.Map(pair_contested, numbers)
        | "LinkBooks" >> beam.CombineGlobally(CombinePairs(link_to_smallest))
    )
    return (
        contested
        | "KeyByComponent" >> beam.Map(key_component, links)
        | "GroupComponents" >> beam.GroupByKey()
        | "Decide" >> beam.FlatMap(decide_component, threshold)
        | "GatherDropped" >> GatherNumbers()
    )


def compare_books(joined: Met, scratch: Scratch) -> Iterator[book_overlap.Cover]:
    """Compares a book with larger books that may overlap it. If they share n-grams, yields a Cover.

    For each of these larger books, a Cover marks the n-grams of the book that the larger book also contains.
    """
    _, found = joined
    (own,) = found[DOCUMENTS]
    if candidates := list(found[WANTED]):
        pairs = ((one.number, hashes_of(one)) for one in candidates)
        cover = book_overlap.cover_book(own.number, hashes_of(own), pairs)
        if cover.owners:
            yield cover._replace(packed=scratch.put(cover.packed))


def fetched(cover: book_overlap.Cover) -> book_overlap.Cover:
    """Returns a copy of a Cover in which `packed` contains the marks of shared n-grams.

    In the given Cover, `packed` is only a reference to these marks, which are stored in the scratch folder.
    """
    return cover._replace(packed=fetch(cover.packed))


def sketch_book(
    measured: MeasuredBook, scratch: Scratch, ngram_words: int, words: str
) -> SketchedBook:
    """Hashes the n-grams of a book, and stores the hashes in the scratch folder.

    Args:
      ngram_words: number of words in an n-gram.
      words: "plain" to hash normalised words, "exact" to hash them unchanged.
    """
    hashes = hash_book(measured, ngram_words, words)
    number = book_overlap.number_book(measured.book.book_id, measured.tokens)
    return SketchedBook(measured, number, len(hashes), scratch.put(hashes.astype("<u8").tobytes()))


def describe_book(sketched: SketchedBook) -> DocumentFacts:
    """Returns the number and the file name of a book, as the key and title for the search by MinHash."""
    return DocumentFacts(sketched.number, sketched.measured.book.name, 0)


def ngrams_of_book(sketched: SketchedBook) -> Uint64s:
    """Reads the hashes of a book's n-grams from the scratch folder."""
    return numpy.frombuffer(fetch(sketched.packed), "<u8")


def key_sketch(sketched: SketchedBook) -> tuple[int, Sketch]:
    """Returns (number of the book, Sketch of the book)."""
    return sketched.number, Sketch(sketched.number, describe_book(sketched), sketched.packed)


def only_book(grouped: tuple[int, Iterable[Sketch]]) -> tuple[int, Sketch]:
    """Returns (number of a book, its only sketch). Raises ValueError if two books have the same id.

    `grouped` is (number of a book, all sketches with this number).
    """
    number, sketches = grouped
    first, *others = sorted(sketches, key=lambda one: one.facts.title)
    if others:
        raise ValueError(
            f"book {book_overlap.id_of(number)} occurs twice: {first.facts.title} and {others[0].facts.title}"
        )
    return number, first


def key_book(sketched: SketchedBook) -> tuple[int, SketchedBook]:
    """Returns (id of the book, book)."""
    return sketched.measured.book.book_id, sketched


def key_cover(cover: book_overlap.Cover) -> tuple[int, book_overlap.Cover]:
    """Returns (id of a book, its Cover).

    A Cover marks the n-grams of a book that larger books also have.
    """
    return book_overlap.id_of(cover.number), cover


def is_open(cover: book_overlap.Cover, threshold: Fraction) -> bool:
    """Returns True if a book may have to be dropped.

    This is possible if all larger books, kept or not, together have at least the share `threshold` of the
    book's n-grams. The decision then depends on which of the larger books are kept. `cover` marks the n-grams
    of the book that larger books also have.
    """
    return book_overlap.is_contested(fetched(cover), threshold)


def pair_contested(cover: book_overlap.Cover, contested: Int64s) -> Pairs:
    """Pairs the book of a cover with each larger contested book that shares n-grams with it.

    Returns rows (number of the larger book, number of the book).

    Args:
      cover: the n-grams of the book that larger books also have.
      contested: numbers of the contested books: those that may have to be dropped (see `is_open`).
    """
    owners = numpy.intersect1d(numpy.array(cover.owners, numpy.int64), contested)
    return numpy.column_stack((owners, numpy.full(len(owners), cover.number, numpy.int64)))


def key_component(cover: book_overlap.Cover, links: Pairs) -> tuple[int, book_overlap.Cover]:
    """Returns (component of a book, Cover of the book).

    A component is a group of books whose decisions depend on each other. Its name is its smallest book
    number.

    Args:
      cover: the n-grams of the book that larger books also have.
      links: rows (number of a book, smallest number in its component).
    """
    return component_of(cover.number, links), cover


def decide_component(
    grouped: tuple[int, Iterable[book_overlap.Cover]], threshold: Fraction
) -> list[int]:
    """Returns the numbers of the dropped books of a connected component.

    Args:
      grouped: (component, the Cover of each of its books). A Cover marks the n-grams of a book that larger
        books also have.
      threshold: a book is dropped if at least this share of its n-grams is in larger kept books.
    """
    return book_overlap.decide_covers(map(fetched, grouped[1]), threshold)


def judge_book(
    joined: tuple[int, Mapping[str, Iterable[Any]]], dropped: Int64s, ngram_words: int
) -> Iterator[Any]:
    """Yields a book if it is kept, otherwise its rejection on the output "rejected".

    Also yields the decision on the output "verdicts".

    Args:
      joined: (book id, the book and its Cover), as produced by CoGroupByKey. The Cover marks the n-grams of
        the book that larger books also have.
      dropped: numbers of the dropped books.
      ngram_words: number of words in an n-gram, for the reasons of rejections.
    """
    _, found = joined
    sketched = list(found["books"])
    (measured,) = check_ids(one.measured for one in sketched)
    covering: dict[int, int] = {}
    for cover in found["covers"]:
        covering = book_overlap.attribute_cover(fetched(cover), dropped)
    book_id, own = measured.book.book_id, sketched[0]
    verdict = book_overlap.judge(book_id, own.ngrams, covering, own.number not in dropped)
    yield from give_verdict(measured, verdict, ngram_words)
