"""A toy corpus: its method, its sample and its row. Every fourth line is for testing, by a hash."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from corpusmill.pipelines.run import corpora
from corpusmill.pipelines.run.corpora import CorpusRow, MemoryModel
from corpusmill.transforms.files.records import CorpusShape, Layout

METHOD = '''
"""Toy: the lines of some files, each a document."""

import dataclasses
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsSingleton

from corpusmill.pipelines.inspect.removal_accounts import SENTENCES
from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.pipelines.run.settings import EDITION, Config, Group
from corpusmill.transforms.books import count_book_vocabulary as vocabulary
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger
from corpusmill.transforms.files.builds.manifest import Description, Provenance, Release
from corpusmill.transforms.files.builds.paper_figures import Paper, PaperScore
from corpusmill.transforms.files.line_blocks import LineStats, add_line_stats, lines_of, measure_lines
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.read_files import match_inputs
from corpusmill.transforms.files.read_lines import ReadLines, line_bytes_of
from corpusmill.transforms.files.text import fingerprint
from corpusmill.transforms.files.write_rows import PlanShards, RowKind, WriteRows
from corpusmill.transforms.models import word_vocabulary
from corpusmill.transforms.models.count_words import DealWords, WriteVocabulary

VERSION = "1.0.0"
RELEASE = Release("toy", VERSION, {VERSION: "First build."})
SPLITS = ("train", "test")
WORDS = "toy-words"
PAPER = Paper(
    {"lang": ("en",), "upper-case": ("no",), "every": ("4",)},
    documents={"train": 6, "test": 1},
    words={"test": 60},
    scores={("", "test"): (PaperScore("perplexity", "Toy 2026, table 1", 12.34, 2),)},
)


class Line(NamedTuple):
    split: str
    id: str
    text: str


LINES = RowKind(
    pa.schema([("id", pa.string()), ("text", pa.string())]),
    identity=operator.attrgetter("id"),
    order=operator.itemgetter(1),
    values=operator.itemgetter(1, 2),
)
FILES = Group("inputs")
FORM = Group("form", part_of=EDITION)


@dataclasses.dataclass(frozen=True)
class ToyConfig(Config):
    input: Sequence[str] = FILES.setting(help="files of lines")
    dump_date: str = FILES.setting("20260101", "names the build")
    upper_case: bool = FORM.setting(False, "write capitals")
    every: int = FORM.setting(4, "which lines are for testing (default %(default)s)", at_least=1)


class Toy(CorpusBuild):
    release = RELEASE
    lang = "en"
    description = Description("Toy", "Lines.", "@misc{toy}", "other", ("id", "text"), splits=SPLITS)

    def __init__(self, config: ToyConfig):
        self.config = config
        self.files = match_inputs(config.input)

    def bytes_to_read(self, stripes: int) -> int:
        return line_bytes_of(self.files, stripes)

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {"input": self.files}

    def stages(self) -> Sequence[Stage]:
        return (Stage("write", self.write),)

    def write(self, root: beam.Pipeline, place: Place) -> None:
        read = root | "ReadLines" >> ReadLines(self.files, place.stripes)
        lines = read.blocks | "Cut" >> beam.FlatMap(self.cut).with_output_types(Line)
        counted = lines | "Measure" >> beam.Map(measure) | beam.CombinePerKey(add_line_stats)
        sizes = counted | "Sizes" >> beam.MapTuple(lambda split, stats: (split, stats.bytes))
        words = lines | "CountWords" >> DealWords(place.scratch, count_words, 4)
        written = words | "WriteWords" >> WriteVocabulary(place.folder, "vocabulary-words.tsv", 2)
        packed = AsSingleton(written.words)
        unknown = (
            lines
            | "LookUp" >> beam.FlatMap(look_up, packed).with_output_types(tuple[str, Any])
            | "AddUnknown" >> beam.CombinePerKey(word_vocabulary.add_heldout)
        )
        shards = sizes | PlanShards(SPLITS, 1 << 20)
        self.close_ledger(
            place.folder,
            self.open_ledger(root, read=read.lines),
            account_for,
            outputs=[
                lines | WriteRows(place.folder, "toy", LINES, shards, self.marks()),
                written.files,
            ],
            rejected=read.rejected,
            kept=counted,
            vocabulary=written.stats
            | "Stats" >> beam.Map(vocabulary.make_stats, 2, 0, AsDict(unknown)),
        )

    def cut(self, block: bytes) -> Iterator[Line]:
        for line in lines_of(block):
            text = line.decode()
            split = "train" if fingerprint(text) % self.config.every else "test"
            yield Line(split, text, text.upper() if self.config.upper_case else text)


def block_of(line: Line) -> bytes:
    return f"{line.text}\\n".encode()


def measure(line: Line) -> tuple[str, LineStats]:
    return line.split, measure_lines(block_of(line))


def count_words(line: Line) -> pa.RecordBatch | None:
    return word_vocabulary.count_words(block_of(line)) if line.split == "train" else None


def look_up(line: Line, packed: bytes) -> Iterator[tuple[str, Any]]:
    if line.split != "train":
        words = word_vocabulary.unpack_words(packed)
        yield line.split, word_vocabulary.measure_heldout([block_of(line)], words)[0]


def describe(stats: LineStats) -> dict[str, int]:
    counts = {"lines": stats.lines, "words": stats.words}
    return {**counts, "characters": stats.characters, "text_bytes": stats.bytes}


MEASURE = SENTENCES._replace(describe=describe)


def account_for(ledger: Ledger, provenance: Provenance) -> Accounts:
    found = ledger.per_split("kept", SPLITS, LineStats())
    found["total"] = add_line_stats(found.values())
    stats = {split: describe(counts) for split, counts in found.items()}
    kept = {split: counts.lines for split, counts in found.items()}
    read, rejected = ledger.number("read"), ledger.rejected
    ledger.balance(read, "lines read", kept=kept["total"], rejected=rejected["total"])
    for split in SPLITS:
        ledger.check_files(split, kept[split], "lines")
    facts = {"stats": stats, "kept": kept, "read": read, "unit": "lines", "rejected": rejected}
    return Accounts(
        {"lines_read": read, "kept": kept, "rejected": rejected},
        stats | {WORDS: ledger.one("vocabulary").as_dict()},
        [
            *render("edition", about="Every line is a document.", **facts),
            *render("no_paper", beside=PAPER.beside_new(provenance, ledger, {})),
        ],
    )
'''

SAMPLE = """
import pathlib
from collections.abc import Iterator

