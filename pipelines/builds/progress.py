"""What a person sees while a build runs, and at its end."""

import contextlib
import functools
import json
import logging
import os
import pathlib
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table

from pipelines.builds.side_thread import beside
from transforms.files import counters
from transforms.records import SubwordStats
from transforms.text.books.simple.simplebooks_rows import SIZES
from transforms.text.fingerprint import SPLITS
from transforms.text.news.sentence_accounts import LEFT_OUT
from transforms.wiki.list_unrendered import NAME as UNRENDERED

REDRAW_SECONDS = 0.5
LOG_SECONDS = 30.0
LOG_COLUMNS = 120
STARTING = "starting workers"
NEEDED_COLUMNS = 85  # by all but the bar
MOST_ROWS = 8  # for counts of one thing; of more the sum is shown, and stats.json has them all
_MEASURED = ("read-", "count-subwords/", "check-checksums/")  # stages whose speed is shown
_TEXT_BYTES = ("/xml_bytes", "/json_bytes", "/text_bytes")
_BYTES_OF_BUILDS = ("check-checksums/text_bytes", "count-subwords/text_bytes")
_REJECTING = (
    "drop-older-pages",
    "screen-pages",
    "clean-wikitext",
    "find-passages",
    "join-wikidata",
    "identify-by-page",
    "drop-duplicates",
)
_KEPT = ("candidates", "cleaned", "linked", "unrendered", "guessed")
_NOT_KEPT = {
    **LEFT_OUT,
    "repeated": "repeated",
    "without_item": "without item",
    "not_drawn": "not drawn",
}
"""Count of what is not kept without being rejected, in manifest.json → its name in the summary."""
_NO_REJECTIONS = ("dump_bytes", "json_bytes", "entities", "damages", "skipped")  # of read-entities


class Tally:
    """Counters `<stage>/<what>` of a running job, summed up for display."""

    def __init__(self, counts: Mapping[str, int], seconds: float, unit: str = "pages"):
        self._counts = Counter(counts)
        self._unit = unit  # what a document of the corpus is
        self.dump_bytes = self._sum(
            lambda stage, what: what == "dump_bytes" or f"{stage}/{what}" in _BYTES_OF_BUILDS
        )
        if held := counts.get("hold-pages/pages"):  # all are read before the first is cleaned
            self.dump_bytes += (
                self.dump_bytes * min(counts.get("hold-pages/cleaned", 0), held) // held
            )
        self.rejected = counts.get("read-dump/malformed-xml", 0) + self._sum(
            lambda stage, what: stage in _REJECTING and what not in _KEPT
        )
        text_bytes = sum(count for name, count in counts.items() if _is_text(name))
        self.megabytes_per_second = text_bytes / 1e6 / max(seconds, 1e-9)

    def _sum(self, counts: Callable[[str, str], bool]) -> int:
        return sum(n for name, n in self._counts.items() if counts(*name.split("/", 1)))

    def describe(self, total_bytes: int) -> str:
        """The counts in words: of reading, and once all is read, of writing."""
        of, speed = self._counts, f"{self.megabytes_per_second:.1f} MB/s"
        if not of.total():
            return STARTING
        is_read = self.dump_bytes >= total_bytes
        pages, cleaned = of["read-dump/pages"], of["hold-pages/cleaned"]
        documents = max((n for name, n in of.items() if name.endswith(f"/{self._unit}")), default=0)
        in_training = of["train-subwords/begun"] - of["train-subwords/articles"]
        if of["check-checksums/text_bytes"]:
            return f"{of['check-checksums/files']:,} files compared {speed}"
        if of["read-entities/entities"] and not pages:
            return self._describe_entities(is_read, speed)
        if of["read-sentences/sentences"]:
            return self._describe_sentences(is_read, speed)
        if of["read-lines/lines"]:
            return self._describe_lines(speed)
        if of["read-books/books"]:
            return self._describe_books(speed)
        if in_training:
            return f"learning a vocabulary from {in_training:,} articles"
        if counted := of["count-subwords/articles"]:
            return f"{counted:,} articles in pieces {speed}"
        if documents and not pages:
            return f"{documents:,} {self._unit} {speed}"
        kept = pages - self.rejected
        if is_read and (candidates := of["find-passages/candidates"]):
            return f"choosing sentences of {candidates:,} articles"
        if is_read:
            return f"joining, writing: {of['write-corpus/articles']:,} of {kept:,} articles"
        if cleaned:
            return f"{pages:,} pages: {cleaned:,} of {of['hold-pages/pages']:,} cleaned {speed}"
        return f"{pages:,} pages: {kept:,} kept {self.rejected:,} rejected {speed}"

    def _describe_entities(self, is_read: bool, speed: str) -> str:
        entities = self._counts["read-entities/entities"]
        if is_read:
            rows = self._counts["write-entity-table/rows"]
            return f"sorting, writing: {rows:,} of {entities:,} entities"
        rejected = self._sum(
            lambda stage, what: stage == "read-entities" and what not in _NO_REJECTIONS
        )
        return f"{entities:,} entities {rejected:,} lines rejected {speed}"

    def _describe_sentences(self, is_read: bool, speed: str) -> str:
        of, sentences = self._counts, self._counts["read-sentences/sentences"]
        if in_training := of["train-pieces/begun"] - of["train-pieces/words"]:
            return f"learning pieces from {in_training:,} different words"
        if in_pieces := of["count-pieces/sentences"]:
            return f"{in_pieces:,} held-out sentences in pieces"
        return (
            f"sampling: {sentences:,} sentences" if is_read else f"{sentences:,} sentences {speed}"
        )

    def _describe_lines(self, speed: str) -> str:
        of, lines = self._counts, self._counts["read-lines/lines"]
        tokenized = of["tokenize-lines/lines"]
        if written := of["write-shards/sentences"]:
            kept = tokenized - of["drop-near-duplicates/near-duplicate"]
            of_all = f" of {kept:,}" if tokenized else ""  # else tokenised before all else
            return f"writing: {written:,}{of_all} sentences"
        if tokenized:
            return f"tokenising: {tokenized:,} different ones of {lines:,} lines"
        return f"sorting: {lines:,} lines {speed}"

    def _describe_books(self, speed: str) -> str:
        of, books = self._counts, self._counts["read-books/books"]
        if written := of["write-books/books"]:
            return f"writing: {written:,} books"
        if tokenized := of["tokenize-books/books"]:
            return f"tokenising: {tokenized:,} books"
        if stripped := of["strip-books/stripped"]:
            return f"stripping, screening: {stripped:,} of {books:,} books"
        return f"reading: {books:,} books {speed}"


