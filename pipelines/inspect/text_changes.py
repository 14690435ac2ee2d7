"""Compares the texts of documents in two builds, paragraph by paragraph.

Each paragraph has five fingerprints: of its text, of its text in one line, of its text without white space,
of its letters and digits in lower case, and of its letters. Paragraphs of a document with the same
fingerprint are matched, the first fingerprint first. So the kind of a difference is known without the texts.
The texts of some documents, a sample, are compared to show examples.
"""

import bisect
import functools
import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.files.terminal import draw, escape_line
from corpusmill.transforms.files.text import (
    Difference,
    describe_difference,
    fingerprint,
    plain_words,
)
from corpusmill.transforms.models.sentence_sampling import PARAGRAPHS
from corpusmill.transforms.wikitext.article_markers import MARKERS_WITH_LINE_FEEDS, NEWLINE

EQUAL, LINES, OTHER = "equal", "line ends only", "other words"
SPACES, SIGNS, NUMBERS = "white space only", "case and punctuation only", "numbers only"
BEGINNING, BETWEEN, END = (f"only in one, {place}" for place in ("beginning", "in between", "end"))
MISSING, ALONE = "only in one", "document only in one"  # MISSING: if paragraphs have no documents
KINDS = (EQUAL, LINES, SPACES, SIGNS, NUMBERS, OTHER, BEGINNING, BETWEEN, END, MISSING, ALONE)
SAME = (EQUAL, LINES, SPACES)  # kinds of paragraphs that are equal but for white space
EXAMPLES = 3  # maximum number of examples of a kind
SAMPLE_BYTES = 1 << 26  # approximate size of the compressed texts in the sample
_ARTICLE = re.compile("|".join((*map(re.escape, MARKERS_WITH_LINE_FEEDS), re.escape(NEWLINE))))
_LINE_ENDS = re.compile(r"[\r\n]+")
_SPACES = re.compile(r"\s+")
_DIGITS = re.compile(r"\d+")


def without_space(text: str) -> str:
    """Returns a text without white space."""
    return "".join(text.split())


KEYS: Mapping[str, Callable[[str], str]] = {
    EQUAL: str,
    LINES: functools.partial(_LINE_ENDS.sub, " "),
    SPACES: without_space,
    SIGNS: lambda text: without_space(plain_words(text)),
    NUMBERS: functools.partial(_DIGITS.sub, ""),
}
"""Kind of a difference → what two paragraphs that differ only in this way have in common. Each function is
applied to the result of the one before.
"""

FIELDS = (
    pa.field("keys", pa.list_(pa.uint64()), nullable=False),  # fingerprints of each paragraph
    pa.field("words", pa.list_(pa.int32()), nullable=False),  # numbers of words of each paragraph
    pa.field("text", pa.string(), nullable=False),  # "" if the document is not in the sample
)
"""The columns that are added to `edition_changes.SCHEMA` if texts are compared."""
KEY = "key"  # column with the ids of paragraphs that are compared without their documents
_ID = list(KEYS).index(SIGNS)  # such a paragraph is identified by its letters and digits


class Method(NamedTuple):
    """A way to compare the texts of a corpus."""

    column: str  # column with the text
    paragraphs: str  # format of the text, see Layout
    by_paragraph: bool  # True if rows have no common ids: paragraphs are compared without documents
    sample: float  # share of the documents whose texts are compared for examples

    def split(self, text: str) -> list[str]:
        """Returns the paragraphs of a text. The title and the headings of an article are paragraphs."""
        if self.paragraphs == "article":
            parts: Iterable[str] = _ARTICLE.split(text)
        else:
            parts = PARAGRAPHS[self.paragraphs](text) if self.paragraphs else [text]
        return [part.strip("\r\n") for part in parts if part and not part.isspace()]

    def paragraph_rows(self, table: pa.Table) -> pa.Table:
        """Returns a row for each paragraph of a table, with the column KEY as its id."""
        parts = [part for text in table[self.column].to_pylist() for part in self.split(text)]
        ids = [f"{[*keys_of(part)][_ID]:016x}" for part in parts]
        return pa.table({KEY: ids, self.column: pa.array(parts, pa.string())})

    def add_fingerprints(self, rows: pa.Table, table: pa.Table) -> pa.Table:
        """Adds FIELDS to rows of `edition_changes.SCHEMA`. `table` has the texts of these rows."""
        texts = table[self.column].to_pylist()
        split = [self.split(text) for text in texts]
        least = self.sample * 2**64  # fingerprints have 64 bits
        sampled = (fingerprint(identity) < least for identity in rows["id"].to_pylist())
        columns = (
            [[key for part in parts for key in keys_of(part)] for parts in split],
            [[len(part.split()) for part in parts] for parts in split],
            [text if is_in else "" for text, is_in in zip(texts, sampled, strict=True)],
        )
        for field, values in zip(FIELDS, columns, strict=True):
            rows = rows.append_column(field, pa.array(values, field.type))
        return rows


