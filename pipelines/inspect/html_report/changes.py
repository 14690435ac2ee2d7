"""Answers what has changed since the previous edition, and makes an overview of all builds in the report."""

import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.finished_builds import columns_of, normalise, read_json
from corpusmill.transforms.files.read_files import is_there, open_input
from corpusmill.transforms.files.text import grouped

from ...run.editions import SUMMARY, name_of, report_of
from ..build_facts import Facts, balance_of, files_of_documents, share
from ..build_sizes import read_sizes
from ..edition_changes import ADDED, REMOVED, UNCHANGED, find_differences, parse_line
from ..edition_changes import CHANGED as REWRITTEN
from .answers import (
    AS_LARGE,
    CHANGED,
    IS_IT,
    Answer,
    Figure,
    Link,
    Table,
    scale,
    sizes_beside,
)

SHOWN = 60  # maximum number of documents that differ in a table


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
    documents = read_changes(before, facts)
    gained = facts.total - before.total
    sentence = (
        f"{facts.total:,} {facts.unit}, {before.total:,} in {before.build.name}: {gained:+,}"
        f" ({share(abs(gained), before.total)})."
    )
    if not documents:
        sentence += (
            " Which documents are new, removed or changed is not known yet. To see them here, run corpusmill"
            f" compare {before.build.name} {facts.build.name} --report"
            f" {facts.build.edition}/{_report_of(facts).rpartition('/')[2]} in the folder"
            f" {facts.build.corpus}, and make this report again."
        )
    differences = [
        *find_differences(before.build.manifest, facts.build.manifest),
        *_columns(before, facts),
    ] or ["none: settings and versions are the same"]
    return Answer(
        CHANGED,
        sentence,
        [_fates(documents)] if documents else [],
        [
            Table(("", before.build.name, facts.build.name, "change"), [*_counts(before, facts)]),
            Table(("other differences",), [(one,) for one in differences]),
            *(_listed(facts, documents) if documents else ()),
        ],
    )


def _columns(before: Facts, facts: Facts) -> Iterator[str]:
    """Yields a sentence about the columns that only one of two builds has, if there are any."""
    files = [files_of_documents(one) for one in (before, facts)]
    if all(files):
        old, new = (columns_of(of[0].path) for of in files)
        for what, names, others in (("new", new, old), ("removed", old, new)):
            if only := [name for name in names if name not in others]:
                yield f"{what} columns: {', '.join(only)}"


def read_changes(before: Facts, facts: Facts) -> Mapping[str, Any] | None:
    """Returns the counts that `corpusmill compare` wrote beside a build; None if there are none of the two
    builds.
    """
    folder, _, name = _report_of(facts).rpartition("/")
    if not is_there(_report_of(facts) + SUMMARY):
        return None
    found: Mapping[str, Any] = read_json(folder, name + SUMMARY)
    signatures = before.build.signature, facts.build.signature
    return found if (found.get("old"), found.get("new")) == signatures else None


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
    sizes = ([one.old_bytes, one.new_bytes] for one in changes)
    rows = [
        (one.title or one.id, one.fate, *("–" if size is None else f"{size:,}" for size in of))
        for one, of in zip(changes, sizes, strict=True)
    ]
    total = documents["total"]
    differing = total["added"] + total["removed"] + total["changed"] + total["moved_in"]
    title = f"{documents['unit'].capitalize()} that differ, {len(rows):,} of {differing:,}"
    yield Table(("title", "change", "bytes before", "bytes now"), rows, title)


def _report_of(facts: Facts) -> str:
    """Returns the path of the list of changes that `corpusmill compare` writes beside an edition."""
    build = facts.build
    parent = normalise(build.folder).rpartition("/")[0]
    name = report_of(name_of(build.dump_date, build.manifest["version"]))
    return str(FileSystems.join(parent, name))