def _is_text(name: str) -> bool:
    return name.startswith(_MEASURED) and name.endswith(_TEXT_BYTES)


@contextlib.contextmanager
def shown(label: str, total_bytes: int, unit: str = "pages") -> Iterator[None]:
    """Shows the progress of what runs inside the block: a live line at a terminal, else log lines.

    The workers of this machine tell it through a folder (see transforms/files/counters.py).
    """
    with tempfile.TemporaryDirectory(prefix="corpusmill-progress-") as folder:
        os.environ[counters.PROGRESS_DIR] = folder
        try:
            with beside(functools.partial(_watch, label, total_bytes, unit, pathlib.Path(folder))):
                yield
        finally:
            del os.environ[counters.PROGRESS_DIR]


def counts_so_far() -> Counter[str]:
    """What workers have counted since the display began; nothing where nothing is shown."""
    folder = os.environ.get(counters.PROGRESS_DIR)
    return counters.read_tallies(pathlib.Path(folder)) if folder else Counter()


def add_counts(name: str, counts: Mapping[str, int]) -> None:
    """Adds what workers of an earlier run have counted, so that the display goes on from there; but for the
    text they read, of which the speed is told.
    """
    folder = os.environ.get(counters.PROGRESS_DIR)
    if folder:
        known = {what: count for what, count in counts.items() if not _is_text(what)}
        written = pathlib.Path(folder, f"{name}.tmp")
        with contextlib.suppress(OSError):  # of a full disk: a build needs no display
            written.write_text(json.dumps(known), "utf-8")
            written.rename(pathlib.Path(folder, f"{name}.json"))


def _watch(
    label: str, total_bytes: int, unit: str, folder: pathlib.Path, is_over: threading.Event
) -> None:
    console = Console(stderr=True)
    show = _draw(console, label, total_bytes) if console.is_terminal else _log(label, total_bytes)
    with show as update:
        start = time.monotonic()
        while not is_over.wait(REDRAW_SECONDS):
            seconds = time.monotonic() - start
            update(Tally(counters.read_tallies(folder), seconds, unit), seconds)


