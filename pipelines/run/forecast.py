"""Forecasts the time, memory, disk space and price of a build, for the flag --dry-run and before a start.
Nothing is started or written.

The rates of processor time and disk space were measured by `tests/bench/rates.py`, the memory of the
in-process runner is in the table of corpora, and the prices of Dataflow are those of Apache Beam.
"""

import argparse
import csv
import logging
import os
import pathlib
import resource
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import metadata, resources
from typing import TYPE_CHECKING, NamedTuple

from rich.filesize import decimal

from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, SPARK, BuildError
from corpusmill.transforms.files.terminal import count_of, draw, screen_columns
from corpusmill.transforms.files.text import grouped

from .corpora import MemoryModel, row_of

if TYPE_CHECKING:
    from .corpus_build import CorpusBuild

LOG = logging.getLogger(__name__)

TABLE = "cost_rates.tsv"
ANY = "any"  # name in the table for rates of all corpora
START, WORKER, WORK, OTHER_PAGES = "start", "further-workers", "work", "other-pages"
NEAR_DUPLICATES, COUNTING, LEARNING = "near-duplicates", "counting-pieces", "vocabulary"
SPARK_START, SPARK_WORK = "spark-start", "spark-work"
CLUSTER_START, CLUSTER_WORK = "cluster-start", "cluster-work"
SERIAL = frozenset({START, LEARNING, SPARK_START, CLUSTER_START})
"""Parts of a build whose time does not depend on the number of workers."""

UNITS = {
    "vcpu": "vCPU-hours",
    "memory": "GB-hours of memory",
    "disk": "GB-hours of disk",
    "shuffle": "GB shuffled",
}
"""Amounts that Dataflow bills → unit."""
VCPU_MEMORY_GB = 3.75  # n1-standard, Dataflow's default
VCPU_DISK_GB = 25.0  # the boot disk of a worker of one vCPU, Dataflow's default for batch jobs

GB = 10**9

# Builds that read sources, not other builds, need less disk space than this multiple of the stored
# size of their inputs.
_MAX_GROWTH = 50


class Rate(NamedTuple):
    """The measured cost of one part of a build."""

    core_seconds: float  # per GB of text (10^9 bytes, decompressed), per start or per worker
    peak: float = 0.0  # bytes on disk while the build runs, for each byte of text
    kept: float = 0.0  # bytes of the finished build, for each byte of text


class Rates(NamedTuple):
    """The table of measured rates."""

    measured: str  # date and machine of the measurement
    of: Mapping[tuple[str, str], Rate]  # (corpus, part) → rate

    def find(self, corpus: str, part: str, language: str = "") -> Rate:
        """Returns the rate of a part of a build for the given language.

        If the table has no rate for the language, returns the rate of the part for the whole corpus. If that
        is missing too, returns the rate of the part for all corpora. If there is no rate at all, it is 0.
        """
        keys = (corpus, f"{part}:{language}"), (corpus, part), (ANY, part)
        return next((self.of[key] for key in keys if key in self.of), Rate(0.0))


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


def parts_of(rates: Rates, corpus: str, language: str, text: Text, workers: int = 1) -> list[Part]:
    """Returns the parts of a build on the in-process runner, with the cost of each.

    Args:
      corpus: The name of the corpus.
      language: The code of the language; "" if the corpus has none.
      text: The size and kind of the input.
      workers: The number of worker processes.

    Returns [] if the corpus was never measured.
    """
    if not rates.find(corpus, WORK, language).core_seconds:
        return []
    articles = text.text_bytes * text.articles_share
    sizes = {
        **text.packed,
        WORK: articles,
        OTHER_PAGES: text.text_bytes - articles,
        NEAR_DUPLICATES: articles if text.has_near_duplicates else 0,
        COUNTING: articles if text.has_vocabulary else 0,
        LEARNING: text.sampled_bytes if text.has_vocabulary else 0,
    }
    further = rates.find(corpus, WORKER).core_seconds * (workers - 1)
    costs = {WORKER: further} | {
        name: rates.find(corpus, name, language).core_seconds * size / GB
        for name, size in sizes.items()
    }
    start = Part(START, rates.find(corpus, START).core_seconds)
    return [start, *(Part(name, cost) for name, cost in costs.items() if cost)]


