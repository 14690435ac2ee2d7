"""Measures core-seconds and disk space per GB of text, and writes the table that `--dry-run` uses.

    python -m tests.bench.rates [--only NAME …] [--scale N] [--full]

Builds each corpus with the command line, with one worker, from plain text of two sizes. The difference gives
the cost of the text, the rest is the cost of the start. The costs of near-duplicates, vocabularies, languages
and pages of other namespaces are differences of such builds; decompressors are measured separately. The unit
is user and system time of all processes. Writes pipelines/run/cost_rates.tsv, with date and machine.
--only measures some rows again ("codecs", "Spark" and names of corpora) and keeps the others. --full prints
the costs of the five corpora at full size from the table, without measuring.
"""

import argparse
import bz2
import contextlib
import csv
import functools
import gzip
import io
import os
import pathlib
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from corpusmill.pipelines.run import forecast
from corpusmill.pipelines.run.forecast import ANY, GB, Rates, Text, load_rates, parts_of
from corpusmill.transforms.files.compression import decompress
from corpusmill.transforms.files.markup import make_table
from tests.bench import harness
from tests.bench.ngrams import text_array
from tests.makers.compressed import COMPRESS
from tests.makers.dump_files import repeat_dump
from tests.makers.text_builds import make_text_build, walk_text
from tests.tools.real_data import DATA

ROOT = pathlib.Path(__file__).parents[2]
TABLE = ROOT / "pipelines" / "run" / forecast.TABLE
COLUMNS = ("corpus", "part", "core_seconds", "peak", "kept", "date")
SMALL, LARGE = 1, 4  # sizes of inputs, in parts
NEWS_MEGABYTES, CODEC_MEGABYTES, ITEM_COPIES = 10, 4, 2  # in a part, but for codecs
BOOKS_PARTS = 4  # that all real books are
WIKIS = {
    "uk": "ukwiki-20230501-pages-articles-multistream.xml.bz2",
    "el": "elwiki-20230501-pages-articles-multistream.xml.bz2",
    "vi": "viwiki-20230501-pages-articles-multistream.xml.bz2",
    "en": "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
}
WIKI_COPIES = {"uk": 1, "el": 1, "vi": 1, "en": 2}  # in a part
WATCH_SECONDS = 0.2


class Row(NamedTuple):
    """A line of the table."""

    corpus: str
    part: str
    core_seconds: float
    peak: float = 0.0
    kept: float = 0.0


class Source(NamedTuple):
    """The input of a build."""

    command: list[str]
    text_bytes: float


class Run(NamedTuple):
    """The cost of a build."""

    core_seconds: float
    peak_bytes: int  # on disk
    kept_bytes: int


def main() -> None:
    """Measures, and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=[*MEASURES])
    parser.add_argument("--scale", type=int, default=1, help="inputs so many times as large")
    parser.add_argument("--full", action="store_true", help="only print the five at full size")
    settings = parser.parse_args()
    if settings.full:
        print_full(load_rates())
        return
    harness.adopt_orphans()
    where = harness.describe_machine()
    print(where)
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        for name in settings.only:
            place = pathlib.Path(folder, name)
            place.mkdir()
            rows = MEASURES[name](Bench(place, settings.scale))
            for row in rows:
                print("  ".join(map(str, row)), flush=True)
            write_table(rows, where)


def write_table(rows: Sequence[Row], where: str) -> None:
    """Puts rows in the place of those that the same measurement gave before."""
    before = TABLE.read_text("utf-8").splitlines() if TABLE.exists() else []
    old = csv.DictReader((line for line in before if line[:1] != "#"), delimiter="\t")
    mine = {(row.corpus, row.part) for row in rows}
    kept = [row for row in old if (row["corpus"], row["part"]) not in mine]
    new = [
        dict(zip(COLUMNS, (*_rounded(row), where.partition(",")[0]), strict=True)) for row in rows
    ]
    with TABLE.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"# {where}\n")
        writer = csv.DictWriter(stream, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted([*kept, *new], key=lambda row: (row["corpus"], row["part"])))


def _rounded(row: Row) -> tuple[object, ...]:
    return row.corpus, row.part, *(float(f"{number:.3g}") for number in row[2:])


class Bench:
    """Builds in a folder."""

    def __init__(self, folder: pathlib.Path, scale: int):
        self.folder = folder
        self.scale = scale
        self._builds = 0

    def run(self, source: Source, *flags: str, workers: int = 1) -> Run:
        """Returns the cost of a build; its folder is `last`."""
        self._builds += 1
        output = self.folder / f"built-{self._builds}"
        output.mkdir()
        peak, is_over = [0], threading.Event()
        watcher = threading.Thread(target=watch_disk, args=(output, peak, is_over), daemon=True)
        watcher.start()
        command = [*harness.COMMAND, *source.command, *flags, "--output", str(output)]
        try:
            run = harness.build([*command, "--workers", str(workers)], output.with_suffix(".log"))
        finally:
            is_over.set()
            watcher.join()
        self.last = output
        return Run(run.core_seconds, peak[0], disk_bytes(output))

    def measure(self, corpus: str, make: Callable[[int], Source], *flags: str) -> list[Row]:
        """The rows of a start and of the work."""
        small, large = make(SMALL * self.scale), make(LARGE * self.scale)
        of_small, of_large = self.run(small, *flags), self.run(large, *flags)
        more = large.text_bytes - small.text_bytes
        work = (of_large.core_seconds - of_small.core_seconds) / more
        start = max(of_small.core_seconds - work * small.text_bytes, 0.0)
        return [Row(corpus, forecast.START, start), work_row(corpus, large, of_large, work)]


def work_row(corpus: str, source: Source, run: Run, core_seconds: float) -> Row:
    """The rates of the work on a text; `core_seconds` are those of a byte."""
    most = max(run.peak_bytes, run.kept_bytes)
    sizes = most / source.text_bytes, run.kept_bytes / source.text_bytes
    return Row(corpus, forecast.WORK, core_seconds * GB, *sizes)


def watch_disk(folder: pathlib.Path, peak: list[int], is_over: threading.Event) -> None:
    """Notes the most bytes that are below a folder."""
    while not is_over.wait(WATCH_SECONDS):
        peak[0] = max(peak[0], disk_bytes(folder))


def disk_bytes(folder: pathlib.Path) -> int:
    """Bytes of all files below a folder; those that go meanwhile do not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += pathlib.Path(place, name).stat().st_size
    return total