@contextlib.contextmanager
def _draw(
    console: Console, label: str, total_bytes: int
) -> Iterator[Callable[[Tally, float], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=max(console.width - NEEDED_COLUMNS, 1)),
        TextColumn("{task.percentage:.0f}%"),
        TimeElapsedColumn(),
        TextColumn("+"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[tally]}", table_column=Column()),  # wraps where it is too long
    )
    room = console.width // 3
    shown_label = label if len(label) <= room else f"{label[: room - 1]}…"
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(shown_label, total=total_bytes, tally=STARTING)

        def update(tally: Tally, _: float) -> None:
            bar.update(task, completed=tally.dump_bytes, tally=tally.describe(total_bytes))

        yield update


@contextlib.contextmanager
def _log(label: str, total_bytes: int) -> Iterator[Callable[[Tally, float], None]]:
    logger = logging.getLogger(__name__)
    due = LOG_SECONDS

    def update(tally: Tally, seconds: float) -> None:
        nonlocal due
        if seconds < due:
            return
        due = seconds + LOG_SECONDS
        share = tally.dump_bytes / max(total_bytes, 1)
        left = f", {seconds / share - seconds:.0f} s left" if 0 < share < 1 else ""
        counts = tally.describe(total_bytes)
        logger.info(
            "%s: %.0f %% of the dump, %.0f s%s, %s", label, 100 * share, seconds, left, counts
        )

    yield update


def print_summary(
    target: str, manifest: Mapping[str, Any], stats: Mapping[str, Any], seconds: float
) -> None:
    """The table at the end: what was kept and what was not, and where everything is."""
    console = Console()
    is_log = not console.is_terminal
    if is_log:
        console.width = LOG_COLUMNS
    say = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    say(manifest["signature"])
    if "total" in stats:
        wide = _table_of(stats)
        needed = Measurement.get(console, console.options.update(max_width=LOG_COLUMNS), wide)
        fits = needed.maximum <= console.width
        console.print(wide if fits else _table_of(stats, is_turned=True))
    for line in _vocabularies(manifest, stats):
        say(line, soft_wrap=is_log)
    unit = _unit_of(manifest["counts"])
    if "rejected" in manifest["counts"]:
        console.print(_table_of_reasons(manifest["counts"], unit))
    read = manifest["counts"].get(f"{unit}_read")
    done = "built" if read is None else f"{read:,} {unit} read"
    say(f"{done} in {seconds:.1f} s")
    for line in _remarks(manifest):
        say(f"note: {line}", soft_wrap=is_log)
    say(f"the build: {target}")


def _unit_of(counts: Mapping[str, Any]) -> str:
    """What a build has read."""
    return next((name.removesuffix("_read") for name in counts if name.endswith("_read")), "pages")


def _table_of(stats: Mapping[str, Any], *, is_turned: bool = False) -> Table:
    """A row for each split, or a column; for a build without splits, a row for each count."""
    table = Table()
    if not stats.keys() & {"train", "dev"}:
        table.add_column("what", no_wrap=True)
        table.add_column("count", justify="right", no_wrap=True)
        for name, count in _flat(stats.get("total", {})):
            table.add_row(name.replace("_", " "), f"{count:,}")
        return table
    columns = [
        column
        for column, value in stats["total"].items()
        if column not in SubwordStats._fields[2:] and not isinstance(value, Mapping)
    ]
    names = [
        name
        for name, values in stats.items()
        if isinstance(values, Mapping) and values.keys() >= set(columns)
    ]
    table.add_column("" if is_turned else "split", no_wrap=True)
    for title in names if is_turned else columns:
        table.add_column(title.replace("_", " "), justify="right", no_wrap=True)
    if is_turned:
        for column in columns:
            counts = (f"{stats[name][column]:,}" for name in names)
            table.add_row(column.replace("_", " "), *counts)
        return table
    for name in names:
        if name == "total":
            table.add_section()
        counts = (f"{stats[name][column]:,}" for column in columns)
        table.add_row(name.replace("_", " "), *counts)
    return table


