"""Prints what a build would read and cost, for the flag --dry-run. Nothing is started or written."""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from rich.filesize import decimal

from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, SPARK
from corpusmill.transforms.files.terminal import count_of, draw, screen_columns

from .forecast import (
    UNITS,
    Forecast,
    dataflow_prices,
    hours_of,
    memory_limit,
    on_spark,
    seconds_of,
)

if TYPE_CHECKING:
    from .corpus_build import CorpusBuild

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
        f"{quantity:,.2f} {UNITS[name]} x ${prices[name]:.6f}".rstrip("0")
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