def on_spark(rates: Rates, parts: list[Part], *, is_cluster: bool) -> list[Part]:
    """Returns the parts of a build on Spark: `parts`, and two more for the start and the overhead of Spark.

    Args:
      parts: The parts of the build on the in-process runner.
      is_cluster: Whether Spark runs on a cluster, not on this machine.
    """
    start, work = (CLUSTER_START, CLUSTER_WORK) if is_cluster else (SPARK_START, SPARK_WORK)
    shared = sum(part.core_seconds for part in parts if part.name not in SERIAL)
    return [
        *parts,
        Part(start, rates.find(ANY, start).core_seconds),
        Part(work, shared * rates.find(ANY, work).core_seconds),
    ]


def seconds_of(parts: Sequence[Part], cores: int) -> float:
    """Returns the number of seconds that the parts take, one after the other, on `cores` cores."""
    return sum(part.core_seconds / (1 if part.name in SERIAL else cores) for part in parts)


def hours_of(parts: Sequence[Part]) -> float:
    """Returns the number of core-hours of the parts."""
    return sum(part.core_seconds for part in parts) / 3600


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


class Forecast:
    """The forecast cost of a build.

    Each value is computed when it is first used, because some take time: the amount of text in compressed
    inputs is measured at the beginnings of some of them.

    Args:
      corpus: The build.
      output: The output folder, whose free disk space counts.
      workers: The number of worker processes.
    """

    def __init__(self, corpus: "CorpusBuild", output: str, workers: int):
        self.corpus, self.output, self.workers = corpus, output, workers
        self._row = row_of(corpus)
        self._language: str = getattr(corpus.config, "language", "")

    @cached_property
    def rates(self) -> Rates:
        """The measured rates of the parts of builds."""
        return load_rates()

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Path → size in bytes of all input files. Raises InputError if one is missing."""
        from corpusmill.transforms.files.read_files import file_bytes_of

        return {path: file_bytes_of(path) for of in self.corpus.inputs().values() for path in of}

    @property
    def held(self) -> list[str]:
        """The paths of the inputs whose size affects the memory."""
        inputs, unheld = self.corpus.inputs(), self.corpus.unheld
        return [path for role in inputs if role not in unheld for path in inputs[role]]

    @property
    def held_text_bytes(self) -> int:
        """The approximate decompressed size of the inputs whose size affects the memory."""
        return self._row.memory.text_bytes({path: self.sizes[path] for path in self.held})

    @property
    def memory_bytes(self) -> int:
        """The memory that the in-process runner needs."""
        return self._row.memory.needed(self.held_text_bytes, self.workers)

    @cached_property
    def text(self) -> Text:
        """The text that determines the cost of the build."""
        from corpusmill.transforms.files.read_files import codec_at, sample_texts

        corpus, config, row = self.corpus, self.corpus.config, self._row
        if row.read is None:
            return Text(getattr(corpus, "text_bytes", corpus.bytes_to_read(self.workers)), {})
        inputs = corpus.inputs()
        read = [path for role in row.read for path in inputs.get(role, ())]
        # A compressed file without entry points is decompressed by every worker that reads a part of
        # it.
        times = corpus.bytes_to_read(self.workers) / max(corpus.bytes_to_read(1), 1)
        of_codec = grouped((codec_at(path), path) for path in (read if row.read else self.held))
        total, articles, article_bytes = 0.0, 0.0, 0.0
        packed = {}
        for codec, paths in of_codec.items():
            sample, stored = sample_texts(paths), {path: self.sizes[path] for path in paths}
            size: float = row.memory.text_bytes(stored)
            if codec:
                size = sum(stored.values()) * sample.expansion
                packed[codec] = size * times
            total += size
            articles += size * sample.articles_share
            article_bytes = max(article_bytes, sample.article_bytes)
        return Text(
            text_bytes=total,
            packed=packed,
            articles_share=articles / total if total else 1.0,
            sampled_bytes=min(getattr(config, "sample_articles", 0) * article_bytes, articles),
            has_near_duplicates=bool(getattr(config, "near_duplicates", 0)),
            has_vocabulary=bool(getattr(config, "vocabulary_size", 0)),
        )

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of the build on the in-process runner; [] if the corpus was never measured."""
        return parts_of(self.rates, self._row.name, self._language, self.text, self.workers)

    @property
    def _work(self) -> Rate:
        return self.rates.find(self._row.name, WORK, self._language)

    @property
    def peak_bytes(self) -> int:
        """The bytes on disk that are needed during the build."""
        return int(self._work.peak * self.text.text_bytes)

    @property
    def kept_bytes(self) -> int:
        """The size of the finished build on disk."""
        return int(self._work.kept * self.text.text_bytes)

    @property
    def free_bytes(self) -> int | None:
        """The free bytes on the disk of the output; None for an object store."""
        from corpusmill.transforms.files.stores import free_bytes

        return free_bytes(self.output)

    @property
    def is_disk_too_small(self) -> bool:
        """True if the build probably needs more disk space than is free."""
        return self.free_bytes is not None and self.peak_bytes > self.free_bytes

    def quantities(self) -> dict[str, float]:
        """Returns the amounts that Dataflow bills, in `UNITS`, with machines of its default type."""
        hours = hours_of(self.parts)
        return {
            "vcpu": hours,
            "memory": hours * VCPU_MEMORY_GB,
            "disk": hours * VCPU_DISK_GB,
            "shuffle": max(self.peak_bytes - self.kept_bytes, 0.0) / GB,
        }

    def check_memory(self) -> None:
        """Raises BuildError, with advice, if the in-process runner has too little memory for the build."""
        check_memory(self._row.memory, self.held_text_bytes, self.workers, memory_limit())

    def warn_of_small_disk(self) -> None:
        """Logs a warning if the build probably needs more disk space than is free.

        This is not an error: the forecast is rough, and includes stages that an earlier run has finished. If
        the disk becomes full, the build stops, and the same command resumes it.
        """
        if (free := self.free_bytes) is None:
            return
        if self._row.read is not None and free > _MAX_GROWTH * sum(self.sizes.values()):
            return  # without reading the beginnings of inputs, which takes time
        if self.is_disk_too_small:
            LOG.warning(
                "the build needs about %s of disk space, but only %s are free at %s; if the disk becomes"
                " full, free some space and start the same command again: finished stages are kept",
                decimal(self.peak_bytes),
                decimal(free),
                self.output,
            )