def keys_of(paragraph: str) -> Iterator[int]:
    """Yields the fingerprints of a paragraph, one for each of KEYS."""
    common = paragraph
    for key in KEYS.values():
        common = key(common)
        yield fingerprint(common or paragraph)


class Document(NamedTuple):
    """The fingerprints of the paragraphs of a document, and its text."""

    keys: Sequence[int] = ()
    words: Sequence[int] = ()
    text: str = ""  # "" if the document is not in the sample

    def key(self, paragraph: int, level: int) -> int:
        """Returns a fingerprint of a paragraph. `level` is the index of the key in KEYS."""
        return self.keys[paragraph * len(KEYS) + level]


Match = tuple[str, int | None, int | None]
"""(kind, paragraph of the old document, paragraph of the new one). None: it has no such paragraph."""


def match_paragraphs(old: Document, new: Document) -> list[Match]:
    """Matches the paragraphs of two versions of a document.

    Between two matched paragraphs, those that remain are matched in order: they have other words. Paragraphs
    that one version has more are missing in the other one.
    """
    pairs: dict[int, int] = {}
    matches: list[Match] = []
    left, right = list(range(len(old.words))), list(range(len(new.words)))
    for level, kind in enumerate(KEYS):
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for at in reversed(right):
            waiting[new.key(at, level)].append(at)
        for at in left:
            if alike := waiting[old.key(at, level)]:
                pairs[at] = alike.pop()
                matches.append((kind, at, pairs[at]))
        left = [at for at in left if at not in pairs]
        right = sorted(at for places in waiting.values() for at in places)
    back = {at: other for other, at in pairs.items()}
    gaps: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, (free, matched) in enumerate(((left, sorted(pairs)), (right, sorted(back)))):
        for at in free:
            before = bisect.bisect(matched, at)
            anchor = matched[before - 1] if before else -1
            gaps[back.get(anchor, -1) if side else anchor][side].append(at)
    for anchor, (of_old, of_new) in gaps.items():
        both = min(len(of_old), len(of_new))
        matches += [(OTHER, *pair) for pair in zip(of_old, of_new, strict=False)]
        kind = BETWEEN
        if pairs:
            is_end = anchor == max(pairs) if of_old[both:] else pairs.get(anchor) == max(back)
            kind = BEGINNING if anchor < 0 else END if is_end else BETWEEN
        matches += [(kind, at, None) for at in of_old[both:]]
        matches += [(kind, None, at) for at in of_new[both:]]
    return matches


AMOUNTS = ("old_paragraphs", "old_words", "new_paragraphs", "new_words")


class Example(NamedTuple):
    """An example of a difference."""

    kind: str
    rank: int  # examples with the smallest ranks are shown
    id: str
    title: str
    text: str  # the paragraphs of both builds, shortened around the first difference


class TextChanges(NamedTuple):
    """The differences between the texts of two builds."""

    amounts: Mapping[tuple[str, str], int] = {}  # (kind, one of AMOUNTS) → number
    examples: tuple[Example, ...] = ()  # at most EXAMPLES of each kind, sorted


def add_text_changes(parts: Iterable[TextChanges]) -> TextChanges:
    """Adds up the differences of several parts of the builds."""
    amounts: Counter[tuple[str, str]] = Counter()
    examples: dict[str, list[Example]] = defaultdict(list)
    for part in parts:
        amounts.update(part.amounts)
        for example in part.examples:
            examples[example.kind].append(example)
    shown = (one for kind in KINDS for one in heapq.nsmallest(EXAMPLES, examples[kind]))
    return TextChanges(dict(amounts), tuple(shown))


