"""Processor time and disk of a build, by rates that `tests/bench/rates.py` measures: `cost_rates.tsv`."""

import csv
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

TABLE = "cost_rates.tsv"
ANY = "any"  # corpus of rates that all have
START, WORKER, WORK, OTHER_PAGES = "start", "further-workers", "work", "other-pages"
NEAR_DUPLICATES, COUNTING, LEARNING = "near-duplicates", "counting-pieces", "vocabulary"
SPARK_START, SPARK_WORK = "spark-start", "spark-work"
CLUSTER_START, CLUSTER_WORK = "cluster-start", "cluster-work"
SERIAL = frozenset({START, LEARNING, SPARK_START, CLUSTER_START})
"""Parts that one worker does, or that take the same time whatever the workers."""

GB = 10**9


class Rate(NamedTuple):
    """The measured cost of one part of a build."""

    core_seconds: float  # for a GB of text (10^9 bytes, decompressed), a start, or a worker
    peak: float = 0.0  # bytes on disk while the build runs, for each byte of text
    kept: float = 0.0  # the same of the finished build


class Rates(NamedTuple):
    """The table."""

    measured: str  # date and machine
    of: Mapping[tuple[str, str], Rate]  # (corpus, part) → rate

    def find(self, corpus: str, part: str, language: str = "") -> Rate | None:
        """The rate of a corpus, of its language where there is one, else that of any corpus; None if there
        is none.
        """
        keys = (corpus, f"{part}:{language}"), (corpus, part), (ANY, part)
        return next((self.of[key] for key in keys if key in self.of), None)


class Text(NamedTuple):
    """The properties of the input that determine the cost of a build."""

    text_bytes: float  # of all inputs, decompressed
    packed: Mapping[str, float]  # codec → bytes of text that come out of it, each time it is read
    articles_share: float = 1.0  # of the text of a wiki: pages of namespace 0
    sampled_bytes: float = 0.0  # text that a vocabulary is learned from
    has_near_duplicates: bool = False
    has_vocabulary: bool = False


class Part(NamedTuple):
    """A line of an estimate."""

    name: str
    core_seconds: float

    @property
    def is_serial(self) -> bool:
        """More workers do not make it shorter."""
        return self.name in SERIAL


def parts_of(rates: Rates, corpus: str, language: str, text: Text, workers: int = 1) -> list[Part]:
    """Returns the cost of each part of a build on the in-process runner.

    Raises KeyError where the table does not have the corpus.
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
    """The same on Spark, whose start and own work come on top."""
    start, work = (CLUSTER_START, CLUSTER_WORK) if is_cluster else (SPARK_START, SPARK_WORK)
    shared = sum(part.core_seconds for part in parts if not part.is_serial)
    at_start, on_top = rates.find(ANY, start), rates.find(ANY, work)
    return [
        *parts,
        Part(start, at_start.core_seconds if at_start else 0.0),
        Part(work, shared * on_top.core_seconds if on_top else 0.0),
    ]


def seconds_of(parts: list[Part], cores: int) -> float:
    """The time of so many cores."""
    return sum(part.core_seconds / (1 if part.is_serial else cores) for part in parts)


def read_rates(content: str) -> Rates:
    """The table of a file: first lines that begin with "# ", which say when and where, then the rates."""
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
    """The table of this installation."""
    return read_rates(resources.files(__package__).joinpath(TABLE).read_text("utf-8"))
