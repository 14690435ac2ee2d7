"""Estimates the processor time and disk space of a build, from rates that `tests/bench/rates.py` has
measured.

Estimates from measurements how much memory a build needs on the in-process runner.
"""

import csv
import pathlib
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

TABLE = "cost_rates.tsv"
ANY = "any"  # name in the table for rates of all corpora
START, WORKER, WORK, OTHER_PAGES = "start", "further-workers", "work", "other-pages"
NEAR_DUPLICATES, COUNTING, LEARNING = "near-duplicates", "counting-pieces", "vocabulary"
SPARK_START, SPARK_WORK = "spark-start", "spark-work"
CLUSTER_START, CLUSTER_WORK = "cluster-start", "cluster-work"
SERIAL = frozenset({START, LEARNING, SPARK_START, CLUSTER_START})
"""Parts of a build whose time does not depend on the number of workers."""

GB = 10**9


class Rate(NamedTuple):
    """The measured cost of one part of a build."""

    core_seconds: float  # per GB of text (10^9 bytes, decompressed), per start or per worker
    peak: float = 0.0  # bytes on disk while the build runs, for each byte of text
    kept: float = 0.0  # bytes of the finished build, for each byte of text


class Rates(NamedTuple):
    """The table of measured rates."""

    measured: str  # date and machine of the measurement
    of: Mapping[tuple[str, str], Rate]  # (corpus, part) → rate

    def find(self, corpus: str, part: str, language: str = "") -> Rate | None:
        """Returns the rate of a part of a build for the given language.

        If the table has no rate for the language, returns the rate of the part for the whole corpus. If that
        is missing too, returns the rate of the part for all corpora, or None if there is no rate at all.
        """
        keys = (corpus, f"{part}:{language}"), (corpus, part), (ANY, part)
        return next((self.of[key] for key in keys if key in self.of), None)


class Text(NamedTuple):
    """The properties of the input that determine the cost of a build."""

    text_bytes: float  # decompressed size of all inputs
    packed: Mapping[str, float]  # codec → decompressed bytes; bytes read twice count twice
    articles_share: float = 1.0  # share of the text that is in pages of namespace 0
    sampled_bytes: float = 0.0  # bytes of text from which a vocabulary is learned
    has_near_duplicates: bool = False
    has_vocabulary: bool = False


class Part(NamedTuple):
    """A part of a build, with its estimated cost."""

    name: str
    core_seconds: float

    @property
    def is_serial(self) -> bool:
        """True if the time of this part does not depend on the number of workers."""
        return self.name in SERIAL


def parts_of(rates: Rates, corpus: str, language: str, text: Text, workers: int = 1) -> list[Part]:
    """Returns the parts of a build on the in-process runner, with the cost of each.

    Args:
      corpus: The name of the corpus.
      language: The code of the language; "" if the corpus has none.
      text: The size and kind of the input.
      workers: The number of worker processes.

    Raises KeyError if `rates` has no rate for the corpus.
    """
    work = rates.find(corpus, WORK, language)
    if not work:
        raise KeyError(corpus)
    articles = text.text_bytes * text.articles_share
    sizes = {
        **text.packed,
        WORK: articles,
        OTHER_PAGES: text.text_bytes - articles,
        NEAR_DUPLICATES: articles if text.has_near_duplicates else 0,
        COUNTING: articles if text.has_vocabulary else 0,
        LEARNING: text.sampled_bytes if text.has_vocabulary else 0,
    }
    start = rates.find(corpus, START)
    parts = [Part(START, start.core_seconds if start else 0.0)]
    worker = rates.find(corpus, WORKER)
    if worker and workers > 1:
        parts.append(Part(WORKER, worker.core_seconds * (workers - 1)))
    for name, size in sizes.items():
        rate = rates.find(corpus, name, language)
        if size and rate:
            parts.append(Part(name, rate.core_seconds * size / GB))
    return parts


def on_spark(rates: Rates, parts: list[Part], *, is_cluster: bool) -> list[Part]:
    """Returns the parts of a build on Spark: `parts`, and two more for the start and the overhead of Spark.

    Args:
      parts: The parts of the build on the in-process runner.
      is_cluster: Whether Spark runs on a cluster, not on this machine.
    """
    start, work = (CLUSTER_START, CLUSTER_WORK) if is_cluster else (SPARK_START, SPARK_WORK)
    shared = sum(part.core_seconds for part in parts if not part.is_serial)
    at_start, on_top = rates.find(ANY, start), rates.find(ANY, work)
    return [
        *parts,
        Part(start, at_start.core_seconds if at_start else 0.0),
        Part(work, shared * on_top.core_seconds if on_top else 0.0),
    ]


def seconds_of(parts: list[Part], cores: int) -> float:
    """Returns the number of seconds that the parts take, one after the other, on `cores` cores."""
    return sum(part.core_seconds / (1 if part.is_serial else cores) for part in parts)


def describe_size(count: float) -> str:
    """Returns a number of bytes as "1.6 GB" or "97 MB"."""
    return f"{count / GB:,.1f} GB" if count >= GB else f"{count / 1e6:,.0f} MB"


def read_rates(content: str) -> Rates:
    """Parses a table of rates. Lines that begin with "# " contain the date and the machine of the
    measurement.
    """
    lines = content.splitlines()
    measured = [line.removeprefix("# ") for line in lines if line.startswith("#")]
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    of = {
        (row["corpus"], row["part"]): Rate(
            float(row["core_seconds"]), float(row["peak"] or 0), float(row["kept"] or 0)
        )
        for row in rows
    }
    return Rates(" ".join(measured), of)


def load_rates() -> Rates:
    """Loads the table of rates that is installed with this package."""
    return read_rates(resources.files(__package__).joinpath(TABLE).read_text("utf-8"))


MB = 10**6

LINES = {".gz": 2.5, ".bz2": 3.3, ".xz": 3.4, ".tgz": 2.5, ".zip": 2.6}
XML = {".gz": 4.0, ".bz2": 5.5, ".xz": 6.0}
JSON = {".gz": 7.5, ".bz2": 11.0}
"""Suffix of a compressed file → decompressed bytes per compressed byte, measured on the test inputs."""


class MemoryModel(NamedTuple):
    """A model of the peak memory of a build on the in-process runner, for all processes together.

    The values were measured with inputs of at least two sizes; see tests/bench/README.md.
    """

    base_bytes: int  # memory of the launcher and the first worker, for any input
    worker_bytes: int  # memory of each further worker
    input_share: float  # bytes of memory for each byte of decompressed input
    expansion: Mapping[str, float] = LINES

    def text_bytes(self, sizes: Mapping[str, int]) -> int:
        """Returns the approximate decompressed size of files in bytes.

        Args:
          sizes: Path → size of the stored file in bytes.
        """
        return sum(
            int(size * self.expansion.get(pathlib.PurePath(path).suffix, 1.0))
            for path, size in sizes.items()
        )

    def needed(self, text_bytes: int, workers: int) -> int:
        """Returns the approximate peak memory of a build in bytes.

        Args:
          text_bytes: The decompressed size of all inputs.
          workers: The number of worker processes.
        """
        further = self.worker_bytes * (workers - 1)
        return self.base_bytes + further + int(self.input_share * text_bytes)
