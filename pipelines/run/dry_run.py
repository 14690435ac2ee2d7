"""Prints what a build would read and cost, for the flag --dry-run. Nothing is started or written."""

import argparse
import os
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, SPARK

from .forecast import (
    UNITS,
    Forecast,
    dataflow_prices,
    describe_size,
    hours_of,
    memory_limit,
    on_spark,
    seconds_of,
)

if TYPE_CHECKING:
    from .corpus_build import Corpus

_LEAST_COLUMNS = 60
_SPARK_MEMORY = "the memory set for Java, and that of each worker: see deploy/spark/README.md"


def parse_prices(text: str) -> tuple[str, float]:
    """Parses a price on the command line: "vcpu=0.05" gives ("vcpu", 0.05). The price is in US dollars.

    Raises ArgumentTypeError if the text does not have this form.
    """
    name, _, price = text.partition("=")
    try:
        if name in UNITS and float(price) >= 0:
            return name, float(price)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"must be NAME=USD with one of the names {', '.join(UNITS)}, got {text!r}"
    )


def print_forecast(
    corpus: "Corpus", settings: argparse.Namespace, beam_flags: Sequence[str]
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
    intent = f"would {'replace' if is_completed(target) else 'make'} {target}, {files}"
    _print([intent, *describe(found, settings, beam_flags)])
    if settings.runner == IN_PROCESS and not settings.ignore_memory:
        found.check_memory()
    return found


def print_total(forecasts: Sequence[Forecast]) -> None:
    """Prints the time and disk space that all builds together need with the in-process runner."""
    hours = sum(hours_of(one.parts) for one in forecasts)
    kept = sum(one.kept_bytes for one in forecasts)
    free = min((one.free_bytes for one in forecasts if one.free_bytes is not None), default=None)
    peak = kept + max((one.peak_bytes - one.kept_bytes for one in forecasts), default=0.0)
    few = "" if free is None or peak <= free else f"; only {describe_size(free)} are free"
    disk = f"{describe_size(kept)} on disk{few}"
    _print([f"total of {len(forecasts)} builds: {hours:,.2f} core-hours, {disk}"])


def describe(
    found: Forecast, settings: argparse.Namespace, beam_flags: Sequence[str]
) -> Iterator[str]:
    """Yields the lines that describe a forecast.

    Args:
      found: The forecast.
      settings: The values of the flags that `add_output` and `add_runner` add.
      beam_flags: The flags to pass on to Beam.
    """
    inputs = {role: paths for role, paths in found.corpus.inputs().items() if paths}
    widest = max(map(len, inputs), default=0)
    for role, paths in inputs.items():
        files = "1 file" if len(paths) == 1 else f"{len(paths):,} files"
        yield f"  {role:{widest}}  {files} of {sum(map(found.sizes.__getitem__, paths)):,} bytes"
    date = found.corpus.provenance().dump_date
    dated = date if date == "undated" else f"dated {date}"
    yield f"  {dated}; about {describe_size(found.text.text_bytes)} of text"
    if not found.parts:
        name = found.corpus.path[0]
        yield f"  the speed of {name} was not measured, so its time is unknown"
        return
    title, parts = settings.runner, found.parts
    is_local = title in (IN_PROCESS, SPARK) and not (title == SPARK and _names_cluster(beam_flags))
    if title == SPARK:
        title = "Spark on this machine" if is_local else "Spark cluster"
        parts = on_spark(found.rates, parts, is_cluster=not is_local)
    cores = os.cpu_count() or 1
    yield f"{title}, {found.workers} workers, {cores} cores" if is_local else title
    largest = ", ".join(f"{part.name} {part.core_seconds:,.0f}" for part in parts)
    yield f"  processor   {hours_of(parts) * 3600:,.0f} core-seconds: {largest}"
    if is_local:
        seconds = seconds_of(parts, min(found.workers, cores))
        yield f"  time        about {_time(seconds)}, if nothing else runs"
        needed, limit = describe_size(found.memory_bytes), describe_size(memory_limit())
        limits = f"at most {needed} of the available {limit}"
        yield f"  memory      {limits if settings.runner == IN_PROCESS else _SPARK_MEMORY}"
        yield _disk(found)
    elif settings.runner == DATAFLOW:
        source = f"prices of us-central1, as Apache Beam {metadata.version('apache-beam')} has them"
        yield _price(found.quantities(), dataflow_prices() | dict(settings.prices))
        yield f"{'':14}{source} from cloud.google.com/dataflow/pricing; --prices sets others"
    else:
        yield _price({"vcpu": hours_of(parts)}, dict(settings.prices))
    yield f"  rates measured: {found.rates.measured}"


def _names_cluster(beam_flags: Sequence[str]) -> bool:
    """Returns True if the flags name a Spark that does not run on this machine."""
    return any(
        flag.startswith("--job_endpoint")
        or (flag.startswith("--spark_master_url") and "local" not in flag)
        for flag in beam_flags
    )


def _disk(found: Forecast) -> str:
    sizes = f"{describe_size(found.peak_bytes)} during the build, {describe_size(found.kept_bytes)} after it"
    free = "" if found.free_bytes is None else f"; {describe_size(found.free_bytes)} are free"
    return (
        f"  disk        {sizes}{free}{', probably too little' if found.is_disk_too_small else ''}"
    )


def _price(quantities: Mapping[str, float], prices: Mapping[str, float]) -> str:
    """Returns a line with the formula for the price of a build. Known numbers are filled in.

    Args:
      quantities: Name of a resource → quantity, in the units of UNITS.
      prices: Name of a resource → US dollars per unit.
    """
    terms = []
    for name, quantity in quantities.items():
        price = f"(--prices {name}=USD)"
        if name in prices:  # rounded to 6 decimals, without trailing zeros
            price = f"${prices[name]:.6f}".rstrip("0").rstrip(".")
        terms.append(f"{quantity:,.2f} {UNITS[name]} x {price}")
    formula = " + ".join(terms)
    if quantities.keys() <= prices.keys():
        formula += f" = ${sum(quantities[name] * prices[name] for name in quantities):,.2f}"
    return f"  price       {formula}"


def _print(lines: Sequence[str]) -> None:
    """Prints lines, wrapped to the width of the terminal. Continuations are below the first word of the
    text, after a label.
    """
    width = max(shutil.get_terminal_size((80, 24)).columns, _LEAST_COLUMNS)
    for line in lines:
        label = re.match(r" *\S+ {2,}| *", line)
        text = textwrap.TextWrapper(
            width,
            subsequent_indent=" " * max(len(label[0]) if label else 0, 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
        print(text.fill(line))


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