class BucketTexts:
    """Compares the texts of the documents in a bucket, and adds up the differences."""

    def __init__(self, method: Method):
        self._method = method
        self.found: list[TextChanges] = []

    def compare(
        self, identity: str, title: str, old: Document | None, new: Document | None
    ) -> tuple[int, ...]:
        """Compares two versions of a document. None stands for a build without the document.

        Returns the numbers of paragraphs of the old and new version, and of those that are equal but for
        white space, and then their numbers of words.
        """
        before, after = old or Document(), new or Document()
        matches = match_paragraphs(before, after)
        if not (old and new):
            alone = MISSING if self._method.by_paragraph else ALONE
            matches = [(alone, left, right) for _, left, right in matches]
        amounts: Counter[tuple[str, str]] = Counter()
        for kind, *places in matches:
            for side, document, at in zip(("old", "new"), (before, after), places, strict=True):
                if at is not None:
                    amounts[kind, f"{side}_paragraphs"] += 1
                    amounts[kind, f"{side}_words"] += document.words[at]
        examples: Iterable[Example] = ()
        if before.text or after.text:
            texts = [self._method.split(document.text) for document in (before, after)]
            examples = make_examples(identity, title, matches, texts)
        self.found.append(TextChanges(amounts, tuple(examples)))
        same, same_words = (sum(amounts[kind, name] for kind in SAME) for name in AMOUNTS[:2])
        paragraphs = len(before.words), len(after.words), same
        return *paragraphs, sum(before.words), sum(after.words), same_words

    def total(self, rows: pa.Table) -> TextChanges:
        """Returns the differences in a bucket. Paragraphs of rows that were not compared are equal.

        `rows` are all rows of the bucket.
        """
        found = add_text_changes(self.found)
        words = rows.filter(pc.invert(rows["is_new"]))["words"].combine_chunks().flatten()
        left = {"paragraphs": len(words), "words": pc.sum(words).as_py() or 0}
        for (_, name), number in found.amounts.items():
            if name.startswith("old_"):
                left[name.removeprefix("old_")] -= number
        equal = {(EQUAL, name): left[name.partition("_")[2]] for name in AMOUNTS}
        return add_text_changes([found, TextChanges(equal)])


def _visible(space: re.Match[str]) -> str:
    return ascii(space[0])[1:-1].replace(" ", "␣")


def make_examples(
    identity: str, title: str, matches: Iterable[Match], texts: Sequence[Sequence[str]]
) -> Iterator[Example]:
    """Yields the examples of a document with the smallest ranks, at most EXAMPLES of each kind.

    `texts` are the paragraphs of the old and of the new version.
    """
    ranked: dict[str, list[tuple[int, Match]]] = defaultdict(list)
    for match in matches:
        if match[0] not in (EQUAL, ALONE):
            ranked[match[0]].append((fingerprint("\t".join(map(str, (identity, *match)))), match))
    for kind, of_kind in ranked.items():
        for rank, (_, *places) in heapq.nsmallest(EXAMPLES, of_kind):
            shown = [
                "" if at is None else parts[at] for at, parts in zip(places, texts, strict=True)
            ]
            spaces = {LINES: _LINE_ENDS, SPACES: _SPACES}.get(kind)
            shown = [
                spaces.sub(_visible, text) if spaces else " ".join(text.split()) for text in shown
            ]
            number = next(at for at in places if at is not None) + 1
            found = Difference(number, *(text.encode("utf-8") for text in shown))
            told = describe_difference(found, "old", "new").replace("line", "paragraph", 1)
            yield Example(kind, rank, identity, title, told)


def summarise(found: TextChanges) -> dict[str, Any]:
    """Returns the differences as an object that can be written as JSON.

    It has the amounts of each kind and their shares (0 to 1), of which documents of one build are left out.
    """
    totals: Counter[str] = Counter()
    for (kind, name), number in found.amounts.items():
        totals[name] += number * (kind != ALONE)
    kinds: dict[str, dict[str, float]] = {}
    for kind in (one for one in KINDS if any(one == key[0] for key in found.amounts)):
        amounts = {name: found.amounts.get((kind, name), 0) for name in AMOUNTS}
        shares = {f"{name}_share": n / (totals[name] or 1) for name, n in amounts.items()}
        kinds[kind] = amounts | (shares if kind != ALONE else {})
    return {"kinds": kinds, "examples": [example._asdict() for example in found.examples]}


def draw_text_changes(summary: Mapping[str, Any], width: int | None) -> str:
    """Formats the result of `summarise` as a table, followed by the examples.

    `width` is the width of the screen; None for no limit.
    """
    rows: list[Sequence[str]] = []
    for kind, of in summary["kinds"].items():
        shares = (of.get(f"{side}_words_share") for side in ("old", "new"))
        old, new = ("–" if share is None else f"{share:.2%}" for share in shares)
        rows.append((kind, f"{of['old_paragraphs']:,}", old, f"{of['new_paragraphs']:,}", new))
    columns = ("paragraphs", "old", "% of words", "new", "% of words")
    drawn = draw(columns, rows, numbers=4, width=width) + "\n"
    rows = []
    for name, kinds in (("equal", [EQUAL]), ("equal but for white space", SAME)):
        found = [summary["kinds"].get(kind, {}) for kind in kinds]
        told = (f"{sum(of.get(f'{name}_share', 0) for of in found):.2%}" for name in AMOUNTS)
        rows.append((name, *told))
    titles = (name.replace("_", "\n") for name in AMOUNTS)
    drawn += draw(("share", *titles), rows, numbers=4, width=width)
    for example in summary["examples"]:
        named = " ".join(filter(None, (example["id"], example["title"])))
        drawn += escape_line(f"{example['kind']}: {named}, {example['text']}") + "\n"
    return drawn
