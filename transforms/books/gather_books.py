"""Reads books, the catalogue and PG-19's list of books, and joins them to one element per book."""

from collections.abc import Sequence
from typing import NamedTuple

import apache_beam as beam

from corpusmill.transforms.books.join_catalog import JoinCatalog
from corpusmill.transforms.books.read_books import ReadBooks
from corpusmill.transforms.books.read_catalog import ReadCatalog
from corpusmill.transforms.books.read_released_books import ReadReleasedBooks


class GatheredBooks(NamedTuple):
    """The outputs of GatherBooks: books, rejections, damaged parts of files, and the number of files read."""

    books: beam.PCollection  # of Book
    rejected: beam.PCollection  # of Rejected: files that are not books, and further files of a book
    catalog_rejected: beam.PCollection  # of Rejected: records of the catalogue that cannot be read
    lost: beam.PCollection  # of LostBytes
    files: beam.PCollection  # of int: files that were looked at as books


class GatherBooks(beam.PTransform):
    """Reads books and joins them with their metadata. Pipeline → GatheredBooks.

    Args:
      folder: folder for temporary texts (see scratch.py).
      books: paths of the files of books, which may be archives.
      catalog: paths of the catalogue's files; may be empty.
      metadata: paths of metadata.csv of the PG-19 release; may be empty.
      stripes: number of workers.
      on_corrupt: "fail" raises an error at damaged input; "keep-good" skips it.
      limit: maximum number of books in total; 0 reads all books. With a limit, one worker reads the files in
        the order of the paths.
    """

    def __init__(
        self,
        folder: str,
        books: Sequence[str],
        catalog: Sequence[str],
        metadata: Sequence[str],
        stripes: int,
        on_corrupt: str,
        limit: int = 0,
    ):
        super().__init__()
        self.read_books = ReadBooks(books, folder, stripes, on_corrupt, limit)
        self.read_catalog = ReadCatalog(catalog, stripes, on_corrupt)
        self.read_released = ReadReleasedBooks(metadata)

    def expand(self, root: beam.Pipeline) -> GatheredBooks:
        read = root | "ReadBooks" >> self.read_books
        catalog = root | "ReadCatalog" >> self.read_catalog
        released = root | "ReadReleasedBooks" >> self.read_released
        known = {"books": read.books, "catalog": catalog.entries, "released": released}
        joined = known | "JoinCatalog" >> JoinCatalog()
        return GatheredBooks(
            books=joined.books,
            rejected=(read.rejected, joined.rejected) | "Rejected" >> beam.Flatten(),
            catalog_rejected=catalog.rejected,
            lost=(read.lost, catalog.lost) | "Lost" >> beam.Flatten(),
            files=read.files,
        )
