"""Measures the reading of entity dumps by compression format, and the memory of `corpusmill entities`.

    python -m tests.bench.entities [--dump FILE] [--copies N] [--rounds N] [--no-build]

Prints MB of JSON per second and core, the ratio to `orjson.loads` alone, the cost of reading a .bz2 by blocks
compared with bz2.BZ2File, the number of cores from which on a .bz2 is faster than a .gz, and the peak memory
of all processes for a small and a large dump. Run it on an idle machine.
"""

import argparse
import bz2
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import orjson

from corpusmill.transforms.files.bz2_blocks import Block, read_blocks
from corpusmill.transforms.files.read_files import open_input
from corpusmill.transforms.wikipedia.make_entity_table import read_items
from corpusmill.transforms.wikipedia.read_dumps import plan_units
from corpusmill.transforms.wikipedia.wikidata import Entity, parse_entity
from tests.bench.wiki40b import watch_memory
from tests.tools.real_data import DATA

REAL_DUMP = DATA / "wikidata" / "wikidata-sample-all.json.gz"
OPENERS: dict[str, Callable[..., object]] = {"": open, ".bz2": bz2.open, ".gz": gzip.open}
_ID = re.compile(rb'("id": ?"Q)\d+"')


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", type=pathlib.Path, default=REAL_DUMP, help="an entity dump")
    parser.add_argument("--copies", type=int, default=20, help="how often its items are repeated")
    parser.add_argument(
        "--rounds", type=int, default=3, help="of each measurement; the best counts"
    )
    parser.add_argument("--workers", type=int, default=2, help="of the builds")
    parser.add_argument("--no-build", action="store_true", help="only the reading")
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        measure(pathlib.Path(folder), settings)


def measure(folder: pathlib.Path, settings: argparse.Namespace) -> None:
    """One benchmark."""
    lines = item_lines(settings.dump)
    megabytes = sum(map(len, lines)) / 1e6
    print(f"{len(lines)} items, {megabytes:.1f} MB of JSON, {settings.copies} copies")
    loads = megabytes / best(settings.rounds, lambda: consume(map(orjson.loads, lines)))
    parse = megabytes / best(settings.rounds, lambda: consume(map(parse_entity, lines)))
    print(f"orjson.loads alone:    {loads:7.1f} MB/s a core")
    print(f"parse_entity alone:    {parse:7.1f} MB/s a core, {parse / loads:.2f} x orjson")
    large = {suffix: write_copies(lines, folder, suffix, settings.copies) for suffix in OPENERS}
    speeds = measure_packings(large, megabytes * settings.copies, loads, settings.rounds)
    measure_blocks(large[".bz2"], megabytes * settings.copies, settings.rounds)
    print_crossing(parse, speeds[".bz2"], large[".gz"], megabytes * settings.copies)
    if not settings.no_build:
        small = write_copies(lines, folder, ".bz2", 1)
        measure_builds([small, *large.values()], folder, settings.workers)


def measure_packings(
    dumps: dict[str, pathlib.Path], megabytes: float, loads: float, rounds: int
) -> dict[str, float]:
    """Prints and gives MB/s of reading and parsing each packing in one process."""
    speeds = {}
    for suffix, path in dumps.items():
        units = plan_units(str(path), stripes=1)
        seconds = best(rounds, lambda units=units: consume_items(map(read_items, units)))  # type: ignore[misc]
        speeds[suffix] = speed = megabytes / seconds
        stored = path.stat().st_size / 1e6
        print(
            f"read and parse {suffix or 'plain':5}:  {speed:7.1f} MB/s a core, {speed / loads:.2f} x orjson"
            f" ({stored:.0f} MB stored, {len(units)} units)"
        )
    return speeds


