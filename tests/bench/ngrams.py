"""Compares `corpusmill ngrams` with lmplz of KenLM on the same lines.

    python -m tests.bench.ngrams NEWS SIZE … [--lmplz FILE] [--workers N]

NEWS is a text of tokenised lines. Texts of other sizes (MB) are made from its words, with about as many new
n-grams as real news (see tests/makers/text_builds.py). Both programs make a 5-gram model of all words,
without n-grams of three or more words that occur once. Prints time, core-seconds, and the peak memory of all
processes as proportional set sizes (PSS); the memory of lmplz is set by its flag --memory.
"""

import argparse
import pathlib
import tempfile
from collections.abc import Iterator

import pyarrow as pa

from corpusmill.transforms.files.line_blocks import cut_block
from tests.bench import harness
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
    harness.adopt_orphans()
    held_out, *_ = cut_block(settings.news.read_bytes(), HELD_OUT_BYTES)
    for size in settings.sizes:
        with tempfile.TemporaryDirectory(prefix="corpusmill-bench-", dir=settings.folder) as name:
            folder = pathlib.Path(name)
            lines = folder / "lines"
            write_lines(lines, settings.news.read_bytes(), size * 10**6)
            if settings.lmplz:
                arpa = folder / "lmplz.arpa"
                command = [settings.lmplz, *"-o 5 --prune 0 0 1 -S".split(), settings.memory]
                command += ["-T", str(folder), "--text", str(lines), "--arpa", str(arpa)]
                show("lmplz", size, harness.build(command, folder / "log"))
                arpa.unlink()
            texts = {"train": files_of(lines), "test": iter([text_array(held_out)])}
            corpus = make_text_build(folder, "lm1b", "text", texts)
            lines.unlink()
            command = [*harness.COMMAND, "ngrams", "--corpus", str(corpus)]
            command += ["--workers", str(settings.workers), "--output", str(folder)]
            command += "--prune 0 0 1 --min-count 1 --ignore-memory".split()
            show("corpusmill ngrams", size, harness.build(command, folder / "log"))


def show(name: str, size: int, run: harness.Run) -> None:
    """Prints a run."""
    print(f"{name:18} {size:6,} MB: {run}", flush=True)


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
