"""metadata.csv of PG-19 → the books that were released."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import apache_beam as beam

from transforms.files import counters
from transforms.files.open_input import InputError, open_input
from transforms.records import ReleasedBook
from transforms.text.books.files.released import MalformedReleaseError, read_released_lines
from transforms.text.books.files.released_splits import MalformedSplitsError, read_split_lines
from transforms.text.files.compression import DECODE_ERRORS

STAGE = "read-released-books"


class ReadReleasedBooks(beam.PTransform):
    """Reads metadata.csv: PCollection[ReleasedBook]. A file is one unit of work.

    Args:
      paths: files on any Beam file system, plain, .gz, .bz2 or .xz.

    A line that is not like those of metadata.csv raises InputError, which names the file and the line.
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
    """The books of one file. Raises InputError."""
    books = 0
    with open_input(path) as lines:
        try:
            for book in read_released_lines(cast(Iterable[bytes], lines)):
                books += 1
                yield book
        except (MalformedReleaseError, *DECODE_ERRORS) as error:
            raise _error_of(path, error) from error
    counters.count(STAGE, "books", books)


def read_split_table(path: str) -> Mapping[int, str]:
    """Ebook number → split of a table (see text/books/files/released_splits.py). Raises InputError."""
    with open_input(path) as lines:
        try:
            return read_split_lines(cast(Iterable[bytes], lines))
        except (MalformedSplitsError, *DECODE_ERRORS) as error:
            raise _error_of(path, error) from error


def _error_of(path: str, error: Exception) -> InputError:
    is_told = isinstance(error, MalformedReleaseError | MalformedSplitsError)
    return InputError(path, str(error) if is_told else f"damaged or cut: {error}")