def measure_blocks(path: pathlib.Path, megabytes: float, rounds: int) -> None:
    """Prints what entering at blocks costs."""
    size = path.stat().st_size

    def by_blocks() -> None:
        with path.open("rb") as stream:
            assert all(isinstance(found, Block) for found in read_blocks(stream, 0, size, size))

    def by_units() -> None:
        for unit in plan_units(str(path), stripes=1):
            with path.open("rb") as stream:
                found = read_blocks(stream, unit.start, unit.end, unit.file_bytes)
                # As a reader of lines does: one block more than begin in the unit.
                next((block for block in found if block.start_byte >= unit.end), None)

    whole = best(rounds, lambda: read_whole(path))
    print(f"bz2.BZ2File:           {megabytes / whole:7.1f} MB/s a core")
    for label, read in (("blocks, one unit: ", by_blocks), ("blocks, all units:", by_units)):
        seconds = best(rounds, read)
        print(
            f"{label}     {megabytes / seconds:7.1f} MB/s a core, {whole / seconds:.2f} x BZ2File"
        )


def print_crossing(parse: float, read_bz2: float, dump: pathlib.Path, megabytes: float) -> None:
    """Prints from how many cores on a .bz2 is read sooner: of a .gz only the parsing is shared."""
    unpack = megabytes / best(1, lambda: read_whole(dump))
    print(f"gzip alone:            {unpack:7.1f} MB/s, by every worker")
    for cores in (1, 2, 4, 8, 16, 32):
        of_gz = 1 / (1 / unpack + 1 / parse / cores)
        print(
            f"  {cores:2} cores: .gz {of_gz:6.0f} MB/s, .bz2 {read_bz2 * cores:6.0f} MB/s (reckoned)"
        )
    crossing = unpack * (1 / read_bz2 - 1 / parse)
    print(f"  the .bz2 is read sooner from {crossing:.1f} cores on")


def measure_builds(dumps: Iterable[pathlib.Path], folder: pathlib.Path, workers: int) -> None:
    """Prints time and peak memory of the command line tool, as a user runs it."""
    for number, path in enumerate(dumps):
        command = [sys.executable, "-m", "corpusmill", "entities", "--dump", str(path)]
        command += ["--output", str(folder / f"built-{number}"), "--workers", str(workers)]
        start, peak = time.perf_counter(), [0]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            watcher = threading.Thread(target=watch_memory, args=(process.pid, peak), daemon=True)
            watcher.start()
            status = process.wait()
        if status:
            raise RuntimeError(f"{' '.join(command)} ended with {status}")
        seconds = time.perf_counter() - start
        print(
            f"corpusmill entities, {path.parent.name} {path.name}, {workers} workers:"
            f" {seconds:.1f} s, peak memory {peak[0] / 1e6:.0f} MB"
        )


def item_lines(path: pathlib.Path) -> list[bytes]:
    """The items of a dump, a line each, without what stands around them."""
    with open_input(str(path)) as stream:
        return [line.strip(b"[], \t\r\n") for line in stream if parse_entity(line)]


def write_copies(
    lines: Sequence[bytes], folder: pathlib.Path, suffix: str, copies: int
) -> pathlib.Path:
    """A dump of one stream that has each item under `copies` ids."""
    path = folder / f"{copies}-copies" / f"wikidata-20260101-all.json{suffix}"
    path.parent.mkdir(exist_ok=True)
    with OPENERS[suffix](path, "wb") as stream:  # type: ignore[attr-defined]
        stream.write(b"[\n")
        for number in range(len(lines) * copies):
            fresh = _ID.sub(b'\\g<1>%d"' % (number + 1), lines[number % len(lines)], count=1)
            entity = parse_entity(fresh)
            assert entity is not None
            assert entity.numeric_id == number + 1
            stream.write(fresh + b",\n")
        stream.write(b"]\n")
    return path


def read_whole(path: pathlib.Path) -> None:
    """Decompresses a file, and keeps nothing."""
    with OPENERS[path.suffix](path, "rb") as stream:  # type: ignore[attr-defined]
        consume(iter(lambda: stream.read(1 << 20), b""))


def consume(items: Iterable[object]) -> None:
    """Takes everything, and keeps nothing."""
    for _ in items:
        pass


def consume_items(units: Iterable[Iterator[object]]) -> None:
    """Reads units; checks that only the brackets of the dump are no items."""
    others = sum(not isinstance(item, Entity) for items in units for item in items)
    assert others == 2, others


def best(rounds: int, run: Callable[[], object]) -> float:
    """Seconds of this process in the fastest round: what others do on the machine counts less."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
