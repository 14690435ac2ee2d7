"""Answers the questions of the HTML report about one build."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.filesize import decimal

from corpusmill.transforms.files.builds.paper_figures import PAPER
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.terminal import count_of, shorten
from corpusmill.transforms.files.text import SPLITS

from ...run.corpora import paper_of
from ..build_facts import Facts, Fate, balance_of, share
from ..build_sizes import BuildSizes, KeptDocuments, read_sizes

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
RANKED = 15  # maximum number of bars of a chart of the highest counts
HIGHEST = 30  # last class of books by ratio: three times the lowest ratio of a kept book, or more
ACCENT, REJECTED, QUIET = "accent", "rejected", "quiet"
"""Colours of bars: variables of page.css, which differ in the light and the dark theme."""
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


class Bar(NamedTuple):
    """A bar with a label and a number above it. Its length and start are shares of the width (0 to 1)."""

    label: str
    text: str  # the number, as it is shown
    length: float
    start: float = 0
    colour: str = ACCENT


class Figure(NamedTuple):
    """A chart of bars, its title, and an optional explanation (`note`) for the reader."""

    title: str
    bars: Sequence[Bar]
    note: str = ""


def scale(rows: Iterable[tuple[str, int, str]], colour: str = ACCENT) -> list[Bar]:
    """Returns bars of rows (label, number, text). The bar with the greatest number has the full width."""
    rows = list(rows)
    most = max((number for _, number, _ in rows), default=0) or 1
    return [Bar(label, text, number / most, colour=colour) for label, number, text in rows]


def rank(title: str, counts: Mapping[str, int], whole: int = 0) -> Figure:
    """Returns a chart of the names with the highest counts. Each bar has a count and a percentage.

    Args:
      counts: Name → count.
      whole: The number that is 100 %; if 0, it is the sum of `counts`.
    """
    ranked = sorted((one for one in counts.items() if one[1]), key=lambda one: (-one[1], one[0]))
    total = whole or sum(counts.values())
    rows = [(name, count, f"{count:,} · {share(count, total)}") for name, count in ranked[:RANKED]]
    left = len(ranked) - RANKED
    return Figure(title, scale(rows), f"{left:,} others are not shown." if left > 0 else "")


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
    made_by = ", ".join(f"{name} {version}" for name, version in manifest.get("code", {}).items())
    rows = [
        ("signature, with the version of the corpus", facts.build.signature),
        ("made by (package, version)", made_by),
        *((f"setting: {name}", _short(value)) for name, value in manifest["settings"].items()),
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
            Table(("", ""), rows, "Versions and settings"),
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

    The answer has a chart from the number of records read to the number kept.

    Returns None if the build reads no documents.

    Args:
      rejected: Rejected records. One example of each reason is displayed.
    """
    if not (balance := balance_of(facts)):
        return None
    left = read = balance.read
    bars = [Bar(f"read: {balance.unit}", f"{read:,}", 1, colour=QUIET)]
    shown, rest = balance.left_out[:MAX_REASONS], balance.left_out[MAX_REASONS:]
    others = [Fate("other reasons", sum(one.records for one in rest))] if rest else []
    for name, records in [*shown, *others]:
        left -= records
        text = f"{records:,} · {share(records, read)}"
        bars.append(Bar(name, text, records / read, left / read, REJECTED))
    bars.append(Bar("kept", f"{left:,} · {share(left, read)}", left / (read or 1)))
    sentence = f"Of {read:,} {balance.unit} read, "
    if balance.no_documents:
        sentence += f"{balance.no_documents:,} are redirects or no articles. Of the others, "
    sentence += f"{balance.kept:,} ({balance.share_kept}) are kept"
    if facts.total != balance.kept:
        sentence += f" and contain {facts.total:,} {facts.unit}"
    note = (
        "The reasons are sorted by frequency. A name with a slash has the stage of the build and the reason."
        " What most of them mean is in the table below."
    )
    figure = Figure(f"From {balance.unit} read to {balance.unit} kept", bars, note)
    examples = _examples(rejected, balance.left_out)
    return Answer(THROWN_AWAY, f"{sentence}.", [figure, *_ratios(facts)], [examples])


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


def _ratios(facts: Facts) -> Iterator[Figure]:
    """Yields a chart of the books that were measured for SimpleBooks, by ratio.

    The classes are tenths of the lowest ratio of a kept book. Yields nothing if no book is kept.
    """
    measured = [
        (float(row["ratio"]), row["verdict"] == "kept")
        for row in facts.read_table(facts.name_of("books-", ".tsv"))
        if row["ratio"]
    ]
    if not (least := min((ratio for ratio, is_kept in measured if is_kept), default=0)):
        return
    classes = Counter(min(int(10 * ratio / least), HIGHEST) for ratio, _ in measured)
    rows = [
        (
            f"from {n * least / 10:.3f}" + f" to {(n + 1) * least / 10:.3f}" * (n < HIGHEST),
            books,
            f"{books:,}",
        )
        for n, books in sorted(classes.items())
    ]
    note = (
        f"The ratio of a book is {facts.build.manifest['settings']['formula']}, where L are its words"
        f" (tokens) and V its different words. The lowest ratio of a kept book is {least:g}. Books with a"
        " lower one have too many different words. Not all books with a higher one are kept."
    )
    yield Figure("Measured books by ratio", scale(rows), note)


def as_large_as_the_paper(facts: Facts) -> Answer | None:
    """Returns the answer to the question how many documents, words and characters a build has.

    The answer compares these numbers with those that the paper on the corpus reports.

    Returns None if the sizes of the build are unknown.
    """
    sizes = read_sizes(facts.build.folder) if facts.stats else None
    if sizes is None:
        return None
    if not (rows := sizes_beside(facts, sizes)):
        why_not = getattr(sizes, "why_no_paper", "") or "the paper has none for this edition"
        return Answer(AS_LARGE, f"No figures of the paper: {why_not}.")
    name, ours, papers = rows[0]
    sentence = (
        f"{name.capitalize()}: {ours:,} here, {papers:,} in the paper ({share(ours, papers)})."
    )
    if ours < PART * papers:
        sentence += " So this build is of a part of the sources, or of smaller settings."
    if sizes.differs:
        sentence += f" What differs from the paper: {sizes.differs}."
    sentence += f" {paper_of(facts.build.signature).note}".rstrip()
    cells = [(name, f"{ours:,}", f"{of:,}", share(ours, of)) for name, ours, of in rows]
    return Answer(AS_LARGE, sentence, tables=[Table(("", "here", "in the paper", "share"), cells)])


def sizes_beside(facts: Facts, sizes: BuildSizes | KeptDocuments) -> list[tuple[str, int, int]]:
    """Returns (what is counted, number in the build, number in the paper); the documents are the first."""
    if isinstance(sizes, KeptDocuments):
        return [
            (f"{what} of {split}", number, papers[split])
            for what, counts, papers in (
                (facts.unit, sizes.kept, sizes.paper),
                ("words", sizes.words, sizes.paper_words),
            )
            for split, number in counts.items()
            if split in papers
        ]
    paper = PAPER[sizes.language]
    characters = {split: round(paper.characters_millions[split] * 1e6) for split in SPLITS}
    return [
        (facts.unit, sizes.articles, sizes.paper_articles),
        ("sections", sizes.sections, paper.sections),
        *((f"characters of {one}", sizes.characters[one], n) for one, n in characters.items() if n),
    ]
