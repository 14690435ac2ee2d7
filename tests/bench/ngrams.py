"""Compares `corpusmill ngrams` with lmplz of KenLM on the same lines.

    python -m tests.bench.ngrams NEWS SIZE … [--lmplz FILE] [--workers N]

NEWS is a text of tokenised lines. Texts of other sizes (MB) are made from its words, with about as many new
n-grams as real news (see tests/makers/text_builds.py). Both programs make a 5-gram model of all words,
without n-grams of three or more words that occur once. Prints time, core-seconds, and the peak memory of all
processes as proportional set sizes (PSS); the memory of lmplz is set by its flag --memory.
"""

import argparse
import pathlib
import sys
import tempfile
from collections.abc import Iterator

import pyarrow as pa

from corpusmill.transforms.files.line_blocks import cut_block
from tests.bench.engines import adopt_orphans
from tests.bench.memory import Run, build
from tests.makers.text_builds import make_text_build, walk_text

HELD_OUT_BYTES = 1 << 19
FILE_BYTES = 1 << 25


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("news", type=pathlib.Path)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--lmplz", default="")
    parser.add_argument("--memory", default="1G", help="-S of lmplz")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", help="for what is written; default: the system's")
    settings = parser.parse_args()
    adopt_orphans()
    held_out, *_ = cut_block(settings.news.read_bytes(), HELD_OUT_BYTES)
    for size in settings.sizes:
        with tempfile.TemporaryDirectory(prefix="corpusmill-bench-", dir=settings.folder) as name:
            folder = pathlib.Path(name)
            lines = folder / "lines"
            write_lines(lines, settings.news.read_bytes(), size * 10**6)
            if settings.lmplz:
                arpa = folder / "lmplz.arpa"
                command = [
                    settings.lmplz,
                    "-o",
                    "5",
                    "--prune",
                    "0",
                    "0",
                    "1",
                    "-S",
                    settings.memory,
                    "-T",
                    str(folder),
                ]
                command += ["--text", str(lines), "--arpa", str(arpa)]
                show("lmplz", size, build(command, folder / "log", 0))
                arpa.unlink()
            texts = {"train": files_of(lines), "test": iter([text_array(held_out)])}
            corpus = make_text_build(folder, "lm1b", "text", texts)
            lines.unlink()
            command = [sys.executable, "-m", "corpusmill", "ngrams", "--corpus", str(corpus)]
            command += [
                "--prune",
                "0",
                "0",
                "1",
                "--min-count",
                "1",
                "--workers",
                str(settings.workers),
            ]
            command += ["--output", str(folder), "--ignore-memory"]
            show("corpusmill ngrams", size, build(command, folder / "log", 0))


def show(name: str, size: int, run: Run) -> None:
    """Prints a run."""
    print(
        f"{name:18} {size:6,} MB: {run.seconds:7.1f} s, {run.core_seconds:7.1f} core-s,"
        f" {run.peak_bytes / 1e6:6.0f} MB",
        flush=True,
    )


def write_lines(path: pathlib.Path, news: bytes, size: int) -> None:
    """Writes text of a size."""
    with path.open("wb") as file:
        for block in walk_text(news, size):
            file.write(block)


def files_of(path: pathlib.Path) -> Iterator[pa.Array]:
    """The lines, as many as are in a file of a build."""
    with path.open("rb") as file:
        while lines := file.readlines(FILE_BYTES):
            yield text_array(b"".join(lines))


def text_array(block: bytes) -> pa.Array:
    """The lines of a block."""
    return pa.array(block.decode("utf-8").split("\n")[:-1], pa.string())


if __name__ == "__main__":
    main()
