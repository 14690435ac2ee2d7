"""Prints the summary at the end of a build, as tables or as JSON."""

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from corpusmill.transforms.books.simplebooks_rows import SIZES
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.records import SubwordStats
from corpusmill.transforms.files.terminal import new_console
from corpusmill.transforms.news.sentence_accounts import LEFT_OUT
from corpusmill.transforms.wikipedia.list_unrendered import NAME as UNRENDERED

LOG_COLUMNS = 120  # if neither a terminal nor the variable COLUMNS gives the width
_WIDEST = 10_000
MOST_ROWS = 8  # of larger groups of counts, only the sum is printed; stats.json has all counts
_BOOKS_WITH = {"dated_by": "dated by", "latest_year_by": "no date, but a latest year by"}
_NOT_KEPT = {
    **LEFT_OUT,
    "repeated": "repeated",
    "without_item": "without item",
    "not_drawn": "not drawn",
}
"""Counts of items that are neither kept nor rejected: name in manifest.json → name in the summary."""


def print_json(
    target: str, manifest: Mapping[str, Any], stats: Mapping[str, Any], seconds: float
) -> None:
    """Prints the summary of a build as one line of JSON.

    Args:
      target: The folder of the build.
      manifest: The content of manifest.json.
      stats: The content of stats.json.
      seconds: The duration of the build.
    """
    told = {name: manifest[name] for name in ("signature", "settings", "counts", "caveats", "lost")}
    summary = {"target": target, "seconds": round(seconds, 1), **told, "stats": stats}
    print(json.dumps(summary, ensure_ascii=False), flush=True)


def print_summary(
    target: str, manifest: Mapping[str, Any], stats: Mapping[str, Any], seconds: float
) -> None:
    """Prints the summary of a build as tables and lines of text.

    They are, in order: the counts of the splits, the vocabularies, the scores of language models, the
    rejected items, remarks from the manifest, and the folder of the build. The arguments are those of
    `print_json`.
    """
    console = new_console()
    is_log = not (console.is_terminal or "COLUMNS" in os.environ)
    if is_log:
        console.width = LOG_COLUMNS
    say = functools.partial(console.print, soft_wrap=True)
    say(manifest["signature"])
    if "total" in stats:
        for table in _tables_of(stats, console):
            console.print(table)
    for line in _vocabularies(manifest, stats):
        say(line, soft_wrap=is_log)
    for line in _scores(stats):
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
    """Returns the name of the items that a build reads, such as "pages".

    Args:
      counts: The counts in the manifest, for example {"pages_read": 5}.
    """
    return next((name.removesuffix("_read") for name in counts if name.endswith("_read")), "pages")


def _tables_of(stats: Mapping[str, Any], console: Console) -> Iterator[Table]:
    """Yields a table with the counts of all splits, or several narrower tables if the screen is too narrow.

    Args:
      stats: The content of stats.json.
      console: The screen.
    """
    options = console.options.update(max_width=_WIDEST)

    def fits(table: Table) -> bool:
        return Measurement.get(console, options, table).maximum <= console.width

    wide = _table_of(stats)
    splits = _splits_of(stats)
    if fits(wide) or not splits:
        yield wide
        return
    while splits:
        counts = range(len(splits), 0, -1)
        tables = (_turned_table_of(stats, splits[:count]) for count in counts)
        table = next(filter(fits, tables), _turned_table_of(stats, splits[:1]))
        yield table
        splits = splits[len(table.columns) - 1 :]


def _turned_table_of(stats: Mapping[str, Any], splits: Sequence[str]) -> Table:
    """Returns a table with a row for each count and a column for each split.

    Args:
      stats: The content of stats.json.
      splits: The names of the splits in the table.
    """
    table = Table()
    table.add_column("", no_wrap=True)
    for title in splits:
        table.add_column(title.replace("_", "\n"), justify="right", no_wrap=True)
    for column in _columns_of(stats):
        counts = (f"{stats[name][column]:,}" for name in splits)
        table.add_row(column.replace("_", " "), *counts)
    return table


def _columns_of(stats: Mapping[str, Any]) -> list[str]:
    """Returns the names of the counts that every split has in stats.json, such as "articles"."""
    return [
        column
        for column, value in stats["total"].items()
        if column not in SubwordStats._fields[2:] and not isinstance(value, Mapping)
    ]


