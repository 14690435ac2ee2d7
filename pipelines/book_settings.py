"""Settings and inputs that PG-19 and SimpleBooks have in common.

Defines the flags that `corpusmill pg19` and `corpusmill simplebooks` have in common.
"""

import argparse
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpusmill.pipelines.run.flags import Flags
from corpusmill.transforms.files.builds.manifest import check_dump_settings

LANGUAGE = "en"
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

    def by_role(self) -> Mapping[str, Sequence[str]]:
        """Returns role → paths. The roles are named as in the manifest."""
        return {name.replace("_", "-"): paths for name, paths in self._asdict().items()}

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the total size of the book files in bytes.

        It does not depend on `stripes`, the number of workers: a file is counted only once, even if several
        workers read it.
        """
        from corpusmill.transforms.books.read_books import sizes_of

        return sum(sizes_of(self.books))

    def date(self) -> str:
        """Returns the newest date in the names of the catalogue and book files, such as "20261101". Returns
        "undated" if no name contains a date.
        """
        names = map(posixpath.basename, (*self.catalog, *self.books))
        return max(
            ("".join(found) for name in names for found in _DATE.findall(name)), default="undated"
        )

    def caveats(self) -> tuple[str, ...]:
        """Returns a sentence for the dataset card that warns users if there is no catalogue."""
        return () if self.catalog else (NO_CATALOG,)


def check_book_settings(
    books: Sequence[str], dump_date: str, on_corrupt: str, min_words: int
) -> None:
    """Raises ValueError if one of these settings, which all builds from books have, is invalid."""
    check_dump_settings(books, dump_date, on_corrupt)
    if min_words < 0:
        raise ValueError(f"min_words must be 0 or more, not {min_words}")


def find_books(books: Sequence[str], on_corrupt: str, **others: Sequence[str]) -> BookInputs:
    """Finds the input files of a build. Raises InputError for missing or visibly truncated files.

    If `on_corrupt` is "fail", a catalogue in CSV format is read completely, to find damage anywhere in it.

    Args:
      books: Patterns, folders or archives of books.
      on_corrupt: "fail" to reject truncated files, "keep-good" to accept them.
      others: Patterns for the other fields of BookInputs.
    """
    from corpusmill.transforms.books.gather_books import check_books, match_books
    from corpusmill.transforms.books.read_catalog import check_tables
    from corpusmill.transforms.files.read_files import match_inputs

    found = {name: match_inputs(patterns) for name, patterns in others.items()}
    inputs = BookInputs(match_books(books), **found)
    check_books(inputs.books, whole=on_corrupt == "fail")
    if on_corrupt == "fail":
        check_tables(inputs.catalog)
    return inputs


def add_books(parser: argparse.ArgumentParser) -> Flags:
    """Adds the flags for book files and their metadata. Returns the group of these flags."""
    files = Flags(
        parser,
        "inputs",
        "file names, patterns or folders, on any file system of Beam's (gs://, s3://, hdfs://)",
    )
    files.files(
        "--books",
        "text files of Project Gutenberg, folders, or archives (.zip, .tar, .tgz, .tar.zip), also nested",
        required=True,
    )
    files.files(
        "--catalog",
        "pg_catalog.csv, or the RDF archive; without it, titles are taken from the files, and genres are"
        " detected from the text alone",
    )
    files.dump_date('the newest date in the names of the files; "undated" if there is none')
    files.on_corrupt()
    files.limit("books")
    return files
