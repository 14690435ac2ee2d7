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
from corpusmill.transforms.files.text import grouped
from corpusmill.transforms.wikipedia.audit_pages import UNRENDERED_FILE
from corpusmill.transforms.wikitext.audit.holes import CLASSES, MARK, NO_HOLES

from ..build_facts import Facts, share
from .answers import HOLES, LENGTHS, REJECTED, Answer, Figure, Table, rank, scale

_OF_DOCUMENTS = {
    "articles_by_characters": ("characters", "articles"),
    "books_by_words": ("words", "books"),
    "paragraphs_by_words": ("words", "paragraphs"),
}
"""Name of a histogram in stats.json → (measure, counted things)."""

_OF_SENTENCES = "sentences_by_words"


class LengthClass(NamedTuple):
    """The number of documents whose length is in one range."""

    low: int
    high: int | None  # None for the last class, which has no end
    number: int

    @property
    def name(self) -> str:
        """The range, such as "16 to 23"."""
        if self.high is None:
            return f"more than {self.low - 1:,}"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"


def lengths(facts: Facts) -> Answer | None:
    """Returns the answer to the question how long the documents are: histograms, medians and means.

    Returns None if the lengths are unknown.
    """
    stats, sentences, figures = facts.stats, [], []
    for name, (measure, unit) in _OF_DOCUMENTS.items():
        if splits := [one for one in facts.kept if name in stats.get(one, {}) and one != "train_2"]:
            of_splits = {split: read_classes(stats[split][name]) for split in splits}
            total = read_classes(stats["total"][name])
            sentences.append(_median(total, unit, measure))
            figures.append(draw(f"{unit.capitalize()} by {measure}", total, of_splits))
    before = stats.get("before_deduplication", {}).get(_OF_SENTENCES)
    after = stats.get("total", {}).get(_OF_SENTENCES) or stats.get(_OF_SENTENCES)
    if after:
        sentences.append(_median(read_classes(after), "sentences", "words"))
    when = {"before deduplication": before, "after deduplication": after} if before else {"": after}
    for name, counts in when.items():
        if counts:
            title = f"Sentences by words {name}".rstrip()
            note = " In tokenised text, a punctuation mark is a word." if before else ""
            figures.append(draw(title, _in_fives(read_classes(counts)))._replace(note=note.strip()))
    if articles := stats.get("articles_by_sentences"):
        title = "Articles by the number of sentences taken from them"
        figures.append(draw(title, read_classes(articles)))
    rows = [
        (split, f"{documents:,}", f"{words:,}", f"{words / documents:,.1f}")
        for split, documents in facts.kept.items()
        if documents and (words := stats.get(split, {}).get("words")) is not None
    ]
    if not (sentences or rows):
        return None
    sentence = " ".join(sentences) or f"{(facts.words or 0) / facts.total:,.0f} words on average."
    head = ("split", facts.unit, "words", f"words in each of the {facts.unit} (mean)")
    return Answer(LENGTHS, sentence, figures, [Table(head, rows)])


def read_classes(histogram: Mapping[str, int]) -> list[LengthClass]:
    """Reads a histogram of stats.json: name of a class, such as "16-23", "20" or ">100" → number."""
    classes = []
    for name, count in histogram.items():
        low, _, high = name.lstrip(">").partition("-")
        least, most = (int(low) + 1, None) if name.startswith(">") else (int(low), int(high or low))
        classes.append(LengthClass(least, most, count))
    return classes


