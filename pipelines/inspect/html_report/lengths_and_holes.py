"""Answers the fourth question of the HTML report: how long the documents are.

The answer is made from the histograms in stats.json.

Answers the eighth question of the HTML report: where the text of a build has holes.

Holes are places where words are missing.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.builds.finished_builds import read_json
from corpusmill.transforms.files.terminal import count_of
from corpusmill.transforms.wikipedia.audit_pages import UNRENDERED_FILE
from corpusmill.transforms.wikitext.audit.holes import CLASSES, MARK, NO_HOLES

from ..build_facts import Facts, share
from .answers import HOLES, LENGTHS, Answer, Table
from .drawings import QUIET, REJECTED, Bar, Bin, Figure, bars, histogram, steps

BEFORE, AFTER = "before deduplication", "after deduplication"
_OF_DOCUMENTS = {
    "articles_by_characters": ("characters", "articles"),
    "books_by_words": ("words", "books"),
    "paragraphs_by_words": ("words", "paragraphs"),
}
"""Name of a histogram in stats.json → (measure, counted things)."""

_OF_SENTENCES = "sentences_by_words"


class LengthClass(NamedTuple):
    """The number of documents whose length is in one range."""

    name: str  # such as "16-23", "20" or ">100"
    low: int
    high: int | None  # None for the last class, which has no end
    number: int


def lengths(facts: Facts) -> Answer | None:
    """Returns the answer to the question how long the documents are: histograms, medians and means.

    Returns None if the lengths are unknown.
    """
    sentences: list[str] = []
    figures: list[Figure] = []
    for name, (measure, unit) in _OF_DOCUMENTS.items():
        of_splits = {split: _classes(facts.stats[split][name]) for split in _whole(facts, name)}
        if of_splits:
            sentences.append(_middle(_classes(facts.stats["total"][name]), unit, measure))
            figures.append(_drawn(of_splits, measure, unit))
    if drawn := _sentences(facts):
        sentences.append(_middle(drawn[1], "sentences", "words"))
        figures.append(drawn[0])
    if articles := facts.stats.get("articles_by_sentences"):
        bins = [
            Bin(one.low, one.low + 1, one.number, f"{one.name} sentences")
            for one in _classes(articles)
        ]
        title = "Articles by the number of sentences taken from them"
        figures.append(Figure(title, histogram(bins, "sentences of an article", "articles")))
    table = _means(facts)
    if not (sentences or table):
        return None
    words = facts.stats.get("total", {}).get("words", 0)
    sentence = " ".join(sentences) or f"{words / facts.total:,.0f} words on average."
    return Answer(LENGTHS, sentence, figures, [table] if table else [])


def _whole(facts: Facts, name: str) -> list[str]:
    """Returns the splits that have the histogram `name` and are not part of another split."""
    # train_2 is a part of train
    return [one for one in facts.kept if name in facts.stats.get(one, {}) and one != "train_2"]


def _classes(histogram_: Mapping[str, int]) -> list[LengthClass]:
    classes = []
    for name, count in histogram_.items():
        low, _, high = name.lstrip(">").partition("-")
        least, most = (int(low) + 1, None) if name.startswith(">") else (int(low), int(high or low))
        classes.append(LengthClass(name, least, most, count))
    return classes


def _middle(classes: Sequence[LengthClass], unit: str, measure: str) -> str:
    total = sum(one.number for one in classes)
    middle = middle_of(classes)
    where = f"in the range {middle}" if " to " in middle else middle
    return f"The median length of {total:,} {unit} is {where} {measure}."


def middle_of(classes: Sequence[LengthClass]) -> str:
    """Returns the length class that contains the median, such as "16 to 23".

    If the number of documents is even, the median is the lower of the two in the middle. There must be at
    least one document.
    """
    total = sum(one.number for one in classes)
    places = itertools.accumulate(one.number for one in classes)
    middle = next(one for one, place in zip(classes, places, strict=True) if 2 * place >= total)
    return _range(middle)


def _range(one: LengthClass) -> str:
    if one.high is None:
        return f"more than {one.low - 1:,}"
    return f"{one.low:,}" if one.low == one.high else f"{one.low:,} to {one.high:,}"


def _drawn(of_splits: Mapping[str, Sequence[LengthClass]], measure: str, unit: str) -> Figure:
    bins = [
        Bin(max(one.low, 0.5), (one.high or one.low) + 1, one.number, _range(one), split)
        for split, classes in of_splits.items()
        for one in classes
    ]
    title = f"{unit.capitalize()} by {measure}"
    note = "The scale is logarithmic: from each column to the second next, the length doubles."
    return Figure(title, histogram(bins, measure, unit, log=True), note)


def _sentences(facts: Facts) -> tuple[Figure, list[LengthClass]] | None:
    """Returns a chart of sentence lengths, and the length classes of the deduplicated sentences.

    If lengths before deduplication are known, the chart displays both. Returns None if no lengths are known.
    """
    stats = facts.stats
    found = {
        BEFORE: stats.get("before_deduplication", {}).get(_OF_SENTENCES),
        AFTER: stats.get("total", {}).get(_OF_SENTENCES) or stats.get(_OF_SENTENCES),
    }
    if not (groups := {name: _classes(one) for name, one in found.items() if one}):
        return None
    if len(groups) == 1:
        groups = {"sentences": groups[AFTER]}
    last = list(groups.values())[-1]
    rows = [row for group, classes in groups.items() for row in _shares(group, classes)]
    spec = steps(rows, "words", "share of sentences", "when", list(groups))
    longest = sum(one.number for one in last if one.high is None)
    note = "Above 20 words, each point is the mean of five lengths."
    if BEFORE in groups:
        note += (
            " Before deduplication, words of raw lines are counted. After it, words of tokenised text are"
            " counted, in which a punctuation mark is a word. This alone moves the curve to the right."
        )
    if longest:
        note += f" {longest:,} sentences of more than 100 words are not drawn."
    return Figure("Sentences by words", spec, note), last


def _shares(group: str, classes: Sequence[LengthClass]) -> Iterator[dict[str, float | str]]:
    total = sum(one.number for one in classes) or 1
    last = max((one.low for one in classes if one.number), default=0)
    for one in classes:
        if one.high is not None and one.low <= last:
            share = one.number / (one.high - one.low + 1) / total
            middle = (one.low + one.high) / 2
            yield {"words": middle, "share of sentences": round(share, 6), "when": group}


def _means(facts: Facts) -> Table | None:
    counted = [
        (split, documents, facts.stats[split]["words"])
        for split, documents in facts.kept.items()
        if documents and "words" in facts.stats.get(split, {})
    ]
    if not counted:
        return None
    rows = [(s, f"{d:,}", f"{w:,}", f"{w / d:,.1f}") for s, d, w in counted]
    return Table(("split", facts.unit, "words", f"words in each of the {facts.unit} (mean)"), rows)


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
    if UNRENDERED_FILE not in facts.names_of(UNRENDERED_FILE, ""):
        return
    if not (templates := list(facts.read_table(UNRENDERED_FILE))):
        yield "All templates in running text are known.", [], []
        return
    drawn: list[Bar] = []
    together, total = 0, sum(int(row["uses"]) for row in templates)
    for row in templates[:SHOWN]:
        uses = int(row["uses"])
        together += uses
        text = f"{uses:,} · together {share(together, total)}"
        drawn.append(Bar(row["template"], uses, text, colour=REJECTED))
    names = ("template", "uses", "articles", "left", "for example in")
    rows = [[row[name] for name in names] for row in templates[:SHOWN]]
    yield (
        f"Unknown templates in running text: {count_of(len(templates), 'template')} with"
        f" {count_of(total, 'use')}."
        " Their text was guessed, or is missing.",
        [
            Figure(
                "Uses of unknown templates",
                bars(drawn),
                "“Together” adds up the shares of all uses, from the first template to this one."
                f" {UNRENDERED_FILE} lists unknown templates.",
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
    if (replaced := facts.counts.get("replaced_characters")) is not None:
        number = sum(replaced.values())
        what = f"{number:,} invalid characters were" if number else "No invalid character was"
        yield f"{what} replaced.", [], []


def _lost(facts: Facts) -> _Part:
    """Returns a sentence and a table about input that could not be read."""
    if not (lost := facts.build.manifest.get("lost", [])):
        return "No input was lost: all of the input files could be read.", [], []
    return (
        f"Input was lost at {count_of(len(lost), 'place')}.",
        [],
        [Table(("lost in", "why"), [(one["name"], one["message"]) for one in lost[:SHOWN]])],
    )