# One measurement for each corpus.


def measure_codecs(bench: Bench) -> list[Row]:
    """Decompression alone, of the text of each corpus: bzip2 takes thrice as long for news as for XML."""
    books = sorted((DATA / "gutenberg" / "books").glob("*.gz"))
    xml = plain_dump("uk", bench.folder, 1).read_bytes()
    texts = {
        "lm1b": b"\n".join(harness.source_lines()),
        "wiki40b": xml,
        "flores101": xml,
        "entities": b"\n".join(harness.item_lines()),
        ANY: b"".join(gzip.decompress(path.read_bytes()) for path in books[::20]),
    }
    rows = []
    for corpus, text in texts.items():
        part = text[: CODEC_MEGABYTES * 10**6 * bench.scale]
        for suffix, pack in COMPRESS.items():
            if codec := suffix.removeprefix("."):
                packed = pack(part)
                seconds = min(_unpack_seconds(packed, codec) for _ in range(3))
                rows.append(Row(corpus, codec, seconds / len(part) * GB))
    return rows


def _unpack_seconds(packed: bytes, codec: str) -> float:
    start = time.process_time()
    stream = decompress(io.BytesIO(packed), codec)
    while stream.read(1 << 18):
        pass
    return time.process_time() - start


def news_source(bench: Bench, parts: int) -> Source:
    """News of a size."""
    folder = bench.folder / f"news-{parts}"
    if not folder.exists():
        harness.write_news(harness.source_lines(), folder, NEWS_MEGABYTES * parts)
    return Source(["lm1b", "--input", *map(str, sorted(folder.iterdir()))], disk_bytes(folder))


def measure_lm1b(bench: Bench) -> list[Row]:
    """One Billion Word, and a second worker."""
    rows = bench.measure("lm1b", functools.partial(news_source, bench))
    small = news_source(bench, SMALL * bench.scale)
    alone = rows[0].core_seconds + rows[1].core_seconds * small.text_bytes / GB
    two = bench.run(small, workers=2).core_seconds
    return [*rows, Row(ANY, forecast.WORKER, max(two - alone, 0.0))]


def _more(bench: Bench, corpus: str, rows: Sequence[Row], source: Source, *flags: str) -> Row:
    """Returns the additional cost of near-duplicates."""
    run = bench.run(source, *flags)
    seconds = (run.core_seconds - rows[0].core_seconds) / source.text_bytes * GB
    return Row(corpus, forecast.NEAR_DUPLICATES, max(seconds - rows[1].core_seconds, 0.0))


