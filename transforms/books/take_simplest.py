"""Selects the simplest books, up to a total number of tokens and a maximum size of the vocabulary.

Converts books to raw and tokenised texts with one paragraph per line.

Writes a table of all books that were considered for SimpleBooks, with the reason to keep or reject
each.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from ..duplicates.minhash import Pairs
from ..duplicates.similar_documents import CombinePairs
from ..files import counters
from ..files.counters import Screened, reject
from ..files.distribution import MapOnce, transform
from ..files.records import Book, MeasuredBook, TokenizedBook
from ..files.scratch import Scratch, fetch, fetch_text
from ..models import word_vocabulary
from ..models.count_words import DealWords
from . import simplicity
from .book_overlap import sum_rows
from .book_rows import WriteBookTable, size_of
from .english_tokens import EnglishTokenizer, to_lines, to_paragraphs
from .simplebooks_rows import DISTINCT, Considered, Sized, make_line

TOKENIZE = "tokenize-books"


@transform
def TokenizeBooks(
    books: beam.PCollection, folder: str, number_style: str = DISTINCT
) -> beam.PCollection:
    """Tokenises the texts of books. PCollection[MeasuredBook] → PCollection[TokenizedBook].

    Args:
      folder: folder for temporary texts (see scratch.py).
      number_style: format of numbers, see `english_tokens.separate_numbers`.
    """
    tokenize = beam.ParDo(_TokenizeBook(Scratch(folder), number_style))
    return books | "TokenizeBook" >> tokenize.with_output_types(TokenizedBook)


@dataclass(eq=False, repr=False)
class _TokenizeBook(beam.DoFn):
    scratch: Scratch
    number_style: str

    def setup(self) -> None:
        self._tokenizer = EnglishTokenizer(self.number_style)

    def process(self, measured: MeasuredBook) -> Iterator[TokenizedBook]:
        yield tokenize_book(measured, self._tokenizer, self.scratch)

    def finish_bundle(self) -> None:
        counters.flush()


def tokenize_book(
    measured: MeasuredBook, tokenizer: EnglishTokenizer, scratch: Scratch
) -> TokenizedBook:
    """Tokenises a book, and stores its raw and its tokenised text in `scratch`.

    Returns the book with references to these texts.
    """
    text = fetch_text(measured.book.packed_text)
    paragraphs = to_paragraphs(text)
    lines = [tokenizer.tokenize(paragraph) for paragraph in paragraphs]
    counters.count(TOKENIZE, "books")
    counters.count(TOKENIZE, "text_bytes", len(text.encode("utf-8")))
    return TokenizedBook(
        book_id=measured.book.book_id,
        title=measured.book.title,
        paragraphs=len(paragraphs),
        packed_raw=scratch.put_text(to_lines(paragraphs)),
        packed_tokens=scratch.put_text(to_lines(lines)),
        tokens=sum(line.count(" ") + 1 for line in lines),
    )


STAGE = "take-simplest"
BUCKETS = 64  # parallel parts of the count; the number does not change results


@transform
def TakeSimplest(
    books: beam.PCollection,
    folder: str,
    measures: beam.PCollection,
    target_tokens: int = simplicity.TARGET_TOKENS,
    max_vocabulary: int = simplicity.MAX_VOCABULARY,
    min_count: int = 3,
    formula: str = simplicity.NEUTRAL,
) -> Screened:
    """Keeps the simplest books. PCollection[TokenizedBook] → Screened.

    Books are added in descending order of the ratio that `formula` computes from the numbers of tokens and of
    different tokens. With each book, the number of tokens and the size of the vocabulary grow. The first book
    that would exceed `target_tokens` or `max_vocabulary` is rejected, and so are all books after it.

    One worker holds some numbers for each book in memory. Words are counted in buckets. A worker holds one
    bucket, with an entry for each pair of a word and a book.

    Args:
      folder: folder for temporary counts (see scratch.py).
      measures: PCollection of (book id, (number of tokens, number of different tokens)) of the same books,
        counted before they were tokenised.
      target_tokens: maximum number of tokens in all kept books together.
      max_vocabulary: maximum size of their vocabulary.
      min_count: how often a word must occur in these books to be in the vocabulary.
      formula: name of the formula that computes the ratio; see simplicity.py.
    """
    sizes = books | "Sizes" >> beam.Map(size_of)
    known = target_tokens, AsDict(sizes), AsList(measures)
    queue = books.pipeline | "LineUp" >> MapOnce(simplicity.line_up, formula, *known)
    deal = DealWords(folder, count_ranked, BUCKETS, AsSingleton(queue), join=pa.concat_batches)
    entries = (
        books
        | "DealWords" >> deal
        | "GroupBuckets" >> beam.GroupByKey()
        | "CountEntries" >> beam.Map(count_bucket, min_count)
        | "AddEntries" >> beam.CombineGlobally(CombinePairs(functools.partial(sum_rows, keys=1)))
    )
    taken = queue | "TakeBooks" >> beam.Map(
        simplicity.take_books, AsSingleton(entries), max_vocabulary
    )
    take = beam.FlatMap(take_book, AsSingleton(taken)).with_output_types(TokenizedBook)
    split = books | "Take" >> take.with_outputs("rejected", main="kept")
    return Screened(split.kept, split.rejected)


def count_ranked(book: TokenizedBook, queue: simplicity.Queue) -> pa.RecordBatch | None:
    """Returns the word counts of a book with its rank; None if the book is not in the queue.

    The queue is the order in which books are added. The rank is the position of a book in it.
    """
    rank = queue.rank_of.get(book.book_id)
    if rank is None:
        return None
    counts = word_vocabulary.count_words(fetch_text(book.packed_tokens).encode("utf-8"))
    return simplicity.rank_counts(counts, rank)


def count_bucket(grouped: tuple[int, Iterable[bytes]], min_count: int) -> Pairs:
    """Counts, for each book, the words of one bucket that the book adds to the vocabulary.

    Returns rows (rank of a book, number of these words).

    Args:
      grouped: (bucket of words, references to the counts of these words in each book).
      min_count: how often a word must occur, in all books added so far, to be in the vocabulary.
    """
    batches = (
        word_vocabulary.unpack_counts(fetch(packed), simplicity.RANKED) for packed in grouped[1]
    )
    return simplicity.count_entries(batches, min_count)


def take_book(book: TokenizedBook, taken: simplicity.Taken) -> Iterator[Any]:
    """Yields a book that is taken, or its rejection on the output "rejected"."""
    if taken.reason is None or book.book_id in taken.book_ids:
        counters.count(STAGE, "books")
        yield book
    else:
        yield reject(book.book_id, book.title, STAGE, taken.reason)


NAME = "books"

Keyed = tuple[int, Any]  # (book id, value)
_TO_KEYED: Mapping[str, Callable[[Any], Keyed]] = {
    "verdicts": lambda verdict: (verdict.book_id, verdict),
    "rejected": lambda rejected: (int(rejected.id), rejected),
    "sized": lambda sized: (sized.book.book_id, (sized.split, sized.is_small)),
    "places": lambda place: (place.book_id, place),
}


class BookFates(NamedTuple):
    """The inputs of ListBooks: what is known about each of the considered books.

    Each collection has at most one element per book.
    """

    titles: beam.PCollection  # of (book id, title): all considered books
    measures: beam.PCollection  # of (book id, (number of tokens, number of different tokens))
    verdicts: beam.PCollection  # of OverlapVerdict: whether a book overlaps larger books
    rejected: beam.PCollection  # of Rejected: the rejected books
    sized: beam.PCollection  # of SizedBook
    places: beam.PCollection  # of Place


@transform
def ListBooks(fates: BookFates, folder: str, formula: str) -> beam.PCollection:
    """Writes the table of considered books, sorted by book id. BookFates → PCollection[OutputFile].

    The file is books-00000-of-00001.tsv. Raises ValueError if a book is both kept and rejected, or neither.

    Args:
      folder: output folder of the build.
      formula: name of the formula for the simplicity of a book (see simplicity.py). The
        table has a column with the simplicity.
    """
    keyed = {
        name: getattr(fates, name) | f"Key {name}" >> beam.Map(key).with_output_types(Keyed)
        for name, key in _TO_KEYED.items()
    }
    return (
        {"titles": fates.titles, "measures": fates.measures, **keyed}
        | "MeetFates" >> beam.CoGroupByKey()
        | "MakeLine" >> beam.Map(line_of, formula)
        | "WriteBooks" >> WriteBookTable(folder, NAME, Considered)
    )


def title_of(book: Book) -> tuple[int, str]:
    """Returns (book id, title)."""
    return book.book_id, book.title


def line_of(grouped: tuple[int, Mapping[str, Iterable[Any]]], formula: str) -> Considered:
    """Returns the row of one book in the table of considered books.

    `grouped` is (book id, what is known about the book), as produced by CoGroupByKey. `formula` is the name
    of the formula for the simplicity of the book.
    """
    book_id, found = grouped
    one: dict[str, Any] = {name: next(iter(values), None) for name, values in found.items()}
    sized = Sized(*one["sized"], *one["places"][1:]) if one["sized"] else None
    rest = (one["verdicts"], one["rejected"], sized)
    return make_line(book_id, one["titles"], one["measures"], formula, *rest)
