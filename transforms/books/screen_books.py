"""Splits books into kept and rejected by rules on their texts, and measures the length and vocabulary of
books.

Removes the text that Project Gutenberg and its transcribers have added to books.

Keeps books that were published before a given year, and records the evidence for their dates.

Writes a table of the evidence for the dates of books, and counts the books by the source of their date.

Replaces each word of a user-provided list by the mark "<DW>" in the texts of books.

Drops near-duplicate books. Of each group of near-duplicates, the longest book is kept.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList, AsSingleton

from ..duplicates.similar_documents import DocumentFacts
from ..files import counters
from ..files.compression import DECODE_ERRORS
from ..files.counters import Screened, ScreenPages, reject
from ..files.distribution import MapOnce, transform
from ..files.read_files import InputError, open_input
from ..files.records import Book, MeasuredBook, Reason
from ..files.scratch import Scratch, fetch_text
from ..files.text import plain_words
from . import publication_dates
from .boilerplate import strip_boilerplate
from .book_accounts import LESS_SIMPLE, MISSING
from .book_rows import WriteBookTable
from .catalog import mask_words, read_words
from .contents import check_furniture, cut_furniture, join_broken_words
from .gather_books import choose_released
from .read_catalog import bounded_lines, read_released_books
from .simplicity import Measures, NotSimple, is_simple, measure

STRIP_BOOKS = "strip-books"


@transform
def StripBooks(books: beam.PCollection, folder: str, furniture: bool) -> Screened:
    """Removes the text that does not belong to the book. PCollection[Book] → Screened.

    The text of the whole file is replaced by the text of the book, and the field `characters` is set to its
    length. A file is rejected if the book in it cannot be located. The reasons to reject are those of
    `strip_boilerplate` and `check_furniture`.

    Args:
      folder: folder for temporary texts (see scratch.py).
      furniture: True to remove tables of contents and illustrations too, and to join broken words.
    """
    scratch = Scratch(folder)
    strip = beam.FlatMap(strip_book, scratch, furniture).with_output_types(Book)
    split = books | "Strip" >> strip.with_outputs("rejected", main="kept")
    return Screened(split.kept, split.rejected)


def strip_book(book: Book, scratch: Scratch, furniture: bool) -> Iterator[Any]:
    """Yields the book without text that does not belong to it, or a rejection on the output "rejected".

    `furniture` is True to remove tables of contents and illustrations too. New texts are stored in `scratch`.
    """
    text = strip_text(fetch_text(book.packed_text), furniture)
    if isinstance(text, Reason):
        yield reject(book.book_id, book.title, STRIP_BOOKS, text)
    else:
        counters.count(STRIP_BOOKS, "stripped")
        yield book._replace(characters=len(text), packed_text=scratch.put_text(text))


def strip_text(text: str, furniture: bool) -> str | Reason:
    """Removes what does not belong to the book from the text of one file.

    Returns the text of the book, or a Reason to reject the file. `furniture` is True to remove tables of
    contents and illustrations too, and to join words that are broken at line ends.
    """
    stripped = strip_boilerplate(text)
    if isinstance(stripped, Reason):
        return stripped
    if not furniture:
        return stripped.text
    cut = cut_furniture(stripped.text)
    if problem := check_furniture(stripped.text, cut):
        return problem
    words = join_broken_words(cut.text)
    found = {"joined_words": words.joined, "unjoined_words": words.left}
    counters.count_all(STRIP_BOOKS, {what: times for what, times in found.items() if times})
    return words.text


BookRule = Callable[[Book, str], Reason | None]
"""A picklable rule for a book and its text. It returns a Reason, or None to keep the book."""


@transform
def ScreenBooks(books: beam.PCollection, *rules: BookRule) -> Screened:
    """Keeps or rejects books by rules. PCollection[Book] or PCollection[MeasuredBook] → Screened.

    Kept books are unchanged.

    Args:
      rules: functions that return a reason to reject a book, or None. The first reason decides.
    """
    rule = functools.partial(first_reason, rules)
    screen = ScreenPages(rule, stage="screen-books", of=Any, named=id_and_title)
    screened: Screened = books | screen
    return screened


def first_reason(rules: Sequence[BookRule], element: Book | MeasuredBook) -> Reason | None:
    """Returns the reason of the first rule that rejects a book; None if no rule rejects it."""
    book = publication_dates.book_of(element)
    text = fetch_text(book.packed_text)
    return next(filter(None, (rule(book, text) for rule in rules)), None)


def id_and_title(element: Book | MeasuredBook) -> tuple[int, str]:
    """Returns the id and the title of a book."""
    book = publication_dates.book_of(element)
    return book.book_id, book.title


def measure_book(book: Book) -> MeasuredBook:
    """Counts the tokens and the different words in the text of a book."""
    return MeasuredBook(book, *measure(fetch_text(book.packed_text)))


class SimplestBooks(NamedTuple):
    """The outputs of KeepSimple: kept books, rejections, and whether less simple books had to be kept."""

    kept: beam.PCollection  # of MeasuredBook
    rejected: beam.PCollection  # of Rejected
    facts: beam.PCollection  # of (LESS_SIMPLE, figures) if so, otherwise empty


@transform
def KeepSimple(
    books: beam.PCollection, rule: NotSimple, heldout_books: int, small_tokens: int
) -> SimplestBooks:
    """Keeps or rejects books by their token counts. PCollection[MeasuredBook] → SimplestBooks.

    Args:
      rule: the lowest ratio of a kept book.
      heldout_books: number of books in each of the validation and test sets.
      small_tokens: largest number of tokens of the training set of SimpleBooks-2.
    """
    measures = AsList(books | "Measures" >> beam.Map(measure_of))
    needed = books.pipeline | "FindNeeded" >> MapOnce(
        rule.books_needed, heldout_books, small_tokens, measures
    )
    sides = AsSingleton(needed)
    screened = books | ScreenPages(rule, sides, stage="measure-books", of=Any, named=id_and_title)
    facts = needed | "CountNeeded" >> beam.FlatMap(count_needed, rule, measures)
    return SimplestBooks(screened.kept, screened.rejected, facts)


def count_needed(
    needed: frozenset[int], rule: NotSimple, measures: Sequence[Measures]
) -> Iterator[tuple[str, dict[str, int]]]:
    """Yields (LESS_SIMPLE, figures) if some of the needed books have a lower ratio than those of the paper.

    `needed` has the ids of books that are kept in any case, see `NotSimple.books_needed`.
    """
    found = (sizes for book_id, sizes in measures if book_id in needed)
    simple = sum(is_simple(*sizes, rule.formula, rule.least) for sizes in found)
    if simple < len(needed):
        yield LESS_SIMPLE, {"as_simple_as_the_paper": simple, "needed": len(needed)}


def measure_of(measured: MeasuredBook) -> Measures:
    """Returns (book id, (number of tokens, number of different tokens))."""
    return measured.book.book_id, (measured.tokens, measured.vocabulary)


DATE_BOOKS = "date-books"
ANY_YEAR = 10_000  # books of any year are before it


class DatedBooks(NamedTuple):
    """The outputs of DateBooks: kept books, rejections, and evidence of dates.

    Each book is kept or rejected.
    """

    kept: beam.PCollection  # of DatedBook
    rejected: beam.PCollection  # of Rejected: undated, too-new
    evidence: beam.PCollection  # of BookEvidence, one for each book that was read


@transform
def DateBooks(books: beam.PCollection, before: int = publication_dates.BEFORE) -> DatedBooks:
    """Finds the dates of books, and rejects the books that are too new. PCollection[Book] → DatedBooks.

    Books without any date are rejected as `undated`. A book of which only the authors' years of death are
    known is rejected too, unless they died before the year `before`. The sources of the dates are listed in
    publication_dates.py.

    Args:
      before: books published in this year or later are rejected.
    """
    dated = books | "Date" >> beam.FlatMap(date_book, before).with_output_types(
        publication_dates.DatedBook
    ).with_outputs("rejected", "evidence", main="kept")
    return DatedBooks(dated.kept, dated.rejected, dated.evidence)


def date_book(book: Book, before: int) -> Iterator[Any]:
    """Yields the dated book, or its rejection on the output "rejected".

    Also yields what is known about its date, a BookEvidence, on the output "evidence".
    """
    evidence = publication_dates.date_evidence(book, fetch_text(book.packed_text))
    told = publication_dates.BookEvidence(book.book_id, book.title, book.released_year, evidence)
    yield beam.pvalue.TaggedOutput("evidence", told)
    date = publication_dates.choose_date(evidence)
    if reason := publication_dates.reason_to_reject(date, before):
        yield reject(book.book_id, book.title, DATE_BOOKS, reason)
    elif date:
        counters.count(DATE_BOOKS, date.source)
        yield publication_dates.DatedBook(book, date, evidence)


NAME = "dates"


class ListedDates(NamedTuple):
    """The outputs of ListDates: the table of the evidence, and counts of books for stats.json."""

    files: beam.PCollection  # of OutputFile: dates-00000-of-00001.tsv
    facts: beam.PCollection  # of one (name, counts) for stats.json


@transform
def ListDates(evidence: beam.PCollection, folder: str) -> ListedDates:
    """Writes a table of the evidence for the dates of books. PCollection[BookEvidence] → ListedDates.

    Args:
      folder: output folder of the build.
    """
    lines = evidence | "MakeLine" >> beam.Map(publication_dates.make_line)
    files = lines | "WriteDates" >> WriteBookTable(folder, NAME, publication_dates.DateLine)
    counts = (
        evidence
        | "Outcomes" >> beam.FlatMap(publication_dates.outcomes_of)
        | "CountOutcomes" >> beam.combiners.Count.PerElement()
    )
    sum_up = MapOnce(lambda name, all: (name, publication_dates.sum_up(all)), NAME, AsList(counts))
    return ListedDates(files, evidence.pipeline | "SumUp" >> sum_up)


class MissingLine(NamedTuple):
    """A line of the table of released books that a build lacks."""

    book_id: int
    split: str  # in the release, or in a user's table
    year: int  # of publication, in the release
    title: str


@transform
def ListMissing(
    rows: beam.PCollection, folder: str, metadata: Sequence[str], split_of: Callable[[int], str]
) -> ListedDates:
    """Lists the books of the PG-19 release that are not in a build. PCollection[BookRow] → ListedDates.

    The outputs are the table missing-00000-of-00001.tsv, and (MISSING, split → number of missing books).

    Args:
      folder: output folder of the build.
      metadata: paths of the list of released books.
      split_of: function from the id of a book to its split.
    """
    paths = rows.pipeline | "Metadata" >> beam.Create(metadata)
    by_id = beam.Map(lambda book: (book.book_id, book)).with_output_types(tuple[int, Any])
    released = paths | "ReadReleased" >> beam.FlatMap(read_released_books) | "ById" >> by_id
    kept = rows | "KeptIds" >> beam.Map(lambda row: (row.book_id, True)).with_output_types(
        tuple[int, Any]
    )
    lines = (
        {"released": released, "kept": kept}
        | "GroupIds" >> beam.CoGroupByKey()
        | "FindMissing" >> beam.FlatMap(missing_line, split_of)
    )
    counts = (
        lines
        | "Splits" >> beam.Map(lambda line: line.split)
        | "CountSplits" >> beam.combiners.Count.PerElement()
    )
    name_counts = MapOnce(lambda name, all: (name, dict(sorted(all))), MISSING, AsList(counts))
    table = WriteBookTable(folder, "missing", MissingLine)
    return ListedDates(
        lines | "WriteMissing" >> table, rows.pipeline | "CountMissing" >> name_counts
    )


def missing_line(
    grouped: tuple[int, Mapping[str, Iterable[Any]]], split_of: Callable[[int], str]
) -> Iterator[MissingLine]:
    """Yields the line of a released book that the build lacks.

    `grouped` is (ebook number, {"released": lines of the release, "kept": rows of the build}).
    """
    book_id, found = grouped
    book = choose_released(found["released"])
    if book and not list(found["kept"]):
        yield MissingLine(book_id, split_of(book_id), book.year, book.title)


MASK_WORDS = "mask-words"
FACT = "masked_words"


class MaskedBooks(NamedTuple):
    """The outputs of MaskWords: the masked books, and the number of masked words."""

    books: beam.PCollection  # of DatedBook
    facts: beam.PCollection  # of one (name, masked words) for stats.json; none without a list


@transform
def MaskWords(books: beam.PCollection, folder: str, words: Sequence[str]) -> MaskedBooks:
    """Replaces the words of a list by the mark "<DW>". PCollection[DatedBook] → MaskedBooks.

    With an empty list, the books are unchanged.

    Args:
      folder: folder for temporary texts (see scratch.py).
      words: list of the words to mask, see catalog.py.
    """
    if not words:
        return MaskedBooks(books, books.pipeline | "NothingMasked" >> beam.Create([]))
    masked = books | "MaskBook" >> beam.FlatMap(
        mask_book, Scratch(folder), words
    ).with_output_types(publication_dates.DatedBook).with_outputs("counts", main="books")
    replaced = masked.counts | "AddCounts" >> beam.CombineGlobally(sum)
    facts = replaced | "NameFact" >> beam.Map(lambda words: (FACT, words))
    return MaskedBooks(masked.books, facts)


def mask_book(
    dated: publication_dates.DatedBook, scratch: Scratch, words: Sequence[str]
) -> Iterator[Any]:
    """Replaces each of the `words` in the text of a book by the mark "<DW>". Yields the book.

    A changed text is stored in `scratch`. The number of replaced words, if positive, is yielded on the output
    "counts".
    """
    text, replaced = mask_words(fetch_text(dated.book.packed_text), words)
    if not replaced:
        yield dated
        return
    counters.count(MASK_WORDS, "words", replaced)
    book = dated.book._replace(packed_text=scratch.put_text(text), characters=len(text))
    yield dated._replace(book=book)
    yield beam.pvalue.TaggedOutput("counts", replaced)


def read_word_list(path: str) -> tuple[str, ...]:
    """Reads the words to mask from a UTF-8 file with one entry per line.

    Raises InputError if the file is not such a list.
    """
    with open_input(path) as lines:
        try:
            return read_words(line.decode("utf-8-sig") for line in bounded_lines(lines))
        except DECODE_ERRORS as error:  # includes ValueError
            raise InputError(path, f"not a list of words: {error}") from None


def describe_book(element: Book | publication_dates.DatedBook) -> DocumentFacts:
    """Returns the id, title and rank of a book. The rank is its length, so the longest duplicate is kept."""
    book = publication_dates.book_of(element)
    return DocumentFacts(book.book_id, book.title, book.characters)


def text_of_book(element: Book | publication_dates.DatedBook) -> str:
    """Returns the plain words of a book, by which it is compared with others."""
    return plain_words(fetch_text(publication_dates.book_of(element).packed_text))
