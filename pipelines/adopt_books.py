"""Released books as builds: PG-19 with its books, SimpleBooks with its paragraphs."""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsDict

from corpusmill.transforms.books import book_accounts
from corpusmill.transforms.books.count_book_vocabulary import CountBookVocabulary
from corpusmill.transforms.books.released import read_released_lines
from corpusmill.transforms.files.builds.paper_figures import SIMPLEBOOKS
from corpusmill.transforms.files.distribution import SpreadAll, transform
from corpusmill.transforms.files.line_blocks import SCHEMA, in_batches
from corpusmill.transforms.files.markup import MalformedTableError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import ReleasedBook, TokenizedBook
from corpusmill.transforms.files.released_layouts import ReleasedFile, open_released, read_table
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.terminal import name_some
from corpusmill.transforms.files.text import SPLITS, count_words

from . import pg19_settings, simplebooks_settings
from .adopt import Adopted, Counting, Members, ReleasedShard, Row, rows_like, texts_of

BLOCK_BYTES = 1 << 22  # of lines that are read, and whose words are counted, at once
BOOK_CHARACTERS = 1 << 24  # in a row group; a longer book has a row group of its own


def read_books(
    shard: ReleasedShard, members: Members, _: Counter[str], books: Mapping[str, ReleasedBook]
) -> Iterator[Row]:
    """Yields the books in the files of a shard. `books` is id → line of metadata.csv."""
    for file in shard.files:
        with open_released(file, members) as stream:
            content = stream.read()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(file.place, "not UTF-8", error.start) from None
        link = f"http://www.gutenberg.org/ebooks/{file.key}"
        known = books.get(file.key, ReleasedBook(int(file.key), "", 0, link))
        yield known.book_id, known.url, text, known.title, str(known.year or "")


def count_texts(column: int, end: str = "") -> Counting:
    """Returns the functions that count the texts in a column, to each of which `end` is added."""

    def measure(row: Row) -> book_accounts.BookStats:
        return book_accounts.measure_book(row[column] + end)

    return Counting(measure, book_accounts.add_book_stats, "words")


class AdoptedBooks(Adopted):
    """A build that is made of the released PG-19."""

    base = pg19_settings.DESCRIPTION
    kind_of_rows = rows_like(book_accounts.RELEASED_SCHEMA)._replace(
        weigh=lambda row: len(row[2]), batch=BOOK_CHARACTERS, text="book_text"
    )
    counting = count_texts(2)
    files_per_shard = 400  # 150 MB of text
    account_for = book_accounts.BookAccounts(SPLITS, whole=SPLITS)

    def check(self) -> None:
        """Reads metadata.csv. Raises InputError if it has other books than the folders."""
        self.books: dict[str, ReleasedBook] = {}
        self.read = functools.partial(read_books, books=self.books)
        if not (table := self.found.tables.get("metadata.csv")):
            return
        try:
            for book in read_released_lines(read_table(table).splitlines(keepends=True)):
                if str(book.book_id) in self.books:
                    raise MalformedTableError(f"the book {book.book_id} is repeated")
                self.books[str(book.book_id)] = book
        except MalformedTableError as error:
            raise InputError(table.place, str(error)) from None
        there = {file.key: file for of in self.found.files.values() for file in of}
        if others := [file.name for key, file in there.items() if key not in self.books]:
            raise InputError(table.place, f"does not list {name_some(others)}")
        missing = [f"{key}.txt" for key in self.books if key not in there]
        if missing and not self.config.partial:
            raise InputError(
                self.config.source,
                f"missing: {name_some(missing)}, which metadata.csv lists; --partial adopts the others",
            )


def read_paragraphs(shard: ReleasedShard, members: Members, _: Counter[str]) -> Iterator[Row]:
    """Yields the paragraphs in the files of a shard, one on each line."""
    for file in shard.files:
        yield from ((text,) for text in texts_of(file, members))


@transform
def CountSize(
    root: beam.Pipeline,
    folder: str,
    scratch: str,
    size: str,
    files: Sequence[tuple[str, ReleasedFile]],
    members: AsDict,
) -> Any:
    """Counts the vocabulary of the released SimpleBooks-92 or SimpleBooks-2. Pipeline → CountedVocabulary.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary files.
      size: "simplebooks-92" or "simplebooks-2", which is the name of the statistics.
      files: (split, file) of its tokenised text.
      members: side input, see `Members`.
    """
    name = f"vocabulary-{size.rpartition('-')[2]}.tsv"
    min_count = simplebooks_settings.SimpleBooksConfig.min_count
    counted = (
        root
        | "SpreadFiles" >> SpreadAll(files)
        | "ReadBlocks" >> beam.FlatMap(read_blocks, members, Scratch(scratch))
        | "Count" >> CountBookVocabulary(folder, name, min_count, scratch)
    )
    named = beam.Map(lambda stats, of: (of, stats.as_dict()), size)
    return counted._replace(stats=counted.stats | "Name" >> named)


def read_blocks(
    placed: tuple[str, ReleasedFile], members: Members, scratch: Scratch
) -> Iterator[tuple[str, TokenizedBook]]:
    """Yields (split, some lines of a file in the form in which words are counted) for (split, file)."""
    split, file = placed
    for lines in in_batches(texts_of(file, members), BLOCK_BYTES, len):
        text = "".join(f"{line}\n" for line in lines)
        packed = scratch.put_text(text)
        yield split, TokenizedBook(0, "", len(lines), b"", packed, count_words(text))


class AdoptedParagraphs(Adopted):
    """A build that is made of the released SimpleBooks."""

    base = simplebooks_settings.DESCRIPTION
    kind_of_rows = rows_like(SCHEMA)
    counting = count_texts(0, end="\n")  # the end of a paragraph is a character, as in other builds
    read = staticmethod(read_paragraphs)
    unit = "paragraphs"

    def check(self) -> None:
        self.account_for = book_accounts.BookAccounts(tuple(self.found.files), whole=self.whole())

    def whole(self) -> Sequence[str]:
        """Returns the splits of SimpleBooks-92, which has the text of SimpleBooks-2; of a part of the release
        without them, those of one other form of the text.
        """
        forms = ([f"{one}{end}" for one in SPLITS] for end in ("", "_2", "_raw", "_2_raw"))
        there = ([split for split in form if split in self.found.files] for form in forms)
        return next(filter(None, there))

    def count_vocabularies(
        self, root: beam.Pipeline, folder: str, scratch: str, members: AsDict
    ) -> list[Any]:
        """Returns a CountedVocabulary for each size of the corpus with text to learn it from."""
        files = self.found.files
        return [
            root
            | f"Vocabulary {size}"
            >> CountSize(
                folder,
                scratch,
                size,
                [(one, file) for one in SPLITS for file in files.get(f"{one}{end}", ())],
                members,
            )
            for size, end in zip(SIMPLEBOOKS.tables, ("", "_2"), strict=True)
            if f"train{end}" in files
        ]