from toy_method import ToyConfig


def none(_: str) -> Iterator[ToyConfig]:
    return iter(())


def toy(_: str) -> Iterator[ToyConfig]:
    yield ToyConfig([str(pathlib.Path(__file__).with_name("lines.txt"))])
"""

ROW = CorpusRow(
    "toy",
    "toy_method",
    "Toy",
    "ToyConfig",
    MemoryModel(1, 1, 1.0),
    samples="toy_sample:toy",
    shape=CorpusShape("lines", "id", "", ("text",), splits=("train", "test")),
    layout=Layout("text", "", "Lines of the toy are in no order."),
    paper="toy_method:PAPER",
    measure="toy_method:MEASURE",
    form="Each line is a sentence.",
)
LINES = [
    f"The little red {animal} went to the mill by the river."
    for animal in ("hen", "cat", "dog", "bee", "ant", "elk", "lamb")
]


@contextlib.contextmanager
def declared(folder: Path, others: Sequence[CorpusRow] = ()) -> Iterator[None]:
    """Writes the files of the corpus into a folder, and declares it after other corpora meanwhile."""
    (folder / "toy_method.py").write_text(METHOD, "utf-8")
    (folder / "toy_sample.py").write_text(SAMPLE, "utf-8")
    write_lines(folder, LINES)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setattr(corpora, "CORPORA", (*others, ROW))
        yield
    for name in ("toy_method", "toy_sample"):
        sys.modules.pop(name, None)


def write_lines(folder: Path, lines: Sequence[str]) -> None:
    """Writes the sample; its last line is not UTF-8."""
    (folder / "lines.txt").write_bytes("\n".join(lines).encode() + b"\n\xff\n")
