"""Writes the books of SimpleBooks to text files in the layout of the release, with one paragraph per line."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.books.assign_sizes import SizedBook
from corpusmill.transforms.books.book_stats import place_of
from corpusmill.transforms.books.simplebooks_rows import LARGE, SIZES
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import OutputFile, TokenizedBook
from corpusmill.transforms.files.scratch import fetch_text
from corpusmill.transforms.files.write_files import HashedFile

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


class WriteLayout(beam.PTransform):
    """Writes text files in the layout of the SimpleBooks release. PCollection[SizedBook] → WrittenLayout.

    Each file is written by one worker, one book at a time. There are no separators between books; the output
    `places` lists where each book begins. The file of a split without books is empty.

    Args:
      folder: output folder of the build.
    """

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, books: beam.PCollection) -> WrittenLayout:
        every = {f"{folder}/{file}": None for folder in FOLDERS for file in FILE_OF_SPLIT.values()}
        none = books.pipeline | "EveryFile" >> beam.Create(every)
        in_files = books | "KeyByFile" >> beam.FlatMap(key_by_file)
        written = (
            (in_files, none)
            | beam.Flatten()
            | "GroupFiles" >> beam.GroupByKey()
            | "WriteFile"
            >> beam.ParDo(_WriteFile(self.folder))
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


class _WriteFile(beam.DoFn):
    def __init__(self, folder: str):
        self.folder = folder

    def process(self, grouped: tuple[str, Iterable[TokenizedBook | None]]) -> Iterable[Any]:
        name, in_file = grouped
        folder = name.partition("/")[0]
        # The same order as in the other files of the build.
        books = sorted(filter(None, in_file), key=lambda book: place_of(book.book_id))
        lines = 0
        with HashedFile.in_folder(self.folder, name) as file:
            for book in books:
                packed = book.packed_raw if folder.endswith(RAW) else book.packed_tokens
                file.write(fetch_text(packed).encode("utf-8"))
                if folder == LARGE:
                    place = Place(book.book_id, lines + 1, book.paragraphs)
                    yield beam.pvalue.TaggedOutput("places", place)
                lines += book.paragraphs
                counters.count(STAGE, "books")
        yield file.output_file(name, "", "text", lines)
        counters.flush()