def _fates(documents: Mapping[str, Any]) -> Figure:
    total = documents["total"]
    rows = [
        (fate, n, f"{n:,} · {share(n, total['old'])}")
        for fate in (UNCHANGED, REWRITTEN, ADDED, REMOVED)
        if (n := total[fate])
    ]
    note = "Shares are of the older edition."
    if moved := total["moved_in"]:
        note += f" {moved:,} are in another split than before."
    title = f"{documents['unit'].capitalize()} compared with the older edition"
    return Figure(title, scale(rows), note)


def _counts(before: Facts, facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    """Yields rows (name, old count, new count, change): documents per split, words, and rejected records.

    Counts that only one of the builds has are left out.
    """
    for part in (_of_splits, _of_words, _of_records):
        old, new = part(before), part(facts)
        for name in {**old, **new} if old and new else ():
            was, now = old.get(name, 0), new.get(name, 0)
            yield name, f"{was:,}", f"{now:,}", f"{now - was:+,}" if now != was else "–"


def _of_splits(facts: Facts) -> dict[str, int]:
    return {f"{facts.unit} of {split}": count for split, count in facts.kept.items()}


def _of_words(facts: Facts) -> dict[str, int]:
    return {} if facts.words is None else {"words": facts.words}


def _of_records(facts: Facts) -> dict[str, int]:
    balance = balance_of(facts)
    return (
        {f"{balance.unit} read": balance.read, **dict(sorted(balance.left_out))} if balance else {}
    )


def overview(builds: Sequence[Facts], anchors: Sequence[str]) -> list[Answer]:
    """Returns the overview of the report, which lists all builds and compares them with each other.

    Args:
      anchors: The HTML id of each build's section, for links to it.
    """
    return [_all_builds(builds, anchors), *_all_sizes(builds), *_all_editions(builds)]


def _all_builds(builds: Sequence[Facts], anchors: Sequence[str]) -> Answer:
    rows = []
    for facts, anchor in zip(builds, anchors, strict=True):
        build, balance = facts.build, balance_of(facts)
        most = balance.left_out[:3] if balance else []
        rows.append(
            (
                Link(f"{build.corpus} {build.edition}", anchor),
                build.label,
                f"{facts.total:,} {facts.unit}" if facts.kept else "–",
                f"{facts.words:,}" if facts.words else "–",
                balance.share_kept if balance else "–",
                ", ".join(f"{one.name} {one.records:,}" for one in most),
            )
        )
    corpora = {facts.build.corpus for facts in builds}
    sentence = f"{len(builds):,} builds of {len(corpora):,} corpora. Each name is a link to the build's page."
    head = ("build", "edition", "documents", "words", "share kept", "most frequently left out")
    return Answer(IS_IT, sentence, tables=[Table(head, rows)])


def _all_sizes(builds: Sequence[Facts]) -> Iterator[Answer]:
    """Yields a table of the number of documents in all builds, with those of the papers."""
    rows = []
    for facts in builds:
        if sizes := read_sizes(facts.build.folder) if facts.stats else None:
            named = f"{facts.build.corpus} {facts.build.name}"
            for name, ours, paper in sizes_beside(facts, sizes)[:1]:
                counts = f"{ours:,}", f"{paper:,}", share(ours, paper)
                rows.append((named, name, *counts, sizes.differs or "–"))
    if rows:
        head = ("build", "", "here", "in the paper", "share", "what differs")
        yield Answer(
            AS_LARGE, "The builds and the corpora of the papers.", tables=[Table(head, rows)]
        )


def _all_editions(builds: Sequence[Facts]) -> Iterator[Answer]:
    """Yields one answer, with the number of documents in each build of an edition of which there are several.

    If there is no such edition, yields nothing. Only builds in the report are considered.
    """
    several = editions_of([one for one in builds if one.kept])
    rows = [
        (f"{corpus} {edition}", f"{old.build.name} → {new.build.name}", f"{new.total:,}", change)
        for (corpus, edition), of in several.items()
        for old, new in pairwise(of)
        if (change := f"{new.total - old.total:+,}")
    ]
    if rows:
        sentence = (
            "Several builds of some editions are in this report, from the oldest to the newest."
        )
        table = Table(("", "builds", "documents", "change"), rows)
        yield Answer(CHANGED, sentence, tables=[table])
