"""Runs a build, publishes it, and displays its progress and a summary.

Prints the summary at the end of a build, as tables or as JSON.
"""

import contextlib
import functools
import json
import logging
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.books.simplebooks_rows import SIZES
from corpusmill.transforms.files.builds.finished_builds import read_json, read_manifest
from corpusmill.transforms.files.builds.ledger import EMPTY_TRAIN, Doubt, find_doubts, find_small
from corpusmill.transforms.files.errors import IN_PROCESS, BuildError, runner_named
from corpusmill.transforms.files.records import SubwordStats
from corpusmill.transforms.files.terminal import draw, new_console
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.wikipedia.audit_pages import UNRENDERED_FILE

from . import progress, publish
from .corpora import row_of
from .corpus_build import CorpusBuild
from .editions import write_cards
from .engines.engine import PlannedBuild
from .engines.run_pipeline import find_engine
from .forecast import Forecast
from .progress import Estimate, find_steps
from .publish import TargetError
from .run_stages import run_stages, stage_folders

LOG_COLUMNS = 120  # if neither a terminal nor the variable COLUMNS gives the width
MOST_ROWS = 8  # of larger groups of counts, only the sum is printed; stats.json has all counts
_BOOKS_WITH = {"dated_by": "dated by", "latest_year_by": "no date, but a latest year by"}
_NOT_KEPT = {
    "duplicates": "repeated",
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
        say(_table_of(stats, console.width), end="")
    for line in (*_vocabularies(manifest, stats), *_scores(stats)):
        say(line, soft_wrap=is_log)
    unit = _unit_of(manifest["counts"])
    if "rejected" in manifest["counts"]:
        say(_table_of_reasons(manifest["counts"], unit, console.width), end="")
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


def _table_of(stats: Mapping[str, Any], width: int) -> str:
    """Returns a table of the counts in stats.json, with a row for each split and a column for each count.

    If the build has no splits, the table has a row for each count.

    Args:
      stats: The content of stats.json.
      width: The width of the screen. A wider table is divided.
    """
    total = stats["total"]
    if not stats.keys() & {"train", "dev"}:
        counts = [(name.replace("_", " "), f"{count:,}") for name, count in _flat(total)]
        return draw(("what", "count"), counts, numbers=1, width=width)
    columns = [
        column
        for column, value in total.items()
        if column not in SubwordStats._fields[2:] and not isinstance(value, Mapping)
    ]
    rows = {
        name: [name.replace("_", " "), *(f"{one[column]:,}" for column in columns)]
        for name, one in stats.items()
        if isinstance(one, Mapping) and one.keys() >= {*columns}
    }
    head = ["split", *(column.replace("_", " ") for column in columns)]
    last = rows.pop("total", ())
    return draw(head, rows.values(), numbers=len(columns), total=last, width=width)


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
    if not learned:
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


def _table_of_reasons(counts: Mapping[str, Any], unit: str, width: int) -> str:
    """Returns a table with the number of items that were not kept, by reason and in total.

    Args:
      counts: The counts in the manifest.
      unit: The name of the items, such as "pages". It is the heading of the column with the numbers.
      width: The width of the screen.
    """
    reasons = {reason: count for reason, count in counts["rejected"].items() if reason != "total"}
    reasons |= {title: counts[name] for name, title in _NOT_KEPT.items() if counts.get(name)}
    rows = [(reason, f"{count:,}") for reason, count in reasons.items()]
    total = "total", f"{sum(reasons.values()):,}"
    return draw(("not kept", unit), rows, numbers=1, total=total, width=width)


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
        if file["name"] == UNRENDERED_FILE and file["records"]:
            yield (
                f"templates in running text that no table defines: {file['records']:,}, listed in"
                f" {UNRENDERED_FILE}; define their text with --templates"
            )
    for lost in manifest["lost"]:
        pages = "an unknown number of" if lost["pages_lost"] < 0 else f"{lost['pages_lost']:,}"
        unit = lost.get("unit") or _unit_of(manifest["counts"])
        yield (
            f"lost: {lost['name']}, bytes {lost['start']} to {lost['end']}, {pages} {unit}:"
            f" {lost['message']}"
        )


LOG = logging.getLogger(__name__)


def launch(
    corpus: CorpusBuild,
    output: str,
    *,
    runner: str = IN_PROCESS,
    workers: int | None = None,
    beam_flags: Sequence[str] = (),
    replace: bool = False,
    fresh: bool = False,
    ignore_memory: bool = False,
    as_json: bool = False,
    accept: Collection[str] = (),
    is_sample: bool = False,
) -> dict[str, Any]:
    """Runs a build, and publishes it in a folder below `output`. Returns the manifest of the build.

    An interrupted run of the same build is resumed, unless `fresh` is True.

    Args:
      corpus: The build to run.
      output: The parent folder of all builds.
      runner, workers, beam_flags: See `find_engine`.
      replace: Whether to replace a finished build.
      fresh: Whether to run all stages again.
      ignore_memory: Whether to start even if the in-process runner has too little memory.
      as_json: Whether to print the summary as JSON.
      accept: Names of doubts (see ledger.py) that do not stop the build.
      is_sample: Whether the input is a sample, so that no warning about a small build is logged.

    Raises BuildError for bad or implausible input, TargetError if the target cannot be written.
    """
    workers = workers or os.cpu_count() or 1
    engine = find_engine(runner, workers, beam_flags)
    is_first_look = bool(getattr(corpus.config, "limit", 0))
    if is_first_look:  # a build with a limit is small
        accept, is_sample, ignore_memory = (*accept, EMPTY_TRAIN), True, True
    for caveat in corpus.caveats():
        LOG.warning(caveat)
    end_on_doubts(corpus.doubts(), accept)
    target = FileSystems.join(output, *corpus.path)
    start = time.monotonic()
    row, forecast = row_of(corpus), Forecast(corpus, output, workers)
    if runner_named(runner) == IN_PROCESS and not ignore_memory:
        forecast.check_memory()
    engine.prepare(PlannedBuild(corpus.path, output, forecast.held))
    if not is_first_look:
        forecast.warn_of_small_disk()
    with stage_folders(target) as stages:
        if stages.are_left and publish.is_completed(target) and not replace:
            # A killed process has left the stages, and may not have written the cards.
            write_cards([target])
            with contextlib.suppress(TargetError):  # another build, with `replace`, is running
                stages.remove_leftovers()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(publish.building(target, replace=replace))
            if engine.is_local:  # other engines have a display of their own
                named = [stage.name for stage in corpus.stages()]
                steps = find_steps(corpus.path[0], named, corpus.config)
                size = corpus.bytes_to_read(workers)
                estimate = Estimate(steps, size, workers, corpus.config)
                stack.enter_context(progress.shown(" ".join(corpus.path[:2]), estimate))
            run_stages(corpus, engine, stages, folder, workers, fresh=fresh)
            end_on_doubts(find_doubts(read_manifest(folder)), accept)
        write_cards([target])
        stages.remove()  # last: stages beside a finished build show that its process was killed
    manifest = read_manifest(target)
    seconds = time.monotonic() - start
    tell = print_json if as_json else print_summary
    tell(target, manifest, read_json(target, "stats.json"), seconds)
    for remark in () if is_sample else find_small(manifest, row.unit, row.usual):
        LOG.warning("%s", remark)
    return manifest


def end_on_doubts(doubts: Iterable[Doubt], accept: Collection[str]) -> None:
    """Raises BuildError if there are doubts about the inputs that the user has not accepted.

    A doubt is a sign of wrong or damaged inputs, such as an empty split train (see ledger.py). The
    stages that are finished are kept for the next run.

    Args:
      doubts: The doubts about the inputs.
      accept: The names of the accepted doubts, from --accept.
    """
    found = list(doubts)
    for doubt in found:
        if doubt.name in accept:
            LOG.warning("accepted because of --accept %s: %s", doubt.name, doubt.message)
    if open_ := [doubt for doubt in found if doubt.name not in accept]:
        names = " ".join(doubt.name for doubt in open_)
        messages = "; ".join(doubt.message for doubt in open_)
        raise BuildError(f"{messages}. If this is intended, add --accept {names}")
