"""Finished builds and files of lines → blocks of sentences, each with its rank, put away for later stages."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput

from transforms.builds.finished_builds import (
    Build,
    CorpusFile,
    RowGroup,
    files_of,
    read_row_group,
    row_groups_of,
)
from transforms.files import counters
from transforms.files.open_input import InputError, file_bytes_of
from transforms.files.scratch import Scratch, fetch
from transforms.files.spread import Spread, SpreadAll
from transforms.lines.read_lines import TextUnit, plan_units, read_unit, screen_block
from transforms.records import Rejected
from transforms.text.files.file_units import Damage
from transforms.text.lines.line_blocks import block_of, lines_of
from transforms.text.lines.line_table import FEATURE, make_table
from transforms.text.lines.unit_blocks import LineBlock
from transforms.text.vocabularies.document_sentences import clean_sentences, sentences_of_texts
from transforms.text.vocabularies.layout import Layout
from transforms.text.vocabularies.sentence_choice import Ranks, rank_sentences

STAGE = "read-sentences"
BLOCK_SENTENCES = 1 << 15
MEMBERS = ("*",)  # of an archive, all files are read


class SentenceSources(NamedTuple):
    """The sources of sentences."""

    builds: Mapping[str, Sequence[Build]]  # language → builds, each of a corpus of `layouts`
    texts: Mapping[str, Sequence[str]]  # language → files of lines
    layouts: Mapping[str, Layout]  # corpus → how it holds its text


class SentencePart(NamedTuple):
    """A part that one worker reads in one piece: a row group, or a unit of a file of lines."""

    language: str
    layout: Layout | None  # None for a unit
    is_held_out: bool  # of a split that is not trained on
    place: RowGroup | TextUnit
    stored_bytes: int = (
        0  # about how many of the file a row group has; units count theirs themselves
    )


class SentenceBlock(NamedTuple):
    """Sentences of a language, put away (see transforms/files/scratch.py)."""

    language: str
    is_held_out: bool  # of a split that is not trained on
    sentences: int
    packed_ranks: bytes
    packed_lines: bytes  # a sentence a line

    def ranks(self) -> Ranks:
        """The rank of each sentence."""
        return np.frombuffer(fetch(self.packed_ranks), np.uint64)

    def lines(self) -> list[bytes]:
        """The sentences in UTF-8."""
        return lines_of(fetch(self.packed_lines))


class ReadSentences(beam.PTransform):
    """Pipeline → (PCollection[SentenceBlock], PCollection[Rejected]).

    Of a build, train is learned from; validation and test are held out. A line of a file is a sentence; one
    that is not UTF-8, or too long, is rejected, and blank ones are passed over.

    Raises InputError for a file that is damaged.

    Args:
      folder: of the build that is written.
      seed: of the ranks.
      stripes: see ReadLines.
    """

    def __init__(self, sources: SentenceSources, folder: str, seed: int, stripes: int):
        super().__init__()
        self.sources = sources
        self.folder = folder
        self.seed = seed
        self.stripes = stripes

    def expand(self, root: beam.Pipeline) -> Any:
        files = [
            (language, self.sources.layouts[build.corpus], file)
            for language, builds in self.sources.builds.items()
            for build in builds
            for file in files_of(build)
        ]
        texts = {path: name for name, paths in self.sources.texts.items() for path in paths}
        parts = (
            root
            | "SpreadFiles" >> SpreadAll(files)
            | "SpreadRowGroups" >> Spread(plan_file, of=SentencePart),
            root
            | "Texts" >> beam.Create([texts], reshuffle=False)
            | "SpreadTexts" >> Spread(plan_texts, self.stripes, of=SentencePart),
        )
        read = (
            parts
            | "Parts" >> beam.Flatten()
            | "ReadParts"
            >> beam.FlatMap(read_blocks, Scratch(self.folder), self.seed)
            .with_output_types(SentenceBlock)
            .with_outputs("rejected", main="blocks")
        )
        return read.blocks, read.rejected


def plan_file(named: tuple[str, Layout, CorpusFile]) -> Iterator[SentencePart]:
    """The parts of a Parquet file of a language."""
    language, layout, file = named
    groups = row_groups_of(file)
    stored_bytes = file_bytes_of(file.path) // max(len(groups), 1)
    for group in groups:
        yield SentencePart(language, layout, file.split != "train", group, stored_bytes)


def plan_texts(language_of_path: Mapping[str, str], stripes: int) -> Iterator[SentencePart]:
    """The parts of all files of lines."""
    for unit in plan_units(sorted(language_of_path), stripes, MEMBERS):
        yield SentencePart(language_of_path[unit.file.path], None, False, unit)


def read_blocks(part: SentencePart, scratch: Scratch, seed: int) -> Iterator[Any]:
    """The sentences of a part in blocks; what is not text, on the output "rejected"."""
    rejected: list[Rejected] = []
    sentences = read_part(part, rejected)
    while some := list(islice(sentences, BLOCK_SENTENCES)):
        lines = block_of([sentence.encode("utf-8") for sentence in some])
        counters.count(STAGE, "sentences", len(some))
        if part.layout:  # of a unit, its reader has counted them
            counters.count(STAGE, "text_bytes", len(lines))
        ranks = rank_sentences(some, seed).tobytes()
        places = scratch.put(ranks), scratch.put(lines)
        yield SentenceBlock(part.language, part.is_held_out, len(some), *places)
    counters.count(STAGE, "dump_bytes", part.stored_bytes)
    counters.flush()
    yield from (TaggedOutput("rejected", one) for one in rejected)


def read_part(part: SentencePart, rejected: list[Rejected]) -> Iterator[str]:
    """The sentences, in their order; what is not text is added to `rejected`."""
    if isinstance(part.place, RowGroup):
        layout = part.layout
        assert layout
        texts = read_row_group(part.place, [layout.column]).table[layout.column].to_pylist()
        yield from sentences_of_texts(texts, layout, part.language.partition("-")[0])
        return
    for event in read_unit(part.place, MEMBERS):
        if isinstance(event, Damage):
            raise InputError(part.place.file.path, event.message, event.start)
        if isinstance(event, LineBlock):
            kept, refused = screen_block(part.place.file, event)
            rejected += refused
            if kept:
                yield from clean_sentences(make_table(kept).table[FEATURE].to_pylist())
