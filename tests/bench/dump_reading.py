"""Measures the reading of dump pages in all compression formats, compared with Wikimedia's multistream.

    python -m tests.bench.dump_reading [--dump FILE] [--copies N] [--rounds N]

All work units of a file are read in order. Prints MB of XML per second of processor time and the ratio to the
multistream, the number of decompressed blocks, and the greatest additional memory of a unit. "pages" includes
parsing the pages of articles, as in a build.
"""

import argparse
import bz2
import collections
import gzip
import pathlib
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from unittest import mock

import zstandard

from corpusmill.transforms.files import bz2_blocks
from corpusmill.transforms.wikipedia import mediawiki_xml
from corpusmill.transforms.wikipedia.mediawiki_xml import PageXml, parse_page
from corpusmill.transforms.wikipedia.read_dumps import join_borders, open_border, plan_units
from corpusmill.transforms.wikipedia.screening import ARTICLE_NAMESPACE
from tests.bench.entities import best
from tests.bench.wiki40b import REAL_DUMP, repeated, xml_megabytes

WORKERS = 16


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", type=pathlib.Path, default=REAL_DUMP, help="a multistream dump")
    parser.add_argument("--copies", type=int, default=10, help="how often its pages are repeated")
    parser.add_argument("--rounds", type=int, default=2, help="of each; the best counts")
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as name:
        folder = pathlib.Path(name)
        multistream = repeated(settings.dump, folder / "multistream", settings.copies)
        measure(multistream, pack_others(multistream, folder), settings.rounds)


def pack_others(multistream: pathlib.Path, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The same XML as one stream each; and with a talk page for each article, in another namespace."""
    xml = bz2.decompress(multistream.read_bytes())
    talk = xml.replace(b"<ns>0</ns>", b"<ns>1</ns>").partition(b"<page>")[2]
    with_talk = b"".join((xml.rpartition(b"</mediawiki>")[0], b"<page>", talk))
    packed: dict[str, Callable[[], bytes]] = {
        "one bzip2 stream": lambda: bz2.compress(xml),
        "one bzip2 stream, with talk pages": lambda: bz2.compress(with_talk),
        "gzip": lambda: gzip.compress(xml, 6),
        "zstd": lambda: zstandard.compress(xml),
    }
    paths = {label: folder / f"{number}.xml" for number, label in enumerate(packed)}
    for label, path in paths.items():
        path.write_bytes(packed[label]())
    return paths


def measure(multistream: pathlib.Path, others: dict[str, pathlib.Path], rounds: int) -> None:
    """Prints a line for each packing."""
    megabytes = xml_megabytes(multistream)
    print(f"{megabytes:.0f} MB of XML; Python {sys.version.split()[0]}")
    first = 0.0
    for label, path in {"multistream": multistream, **others}.items():
        size = megabytes * (1 + ("talk" in label))
        units = len(plan_units(str(path), stripes=1))
        split = size / best(rounds, lambda path=path: read(path, parses=False))  # type: ignore[misc]
        parsed = size / best(rounds, lambda path=path: read(path, parses=True))  # type: ignore[misc]
        first = first or parsed
        print(
            f"{label:34} {split:6.1f} MB/s, pages {parsed:6.1f} MB/s, {parsed / first:.2f} x,"
            f" {units} units, {decompressed_blocks(path)}, {peak_of(path) / 1e6:.1f} MB"
        )


def read(path: pathlib.Path, *, parses: bool) -> None:
    """Reads all units of a file, with the borders between them opened before, as a build does."""
    parts = collections.defaultdict(list)
    for planned in plan_units(str(path), stripes=1):
        for key, part in open_border(planned):
            parts[key].append(part)
    for unit in (unit for item in parts.items() for unit in join_borders(*item)):
        with path.open("rb") as stream:
            for event in mediawiki_xml.read_unit(stream, unit):
                assert isinstance(event, PageXml), event
                if parses:
                    parse_page(event.xml, (ARTICLE_NAMESPACE,))


def decompressed_blocks(path: pathlib.Path) -> str:
    """Returns the number of blocks in a file, and of those that all its units decompress, as a sentence."""
    data = path.read_bytes()
    if not data.startswith(b"BZh"):
        return f"decompressed by each of {WORKERS} workers"
    blocks = sum(not is_end for _, is_end in bz2_blocks.find_marks(data))
    with mock.patch.object(bz2_blocks, "decode_block", wraps=bz2_blocks.decode_block) as decoded:
        read(path, parses=False)
    return f"{blocks} blocks decompressed {decoded.call_count / blocks:.2f} times"


def peak_of(path: pathlib.Path) -> int:
    """The most bytes that reading the longest unit allocates."""
    unit = max(plan_units(str(path), stripes=1), key=lambda unit: unit.end - unit.start)
    tracemalloc.start()
    with path.open("rb") as stream:
        for _ in mediawiki_xml.read_unit(stream, unit):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


if __name__ == "__main__":
    main()
