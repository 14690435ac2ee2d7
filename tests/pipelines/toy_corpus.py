"""The files of a toy corpus: its method, and its sample. Lines are documents, every fourth for testing."""

METHOD = '''
"""Toy: the lines of some files, each a document."""

import dataclasses
import operator
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa

from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.corpus_build import Place, Stage
from corpusmill.pipelines.run.settings import EDITION, Config, Group
from corpusmill.transforms.files.builds.write_manifest import Enter, WriteManifest
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.read_files import HashInputs
from corpusmill.transforms.files.read_files import match_inputs
from corpusmill.transforms.files.write_rows import PlanShards, RowKind, WriteRows
from corpusmill.transforms.files.builds.manifest import Description, Release
from corpusmill.transforms.files.builds.ledger import INPUTS, OUTPUTS, Accounts, Ledger

RELEASE = Release("toy", "1.0.0", {"1.0.0": "First build."})
SPLITS = ("train", "test")
DESCRIPTION = Description("Toy", "Lines.", "@x", "other", ("id", "text"), splits=SPLITS)


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
    every: int = FILES.setting(4, "which lines are for testing (default %(default)s)", at_least=1)


class Toy(CorpusBuild):
    config: ToyConfig
    release = RELEASE

    def __init__(self, config: ToyConfig):
        self.config = config
        self.files = match_inputs(config.input)

    @property
    def dump_date(self) -> str:
        return self.config.dump_date

    def bytes_to_read(self, stripes: int) -> int:
        return sum(pathlib.Path(path).stat().st_size for path in self.files)

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {"input": self.files}

    def stages(self) -> Sequence[Stage]:
        return (Stage("write", self.write),)

    def write(self, root: beam.Pipeline, place: Place) -> None:
        lines = root | "Files" >> beam.Create(self.files) | "ReadLines" >> beam.FlatMap(self.read)
        counts = lines | beam.Map(operator.itemgetter(0)) | beam.combiners.Count.PerElement()
        shards = counts | "PlanShards" >> PlanShards(SPLITS, 1 << 20)
        ledger = {
            INPUTS: root | HashInputs(self.inputs()),
            OUTPUTS: lines | WriteRows(place.folder, RELEASE.corpus, LINES, shards),
            "kept": counts,
        } | Enter()
        _ = ledger | WriteManifest(place.folder, self.provenance(), DESCRIPTION, account_for)

    def read(self, path: str) -> Iterator[Line]:
        for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
            counters.count("read-toy", "lines")
            text = line.upper() if self.config.upper_case else line
            yield Line("train" if number % self.config.every else "test", line, text)


def account_for(ledger: Ledger, _: object) -> Accounts:
    kept = ledger.per_split("kept", SPLITS, 0)
    for split, count in kept.items():
        ledger.check_files(split, count, "lines")
    kept["total"] = sum(kept.values())
    stats = {split: {"lines": count} for split, count in kept.items()}
    return Accounts({"lines_read": kept["total"], "kept": kept}, stats, ["Lines."])
'''

SAMPLE = """
import pathlib
from collections.abc import Iterator

from toy_method import Toy, ToyConfig


def none(_: str) -> Iterator[Toy]:
    return iter(())


def toy(_: str) -> Iterator[Toy]:
    yield Toy(ToyConfig([str(pathlib.Path(__file__).with_name("lines.txt"))]))
"""