def _splits_of(stats: Mapping[str, Any]) -> list[str]:
    """Returns the names of the entries of stats.json that have counts: the splits, and "total".

    Returns an empty list if the build has no splits.

    Args:
      stats: The content of stats.json.
    """
    if not stats.keys() & {"train", "dev"}:
        return []
    columns = set(_columns_of(stats))
    found = (
        name for name, one in stats.items() if isinstance(one, Mapping) and one.keys() >= columns
    )
    return list(found)


def _table_of(stats: Mapping[str, Any]) -> Table:
    """Returns a table of the counts in stats.json, with a row for each split and a column for each count.

    If the build has no splits, the table has a row for each count.
    """
    table = Table()
    if not _splits_of(stats):
        table.add_column("what", no_wrap=True)
        table.add_column("count", justify="right", no_wrap=True)
        for name, count in _flat(stats.get("total", {})):
            table.add_row(name.replace("_", " "), f"{count:,}")
        return table
    table.add_column("split", no_wrap=True)
    for title in _columns_of(stats):
        table.add_column(title.replace("_", " "), justify="right", no_wrap=True)
    for name in _splits_of(stats):
        if name == "total":
            table.add_section()
        counts = (f"{stats[name][column]:,}" for column in _columns_of(stats))
        table.add_row(name.replace("_", " "), *counts)
    return table


def _vocabularies(manifest: Mapping[str, Any], stats: Mapping[str, Any]) -> Iterator[str]:
    """Yields lines about the trained vocabularies and about how well they fit the held-out splits.

    Args:
      manifest: The content of manifest.json.
      stats: The content of stats.json.
    """
    if "vocabulary_with_S_slashS_UNK" in stats:
        yield from _words(stats)
        return
    yield from _figures_of_books(stats)
    learned = manifest.get("sentencepiece", {})
    if "vocabulary_size" not in learned:  # several vocabularies, by name
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


def _scores(stats: Mapping[str, Any]) -> Iterator[str]:
    """Yields a line with the perplexity for each split that was scored with a language model."""
    for split, score in stats.get("scores", {}).items():
        yield (
            f"{split}: perplexity {score['perplexity']:,.4f} of {score['tokens']:,} words and ends of"
            f" sentences; {score['perplexity_without_unknown']:,.4f} without"
            f" {score['unknown_words']:,} unknown words"
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
    for name, sources in stats.get("dates", {}).items():
        if what := _BOOKS_WITH.get(name):
            listed = ", ".join(f"{source} {count:,}" for source, count in sources.items())
            yield f"{what} {listed}"


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
    """Returns a table with the number of items that were not kept, by reason and in total.

    Args:
      counts: The counts in the manifest.
      unit: The name of the items, such as "pages". It is the heading of the column with the numbers.
    """
    reasons = {reason: count for reason, count in counts["rejected"].items() if reason != "total"}
    reasons |= {title: counts[name] for name, title in _NOT_KEPT.items() if counts.get(name)}
    table = Table()
    table.add_column("not kept", overflow="fold")
    table.add_column(unit, justify="right", no_wrap=True)
    for reason, count in (*reasons.items(), ("total", sum(reasons.values()))):
        table.add_row(reason, f"{count:,}")
    return table


def _remarks(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from manifest["caveats"]
    counts = manifest["counts"]
    if counts.get("class_unknown"):
        yield (
            f"{counts['class_unknown']:,} of the articles were kept although the class of their entity is"
            " unknown"
        )
    if counts.get("repeated"):
        yield f"lines dropped, because another line has more facts about the item: {counts['repeated']:,}"
    for file in manifest["outputs"]:
        if file["name"] == UNRENDERED and file["records"]:
            yield (
                f"templates in running text that no table defines: {file['records']:,}, listed in"
                f" {UNRENDERED}; define their text with --templates"
            )
    for lost in manifest["lost"]:
        pages = "an unknown number of" if lost["pages_lost"] < 0 else f"{lost['pages_lost']:,}"
        unit = lost.get("unit") or _unit_of(manifest["counts"])
        yield (
            f"lost: {lost['name']}, bytes {lost['start']} to {lost['end']}, {pages} {unit}:"
            f" {lost['message']}"
        )
