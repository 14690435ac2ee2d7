"""Makes an HTML report with charts about finished builds.

Writes the answers about builds as one self-contained HTML file.
"""

import functools
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    age_of,
    find_finished,
    open_build,
)
from corpusmill.transforms.files.markup import escape, make_head
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Rejected

from ...run.corpora import rows
from ..build_facts import (
    Document,
    Facts,
    address_of,
    balance_of,
    choose_documents,
    choose_rejected,
    read_facts,
)
from ..build_sizes import counts_are_read
from .answers import (
    MEANINGS,
    MISSED,
    QUESTIONS,
    TEXT,
    Answer,
    as_large_as_the_paper,
    what_it_is,
    what_was_thrown_away,
)
from .changes import editions_of, overview, what_changed
from .lengths_and_holes import lengths, where_it_has_holes
from .subjects import does_the_vocabulary_fit, what_it_is_about

SHOWN = 3_000  # characters of a document that are shown
BEGINNING = 72  # characters shown as the title of an untitled document
DETAIL_SHOWN = 300
_NUMBER = re.compile(r"[-+]?\d{1,3}(,\d{3})*(\.\d+)?([ \u00a0][%×]| [kMGT]?B| bytes)?|–")


class Page(NamedTuple):
    """A section of the report: the answers about one build, or about all builds."""

    anchor: str
    title: str
    answers: Sequence[Answer]
    documents: Sequence[Document] = ()
    rejected: Sequence[Rejected] = ()
    address: Callable[[str, str], str] = lambda *_: (
        ""
    )  # of the source of an id and title, see `address_of`


def render(pages: Sequence[Page]) -> str:
    """Returns the HTML report that consists of the given sections.

    The same sections always give the same bytes.
    """
    environment = jinja2.Environment(
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else Markup(escape(value)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "shown": lambda text: shorten(text.strip(), SHOWN),
        "shortened": lambda text: shorten(text, DETAIL_SHOWN),
        "beginning": lambda text: textwrap.shorten(text, BEGINNING, placeholder=" …"),
        "is_number": lambda cell: isinstance(cell, str) and bool(_NUMBER.fullmatch(cell)),
    }
    script = _read("page.js")
    return environment.from_string(_read("page.html.j2")).render(
        head=Markup(make_head("corpusmill report", [script])),
        pages=pages,
        questions=QUESTIONS,
        meanings=MEANINGS,
        script=Markup(script),
    )


def shorten(text: str, most: int) -> str:
    """Returns the text, truncated to `most` characters. A note at the end says how many characters were left
    out.
    """
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def make_report(folders: Sequence[str]) -> str:
    """Returns an HTML page about all finished builds in `folders` and their subfolders.

    Raises InputError for a folder without builds, and for a damaged build.
    """
    builds = sorted(
        # The output of a search is not a build of a corpus and has no edition.
        (build for build in map(open_build, find_finished(folders)) if build.edition),
        key=lambda one: (one.corpus, one.edition, age_of(one)),
    )
    if not builds:
        raise InputError(
            ", ".join(folders), "no finished build of a corpus in this folder or below"
        )
    return render(make_pages(builds))


def make_pages(builds: Sequence[Build]) -> list[Page]:
    """Returns the sections of the report about the given builds. If there are several, the first section
    compares them.
    """
    all_facts = list(map(read_facts, builds))
    names: Counter[str] = Counter()
    pages = []
    for before, facts in with_older(all_facts):
        with counts_are_read(facts.build.folder):
            pages.append(make_page(facts, before, _anchor(facts, names)))
    if len(pages) > 1:
        answers = overview(all_facts, [page.anchor for page in pages])
        pages.insert(0, Page("all-builds", f"{len(builds):,} builds", answers))
    return pages


def with_older(all_facts: Sequence[Facts]) -> Iterator[tuple[Facts | None, Facts]]:
    """Yields a pair (older build, build) for each build.

    The older build is the previous edition. If there is no previous edition, it is the build from which this
    build was made. If `all_facts` contains neither, it is None.
    """
    by_manifest = {facts.build.sha256: facts for facts in all_facts}
    for of_edition in editions_of(all_facts).values():
        for older, facts in zip([None, *of_edition], of_edition, strict=False):
            made_of = facts.build.manifest.get("made_of", {})
            yield older or by_manifest.get(made_of.get("build_sha256", "")), facts


def _anchor(facts: Facts, names: Counter[str]) -> str:
    """Returns the HTML id of a build's section. It consists of letters, digits, "_", "." and "-", and
    so is the same in an address. If several builds have the same name, "~" and a number are appended.
    """
    build = facts.build
    name = re.sub(r"[^\w.-]", "_", f"{build.corpus}-{build.edition}-{build.label}", flags=re.ASCII)
    names[name] += 1
    return name if names[name] == 1 else f"{name}~{names[name]}"


def make_page(facts: Facts, before: Facts | None, anchor: str = "") -> Page:
    """Returns the section about a build. Questions that do not apply to the build are left out.

    `before` is the previous edition, or None. `anchor` is the HTML id of the section.
    """
    documents, rejected = choose_documents(facts), choose_rejected(facts)
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
    title = f"{facts.build.corpus} {facts.build.name}"
    answered = [answer for answer in answers if answer]
    address = functools.partial(address_of, facts)
    return Page(anchor, title, answered, documents, rejected, address)


def _text(facts: Facts, shown: int) -> Answer | None:
    if not shown:
        return None
    drawn = f"{shown} of {facts.total:,} {facts.unit}, chosen at random, always the same ones."
    return Answer(TEXT, f"{drawn} {rows()[facts.build.corpus].form}".strip())


def _missed(facts: Facts, shown: int) -> Answer | None:
    """Says which of the records that were left out are listed on the page, and what became of the others."""
    if not facts.kept:
        return None
    total = facts.counts.get("rejected", {}).get("total", 0)
    balance = balance_of(facts)
    fates = balance.left_out if balance else []
    unlisted = ", ".join(f"{fate.name} {fate.records:,}" for fate in fates if "/" not in fate.name)
    sentence = "No record was rejected."
    if shown < total:
        sentence = (
            f"{shown:,} of {total:,} rejected records can be searched here, some for each reason. The Parquet"
            " files in rejected/ contain all."
        )
    elif total:
        sentence = (
            f"All {total:,} rejected records can be searched here. A document that is not among them is in"
            " the corpus, or was not in the input: corpusmill inspect, with the folder of this build and"
            " the title or id of the document, says which."
        )
    if unlisted:
        sentence += f" Left out without being listed here: {unlisted}."
    if facts.unit == "books" and total:
        sentence += (
            " The reason other-file-of-book is no decision about a book: another file of it was read,"
            " and is in the corpus, or here with its own reason."
        )
    return Answer(MISSED, sentence)
