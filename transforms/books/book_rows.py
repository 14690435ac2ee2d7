"""Converts books to rows, and describes these rows for the transform WriteRows.

Assigns tokenised books to splits, and decides which are also in SimpleBooks-2, the small corpus.

Writes the books of SimpleBooks to text files in the layout of the release, with one paragraph per line.
"""

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from ..files import counters
from ..files.distribution import MapOnce, transform
from ..files.read_files import InputError
from ..files.records import BookRow, OutputFile, TokenizedBook
from ..files.scratch import fetch_text
from ..files.write_files import HashedFile
from ..files.write_rows import MeasureSplits, RowKind, WriteRecords
from .book_accounts import BookStats, add_book_stats, identity_of, measure_book, place_of
from .simplebooks_rows import LARGE, SIZES, SMALL, Placement, plan_sizes

# maximum characters in a row group; a longer book has a row group of its own
BATCH_CHARACTERS = 1 << 24
BOOKS_PER_FILE = 1 << 18  # more than Project Gutenberg has, so the table of books is one file


def measure_rows(text: int) -> beam.PTransform:
    """Returns a transform that counts the books of each split. PCollection[BookRow] → MeasuredSplits.

    The statistics are BookStats, and the length of a book is its number of words. `text` is the index of the
    value with the text.
    """
    return MeasureSplits(functools.partial(measure_row, text=text), add_book_stats, "words")


def measure_row(row: BookRow, text: int) -> tuple[str, BookStats]:
    """Returns (split, counts of books, words and characters) for one book.

    `text` is the position of the book's text among the `values` of the row.
    """
    packed = row.values[text]
    assert isinstance(packed, bytes)
    return row.split, measure_book(fetch_text(packed))


def text_bytes(split: str, stats: BookStats) -> tuple[str, int]:
    """Returns (split, size of the counted texts in UTF-8 bytes).

    PlanShards derives the number of files of a split from it.
    """
    return split, stats.text_bytes


def book_rows(schema: pa.Schema) -> RowKind:
    """Returns the RowKind that tells the transform WriteRows how to write book rows of the given schema."""
    return RowKind(
        schema,
        identity,
        order,
        values=values,
        weigh=weigh,
        batch=BATCH_CHARACTERS,
        unpack=BookRow._make,
        counter=("write-books", "books"),
        text=next(name for name in ("text", "book_text") if name in schema.names),
    )


@transform
def WriteBookTable(
    lines: beam.PCollection, folder: str, name: str, line: type[NamedTuple]
) -> beam.PCollection:
    """Writes a TSV file with one line per book, sorted by id. PCollection of lines → PCollection[OutputFile].

    Args:
      folder: output folder of the build.
      name: file name without its ending "-00000-of-00001.tsv".
      line: NamedTuple class of the lines. Its fields are the columns. The first field is the book id.
    """

    schema = pa.schema([pa.field(field, pa.string()) for field in line._fields])
    by_id = operator.itemgetter(0)
    return lines | WriteRecords(folder, name, schema, identity, by_id, "tsv", BOOKS_PER_FILE)


def identity(row: Any) -> str:
    """Returns a string that identifies the book of a row. Its hash determines the shard of the row."""
    return identity_of(row.book_id)


def order(row: BookRow) -> tuple[int, int]:
    """Returns the sort key of a row: (hash of the book id, book id)."""
    return place_of(row.book_id)


def values(row: BookRow) -> list[int | str | None]:
    """Returns the values of a row. Compressed texts are decompressed."""
    return [fetch_text(one) if isinstance(one, bytes) else one for one in row.values]


def weigh(features: Sequence[Any]) -> int:
    """Returns the number of characters in the values of a row. This number limits the size of batches."""
    return sum(len(one) for one in features if isinstance(one, str))


class SizedBook(NamedTuple):
    """A tokenised book with its split. A book of SimpleBooks-2 also has its text for that corpus."""

    book: TokenizedBook
    split: str  # "train", "validation" or "test"
    is_small: bool  # True if it is in SimpleBooks-2
    packed_small: bytes = b""  # its tokens in SimpleBooks-2; b"" if the same

    def in_size(self, size: str) -> TokenizedBook:
        """Returns the book with its text for the corpus of the given size, LARGE or SMALL."""
        if size == SMALL and self.packed_small:
            return self.book._replace(packed_tokens=self.packed_small)
        return self.book