def measure_wiki40b(bench: Bench) -> list[Row]:
    """Wiki-40B in several languages; talk pages, near-duplicates, and a vocabulary."""

    def make(language: str, parts: int, *, talk: bool = False) -> Source:
        path = plain_dump(language, bench.folder, parts * WIKI_COPIES[language], talk=talk)
        command = ["wiki40b", "--language", language, "--dump", str(path)]
        return Source(command, path.stat().st_size)

    none = "--vocabulary-size=0"
    first = next(iter(WIKIS))
    rows = bench.measure("wiki40b", lambda parts: make(first, parts), none)
    start, work = rows[0].core_seconds, rows[1]
    of_language = {first: work}
    large = LARGE * bench.scale
    for language in WIKIS:
        if language != first:
            source = make(language, large)
            run = bench.run(source, none)
            seconds = (run.core_seconds - start) / source.text_bytes
            of_language[language] = work_row("wiki40b", source, run, seconds)
    columns = zip(*(row[2:] for row in of_language.values()), strict=True)
    mean = [sum(column) / len(of_language) for column in columns]
    source, talk = make(first, large), make(first, large, talk=True)
    plain = start + work.core_seconds * source.text_bytes / GB
    with_talk = bench.run(talk, none).core_seconds
    counted = bench.run(source, "--sample-articles=50", "--vocabulary-size=1000").core_seconds
    learned = bench.run(source, "--vocabulary-size=16000").core_seconds
    size = source.text_bytes / GB
    return [
        rows[0],
        Row("wiki40b", forecast.WORK, *mean),
        *(
            row._replace(part=f"{forecast.WORK}:{language}")
            for language, row in of_language.items()
        ),
        Row("wiki40b", forecast.OTHER_PAGES, (with_talk - plain) / (talk.text_bytes / GB - size)),
        _more(bench, "wiki40b", rows, source, none, "--near-duplicates=0.8"),
        Row("wiki40b", forecast.COUNTING, max(counted - plain, 0.0) / size),
        Row("wiki40b", forecast.LEARNING, max(learned - counted, 0.0) / size),
    ]


def plain_dump(
    language: str, folder: pathlib.Path, copies: int, *, talk: bool = False
) -> pathlib.Path:
    """A real dump, its pages under so many ids; with talk pages, as many bytes again of another namespace."""
    path = folder / f"{language}wiki-2026010{1 + talk}-{copies}-pages-articles.xml"
    if path.exists():
        return path
    packed = path.with_suffix(".xml.bz2")
    repeat_dump(DATA / "wikipedia" / WIKIS[language], packed, folder / "index.bz2", copies=copies)
    xml = bz2.decompress(packed.read_bytes())
    packed.unlink()
    if talk:
        head, _, pages = xml.partition(b"<page>")
        body = b"<page>" + pages[: pages.rindex(b"</page>")] + b"</page>\n"
        xml = head + body + body.replace(b"<ns>0</ns>", b"<ns>1</ns>") + b"</mediawiki>\n"
    path.write_bytes(xml)
    return path


def measure_entities(bench: Bench) -> list[Row]:
    """The entity table."""
    lines = harness.item_lines()

    def make(parts: int) -> Source:
        folder = bench.folder / f"items-{parts}"
        folder.mkdir()
        path = harness.write_copies(lines, folder, ITEM_COPIES * parts)
        return Source(["entities", "--dump", str(path)], path.stat().st_size)

    return bench.measure("entities", make)


