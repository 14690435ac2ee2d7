"""Reads the sentences of finished builds and text files, and stores them in scratch as blocks.

Each sentence gets a rank: a hash that determines whether the sentence is chosen for training.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    RowGroup,
    files_of,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.file_units import Damage
from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.files.line_table import FEATURE, make_table
from corpusmill.transforms.files.open_input import InputError, file_bytes_of
from corpusmill.transforms.files.read_lines import TextUnit, plan_units, read_unit, screen_block
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.files.spread import Spread, SpreadAll
from corpusmill.transforms.files.unit_blocks import LineBlock
from corpusmill.transforms.models.document_sentences import clean_sentences, sentences_of_texts
from corpusmill.transforms.models.layout import Layout
from corpusmill.transforms.models.sentence_choice import Ranks, rank_sentences

STAGE = "read-sentences"
BLOCK_SENTENCES = 1 << 15
MEMBERS = ("*",)  # all files of an archive are read


class SentenceSources(NamedTuple):
    """The builds and text files from which sentences are read, by language."""

    # language → builds; the corpus of each build is a key of `layouts`
    builds: Mapping[str, Sequence[Build]]
    texts: Mapping[str, Sequence[str]]  # language → files of lines
    layouts: Mapping[str, Layout]  # corpus → layout of its text


class SentencePart(NamedTuple):
    """A part of the input that one worker reads at once: a row group, or a work unit of a text file."""

    language: str
    layout: Layout | None  # layout of the row group; None for a unit of a text file
    is_held_out: bool  # True for splits that are not used for training
    place: RowGroup | TextUnit
    stored_bytes: int = 0  # approximate bytes of a row group; 0 for units, which count their own


class SentenceBlock(NamedTuple):
    """Sentences of one language with their ranks, stored in scratch (see transforms/files/scratch.py).

    The rank of a sentence is a hash that determines whether the sentence is chosen for training.
    """

    language: str
    is_held_out: bool  # True for splits that are not used for training
    sentences: int
    packed_ranks: bytes
    packed_lines: bytes  # one sentence per line

    def ranks(self) -> Ranks:
        """Returns the rank of each sentence of the block."""
        return np.frombuffer(fetch(self.packed_ranks), np.uint64)

    def lines(self) -> list[bytes]:
        """Returns the sentences of the block in UTF-8."""
        return lines_of(fetch(self.packed_lines))


class ReadSentences(beam.PTransform):
    """Reads the sentences of builds and text files.

    Pipeline → (PCollection[SentenceBlock], PCollection[Rejected]). The split train of a build is used for
    training; validation and test are held out. Each line of a text file is a sentence. Lines that are too
    long or not UTF-8 are rejected. Empty lines are skipped.

    Args:
      folder: output folder of the new build.
      seed: seed of the hash by which sentences are ranked.
      stripes: number of workers that divide the work on a large text file which cannot be split, such as a
        .gz. Each of them decompresses the whole file, but processes only its share of the sentences.

    Raises InputError for a damaged file.
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
    """Yields the parts of a Parquet file. `named` is (language, column and format of the text, file)."""
    language, layout, file = named
    groups = row_groups_of(file)
    stored_bytes = file_bytes_of(file.path) // max(len(groups), 1)
    for group in groups:
        yield SentencePart(language, layout, file.split != "train", group, stored_bytes)


def plan_texts(language_of_path: Mapping[str, str], stripes: int) -> Iterator[SentencePart]:
    """Yields the parts of all text files, each with the language of its file.

    `stripes` is the number of workers that divide the work on a large text file which cannot be split, such
    as a .gz. Each of them decompresses the whole file, but processes only its share of the sentences.
    """
    for unit in plan_units(sorted(language_of_path), stripes, MEMBERS):
        yield SentencePart(language_of_path[unit.file.path], None, False, unit)


def read_blocks(part: SentencePart, scratch: Scratch, seed: int) -> Iterator[Any]:
    """Reads the sentences of a part, stores them in `scratch`, and yields references to blocks of them.

    Rejected lines are yielded on the output "rejected". `seed` is the seed of the hash by which
    sentences are ranked.
    """
    rejected: list[Rejected] = []
    sentences = read_part(part, rejected)
    while some := list(islice(sentences, BLOCK_SENTENCES)):
        lines = block_of([sentence.encode("utf-8") for sentence in some])
        counters.count(STAGE, "sentences", len(some))
        if part.layout:  # the reader of a unit counts its bytes itself
            counters.count(STAGE, "text_bytes", len(lines))
        ranks = rank_sentences(some, seed).tobytes()
        places = scratch.put(ranks), scratch.put(lines)
        yield SentenceBlock(part.language, part.is_held_out, len(some), *places)
    counters.count(STAGE, "dump_bytes", part.stored_bytes)
    counters.flush()
    yield from (TaggedOutput("rejected", one) for one in rejected)


def read_part(part: SentencePart, rejected: list[Rejected]) -> Iterator[str]:
    """Yields the sentences of a part in order. Rejected lines are added to `rejected`."""
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