def dataflow_prices() -> dict[str, float]:
    """Returns the prices of Dataflow in us-central1 for a unit of each amount, in US dollars."""
    from apache_beam.testing.load_tests import dataflow_cost_consts as of_beam

    return {
        "vcpu": of_beam.VCPU_PER_HR_BATCH,
        "memory": of_beam.MEM_PER_GB_HR_BATCH,
        "disk": of_beam.PD_PER_GB_HR,
        "shuffle": of_beam.SHUFFLE_PER_GB_BATCH,
    }


CGROUPS = pathlib.Path("/sys/fs/cgroup")
OWN_CGROUPS = pathlib.Path("/proc/self/cgroup")
_V1_LIMIT, _V2_LIMIT = "memory.limit_in_bytes", "memory.max"


def check_memory(model: MemoryModel, text_bytes: int, workers: int, limit: int) -> None:
    """Raises BuildError, with advice, if a build needs more memory than `limit`.

    Without this check, a build that needs too much memory might run for hours before the system kills it,
    without a message.

    Args:
      model: The memory model of the corpus.
      text_bytes: The decompressed size of all inputs, in bytes.
      workers: The number of processes of the in-process runner.
      limit: The number of bytes that may be used (see `memory_limit`).
    """
    needed = model.needed(text_bytes, workers)
    if needed <= limit:
        return
    fewer = ((n, model.needed(text_bytes, n)) for n in range(workers - 1, 0, -1))
    fitting = (f"--workers {n} needs {decimal(size)}; " for n, size in fewer if size <= limit)
    raise BuildError(
        f"the in-process runner needs about {decimal(needed)} of memory for"
        f" {decimal(text_bytes)} of text, but only {decimal(limit)} are available: {next(fitting, '')}"
        "--runner SparkRunner also runs on this machine, and its memory does not grow with the input;"
        " --ignore-memory starts the build anyway"
    )


