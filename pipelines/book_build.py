"""Finds the books of Project Gutenberg and the files about them, for PG-19 and SimpleBooks."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place
from corpusmill.transforms.books.gather_books import GatherBooks, check_books, match_books
from corpusmill.transforms.books.read_books import sizes_of
from corpusmill.transforms.books.read_catalog import check_tables
from corpusmill.transforms.files.builds.manifest import limit_caveat
from corpusmill.transforms.files.read_files import match_inputs

from .pg19_settings import LANGUAGE

NO_CATALOG = (
    "No catalogue was given: titles, authors and languages are those of the files, subjects and bookshelves"
    " are not known, and genres are detected from the text alone."
)

_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-?([01]\d)-?([0-3]\d)(?!\d)")


class BookInputs(NamedTuple):
    """The paths of the input files of a build from books."""

    books: Sequence[str]
    catalog: Sequence[str]
    metadata: Sequence[str] = ()
    word_list: Sequence[str] = ()
    split_ids: Sequence[str] = ()


def find_books(books: Sequence[str], on_corrupt: str, **others: Sequence[str]) -> BookInputs:
    """Finds the input files of a build. Raises InputError for missing or visibly truncated files.

    If `on_corrupt` is "fail", a catalogue in CSV format is read completely, to find damage anywhere in it.

    Args:
      books: Patterns, folders or archives of books.
      on_corrupt: "fail" to reject truncated files, "keep-good" to accept them.
      others: Patterns for the other fields of BookInputs.
    """
    found = {name: match_inputs(patterns) for name, patterns in others.items()}
    inputs = BookInputs(match_books(books), **found)
    check_books(inputs.books, whole=on_corrupt == "fail")
    if on_corrupt == "fail":
        check_tables(inputs.catalog)
    return inputs


class BookBuild(CorpusBuild):
    """A build from books of Project Gutenberg."""

    files: BookInputs
    lang = LANGUAGE

    def date_of_inputs(self) -> str:
        """Returns the newest date in the names of the catalogue and book files, such as "20261101".

        Returns "undated" if no name contains a date.
        """
        names = map(posixpath.basename, (*self.files.catalog, *self.files.books))
        return max(
            ("".join(found) for name in names for found in _DATE.findall(name)), default="undated"
        )

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the total size of the book files in bytes.

        It does not depend on `stripes`, the number of workers: a file is counted only once, even if several
        workers read it.
        """
        return sum(sizes_of(self.files.books))

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {name.replace("_", "-"): paths for name, paths in self.files._asdict().items()}

    def caveats(self) -> tuple[str, ...]:
        """Returns sentences that tell users which facts are missing because an input was not given.

        If the number of books was limited, a further sentence says so.
        """
        caveats = limit_caveat(self.config.limit, "books")
        return caveats if self.files.catalog else (NO_CATALOG, *caveats)

    def read(self, place: Place) -> beam.PTransform:
        """Returns a transform that reads the books, and joins them with the catalogue."""
        files, config = self.files, self.config
        paths = files.books, files.catalog, files.metadata
        return GatherBooks(place.scratch, *paths, place.stripes, config.on_corrupt, config.limit)
