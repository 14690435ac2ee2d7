"""Compares decoders of bzip2 on the streams of a multistream dump, on one core.

    python -m tests.bench.bz2_decoders [--dump FILE] [--streams N] [--rounds N]

Prints MB of text per second of processor time (best and mean) for Python's bz2 and for each of the other
decoders that are installed. Also prints the number of damaged streams that a decoder accepts with another
content than bz2. The decoders take turns. Run it on an idle machine.
"""

import argparse
import bz2
import functools
import importlib
import io
import pathlib
import random
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.bench.wiki40b import REAL_DUMP
from tests.makers.damaged_files import damage

STREAM_START = re.compile(rb"BZh[1-9]1AY&SY")
LEAST_BYTES = 10_000  # of a stream; the head of a dump is a stream, too
DAMAGED = 10  # damaged copies of each stream

Decoder = Callable[[bytes], bytes]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", type=pathlib.Path, default=REAL_DUMP, help="a multistream dump")
    parser.add_argument("--streams", type=int, default=40, help="how many of its streams are read")
    parser.add_argument("--rounds", type=int, default=5)
    settings = parser.parse_args()
    data = settings.dump.read_bytes()
    starts = [found.start() for found in STREAM_START.finditer(data)]
    ends = [*starts[1:], len(data)]
    streams = [data[start:end] for start, end in zip(starts, ends, strict=True)]
    streams = [stream for stream in streams if len(stream) >= LEAST_BYTES][: settings.streams]
    chance = random.Random(0)
    damaged = [damage(one, chance, streams).data for one in streams for _ in range(DAMAGED)]
    texts = [*map(bz2.decompress, streams)]
    megabytes = sum(map(len, texts)) / 1e6
    print(f"{len(streams)} streams, {megabytes:.1f} MB of text; {len(damaged)} damaged streams")
    decoders = installed_decoders()
    for name, decode in decoders.items():
        assert [*map(decode, streams)] == texts, f"{name} decodes another content"
    seconds: dict[str, list[float]] = {name: [] for name in decoders}
    for _ in range(settings.rounds):
        for name, decode in decoders.items():
            start = time.process_time()
            for stream in streams:
                decode(stream)
            seconds[name].append(time.process_time() - start)
    expected = [outcome(bz2.decompress, bad) for bad in damaged]
    for name, decode in decoders.items():
        found = [outcome(decode, bad) for bad in damaged]
        wrong = sum(
            one is not None and one != right for one, right in zip(found, expected, strict=True)
        )
        best, mean = min(seconds[name]), statistics.mean(seconds[name])
        print(
            f"{name:24} best {megabytes / best:5.1f} MB/s, mean {megabytes / mean:5.1f} MB/s,"
            f" {wrong} damaged streams accepted with another content"
        )


def installed_decoders() -> dict[str, Decoder]:
    """Returns the decoders whose packages are installed: name → function from a stream to its content."""
    decoders: dict[str, Decoder] = {"bz2": bz2.decompress}
    calls: dict[str, Callable[[Any, bytes], bytes]] = {
        "cramjam": lambda module, stream: bytes(module.bzip2.decompress(stream)),
        "fbz": lambda module, stream: module.decompress(stream, threads=1),
        "indexed_bzip2": _read_indexed,
        "mibz2": lambda module, stream: module.decompress(stream, threads=1),
    }
    for name, call in calls.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
        else:
            decoders[name] = functools.partial(call, module)
    return decoders


def _read_indexed(module: Any, stream: bytes) -> bytes:
    with module.open(io.BytesIO(stream), parallelization=1) as file:
        content: bytes = file.read()
        return content


def outcome(decode: Decoder, stream: bytes) -> bytes | None:
    """Returns the content of a stream, or None if the decoder rejects it."""
    try:
        return decode(stream)
    except Exception:  # each library has its own errors
        return None


if __name__ == "__main__":
    main()