def memory_limit() -> int:
    """Returns the number of bytes that this process and its children may use together.

    It is the smallest of these numbers: the memory of the machine, the limits of the Linux cgroups (versions
    1 and 2) of this process and of their parents, and the limit on the address space of this process.
    """
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    address_space, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits = [physical, *cgroup_limits(OWN_CGROUPS, CGROUPS)]
    if address_space != resource.RLIM_INFINITY:
        limits.append(address_space)
    return min(limits)


def cgroup_limits(own: pathlib.Path, root: pathlib.Path) -> Iterator[int]:
    """Yields the memory limits, in bytes, of the Linux cgroups of a process and of their parents.

    The format of `own` is described in cgroups(7): lines `id:controllers:path`; version 2 has no controllers.
    In a container, the path in a line may be a path on the host, which does not exist in the container. A
    cgroup whose folder is not found is treated as unlimited.

    Args:
      own: The file that lists the cgroups of the process, such as /proc/self/cgroup.
      root: The folder that contains the cgroups, such as /sys/fs/cgroup.
    """
    if not own.exists():
        return
    for line in own.read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield from _limits_above(root, path, _V2_LIMIT)
        elif "memory" in controllers.split(","):
            yield from _limits_above(root / "memory", path, _V1_LIMIT)


def _limits_above(top: pathlib.Path, path: str, name: str) -> Iterator[int]:
    group = top / path.lstrip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(top):
            return
        file = folder / name
        if file.exists() and (text := file.read_text("ascii").strip()) != "max":
            yield int(text)


_SPARK_MEMORY = "the memory set for Java, and that of each worker: see deploy/spark/README.md"