def _vocabularies(manifest: Mapping[str, Any], stats: Mapping[str, Any]) -> Iterator[str]:
    """What was learned, and how it fits the text that it was not learned from."""
    if "vocabulary_with_S_slashS_UNK" in stats:
        yield from _words(stats)
        return
    yield from _figures_of_books(stats)
    learned = manifest.get("sentencepiece", {})
    if "vocabulary_size" not in learned:  # several, by their names
        yield from (f"{name}: {_describe(one)}" for name, one in learned.items())
        return
    yield f"SentencePiece: {_describe(learned)}"
    for split in SPLITS[1:] if learned["vocabulary_size"] else ():
        counts = SubwordStats(*(stats[split][name] for name in SubwordStats._fields))
        if not counts.pieces:
            yield f"  {split}: no text"
            continue
        yield (
            f"  {split}: {counts.characters_per_piece:.3f} characters per piece; coverage"
            f" {counts.coverage:.3%}, without characters spelled in bytes {counts.own_piece_coverage:.3%}"
        )


def _words(stats: Mapping[str, Any]) -> Iterator[str]:
    yield f"vocabulary: {stats['vocabulary_with_S_slashS_UNK']:,} words; out of it:"
    for name in ("heldout_shard_0", "heldout"):
        words = stats[name]["predicted_words_with_end"]
        unknown = stats[name]["out_of_vocabulary"]
        share = f" ({unknown / words:.2%})" if words else ""
        yield f"  {name.replace('_', ' ')}: {unknown:,} of {words:,} words{share}"


def _figures_of_books(stats: Mapping[str, Any]) -> Iterator[str]:
    for size in SIZES:
        if size in stats:
            figures = stats[size]
            yield (
                f"{size}: {figures['splits']['train']['tokens']:,} tokens of training, a vocabulary of"
                f" {figures['vocabulary_words']:,}, FREQ {figures['tokens_per_vocabulary_word']:,.2f}"
            )
    if "dates" in stats:
        sources = stats["dates"]["dated_by"].items()
        yield "dated by " + ", ".join(f"{source} {count:,}" for source, count in sources)


def _describe(learned: Mapping[str, Any]) -> str:
    if not learned["vocabulary_size"]:
        return f"no vocabulary: {learned['reason']}"
    size, articles = learned["vocabulary_size"], learned["sampled_articles"]
    return f"{size:,} pieces, learned from {articles:,} articles of train"


def _flat(counts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, int]]:
    for name, count in counts.items():
        if isinstance(count, Mapping) and len(count) > MOST_ROWS:
            yield f"{before}{name} (sum of {len(count)})", sum(count.values())
        elif isinstance(count, Mapping):
            yield from _flat(count, f"{before}{name}: ")
        else:
            yield f"{before}{name}", count


def _table_of_reasons(counts: Mapping[str, Any], unit: str) -> Table:
    """A row for each reason, then all that was read and is not kept."""
    reasons = {reason: count for reason, count in counts["rejected"].items() if reason != "total"}
    reasons |= {title: counts[name] for name, title in _NOT_KEPT.items() if counts.get(name)}
    table = Table()
    table.add_column("not kept")
    table.add_column(unit, justify="right")
    for reason, count in (*reasons.items(), ("total", sum(reasons.values()))):
        table.add_row(reason, f"{count:,}")
    return table


def _remarks(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from manifest["caveats"]
    counts = manifest["counts"]
    if counts.get("class_unknown"):
        yield (
            "kept although the class of their entity is not known:"
            f" {counts['class_unknown']:,} of the articles"
        )
    if counts.get("repeated"):
        yield f"lines for an item that another line has, too, and tells more of: {counts['repeated']:,}"
    for file in manifest["outputs"]:
        if file["name"] == UNRENDERED and file["records"]:
            yield (
                f"templates in running text that nothing describes: {file['records']:,}, listed in"
                f" {UNRENDERED}; --templates tells how they show"
            )
    for lost in manifest["lost"]:
        pages = "an unknown number of" if lost["pages_lost"] < 0 else f"{lost['pages_lost']:,}"
        unit = lost.get("unit") or _unit_of(counts)
        yield (
            f"lost: {lost['name']}, bytes {lost['start']} to {lost['end']}, {pages} {unit}:"
            f" {lost['message']}"
        )
