"""Answers the questions of the HTML report about one build."""

import heapq
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from rich.filesize import decimal

from corpusmill.transforms.books.simplicity import most_different_words
from corpusmill.transforms.files.builds.paper_figures import PAPER
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.terminal import count_of, shorten
from corpusmill.transforms.files.text import SPLITS, fingerprint

from ...run.corpora import paper_of
from ..build_facts import Facts, Fate, balance_of, share
from ..build_sizes import BuildSizes, read_sizes
from .drawings import ACCENT, QUIET, REJECTED, Bar, Figure, Pair, bars, pairs, points

QUESTIONS = (
    "What is it, and what was it made from?",
    "What was rejected, and why?",
    "Is it as large as the paper's?",
    "How long are the documents?",
    "What does the text look like?",
    "Why is a document that I expected not in the build?",
    "Which years, subjects and sources does it cover?",
    "Where is text missing from the documents?",
    "Does the vocabulary fit the text?",
    "What changed since the previous edition?",
)
IS_IT, THROWN_AWAY, AS_LARGE, LENGTHS, TEXT, MISSED, ABOUT, HOLES, VOCABULARY, CHANGED = range(
    1, 11
)
MAX_REASONS = 25
MAX_DETAIL = 200  # characters shown of the details of a rejected record
MAX_SETTING = 1_000  # characters shown of a setting
MEANINGS = {
    "empty-after-cleaning": "no prose is left, only lists, tables or templates",
    "other-namespace": "not an article; the detail is the number of its namespace",
    "redirect": "only leads to another page",
    "disambiguation": "lists the meanings of a title",
    "no-entity": "not linked to a Wikidata item",
    "listed": "left out on request",
    "no-passage": "no paragraph has enough whole sentences",
    "unrendered-template": "a template in the text left a hole",
    "ratio-too-low": "too many different words for its length",
    "overlaps": "much of it is in a larger book",
    "other-file-of-book": "another file of the same book is used",
    "undated": "no year of publication is known",
    "too-new": "published too late",
    "malformed": "not running prose",
    "too-short": "fewer words than the setting min_words",
    "beyond-target-tokens": "with this or a simpler book, there would be more words than wanted",
    "beyond-vocabulary": "with this or a simpler book, the vocabulary would be larger than wanted",
    "manuals": "instructions and reference, by subject or by its text",
    "plays": "speeches with the names of speakers, by subject or by its text",
    "poems": "lines of verse, by subject or by its text",
    "recipes": "cookery, by subject or by its text",
    "not-english": "the text, or the language that is declared for it, is not English",
    "several-languages": "a part of the text is not English, or several languages are declared for it",
    "copyrighted": "the file says that the book is under copyright",
    "too-much-furniture": "too large a part is contents, pictures or numbers of pages",
    "html-page": "a page of a web site, not a book",
    "no-ebook-number": "the file has no number of a book of Project Gutenberg",
    "repeated": "the same text occurs more than once; it is kept once",
    "near-duplicate": "nearly the same as another document",
    "not drawn": "not needed: enough others were drawn",
}
"""Name of a reason for rejection → its meaning, if the name does not explain itself."""
PART = 0.1
"""A build with a smaller share of the documents of the paper is no full rebuild."""
MAX_BOOKS = 1_500
"""Maximum number of books in a chart."""


_PARTS = {
    "train_2": "train_2 (SimpleBooks-2) is a part of train.",
    "paper_test": "paper_test, the test set of the paper, and dev are the parts of test.",
}


class Link(NamedTuple):
    """A table cell that links to another part of the page."""

    text: str
    anchor: str