def print_forecast(
    corpus: "CorpusBuild", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> Forecast:
    """Prints and returns the forecast cost of a build.

    Args:
      settings: The values of the flags that `add_output` and `add_runner` add.

    Raises the errors of `check_target` if the build would not replace what is in its folder. Raises
    BuildError for implausible inputs, or if the in-process runner would not run the build, for example
    because of too little memory.
    """
    from apache_beam.io.filesystems import FileSystems

    from .launch import end_on_doubts
    from .publish import check_target, is_completed

    end_on_doubts(corpus.doubts(), settings.accept)
    found = Forecast(corpus, settings.output, settings.workers or os.cpu_count() or 1)
    target = FileSystems.join(settings.output, *corpus.path)
    check_target(target, replace=settings.replace)
    files = f"from {len(found.sizes):,} files of {sum(found.sizes.values()):,} bytes"
    print(f"would {'replace' if is_completed(target) else 'make'} {target}, {files}")
    facts = describe(found, settings, beam_flags)
    print(draw(("what", "forecast"), facts, key=2, width=screen_columns()), end="")
    if settings.runner == IN_PROCESS and not settings.ignore_memory:
        found.check_memory()
    return found


def print_total(forecasts: Sequence[Forecast]) -> None:
    """Prints the time and disk space that all builds together need with the in-process runner."""
    hours = sum(hours_of(one.parts) for one in forecasts)
    kept = sum(one.kept_bytes for one in forecasts)
    free = min((one.free_bytes for one in forecasts if one.free_bytes is not None), default=None)
    peak = kept + max((one.peak_bytes - one.kept_bytes for one in forecasts), default=0)
    few = "" if free is None or peak <= free else f"; only {decimal(free)} are free"
    disk = f"{decimal(kept)} on disk{few}"
    print(f"total of {len(forecasts)} builds: {hours:,.2f} core-hours, {disk}")


def describe(
    found: Forecast, settings: argparse.Namespace, beam_flags: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yields pairs (subject, forecast).

    Args:
      found: The forecast.
      settings: The values of the flags that `add_output` and `add_runner` add.
      beam_flags: The flags to pass on to Beam.
    """
    for role, paths in found.corpus.inputs().items():
        if paths:
            size = sum(map(found.sizes.__getitem__, paths))
            yield "input", f"{role}: {count_of(len(paths), 'file')} of {size:,} bytes"
    date = found.corpus.provenance().dump_date
    dated = date if date == "undated" else f"dated {date}"
    yield "text", f"{dated}; about {decimal(int(found.text.text_bytes))}"
    if not found.parts:
        name = found.corpus.path[0]
        yield "time", f"the speed of {name} was not measured, so its time is unknown"
        return
    title, parts = settings.runner, found.parts
    is_local = title in (IN_PROCESS, SPARK) and not (title == SPARK and _names_cluster(beam_flags))
    if title == SPARK:
        title = "Spark on this machine" if is_local else "Spark cluster"
        parts = on_spark(found.rates, parts, is_cluster=not is_local)
    cores = os.cpu_count() or 1
    yield "runner", f"{title}, {found.workers} workers, {cores} cores" if is_local else title
    largest = ", ".join(f"{part.name} {part.core_seconds:,.0f}" for part in parts)
    yield "processor", f"{hours_of(parts) * 3600:,.0f} core-seconds: {largest}"
    if is_local:
        seconds = seconds_of(parts, min(found.workers, cores))
        yield "time", f"about {_time(seconds)}, if nothing else runs"
        needed, limit = decimal(found.memory_bytes), decimal(memory_limit())
        limits = f"at most {needed} of the available {limit}"
        yield "memory", limits if settings.runner == IN_PROCESS else _SPARK_MEMORY
        yield "disk", _disk(found)
    elif settings.runner == DATAFLOW:
        yield "price", _price(found.quantities())
    else:
        yield "cost", f"{hours_of(parts):,.2f} vCPU-hours"
    yield "rates", f"measured: {found.rates.measured}"


def _names_cluster(beam_flags: Sequence[str]) -> bool:
    """Returns True if the flags name a Spark that does not run on this machine."""
    return any(
        flag.startswith("--job_endpoint")
        or (flag.startswith("--spark_master_url") and "local" not in flag)
        for flag in beam_flags
    )


def _disk(found: Forecast) -> str:
    sizes = f"{decimal(found.peak_bytes)} during the build, {decimal(found.kept_bytes)} after it"
    free = "" if found.free_bytes is None else f"; {decimal(found.free_bytes)} are free"
    return f"{sizes}{free}{', probably too little' if found.is_disk_too_small else ''}"


def _price(quantities: Mapping[str, float]) -> str:
    """Returns the formula for the price of a build on Dataflow, with all numbers filled in."""
    prices = dataflow_prices()
    terms = (
        f"{quantity:,.2f} {UNITS[name]} x ${prices[name]:.6g}"
        for name, quantity in quantities.items()
    )
    total = sum(quantity * prices[name] for name, quantity in quantities.items())
    beam = f"as Apache Beam {metadata.version('apache-beam')} has them"
    return f"{' + '.join(terms)} = ${total:,.2f}, at the prices of us-central1, {beam}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
