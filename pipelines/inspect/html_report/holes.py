"""Answers the eighth question of the HTML report: where the text of a build has holes.

Holes are places where words are missing.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from corpusmill.pipelines.inspect.html_report.answers import HOLES, Answer, Table
from corpusmill.pipelines.inspect.html_report.drawings import QUIET, REJECTED, Bar, Figure, bars
from corpusmill.pipelines.inspect.html_report.facts import Facts
from corpusmill.pipelines.inspect.html_report.text_of_numbers import count, share
from corpusmill.transforms.files.builds.finished_builds import read_json
from corpusmill.transforms.wikipedia.list_unrendered import NAME as UNRENDERED
from corpusmill.transforms.wikitext.audit.findings import CLASSES, MARK, NO_HOLES

SHOWN = 20
_AUDIT, _FINDINGS = "audit/summary.json", "audit/findings.tsv"


def where_it_has_holes(facts: Facts) -> Answer | None:
    """Returns the answer about holes: the places where the text of a build lacks words, and the reasons.

    The reasons are unknown templates, errors of cleaning, and input that could not be read.

    Returns None if the build has no documents.
    """
    if not facts.kept:
        return None
    parts = [*_templates(facts), *_audit(facts), *_characters(facts), _lost(facts)]
    sentences, figures, tables = zip(*parts, strict=True)
    return Answer(
        HOLES,
        " ".join(sentences),
        [figure for of_part in figures for figure in of_part],
        [table for of_part in tables for table in of_part],
    )


_Part = tuple[str, list[Figure], list[Table]]


def _templates(facts: Facts) -> Iterator[_Part]:
    """Yields a chart of the unknown templates that occur most often in running text.

    A template is unknown if no table of templates defines its text. The chart has the number of uses of each
    template, and the cumulative share: the uses of this template and of all templates above it, as a share of
    all uses of unknown templates.
    """
    if UNRENDERED not in facts.names_of(UNRENDERED, ""):
        return
    drawn: list[Bar] = []
    rows = []
    uses = templates = 0
    most = list(facts.read_table(UNRENDERED))
    total = sum(int(row["uses"]) for row in most)
    for row in most:
        templates += 1
        uses += int(row["uses"])
        if templates <= SHOWN:
            text = f"{int(row['uses']):,} · together {share(uses, total)}"
            drawn.append(Bar(row["template"], int(row["uses"]), text, colour=REJECTED))
            cells = [row[name] for name in ("template", "uses", "articles", "left")]
            rows.append((*cells, row["for example in"]))
    if not templates:
        yield "All templates in running text are known.", [], []
        return
    yield (
        f"Unknown templates in running text: {count(templates, 'template')} with {count(total, 'use')}."
        " Their text was guessed, or is missing.",
        [
            Figure(
                "Uses of unknown templates",
                bars(drawn),
                "“Together” adds up the shares of all uses, from the first template to this one."
                f" {UNRENDERED} lists unknown templates.",
            )
        ],
        [
            Table(
                ("unknown template", "uses", "articles", "left in the text", "for example in"), rows
            )
        ],
    )


def _audit(facts: Facts) -> Iterator[_Part]:
    """Yields the results of the audit of a build.

    The audit compares the text with the output of another parser, to find places where words are missing. The
    results are a chart of the number of such places by class, a table of the templates that cause most of
    them, and a table of the first places.
    """
    if _AUDIT not in facts.names_of(_AUDIT, ""):
        if facts.build.corpus == "wiki40b":
            yield "No page was audited: wiki40b --audit 100 looks for holes in 100 pages.", [], []
        return
    found: dict[str, Any] = read_json(facts.build.folder, _AUDIT)
    holes = {name: of["count"] for name, of in found["holes"].items() if name != "all"}
    drawn = [
        Bar(
            CLASSES.get(name, name),
            count,
            f"{count:,}",
            colour=QUIET if name in NO_HOLES else REJECTED,
        )
        for name, count in sorted(holes.items(), key=lambda one: (-one[1], one[0]))
        if count
    ]
    note = "Grey: listed, but not counted as holes, since only whole sentences, or no prose, are missing."
    words = found["words"]
    everything = found["holes"]["all"]
    sentence = (
        f"An audit compared the text of {found['pages']['audited']:,} pages, kept or not, with their"
        " wikitext. It"
        f" found {everything['count']:,} holes, {everything['per_1000_paragraphs']:g} in 1,000 paragraphs;"
        f" {share(words['in_text'], words['in_source'])} of the words in the wikitext of these pages are"
        " in the text."
    )
    title = "Findings of the audit"
    rows = [
        (one["template"], f"{one['holes']:,}", one["for_example_in"])
        for one in found["templates"][:SHOWN]
    ]
    tables = [
        Table(("template or tag (if any) at holes of the audit", "holes", "for example in"), rows)
    ]
    if _FINDINGS in facts.names_of(_FINDINGS, ""):
        listed = [
            (CLASSES.get(row["class"], row["class"]), row["title"], row["source"], row["text"])
            for row in itertools.islice(facts.read_table(_FINDINGS), SHOWN)
        ]
        of_all = f"Findings, {len(listed):,} of {sum(holes.values()):,}"
        title_ = f"{of_all}; {MARK} is where something is missing or wrong"
        tables.append(Table(("finding", "article", "in the source", "in the text"), listed, title_))
    yield sentence, [Figure(title, bars(drawn), note)] if drawn else [], tables


def _characters(facts: Facts) -> Iterator[_Part]:
    replaced = facts.counts.get("replaced_characters")
    if replaced is not None:
        number = sum(replaced.values())
        what = f"{number:,} invalid characters were" if number else "No invalid character was"
        yield f"{what} replaced.", [], []


def _lost(facts: Facts) -> _Part:
    """Returns a sentence and a table about input that could not be read."""
    lost = facts.build.manifest.get("lost", [])
    if not lost:
        return "No input was lost: all of the input files could be read.", [], []
    rows = [(one["name"], one["message"]) for one in lost[:SHOWN]]
    return f"Input was lost at {count(len(lost), 'place')}.", [], [Table(("lost in", "why"), rows)]
