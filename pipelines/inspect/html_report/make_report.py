"""Finished builds → the report with pictures."""

from collections.abc import Sequence

from pipelines.corpora import rows
from pipelines.inspect.html_report.answers import (
    MISSED,
    TEXT,
    Answer,
    as_large_as_the_paper,
    lengths,
    what_it_is,
    what_was_thrown_away,
)
from pipelines.inspect.html_report.choices import choose_documents, choose_rejected
from pipelines.inspect.html_report.facts import Facts, read_facts
from pipelines.inspect.html_report.write_page import Page, render
from transforms.builds.finished_builds import age_of, find_folders, open_build


def make_report(folders: Sequence[str]) -> str:
    """The HTML page of all finished builds in the folders and below.

    Raises InputError for a folder without one, and for a damaged build.
    """
    found = find_folders(folders)
    builds = sorted(
        map(open_build, found.finished), key=lambda one: (one.corpus, one.edition, age_of(one))
    )
    return render([_page(read_facts(build)) for build in builds])


def _page(facts: Facts) -> Page:
    build = facts.build
    row = rows().get(build.corpus)
    documents = choose_documents(facts, row.shape) if row and row.shape else []
    rejected = choose_rejected(facts)
    answers = [
        what_it_is(facts),
        what_was_thrown_away(facts),
        as_large_as_the_paper(facts),
        lengths(facts),
        _text(facts, len(documents)),
        _missed(facts, len(rejected)),
    ]
    return Page(
        anchor=f"{build.corpus}-{build.edition}-{build.dump_date}-{build.manifest['version']}",
        title=f"{build.corpus} {build.name}",
        answers=[answer for answer in answers if answer],
        documents=documents,
        rejected=rejected,
    )


def _text(facts: Facts, shown: int) -> Answer | None:
    if not shown:
        return None
    return Answer(TEXT, f"{shown} of {facts.total:,} {facts.unit}, chosen by a hash.")


def _missed(facts: Facts, shown: int) -> Answer | None:
    total = facts.counts.get("rejected", {}).get("total", 0)
    if not shown:
        return None
    some = "All" if shown == total else f"{shown:,}, some of each reason, of all"
    return Answer(
        MISSED,
        f"{some} {total:,} rejected records are here to search. The Parquet files in rejected/ have all.",
    )
