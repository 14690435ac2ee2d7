"""Reads a finished build as blocks of sentences, and stores them in scratch for later stages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.check_files import list_files
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    RowGroup,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.line_stats import measure_lines
from corpusmill.transforms.files.open_input import file_bytes_of
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.files.spread import Spread, SpreadAll
from corpusmill.transforms.models.document_sentences import paragraphs_of_book

STAGE = "read-text"
BLOCK_BYTES = 1 << 22  # bytes of text in a block; a document is never divided
TRAIN = "train"


def lines_of_text(text: str) -> list[str]:
    """Returns the lines of a text unchanged."""
    return text.removesuffix("\n").split("\n")


def lines_of_article(text: str) -> list[str]:
    """Returns the lines of an article that are not empty.

    Markers such as `_START_PARAGRAPH_` are included, because models of Wiki-40B predict them like words.
    """
    return list(filter(str.strip, text.split("\n")))


def paragraphs_in_lines(text: str) -> list[str]:
    """Returns the paragraphs of a book, each as one line."""
    joined = (" ".join(paragraph.split()) for paragraph in paragraphs_of_book(text))
    return list(filter(None, joined))


SENTENCES: Mapping[str, Callable[[str], list[str]]] = {
    "": lambda text: [text.replace("\n", " ")],
    "lines": lines_of_text,
    "article": lines_of_article,
    "book": paragraphs_in_lines,
}
"""Layout of the text of a corpus (see layout.py) → function that returns its sentences."""

PREDICTED = ("", "lines")
"""Layouts of corpora whose papers count ends of sentences as words. All scored tokens are then words."""


class TextSource(NamedTuple):
    """The column and layout of the text of a build."""

    column: str  # name of the column in the Parquet files
    paragraphs: str  # one of SENTENCES


class PlacedFile(NamedTuple):
    """A Parquet file, and the index of its first row in the split."""

    file: CorpusFile
    first: int  # index of its first document in the split


class TextPart(NamedTuple):
    """A row group of a Parquet file, which one worker reads at once."""

    group: RowGroup
    first: int  # index of its first document in the split
    stored_bytes: int  # approximate bytes of the file


class TextBlock(NamedTuple):
    """Consecutive documents of a split, stored in scratch (see transforms/files/scratch.py)."""

    split: str
    first: int  # index of the first document in the split
    documents: int
    packed_lines: bytes  # one sentence per line
    packed_counts: bytes  # int64: sentences of each document

    def lines(self) -> bytes:
        """Returns the sentences of the block, as a block of lines (see line_blocks.py)."""
        return fetch(self.packed_lines)

    def counts(self) -> npt.NDArray[np.int64]:
        """Returns the number of sentences of each document of the block."""
        return np.frombuffer(fetch(self.packed_counts), np.int64)


class TextCounts(NamedTuple):
    """Counts of documents, sentences, words and bytes."""

    documents: int = 0
    sentences: int = 0
    words: int = 0  # separated by spaces
    text_bytes: int = 0  # includes the line feed at the end of each sentence


def files_of_splits(build: Build, splits: Sequence[str]) -> list[PlacedFile]:
    """Returns the Parquet files of the given splits of a build."""
    found = []
    listed = sorted(list_files(build))
    for split in splits:
        first = 0
        for file in listed:
            if (file.listed.split, file.listed.format) == (split, "parquet"):
                found.append(PlacedFile(file.file, first))
                first += file.listed.records
    return found


class ReadBlocks(beam.PTransform):
    """Reads the text of a build as blocks of sentences. Pipeline → PCollection[TextBlock].

    Args:
      files: Parquet files of one build.
      folder: folder for temporary text.

    Raises InputError for a damaged file.
    """

    def __init__(self, files: Sequence[PlacedFile], source: TextSource, folder: str):
        super().__init__()
        self.files, self.source, self.folder = files, source, folder

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "SpreadFiles" >> SpreadAll(self.files, of=PlacedFile)
            | "SpreadRowGroups" >> Spread(plan_parts, of=TextPart)
            | "ReadBlocks"
            >> beam.FlatMap(read_blocks, self.source, Scratch(self.folder)).with_output_types(
                TextBlock
            )
        )


def plan_parts(placed: PlacedFile) -> Iterator[TextPart]:
    """Yields the row groups of a file, each with the index of its first row in the split."""
    groups = row_groups_of(placed.file)
    stored_bytes = file_bytes_of(placed.file.path) // max(len(groups), 1)
    first = placed.first
    for group in groups:
        yield TextPart(group, first, stored_bytes)
        first += group.rows


def read_blocks(part: TextPart, source: TextSource, scratch: Scratch) -> Iterator[TextBlock]:
    """Divides the text of a part into blocks, and yields them."""
    texts = read_row_group(part.group, [source.column]).table[source.column]
    first = part.first
    for documents in _batches(map(SENTENCES[source.paragraphs], map(str, texts))):
        lines = "".join(f"{line}\n" for document in documents for line in document).encode("utf-8")
        counts = np.array([len(document) for document in documents], np.int64)
        places = scratch.put(lines), scratch.put(counts.tobytes())
        yield TextBlock(part.group.file.split, first, len(documents), *places)
        first += len(documents)
        counters.count(STAGE, "text_bytes", len(lines))
    counters.count(STAGE, "dump_bytes", part.stored_bytes)
    counters.flush()


def _batches(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Yields documents in batches of at least BLOCK_BYTES bytes. The last batch may be smaller."""
    batch: list[list[str]] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += sum(map(len, document)) + len(document)
        if size >= BLOCK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def measure_block(block: TextBlock) -> tuple[str, TextCounts]:
    """Returns (split, TextCounts) of a block."""
    measured = measure_lines(block.lines())
    counted = measured.lines, measured.words, measured.bytes
    return block.split, TextCounts(block.documents, *counted)


def add_counts(counts: Iterable[TextCounts]) -> TextCounts:
    """Returns the sum of the counts of several blocks."""
    return TextCounts(*(sum(column) for column in zip(TextCounts(), *counts, strict=True)))


def is_of_train(block: TextBlock) -> bool:
    """Returns True for training text, and False for held-out text on which models are scored."""
    return block.split == TRAIN
