"""Answers what has changed since the previous edition, and makes an overview of all builds in the report."""

import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.finished_builds import normalise, read_json
from corpusmill.transforms.files.read_files import is_there, open_input
from corpusmill.transforms.files.text import grouped

from ...run.editions import SUMMARY, name_of, report_of
from ..build_facts import Facts, balance_of, share
from ..build_sizes import BuildSizes, newest_of_each_language, read_sizes
from ..edition_changes import ADDED, REMOVED, UNCHANGED, find_differences, parse_line
from ..edition_changes import CHANGED as REWRITTEN
from .answers import AS_LARGE, CHANGED, IS_IT, THROWN_AWAY, VOCABULARY, Answer, Link, Table
from .drawings import ACCENT, QUIET, REJECTED, Bar, Figure, bars, over_time, points

SHOWN = 60  # maximum number of builds in a chart


def editions_of(builds: Sequence[Facts]) -> dict[tuple[str, str], list[Facts]]:
    """Groups builds by edition. The keys are pairs (corpus, edition). The builds keep their order."""
    return grouped(((one.build.corpus, one.build.edition), one) for one in builds)


def what_changed(before: Facts | None, facts: Facts) -> Answer | None:
    """Returns the answer to the question what has changed since the previous edition.

    The answer compares counts, settings and, if known, documents.

    Returns None if the build has no documents.

    Args:
      before: The previous edition; None if the report has none.
      facts: The build to describe.
    """
    if not facts.kept:
        return None
    if before is None:
        return Answer(CHANGED, "This report has no older build of this edition to compare with.")
    if (documents := read_changes(facts)) and documents["old"] != before.build.signature:
        documents = None
    gained = facts.total - before.total
    sentence = (
        f"{facts.total:,} {facts.unit}, {before.total:,} in {before.build.name}: {gained:+,}"
        f" ({share(abs(gained), before.total)})."
    )
    figures = []
    if documents:
        figures.append(_fates(documents))
        total = documents["total"]
        sentence += f" New: {total['added']:,}, removed: {total['removed']:,}, changed: {total['changed']:,}."
    else:
        parents, _, (old, new) = zip(
            *(normalise(one.build.folder).rpartition("/") for one in (before, facts)), strict=True
        )
        if len(set(parents)) > 1 or old == new:
            old, new = "OLD", "NEW"
        sentence += (
            " Which documents are new, removed or changed is not known yet. To see them here, run corpusmill"
            f" compare {old} {new} --report {_report_of(facts).rpartition('/')[2]} in the folder that"
            " contains this build, and make this report again."
        )
    differences = find_differences(before.build.manifest, facts.build.manifest)
    return Answer(
        CHANGED,
        sentence,
        figures,
        [
            Table(("", before.build.name, facts.build.name, "change"), [*_counts(before, facts)]),
            Table(
                ("other differences",),
                [(one,) for one in differences or ("none: settings and versions are the same",)],
            ),
            *(_listed(facts, documents) if documents else ()),
        ],
    )


def read_changes(facts: Facts) -> Mapping[str, Any] | None:
    """Returns the counts that `corpusmill compare` wrote beside a build; None if there are no such counts."""
    folder, _, name = _report_of(facts).rpartition("/")
    if not is_there(_report_of(facts) + SUMMARY):
        return None
    found: Mapping[str, Any] = read_json(folder, name + SUMMARY)
    return found if found.get("new") == facts.build.signature else None


def _listed(facts: Facts, documents: Mapping[str, Any]) -> Iterator[Table]:
    """Yields a table of the first documents in the list of changes that `corpusmill compare` has written.

    Yields nothing if there is no such list.

    Args:
      documents: The numbers of documents that were added, removed, changed and moved.
    """
    path = _report_of(facts)
    if not is_there(path):
        return
    with io.TextIOWrapper(open_input(path), "utf-8", newline="\n") as lines:
        changes = [parse_line(line) for line in itertools.islice(lines, 1, SHOWN + 1)]
    rows = [
        (one.title or one.id, one.fate, *(_bytes(size) for size in (one.old_bytes, one.new_bytes)))
        for one in changes
    ]
    total = documents["total"]
    differing = total["added"] + total["removed"] + total["changed"] + total["moved_in"]
    title = f"{documents['unit'].capitalize()} that differ, {len(rows):,} of {differing:,}"
    yield Table(("title", "change", "bytes before", "bytes now"), rows, title)