def _in_fives(classes: Sequence[LengthClass]) -> list[LengthClass]:
    """Combines the classes of single lengths: 1 to 5, 6 to 10, and so on."""
    fives = grouped(((one.low - 1) // 5, one) for one in classes).values()
    return [LengthClass(of[0].low, of[-1].high, sum(one.number for one in of)) for of in fives]


def draw(
    title: str,
    total: Sequence[LengthClass],
    of_splits: Mapping[str, Sequence[LengthClass]] = {},
) -> Figure:
    """Returns a chart of length classes. Empty classes are left out.

    Args:
      of_splits: The same classes for each split, to be named beside the total.
    """
    rows = []
    for place, one in enumerate(total):
        splits = [f"{name} {of[place].number:,}" for name, of in of_splits.items() if of[place][2]]
        if one.number:
            text = f"{one.number:,} ({', '.join(splits)})" if splits else f"{one.number:,}"
            rows.append((one.name, one.number, text))
    return Figure(title, scale(rows))


def _median(classes: Sequence[LengthClass], unit: str, measure: str) -> str:
    total, middle = sum(one.number for one in classes), middle_of(classes)
    where = f"in the range {middle}" if " to " in middle else middle
    return f"The median length of {total:,} {unit} is {where} {measure}."


def middle_of(classes: Sequence[LengthClass]) -> str:
    """Returns the name of the length class that contains the median, such as "16 to 23".

    If the number of documents is even, the median is the lower of the two in the middle. There must be at
    least one document.
    """
    total = sum(one.number for one in classes)
    places = itertools.accumulate(one.number for one in classes)
    return next(one for one, end in zip(classes, places, strict=True) if 2 * end >= total).name


SHOWN = 20
_AUDIT, _FINDINGS = "audit/summary.json", "audit/findings.tsv"
_Part = tuple[str, list[Figure], list[Table]]


def where_it_has_holes(facts: Facts) -> Answer | None:
    """Returns the answer about holes: the places where the text of a build lacks words, and the reasons.

    The reasons are unknown templates, errors of cleaning, and input that could not be read.

    Returns None if the build has no documents.
    """
    if not facts.kept:
        return None
    sentences, figures, tables = zip(
        *_templates(facts), *_audit(facts), *_unread(facts), strict=True
    )
    chain = itertools.chain.from_iterable
    return Answer(HOLES, " ".join(sentences), [*chain(figures)], [*chain(tables)])


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
    uses = [int(row["uses"]) for row in templates]
    total = sum(uses)
    together = (share(of, total) for of in itertools.accumulate(uses))
    rows = [
        (
            f"{{{{{row['template']}}}}}, as in {row['for example in']}",
            of,
            f"{of:,}, leaves {row['left']} · together {sums}",
        )
        for row, of, sums in zip(templates, uses, together, strict=True)
    ]
    sentence = (
        f"Unknown templates in running text: {count_of(len(templates), 'template')} with"
        f" {count_of(total, 'use')}. Their text was guessed, or is missing."
    )
    note = (
        "“Together” adds up the shares of all uses, from the first template to this one."
        f" {UNRENDERED_FILE} lists unknown templates."
    )
    yield sentence, [Figure("Uses of unknown templates", scale(rows[:SHOWN], REJECTED), note)], []


def _audit(facts: Facts) -> Iterator[_Part]:
    """Yields the results of the audit of a build.

    The audit compares the text with the output of another parser, to find places where words are missing. The
    results are a chart of the number of such places by class, and a table of the first places.
    """
    if _AUDIT not in facts.names_of(_AUDIT, ""):
        if facts.build.corpus == "wiki40b":
            yield "No page was audited: wiki40b --audit 100 looks for holes in 100 pages.", [], []
        return
    found: dict[str, Any] = read_json(facts.build.folder, _AUDIT)
    holes = {name: of["count"] for name, of in found["holes"].items() if name != "all"}
    words, everything = found["words"], found["holes"]["all"]
    sentence = (
        f"An audit compared the text of {found['pages']['audited']:,} pages, kept or not, with their"
        f" wikitext. It found {everything['count']:,} holes, {everything['per_1000_paragraphs']:g} in 1,000"
        f" paragraphs; {share(words['in_text'], words['in_source'])} of the words in the wikitext of these"
        " pages are in the text."
    )
    named = {
        f"{CLASSES.get(one, one)}{' (no hole)' * (one in NO_HOLES)}": n for one, n in holes.items()
    }
    note = "Where it says no hole, only whole sentences, or no prose, are missing."
    figure = rank("Findings of the audit", named)._replace(note=note)
    listed = [
        (CLASSES.get(row["class"], row["class"]), row["title"], row["source"], row["text"])
        for row in itertools.islice(facts.read_table(_FINDINGS), SHOWN)
    ]
    of_all = f"Findings, {len(listed):,} of {sum(holes.values()):,}"
    title = f"{of_all}; {MARK} is where something is missing or wrong"
    table = Table(("finding", "article", "in the source", "in the text"), listed, title)
    yield sentence, [figure], [table]


def _unread(facts: Facts) -> Iterator[_Part]:
    """Yields what is known about input that was damaged or could not be read."""
    if (replaced := facts.counts.get("replaced_characters")) is not None:
        number = sum(replaced.values())
        what = f"{number:,} invalid characters were" if number else "No invalid character was"
        yield f"{what} replaced.", [], []
    lost = facts.build.manifest.get("lost", [])
    told = f"Input was lost at {count_of(len(lost), 'place')}."
    rows = [(one["name"], one["message"]) for one in lost[:SHOWN]]
    yield (
        told if lost else "No input was lost: all of the input files could be read.",
        [],
        [Table(("lost in", "why"), rows)],
    )
