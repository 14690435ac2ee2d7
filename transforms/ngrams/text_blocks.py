"""A finished build → blocks of its sentences, put away for later stages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import numpy.typing as npt

from transforms.builds.check_files import list_files
from transforms.builds.finished_builds import (
    Build,
    CorpusFile,
    RowGroup,
    read_row_group,
    row_groups_of,
)
from transforms.files import counters
from transforms.files.open_input import file_bytes_of
from transforms.files.scratch import Scratch, fetch
from transforms.files.spread import Spread, SpreadAll
from transforms.text.lines.line_stats import measure_lines
from transforms.text.vocabularies.document_sentences import paragraphs_of_book

STAGE = "read-text"
BLOCK_BYTES = 1 << 22  # of text; a document is in one block
TRAIN = "train"


def lines_of_text(text: str) -> list[str]:
    """The lines as they are."""
    return text.removesuffix("\n").split("\n")


def lines_of_article(text: str) -> list[str]:
    """The lines with its markers, which models of Wiki-40B predict like words; no empty ones."""
    return list(filter(str.strip, text.split("\n")))


def paragraphs_in_lines(text: str) -> list[str]:
    """The paragraphs of a book, each in one line."""
    joined = (" ".join(paragraph.split()) for paragraph in paragraphs_of_book(text))
    return list(filter(None, joined))


SENTENCES: Mapping[str, Callable[[str], list[str]]] = {
    "": lambda text: [text.replace("\n", " ")],
    "lines": lines_of_text,
    "article": lines_of_article,
    "book": paragraphs_in_lines,
}
"""The layout of the text of a corpus (see layout.py) → its sentences, one a line."""

PREDICTED = ("", "lines")
"""Layouts whose ends of sentences are words by the papers, so that words and ends are all that is scored."""


class TextSource(NamedTuple):
    """The place of the text of a build."""

    column: str  # of its Parquet files
    paragraphs: str  # one of SENTENCES


class PlacedFile(NamedTuple):
    """A Parquet file, and where its rows are in the split."""

    file: CorpusFile
    first: int  # document


class TextPart(NamedTuple):
    """The part of the text that one worker reads in one piece."""

    group: RowGroup
    first: int  # document
    stored_bytes: int  # of the file, about


class TextBlock(NamedTuple):
    """Documents of a split that follow on each other, put away (see transforms/files/scratch.py)."""

    split: str
    first: int  # place of the first document in the split
    documents: int
    packed_lines: bytes  # a sentence a line
    packed_counts: bytes  # int64: sentences of each document

    def lines(self) -> bytes:
        """The sentences (see line_blocks.py)."""
        return fetch(self.packed_lines)

    def counts(self) -> npt.NDArray[np.int64]:
        """The sentences of each document."""
        return np.frombuffer(fetch(self.packed_counts), np.int64)


class TextCounts(NamedTuple):
    """Counts of text."""

    documents: int = 0
    sentences: int = 0
    words: int = 0  # between spaces
    text_bytes: int = 0  # with the ends of sentences


def files_of_splits(build: Build, splits: Sequence[str]) -> list[PlacedFile]:
    """The Parquet files of some splits."""
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
    """Pipeline → PCollection[TextBlock].

    Args:
      files: of one build.
      folder: where the text waits.

    Raises InputError for a file that is damaged.
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
    """The row groups of a file."""
    groups = row_groups_of(placed.file)
    stored_bytes = file_bytes_of(placed.file.path) // max(len(groups), 1)
    first = placed.first
    for group in groups:
        yield TextPart(group, first, stored_bytes)
        first += group.rows


def read_blocks(part: TextPart, source: TextSource, scratch: Scratch) -> Iterator[TextBlock]:
    """The text of a row group."""
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
    """As many documents together as make up a block."""
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
    """(split, counts)."""
    measured = measure_lines(block.lines())
    counted = measured.lines, measured.words, measured.bytes
    return block.split, TextCounts(block.documents, *counted)


def add_counts(counts: Iterable[TextCounts]) -> TextCounts:
    """The sum of several counts."""
    return TextCounts(*(sum(column) for column in zip(TextCounts(), *counts, strict=True)))


def is_of_train(block: TextBlock) -> bool:
    """False of text that a model is scored on."""
    return block.split == TRAIN
