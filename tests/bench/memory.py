"""Measures the memory of builds on the in-process runner by input size.

    python -m tests.bench.memory wiki40b|entities|pg19 SIZE … [--limit MB] [--workers N] [--flags "FLAG …"]

Makes an input of each size (MB of XML, thousands of items, books) and builds it with the command line.
Prints time, core-seconds, and the peak memory of all processes: the sum of their proportional set sizes
(PSS), without the file cache. With --limit, which needs root, the processes run in a control group (version
1) with this memory limit, which includes the file cache.
"""

import argparse
import pathlib
import tempfile

from tests.bench import harness
from tests.makers.large_dumps import write_large_dumps
from tests.makers.large_inputs import write_books, write_items
from tests.tools.real_data import DATA

REAL_DUMP = DATA / "wikipedia" / "elwiki-20230501-pages-articles-multistream.xml.bz2"
SAMPLE_BOOKS = pathlib.Path(__file__).parents[2] / "pipelines" / "samples" / "gutenberg" / "texts"
BOOK_WORDS = 20_000


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=("wiki40b", "entities", "pg19"))
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--limit", type=int, default=0, help="MB that the processes may take")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--flags", default="", help="more flags of the build, in one argument")
    settings = parser.parse_args()
    harness.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        for size in settings.sizes:
            place = pathlib.Path(folder, str(size))
            place.mkdir()
            command = [*make_input(settings.corpus, place, size), *settings.flags.split()]
            command += ["--workers", str(settings.workers), "--output", str(place / "built")]
            run = harness.build([*harness.COMMAND, *command], place / "log", settings.limit)
            print(f"{settings.corpus} {size:7,}: {run}", flush=True)


def make_input(corpus: str, folder: pathlib.Path, size: int) -> list[str]:
    """Makes the input of one size; gives the command that builds it."""
    if corpus == "wiki40b":
        dump = folder / "elwiki-20261101-pages-articles-multistream.xml.bz2"
        write_large_dumps(REAL_DUMP, {dump: size * 10**6})
        return ["wiki40b", "--language", "el", "--vocabulary-size", "0", "--dump", str(dump)]
    if corpus == "entities":
        items = folder / "wikidata-20261101-all.json"
        write_items(items, size * 1000)
        return ["entities", "--dump", str(items)]
    books = folder / "books"
    books.mkdir()
    texts = [path.read_text("utf-8") for path in sorted(SAMPLE_BOOKS.glob("900[0-1]*.txt"))]
    write_books(books, texts, size, BOOK_WORDS)
    return ["pg19", "--members", "hash", "--dump-date", "20261101", "--books", str(books)]


if __name__ == "__main__":
    main()
