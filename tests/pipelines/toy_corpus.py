"""The files of a toy corpus: its method, and its sample. Lines are documents, every fourth for testing."""

METHOD = '''
"""Toy: the lines of some files, each a document."""

import dataclasses
import hashlib
import pathlib
from collections.abc import Mapping, Sequence

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.builds.stages import Place, Stage
from transforms.files import counters
from transforms.files.open_input import match_inputs
from transforms.text.builds.build_manifest import Provenance, to_json

CORPUS = "toy"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}


@dataclasses.dataclass(frozen=True)
class ToyConfig:
    input: Sequence[str]
    dump_date: str = "20260101"
    upper_case: bool = False
    every: int = dataclasses.field(default=4, metadata={"help": "which lines are for testing"})

    def edition(self) -> str:
        return "en-upper-case" if self.upper_case else "en"


class Toy:
    def __init__(self, config: ToyConfig):
        self.config = config
        self.files = match_inputs(config.input)

    @property
    def path(self) -> tuple[str, ...]:
        return CORPUS, self.config.edition(), f"{self.config.dump_date}-{VERSION}"

    def bytes_to_read(self, stripes: int) -> int:
        return sum(pathlib.Path(path).stat().st_size for path in self.files)

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {"input": self.files}

    def caveats(self) -> Sequence[str]:
        return ()

    def stages(self) -> Sequence[Stage]:
        return (Stage("write", self.write),)

    def write(self, root: beam.Pipeline, place: Place) -> None:
        _ = root | beam.Create([place.folder]) | "WriteLines" >> beam.Map(self.write_lines)

    def write_lines(self, folder: str) -> None:
        lines = [line for path in self.files for line in pathlib.Path(path).read_text().splitlines()]
        counters.count("read-toy", "lines", len(lines))
        splits = {"train": [], "test": []}
        for number, line in enumerate(lines, 1):
            text = line.upper() if self.config.upper_case else line
            splits["train" if number % self.config.every else "test"].append({"id": line, "text": text})
        outputs = []
        for split, rows in splits.items():
            path = pathlib.Path(folder, f"{split}-00000-of-00001.parquet")
            pq.write_table(pa.Table.from_pylist(rows), path)
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            names = ("name", "split", "format", "records", "bytes", "sha256")
            values = (path.name, split, "parquet", len(rows), len(content), digest)
            outputs.append(dict(zip(names, values, strict=True)))
        kept = {split: len(rows) for split, rows in splits.items()} | {"total": len(lines)}
        stats = {split: {"lines": count} for split, count in kept.items()}
        manifest = self.provenance()._asdict() | {
            "signature": self.provenance().signature,
            "counts": {"lines_read": len(lines), "kept": kept},
            "lost": [],
            "outputs": outputs,
        }
        pathlib.Path(folder, "stats.json").write_text(to_json(stats))
        pathlib.Path(folder, "manifest.json").write_text(to_json(manifest))

    def provenance(self) -> Provenance:
        return Provenance(
            corpus=CORPUS,
            edition=self.config.edition(),
            dump_date=self.config.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={"upper_case": self.config.upper_case},
            caveats=(),
            code={},
        )
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
