"""Prints what a build would read and cost, for the flag --dry-run. Nothing is started or written."""

import argparse
import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, SPARK

from .cost import describe_size

if TYPE_CHECKING:
    from .cost import Part, Rates
    from .estimate import Estimate
    from .launch import Corpus

PRICED = ("vcpu", "memory", "disk", "shuffle")
VCPU_MEMORY_GB = 3.75  # n1-standard, Dataflow's default
VCPU_DISK_GB = 25.0  # the boot disk of a worker of one vCPU, Dataflow's default for batch jobs
_LEAST_COLUMNS = 60


def parse_prices(text: str) -> tuple[str, float]:
    """Parses a price on the command line: "vcpu=0.05" gives ("vcpu", 0.05). The price is in US dollars.

    Raises ArgumentTypeError if the text does not have this form.
    """
    name, _, price = text.partition("=")
    try:
        if name in PRICED and float(price) >= 0:
            return name, float(price)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"must be NAME=USD with one of the names {', '.join(PRICED)}, got {text!r}"
    )


def print_estimate(
    corpus: "Corpus", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "Estimate":
    """Prints and returns the estimated cost of a build.

    Args:
      settings: The values of the flags that `add_output` and `add_runner` add.

    Raises the errors of `check_target` if the build would not replace what is in its folder. Raises
    BuildError for implausible inputs, or if the in-process runner would not run the build, for example
    because of too little memory.
    """
    from apache_beam.io.filesystems import FileSystems

    from .cost import load_rates
    from .engines.run_pipeline import find_engine
    from .estimate import estimate
    from .launch import end_on_doubts, plan_build
    from .publish import check_target

    end_on_doubts(corpus.doubts(), settings.accept)
    rates = load_rates()
    workers = settings.workers or os.cpu_count() or 1
    check_target(FileSystems.join(settings.output, *corpus.path), replace=settings.replace)
    found = estimate(corpus, settings.output, workers, rates)
    for line in describe(found, rates, settings, beam_flags):
        print(line)
    if settings.runner == IN_PROCESS:
        engine = find_engine(settings.runner, workers, beam_flags)
        engine.prepare(plan_build(corpus, settings.output, settings.ignore_memory))
    return found


def print_total(estimates: "Sequence[Estimate]") -> None:
    """Prints the time and disk space that all builds together need with the in-process runner."""
    hours = sum(_hours(one.parts) for one in estimates)
    kept = sum(one.kept_bytes for one in estimates)
    free = min((one.free_bytes for one in estimates if one.free_bytes is not None), default=None)
    peak = kept + max((one.peak_bytes - one.kept_bytes for one in estimates), default=0.0)
    few = "" if free is None or peak <= free else f"; only {describe_size(free)} are free"
    for line in _wrap(
        f"total of {len(estimates)} builds: {hours:,.2f} core-hours, {describe_size(kept)} on disk{few}"
    ):
        print(line)


def describe(
    found: "Estimate", rates: "Rates", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> Iterator[str]:
    """Yields the lines that describe an estimate, wrapped to the width of the terminal.

    Args:
      found: The estimate.
      rates: The measured speeds of the steps of builds.
      settings: The values of the flags that `add_output` and `add_runner` add.
      beam_flags: The flags to pass on to Beam.
    """
    yield from _wrap(_target(found))
    widest = max((len(role.name) for role in found.roles), default=0)
    for role in found.roles:
        files = "1 file" if role.files == 1 else f"{role.files:,} files"
        yield from _wrap(
            f"  {role.name:{widest}}  {files} of {role.stored_bytes:,} bytes", 4 + widest
        )
    dated = found.date if found.date == "undated" else f"dated {found.date}"
    yield from _wrap(f"  {dated}; about {describe_size(found.text_bytes)} of text")
    if not found.parts:
        yield from _wrap(f"  the speed of {found.path[0]} was not measured, so its time is unknown")
        return
    runner = {IN_PROCESS: _in_process, SPARK: _spark}.get(settings.runner, _service)
    yield from runner(found, rates, settings, beam_flags)
    yield from _wrap(f"  rates measured: {rates.measured}", 4)


def _target(found: "Estimate") -> str:
    files = sum(role.files for role in found.roles)
    size = sum(role.stored_bytes for role in found.roles)
    of = f"from {files:,} files of {size:,} bytes"
    return f"would {'replace' if found.is_finished else 'make'} {found.target}, {of}"


def _in_process(
    found: "Estimate", _: "Rates", settings: argparse.Namespace, __: Sequence[str]
) -> Iterator[str]:
    yield from _on_this_machine(found, found.parts, settings.workers, "in-process")
    from .engines.in_process import memory_limit

    memory = f"at most {describe_size(found.memory_bytes)} of the available {describe_size(memory_limit())}"
    yield from _wrap(f"  memory      {memory}", 14)
    yield from _disk(found)


def _spark(
    found: "Estimate", rates: "Rates", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> Iterator[str]:
    from .cost import on_spark

    is_cluster = any(
        flag.startswith("--job_endpoint")
        or (flag.startswith("--spark_master_url") and "local" not in flag)
        for flag in beam_flags
    )
    parts = on_spark(rates, found.parts, is_cluster=is_cluster)
    if not is_cluster:
        yield from _on_this_machine(found, parts, settings.workers, "Spark on this machine")
        yield from _wrap(f"  memory      {_SPARK_MEMORY}", 14)
        yield from _disk(found)
        return
    hours = _hours(parts)
    yield from _work("Spark cluster", parts)
    yield from _price({"vcpu": hours}, dict(settings.prices), "")


_SPARK_MEMORY = "the memory set for Java, and that of each worker: see deploy/spark/README.md"


def _service(
    found: "Estimate", _: "Rates", settings: argparse.Namespace, __: Sequence[str]
) -> Iterator[str]:
    yield from _work(settings.runner, found.parts)
    if settings.runner != DATAFLOW:
        yield from _price({"vcpu": _hours(found.parts)}, dict(settings.prices), "")
        return
    from apache_beam.testing.load_tests import dataflow_cost_consts as of_beam

    hours = _hours(found.parts)
    quantities = {
        "vcpu": hours,
        "memory": hours * VCPU_MEMORY_GB,
        "disk": hours * VCPU_DISK_GB,
        "shuffle": max(found.peak_bytes - found.kept_bytes, 0.0) / 1e9,
    }
    listed = {
        "vcpu": of_beam.VCPU_PER_HR_BATCH,
        "memory": of_beam.MEM_PER_GB_HR_BATCH,
        "disk": of_beam.PD_PER_GB_HR,
        "shuffle": of_beam.SHUFFLE_PER_GB_BATCH,
    }
    source = f"of us-central1, as Apache Beam {metadata.version('apache-beam')} has them from"
    yield from _price(
        quantities,
        listed | dict(settings.prices),
        f"prices {source} cloud.google.com/dataflow/pricing; --prices sets others",
    )


def _on_this_machine(
    found: "Estimate", parts: "Sequence[Part]", workers: int, name: str
) -> Iterator[str]:
    from .cost import seconds_of

    cores = os.cpu_count() or 1
    yield from _work(f"{name}, {workers} workers, {cores} cores", parts)
    seconds = seconds_of(list(parts), min(workers, cores))
    yield from _wrap(f"  time        about {_time(seconds)}, if nothing else runs", 14)


def _work(title: str, parts: "Sequence[Part]") -> Iterator[str]:
    yield from _wrap(title)
    total = sum(part.core_seconds for part in parts)
    largest = ", ".join(f"{part.name} {part.core_seconds:,.0f}" for part in parts)
    yield from _wrap(f"  processor   {total:,.0f} core-seconds: {largest}", 14)


def _disk(found: "Estimate") -> Iterator[str]:
    free = "" if found.free_bytes is None else f"; {describe_size(found.free_bytes)} are free"
    if found.is_disk_too_small:
        free += ", probably too little"
    sizes = f"{describe_size(found.peak_bytes)} during the build, {describe_size(found.kept_bytes)} after it"
    yield from _wrap(f"  disk        {sizes}{free}", 14)


_UNITS = {
    "vcpu": "vCPU-hours",
    "memory": "GB-hours of memory",
    "disk": "GB-hours of disk",
    "shuffle": "GB shuffled",
}


def _price(
    quantities: Mapping[str, float], prices: Mapping[str, float], source: str
) -> Iterator[str]:
    """Yields lines with the formula for the price of a build. Known numbers are filled in.

    Args:
      quantities: Name of a resource → quantity, in the units of _UNITS.
      prices: Name of a resource → US dollars per unit.
      source: A sentence about the origin of the prices; "" for none.
    """
    terms = [
        f"{quantity:,.2f} {_UNITS[name]} x "
        + (f"${_dollars(prices[name])}" if name in prices else f"(--prices {name}=USD)")
        for name, quantity in quantities.items()
    ]
    formula = " + ".join(terms)
    if quantities.keys() <= prices.keys():
        formula += f" = ${sum(quantities[name] * prices[name] for name in quantities):,.2f}"
    yield from _wrap(f"  price       {formula}", 14)
    if source:
        yield from _wrap(f"              {source}", 14)


def _dollars(price: float) -> str:
    """Returns a price in US dollars, rounded to 6 decimals, without trailing zeros: "0.000054", "3600"."""
    return f"{price:.6f}".rstrip("0").rstrip(".")


def _hours(parts: "Sequence[Part]") -> float:
    return sum(part.core_seconds for part in parts) / 3600


def _wrap(line: str, indent: int = 2) -> list[str]:
    width = max(shutil.get_terminal_size((80, 24)).columns, _LEAST_COLUMNS)
    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