def _bytes(size: int | None) -> str:
    return "–" if size is None else f"{size:,}"


def _report_of(facts: Facts) -> str:
    """Returns the path of the list of changes that `corpusmill compare` writes beside an edition."""
    build = facts.build
    parent = normalise(build.folder).rpartition("/")[0]
    name = report_of(name_of(build.dump_date, build.manifest["version"]))
    return str(FileSystems.join(parent, name))


def _fates(documents: Mapping[str, Any]) -> Figure:
    total = documents["total"]
    colours = {UNCHANGED: QUIET, REWRITTEN: ACCENT, ADDED: ACCENT, REMOVED: REJECTED}
    rows = [
        Bar(fate, n, f"{n:,} · {share(n, total['old'])}", colour=colour)
        for fate, colour in colours.items()
        if (n := total[fate])
    ]
    moved = total["moved_in"]
    note = "Shares are of the older edition."
    if moved:
        note += f" {moved:,} are in another split than before."
    return Figure(
        f"{documents['unit'].capitalize()} compared with the older edition", bars(rows), note
    )


def _counts(before: Facts, facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    """Yields rows (name, old count, new count, change): documents per split, words, and rejected records."""
    pairs: dict[str, tuple[int, int]] = {}
    for split in {**before.kept, **facts.kept}:
        pairs[f"{facts.unit} of {split}"] = before.kept.get(split, 0), facts.kept.get(split, 0)
    words = [one.stats.get("total", {}).get("words") for one in (before, facts)]
    if None not in words:
        pairs["words"] = words[0], words[1]
    balances = [balance_of(one) for one in (before, facts)]
    if all(balances):
        read = [one.read for one in balances if one]
        pairs[f"{balances[0].unit} read"] = read[0], read[1]  # type: ignore[union-attr]
        old, new = ({fate.name: fate.records for fate in one.left_out} for one in balances if one)
        for name in sorted({**old, **new}):
            pairs[name] = old.get(name, 0), new.get(name, 0)
    for name, (was, now) in pairs.items():
        yield name, f"{was:,}", f"{now:,}", f"{now - was:+,}" if now != was else "–"


def overview(builds: Sequence[Facts], anchors: Sequence[str]) -> list[Answer]:
    """Returns the overview of the report, which lists all builds and compares them with each other.

    Args:
      anchors: The HTML id of each build's section, for links to it.
    """
    answers = [_all_builds(builds, anchors), _all_kept(builds), *_all_papers(builds)]
    return [one for one in (*answers, *_all_editions(builds)) if one]


def _all_builds(builds: Sequence[Facts], anchors: Sequence[str]) -> Answer:
    rows = []
    for facts, anchor in zip(builds, anchors, strict=True):
        build = facts.build
        balance = balance_of(facts)
        words = facts.stats.get("total", {}).get("words")
        rows.append(
            (
                Link(f"{build.corpus} {build.edition}", anchor),
                build.label,
                f"{facts.total:,} {facts.unit}" if facts.kept else "–",
                f"{words:,}" if words else "–",
                share(balance.kept, balance.read) if balance else "–",
            )
        )
    corpora = {facts.build.corpus for facts in builds}
    return Answer(
        IS_IT,
        f"{len(builds):,} builds of {len(corpora):,} corpora. Each name is a link to the page of the build.",
        tables=[Table(("build", "edition", "documents", "words", "share kept"), rows)],
    )


def _all_kept(builds: Sequence[Facts]) -> Answer | None:
    rows, reasons = [], []
    for facts in builds:
        if (balance := balance_of(facts)) and balance.read:
            text = share(balance.kept, balance.read)
            name = f"{facts.build.corpus} {facts.build.name}"
            rows.append(Bar(name, balance.kept / balance.read, text, behind=1))
            most = (
                f"{one.name} {share(one.records, balance.read)}" for one in balance.left_out[:3]
            )
            reasons.append((name, ", ".join(most)))
    if not rows:
        return None
    return Answer(
        THROWN_AWAY,
        "The share of the input that each build keeps, and the most frequent reasons for the rest.",
        [Figure("Share of the input that is kept", bars(rows[:SHOWN], 1))],
        [Table(("build", "most frequent reasons"), reasons)],
    )


def _all_papers(builds: Sequence[Facts]) -> Iterator[Answer]:
    """Yields charts that compare builds of Wiki-40B with the paper. Each point is the newest build of a
    language.

    One chart has the numbers of articles, the other the average numbers of characters in a SentencePiece
    piece.
    """
    found = (read_sizes(facts.build.folder) for facts in builds if facts.kept and facts.stats)
    newest = newest_of_each_language([one for one in found if isinstance(one, BuildSizes)])
    if len(newest) < 2:
        return
    articles = [(one, one.articles, one.paper_articles) for one in newest if one.articles]
    note = (
        "Each point is a language; its tooltip says what differs from the paper. On the broken line, both"
        " numbers are the same."
    )
    if articles:
        scales = f"{note} Both scales are logarithmic."
        yield Answer(
            AS_LARGE,
            f"{sum(one.articles for one in newest):,} articles of {len(newest)} languages here,"
            f" {sum(one.paper_articles for one in newest):,} in the paper.",
            [_against_paper("Articles of Wiki-40B", "articles here", articles, scales, log=True)],
        )
    pieces = [
        (one, round(one.characters_per_piece, 3), one.paper_characters_per_piece)
        for one in newest
        if one.characters_per_piece
    ]
    if len(pieces) > 1:
        yield Answer(
            VOCABULARY,
            f"Characters per piece of {len(pieces)} languages, of validation and test together.",
            [_against_paper("Characters per piece of Wiki-40B", "here", pieces, note, log=False)],
        )


def _against_paper(
    title: str, ours: str, found: Iterable[tuple[BuildSizes, float, float]], note: str, *, log: bool
) -> Figure:
    """Returns a chart of tuples (build, number here, number in the paper). `ours` names the second."""
    rows = [
        {
            "language": one.language,
            ours: here,
            "in the paper": paper,
            "what differs": one.differs or "nothing",
        }
        for one, here, paper in found
    ]
    spec = points(rows, "in the paper", ours, [*rows[0]], label="language", log=log)
    return Figure(title, spec, note)


def _all_editions(builds: Sequence[Facts]) -> Iterator[Answer]:
    """Yields one answer, with a chart for each corpus that has several builds of the same edition.

    The chart has the number of documents in each of these builds. If there is no such corpus, yields nothing.
    Only builds in the report are considered.
    """
    several = {
        name: of
        for name, of in editions_of([one for one in builds if one.kept]).items()
        if len(of) > 1
    }
    if not several:
        return
    figures = []
    for corpus in dict.fromkeys(corpus for corpus, _ in several):
        unit = next(of[0].unit for (name, _), of in several.items() if name == corpus)
        rows = [
            {"edition": one.build.label, unit: one.total, "of": edition}
            for (name, edition), of in several.items()
            if name == corpus
            for one in of
        ]
        title = f"{unit.capitalize()} of {corpus} by edition"
        figures.append(Figure(title, over_time(rows, "edition", unit, "of")))
    steps = []
    for (corpus, edition), of in several.items():
        for old, new in pairwise(of):
            change = f"{new.total - old.total:+,}"
            between = f"{old.build.name} → {new.build.name}"
            steps.append((f"{corpus} {edition}", between, f"{new.total:,}", change))
    table = Table(("", "editions", "documents", "change"), steps)
    names = ", ".join(f"{corpus} {edition}" for corpus, edition in itertools.islice(several, 3))
    names += f" and {len(several) - 3:,} others" if len(several) > 3 else ""
    yield Answer(CHANGED, f"Several editions of {names} are in this report.", figures, [table])
