"""Finished builds → the report with pictures."""

from collections.abc import Iterator, Sequence

from pipelines.corpora import rows
from pipelines.inspect.html_report.answers import (
    MISSED,
    TEXT,
    Answer,
    as_large_as_the_paper,
    what_it_is,
    what_was_thrown_away,
)
from pipelines.inspect.html_report.changes import editions_of, overview, what_changed
from pipelines.inspect.html_report.choices import Document, choose_documents, choose_rejected
from pipelines.inspect.html_report.facts import Facts, balance_of, read_facts
from pipelines.inspect.html_report.holes import where_it_has_holes
from pipelines.inspect.html_report.lengths import lengths
from pipelines.inspect.html_report.subjects import what_it_is_about
from pipelines.inspect.html_report.vocabulary_fit import does_the_vocabulary_fit
from pipelines.inspect.html_report.write_page import Page, render
from transforms.builds.finished_builds import age_of, find_folders, open_build
from transforms.records import Rejected


def make_report(folders: Sequence[str]) -> str:
    """The HTML page of all finished builds in the folders and below.

    Raises InputError for a folder without one, and for a damaged build.
    """
    found = find_folders(folders)
    builds = sorted(
        map(open_build, found.finished), key=lambda one: (one.corpus, one.edition, age_of(one))
    )
    all_facts = list(map(read_facts, builds))
    pages = [_page(facts, before) for before, facts in _with_older(all_facts)]
    if len(pages) > 1:
        answers = overview(all_facts, [page.anchor for page in pages])
        pages.insert(0, Page("all-builds", f"{len(builds):,} builds", answers))
    return render(pages)


def _with_older(all_facts: Sequence[Facts]) -> Iterator[tuple[Facts | None, Facts]]:
    """(the edition before, or None; the build)."""
    for of_edition in editions_of(all_facts).values():
        yield from zip([None, *of_edition], of_edition, strict=False)


def _page(facts: Facts, before: Facts | None) -> Page:
    build = facts.build
    row = rows().get(build.corpus)
    documents = choose_documents(facts, row.shape) if row and row.shape else []
    rejected = choose_rejected(facts)
    return Page(
        anchor=f"{build.corpus}-{build.edition}-{build.dump_date}-{build.manifest['version']}",
        title=f"{build.corpus} {build.name}",
        answers=answers_of(facts, before, documents, rejected),
        documents=documents,
        rejected=rejected,
    )


def answers_of(
    facts: Facts, before: Facts | None, documents: Sequence[Document], rejected: Sequence[Rejected]
) -> list[Answer]:
    """The answers about a build, in the order of the questions; some builds cannot answer all.

    Args:
      before: the edition before it, None for none.
      documents, rejected: those that are shown.
    """
    answers = (
        what_it_is(facts),
        what_was_thrown_away(facts, rejected),
        as_large_as_the_paper(facts),
        lengths(facts),
        _text(facts, len(documents)),
        _missed(facts, len(rejected)),
        what_it_is_about(facts),
        where_it_has_holes(facts),
        does_the_vocabulary_fit(facts),
        what_changed(before, facts),
    )
    return [answer for answer in answers if answer]


def _text(facts: Facts, shown: int) -> Answer | None:
    if not shown:
        return None
    return Answer(TEXT, f"{shown} of {facts.total:,} {facts.unit}, chosen by a hash.")


def _missed(facts: Facts, shown: int) -> Answer | None:
    total = facts.counts.get("rejected", {}).get("total", 0)
    if not shown:
        balance = balance_of(facts)
        fates = balance.left_out if balance else []
        others = [f"{fate.records:,} are {fate.name}" for fate in fates]
        listed = f" {'; '.join(others)}, which are not listed." if others else ""
        return Answer(MISSED, f"No record was rejected.{listed}") if facts.kept else None
    some = "All" if shown == total else f"{shown:,}, some of each reason, of all"
    return Answer(
        MISSED,
        f"{some} {total:,} rejected records are here to search. The Parquet files in rejected/ have all.",
    )
