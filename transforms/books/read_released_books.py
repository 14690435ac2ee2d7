"""Reads the list of the books in the PG-19 release (metadata.csv), and tables of the split of each book."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import apache_beam as beam

from corpusmill.transforms.books.released import MalformedTableError, read_released_lines
from corpusmill.transforms.books.released_splits import read_split_lines
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.open_input import InputError, open_input
from corpusmill.transforms.files.records import ReleasedBook

STAGE = "read-released-books"


class ReadReleasedBooks(beam.PTransform):
    """Reads the list of the books in the PG-19 release, metadata.csv. PBegin → PCollection[ReleasedBook].

    Each file is read by one worker. Raises InputError, with the file and the line, if a line is not in the
    format of metadata.csv.

    Args:
      paths: files on any Beam file system, plain, .gz, .bz2 or .xz.
    """

    def __init__(self, paths: Sequence[str]):
        super().__init__()
        self.paths = list(paths)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "Paths" >> beam.Create(self.paths)
            | "ReadBooks" >> beam.FlatMap(read_released_books).with_output_types(ReleasedBook)
        )


def read_released_books(path: str) -> Iterator[ReleasedBook]:
    """Yields the books listed in one metadata.csv. Raises InputError for an invalid line."""
    books = 0
    with _open_table(path) as lines:
        for book in read_released_lines(lines):
            books += 1
            yield book
    counters.count(STAGE, "books", books)


def read_split_table(path: str) -> Mapping[int, str]:
    """Reads a table of splits (see text/books/files/released_splits.py). Returns ebook number → split.

    Raises InputError if the table is invalid.
    """
    with _open_table(path) as lines:
        return read_split_lines(lines)


@contextlib.contextmanager
def _open_table(path: str) -> Iterator[Iterable[bytes]]:
    """Opens a table as lines, for a `with` block.

    If the block raises an error about the format of the table, it is replaced by an InputError with the path.
    """
    with open_input(path) as lines:
        try:
            yield cast(Iterable[bytes], lines)
        except DECODE_ERRORS as error:
            is_told = isinstance(error, MalformedTableError)
            raise InputError(
                path, f"{'' if is_told else 'damaged or truncated: '}{error}"
            ) from error