def measure_books(bench: Bench, corpus: str, *flags: str) -> tuple[list[Row], Source]:
    """A corpus of books; a part is a quarter of the real ones. Returns the largest input, too."""
    packed = sorted((DATA / "gutenberg" / "books").glob("*.gz"))

    def make(parts: int) -> Source:
        folder = bench.folder / f"books-{parts}"
        if not folder.exists():
            folder.mkdir()
            for path in packed[: len(packed) * min(parts, BOOKS_PARTS) // BOOKS_PARTS]:
                text = gzip.decompress(path.read_bytes())
                (folder / path.name.removesuffix(".gz")).write_bytes(text)
        return Source([corpus, "--books", str(folder), *flags], disk_bytes(folder))

    return bench.measure(corpus, make), make(LARGE * bench.scale)


def measure_pg19(bench: Bench) -> list[Row]:
    """PG-19 by hash; and without books that are nearly the same."""
    rows, large = measure_books(bench, "pg19", "--members", "hash")
    return [*rows, _more(bench, "pg19", rows, large, "--near-duplicates=0.8")]


def measure_simplebooks(bench: Bench) -> list[Row]:
    """SimpleBooks."""
    return measure_books(bench, "simplebooks", "--heldout-books", "1")[0]


def measure_flores101(bench: Bench) -> list[Row]:
    """Sourcing from English Wikipedia."""

    def make(parts: int) -> Source:
        path = plain_dump("en", bench.folder, parts)
        command = ["flores101", "source", "--wikipedia", str(path), "--sentences", "100"]
        return Source(command, path.stat().st_size)

    return bench.measure("flores101", make)


def measure_subwords(bench: Bench) -> list[Row]:
    """One vocabulary over lines of news."""
    lines = harness.source_lines()

    def make(parts: int) -> Source:
        folder = bench.folder / f"lines-{parts}"
        harness.write_news(lines, folder, NEWS_MEGABYTES // 2 * parts)
        named = [f"en={path}" for path in sorted(folder.iterdir())]
        return Source(["subwords", "--corpora", *named, "--size", "16000"], disk_bytes(folder))

    return bench.measure("subwords", make)


def measure_ngrams(bench: Bench) -> list[Row]:
    """5-gram models of text with about as many new n-grams as news has."""
    news = b"\n".join(harness.source_lines()) + b"\n"

    def make(parts: int) -> Source:
        blocks = [*walk_text(news, NEWS_MEGABYTES * parts * 10**6)]
        texts = {
            "train": map(text_array, blocks),
            "test": [text_array(news[: news.index(b"\n") + 1])],
        }
        corpus = make_text_build(bench.folder / f"lines-{parts}", "lm1b", "text", texts)
        return Source(["ngrams", "--corpus", str(corpus)], sum(map(len, blocks)))

    return bench.measure("ngrams", make)


def measure_spark(bench: Bench) -> list[Row]:
    """Measures the cost of Spark beside the work: One Billion Word, on this machine and on a cluster of one
    node.
    """
    took: dict[str, list[float]] = {}
    for parts in (SMALL, LARGE):
        command = news_source(bench, parts * bench.scale).command
        for engine in harness.ENGINES:
            output = bench.folder / f"{engine}-{parts}"
            took.setdefault(engine, []).append(harness.build_on(engine, command, output))
    small, large = took["in-process"]
    work = large - small
    rows = []
    for engine, start, part in (
        ("Spark", forecast.SPARK_START, forecast.SPARK_WORK),
        (harness.CLUSTER, forecast.CLUSTER_START, forecast.CLUSTER_WORK),
    ):
        of_small, of_large = took[engine]
        more = max((of_large - of_small) / work - 1, 0.0)
        at_small = work * SMALL / (LARGE - SMALL)
        rows.append(Row(ANY, part, more))
        rows.append(Row(ANY, start, max(of_small - small - more * at_small, 0.0)))
    return rows


_CORPORA = (measure_lm1b, measure_wiki40b, measure_entities, measure_pg19, measure_simplebooks)
_OTHERS = (measure_flores101, measure_subwords, measure_ngrams)
MEASURES: dict[str, Callable[[Bench], list[Row]]] = {
    "codecs": measure_codecs,
    **{one.__name__.removeprefix("measure_"): one for one in (*_CORPORA, *_OTHERS)},
    "Spark": measure_spark,
}

# All five at full size.


class Full(NamedTuple):
    """One corpus at full size."""

    name: str
    corpus: str
    gigabytes: float  # of text
    codec: str
    times: int = 1  # that it is decompressed
    is_counted: bool = True  # in the sum


WORKERS = 2
FULL = (
    Full("41 Wikipedias, .bz2", "wiki40b", 300, "bz2"),
    Full("Wikidata, .gz", "entities", 1700, "gz", WORKERS),
    Full("Wikidata, .bz2", "entities", 1700, "bz2", is_counted=False),
    Full("news of One Billion Word, .gz", "lm1b", 16, "gz"),
    Full("PG-19, .zip", "pg19", 22, "gz"),
    Full("SimpleBooks, .zip", "simplebooks", 22, "gz"),
    Full("three Wikimedia sites, .bz2", "flores101", 1.5, "bz2"),
)


def print_full(rates: Rates) -> None:
    """Prints a table in Markdown; the sum is of rows that a person builds once, Wikidata from the .gz."""
    total = 0.0
    rows = []
    for full in FULL:
        size = full.gigabytes * GB
        text = Text(size, {full.codec: size * full.times})
        parts = {part.name: part for part in parts_of(rates, full.corpus, "", text)}
        hours = sum(part.core_seconds for part in parts.values()) / 3600
        work, unpacking = (
            f"{parts[name].core_seconds / full.gigabytes:,.1f}"
            for name in (forecast.WORK, full.codec)
        )
        total += hours * full.is_counted
        rows.append((full.name, f"{full.gigabytes:,g}", work, unpacking, f"{hours:,.2f}"))
    rows.append(("all, Wikidata from the .gz", "", "", "", f"{total:,.1f}"))
    head = ("input", "GB of text", "work, core-seconds a GB", "decompression", "core-hours")
    print(rates.measured, "", *make_table(head, rows), sep="\n")


if __name__ == "__main__":
    main()