class Table(NamedTuple):
    """A table, whose cells are formatted for display."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    title: str = ""  # if given, the table is collapsed at first, and only its title is shown


class Answer(NamedTuple):
    """The answer to a question about one build, or about all builds."""

    number: int  # of the question, from 1
    sentence: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()


def what_it_is(facts: Facts) -> Answer:
    """Returns a description of a build: its size, signature, versions, settings and inputs."""
    manifest = facts.build.manifest
    inputs = manifest.get("inputs", [])
    code = manifest.get("code", {})
    rows = [
        ("signature", facts.build.signature),
        (
            "edition, date of the sources, version of the corpus",
            f"{facts.build.edition}, {facts.build.dump_date}, {manifest['version']}",
        ),
        (
            "made by (package, version)",
            ", ".join(f"{name} {version}" for name, version in code.items()),
        ),
        *((f"setting: {name}", _short(value)) for name, value in manifest["settings"].items()),
        *(("lost", _short(lost)) for lost in manifest.get("lost", [])),
    ]
    of_splits = ", ".join(f"{split} {number:,}" for split, number in facts.kept.items())
    kept = (
        f"{facts.total:,} {facts.unit} ({of_splits})" if facts.kept else "no documents of its own"
    )
    size = sum(one["bytes"] for one in inputs)
    of_date = f", of {facts.build.dump_date}" if facts.build.dump_date else ""
    parts = (text for split, text in _PARTS.items() if split in facts.kept)
    about = " ".join([facts.about(), *parts])
    return Answer(
        IS_IT,
        f"{facts.build.corpus}, edition {facts.build.edition}{of_date}: {kept}, made from"
        f" {count_of(len(inputs), 'input file')} of {decimal(size)}. {about}".strip(),
        tables=[
            Table(("Caveats",), [(caveat,) for caveat in manifest.get("caveats", [])]),
            Table(("", ""), [(name, str(value)) for name, value in rows], "Versions and settings"),
            Table(
                ("input", "file", "bytes", "SHA-256"),
                [
                    (one["role"], one["name"], f"{one['bytes']:,}", one["sha256"][:16] + "…")
                    for one in inputs[:MAX_REASONS]
                ],
                f"Input files, {min(len(inputs), MAX_REASONS):,} of {len(inputs):,}; manifest.json lists all",
            ),
        ],
    )


def _short(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{name}: {one}" for name, one in value.items()]
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shorten(text, MAX_SETTING)


def what_was_thrown_away(facts: Facts, rejected: Sequence[Rejected] = ()) -> Answer | None:
    """Returns the answer to the question how many records were dropped for each reason.

    The answer has a waterfall chart, from the number of records read to the number kept.

    Returns None if the build reads no documents.

    Args:
      rejected: Rejected records. One example of each reason is displayed.
    """
    if not (balance := balance_of(facts)):
        return None
    read = balance.read
    rows = [Bar(f"read: {balance.unit}", read, f"{read:,}", colour=QUIET)]
    left = read
    shown, rest = balance.left_out[:MAX_REASONS], balance.left_out[MAX_REASONS:]
    for name, records in [
        *shown,
        *([("other reasons", sum(one.records for one in rest))] if rest else []),
    ]:
        text = f"{records:,} · {share(records, read)}"
        rows.append(Bar(name, left, text, left - records, colour=REJECTED))
        left -= records
    rows.append(Bar("kept", left, f"{left:,} · {share(left, read)}", colour=ACCENT))
    choice = line_of_choice(facts)
    gone = read - balance.kept
    sentence = (
        f"Of {read:,} {balance.unit} read, {balance.kept:,} ({share(balance.kept, read)}) are kept"
    )
    if facts.total != balance.kept:
        sentence += f" and contain {facts.total:,} {facts.unit}"
    if balance.left_out:
        most = ", ".join(f"{one.name} ({one.records:,})" for one in balance.left_out[:3])
        sentence += f". {gone:,} are left out; most frequent: {most}"
    return Answer(
        THROWN_AWAY,
        f"{sentence}.",
        [
            Figure(
                f"From {balance.unit} read to {balance.unit} kept",
                bars(rows, read),
                "The reasons are sorted by frequency. Each bar begins where the one above it ends. A name"
                " with a slash has the stage of the build and the reason. What most of them mean is in"
                " the table below.",
            ),
            *([choice] if choice else []),
        ],
        [_examples(rejected, balance.left_out)],
    )


def _examples(rejected: Sequence[Rejected], left_out: Sequence[Fate]) -> Table:
    """Returns a table of the reasons, with their meanings, and one record for each if records are listed."""
    first: dict[str, Rejected] = {}
    for one in rejected:
        first.setdefault(f"{one.stage}/{one.reason}", one)
    rows = [
        (reason, MEANINGS.get(one.reason, ""), one.title or one.id, one.detail[:MAX_DETAIL])
        for reason, one in sorted(first.items())
    ]
    rows += [
        (fate.name, MEANINGS.get(fate.name, ""), "", "these records are not listed here")
        for fate in left_out
        if "/" not in fate.name
    ]
    return Table(("reason", "meaning", "for example", "detail"), rows, "The reasons, with examples")


def line_of_choice(facts: Facts) -> Figure | None:
    """Returns a chart of the books that were considered for SimpleBooks, by length and number of different
    words.

    A line separates books that are kept from books that are dropped. Returns None for builds of other
    corpora.
    """
    if not (name := facts.name_of("books-", ".tsv")):
        return None
    kinds = {True: "kept", False: "ratio too low", None: "rejected for another reason"}
    measured = (row for row in facts.read_table(name) if row["tokens"] and int(row["vocabulary"]))
    chosen = heapq.nsmallest(MAX_BOOKS, measured, key=lambda row: fingerprint(row["book_id"]))
    if not chosen:
        return None
    verdicts = {"kept": kinds[True], "measure-books/ratio-too-low": kinds[False]}
    rows = [
        {
            "title": row["title"],
            "words": int(row["tokens"]),
            "different words": int(row["vocabulary"]),
            "book is": verdicts.get(row["verdict"], kinds[None]),
            "ratio": row["ratio"],
        }
        for row in sorted(chosen, key=lambda row: int(row["book_id"]))
    ]
    formula = facts.build.manifest["settings"]["formula"]
    least = min((row["ratio"] for row in chosen if row["verdict"] == "kept"), key=float, default="")
    lengths = [int(row["tokens"]) for row in chosen]
    line = [
        {"words": end, "different words": most_different_words(end, formula, Fraction(least))}
        for end in (min(lengths), max(lengths))
        if least
    ]
    spec = points(
        rows,
        "words",
        "different words",
        [*rows[0]],
        colour="book is",
        order=[(kinds[True], ACCENT), (kinds[False], REJECTED), (kinds[None], QUIET)],
        line=line,
    )
    drawn = f"{len(rows):,} books, chosen by a hash" if len(rows) == MAX_BOOKS else "All books"
    note = (
        f"{drawn}. The ratio of a book is {formula}, where L are its words (tokens) and V its"
        " different words. Both scales are logarithmic."
    )
    if least:
        note += (
            f" On the broken line the ratio is {least}, the lowest ratio of a kept book. Books above the line"
            " have more different words, so their ratio is too low."
        )
    return Figure("Length against vocabulary, with the limit", spec, note)


def as_large_as_the_paper(facts: Facts) -> Answer | None:
    """Returns the answer to the question how many documents, words and characters a build has.

    The answer compares these numbers with those that the paper on the corpus reports.

    Returns None if the sizes of the build are unknown.
    """
    sizes = read_sizes(facts.build.folder) if facts.stats else None
    if sizes is None:
        return None
    unit = facts.unit
    if isinstance(sizes, BuildSizes):
        paper = PAPER[sizes.language]
        rows = [
            _pair(unit, sizes.articles, sizes.paper_articles),
            _pair("sections", sizes.sections, paper.sections),
            *(
                _pair(f"characters of {split}", sizes.characters[split], characters)
                for split in SPLITS
                if (characters := paper.characters_millions[split] * 1e6)
            ),
        ]
        first = rows[0]
    else:
        rows = [
            _pair(f"{what} of {split}", number, paper_counts[split])
            for what, counts, paper_counts in (
                (unit, sizes.kept, sizes.paper),
                ("words", sizes.words, sizes.paper_words),
            )
            for split, number in counts.items()
            if split in paper_counts
        ]
        if not rows:
            why_not = sizes.why_no_paper or "the paper has none for this edition"
            return Answer(AS_LARGE, f"No figures of the paper: {why_not}.")
        first = rows[0]
    drawn = [row for row in rows if row.ours > 0]
    figures = [
        Figure(
            "Sizes, in comparison with the paper",
            pairs(drawn),
            "A filled circle is this build, a ring the paper. The scale is logarithmic."
            f" {paper_of(facts.build.signature).note}".rstrip(),
        )
    ]
    sentence = (
        f"{first.label.capitalize()}: {first.ours:,.0f} here, {first.paper:,.0f} in the paper"
        f" ({share(first.ours, first.paper)})."
    )
    if first.ours < PART * first.paper:
        sentence += " So this build is of a part of the sources, or of smaller settings."
    if sizes.differs:
        sentence += f" What differs from the paper: {sizes.differs}."
    return Answer(AS_LARGE, sentence, figures if drawn else [])


def _pair(label: str, ours: float, paper: float) -> Pair:
    return Pair(label, ours, paper, f"{ours:,.0f} · paper {paper:,.0f}")