@transform
def AssignSizes(books: beam.PCollection, heldout_books: int, small_tokens: int) -> beam.PCollection:
    """Assigns books to splits, and decides which are in SimpleBooks-2, the small corpus.

    PCollection[TokenizedBook] → PCollection[SizedBook]. One worker decides about all books. It needs 16 bytes
    of memory per book, for the id and the number of tokens. `plan_sizes` explains the rules.

    Args:
      heldout_books: number of books in each of the splits "validation" and "test".
      small_tokens: maximum number of tokens in the training split of SimpleBooks-2.

    Raises InputError if there are too few books.
    """
    sizes = AsList(books | "SizeOf" >> beam.Map(size_of))
    make = MapOnce(plan_all, heldout_books, small_tokens, sizes)
    plan = books.pipeline | "PlanSizes" >> make
    return books | "AssignSize" >> beam.Map(assign_size, AsSingleton(plan))


def size_of(book: TokenizedBook) -> tuple[int, int]:
    """Returns (book id, number of tokens)."""
    return book.book_id, book.tokens


def plan_all(
    heldout_books: int, small_tokens: int, sizes: Iterable[tuple[int, int]]
) -> dict[int, Placement]:
    """Chooses the split of each book, and whether it is in SimpleBooks-2. Returns book id → Placement.

    The result does not depend on the order of the books.

    Args:
      heldout_books: number of books in each of the splits "validation" and "test".
      small_tokens: maximum number of tokens in the training split of SimpleBooks-2.
      sizes: (book id, number of tokens) of each book.
    """
    try:
        return plan_sizes(sorted(sizes), heldout_books, small_tokens)
    except ValueError as error:
        raise InputError("books", str(error)) from None


def assign_size(book: TokenizedBook, plan: Mapping[int, Placement]) -> SizedBook:
    """Returns a book with its split, and whether it is in SimpleBooks-2.

    `plan` is the result of `plan_all`: book id → Placement.
    """
    return SizedBook(book, *plan[book.book_id])


STAGE = "write-layout"

RAW = "-raw"  # suffix of the folder of untokenised text
FOLDERS = tuple(size + form for size in SIZES for form in ("", RAW))
FILE_OF_SPLIT = {"train": "train.txt", "validation": "valid.txt", "test": "test.txt"}


class Place(NamedTuple):
    """The position of a book in its text file, counted in lines.

    It is the same in the tokenised and in the raw file of a split.
    """

    book_id: int
    first_line: int  # counted from 1
    lines: int


class WrittenLayout(NamedTuple):
    """The outputs of WriteLayout: the files, and the position of each book in them."""

    files: beam.PCollection  # of OutputFile
    places: beam.PCollection  # of Place, one for each book


@transform
def WriteLayout(books: beam.PCollection, folder: str) -> WrittenLayout:
    """Writes text files in the layout of the SimpleBooks release. PCollection[SizedBook] → WrittenLayout.

    Each file is written by one worker, one book at a time. There are no separators between books; the output
    `places` lists where each book begins. The file of a split without books is empty.

    Args:
      folder: output folder of the build.
    """
    every = {f"{folder}/{file}": None for folder in FOLDERS for file in FILE_OF_SPLIT.values()}
    none = books.pipeline | "EveryFile" >> beam.Create(every)
    in_files = books | "KeyByFile" >> beam.FlatMap(key_by_file)
    written = (
        (in_files, none)
        | beam.Flatten()
        | "GroupFiles" >> beam.GroupByKey()
        | "WriteFile"
        >> beam.FlatMap(_write_file, folder)
        .with_output_types(OutputFile)
        .with_outputs("places", main="files")
    )
    return WrittenLayout(written.files, written.places)


def key_by_file(sized: SizedBook) -> Iterator[tuple[str, TokenizedBook]]:
    """Yields (file name, book) for each file that contains the book."""
    for folder in FOLDERS:
        size = folder.removesuffix(RAW)
        if sized.is_small or size == LARGE:
            yield f"{folder}/{FILE_OF_SPLIT[sized.split]}", sized.in_size(size)


def _write_file(
    grouped: tuple[str, Iterable[TokenizedBook | None]], folder: str
) -> Iterator[OutputFile | beam.pvalue.TaggedOutput]:
    name, in_file = grouped
    form = name.partition("/")[0]
    # The same order as in the other files of the build.
    books = sorted(filter(None, in_file), key=lambda book: place_of(book.book_id))
    lines = 0
    with HashedFile.in_folder(folder, name) as file:
        for book in books:
            packed = book.packed_raw if form.endswith(RAW) else book.packed_tokens
            file.write(fetch_text(packed).encode("utf-8"))
            if form == LARGE:
                place = Place(book.book_id, lines + 1, book.paragraphs)
                yield beam.pvalue.TaggedOutput("places", place)
            lines += book.paragraphs
            counters.count(STAGE, "books")
    yield file.output_file(name, "", "text", lines)
    counters.flush()
