"""Formats the findings of `corpusmill contamination` as an HTML page.

The page displays each evaluation item beside the passages of training data that contain parts of it. Words
that the item and a passage share are highlighted. The page needs no other file and no network.
"""

import itertools
import operator
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpusmill.transforms.duplicates.contamination_evidence import TIERS
from corpusmill.transforms.files.markup import escape, html_table, make_head

MAX_ITEMS = 2_000
"""Maximum number of items on the page, because browsers are slow with larger pages. The report
has all items.
"""

_CONTEXT = 300  # characters shown before and after the marked parts of an item
_BLANK_LINES = re.compile(r"\s*\n\s*")
_FILTER = """
const box = document.querySelector('input');
box.addEventListener('input', () => document.querySelectorAll('section').forEach(one => {
  one.hidden = !one.textContent.toLowerCase().includes(box.value.toLowerCase());
}));
"""


def make_page(
    summary: Mapping[str, Any], found: Iterable[Mapping[str, Any]], notes: Sequence[str] = ()
) -> Iterator[str]:
    """Yields the parts of the HTML page.

    Args:
      summary: The return value of `contamination.summarise`.
      found: The rows of the report `found.jsonl`.
      notes: Sentences about data that was not read.
    """
    rows = sorted(
        found, key=lambda row: (TIERS.index(row["tier"]), -row["longest"], -row["words_found"])
    )
    shown = rows[:MAX_ITEMS]
    yield make_head("Contamination", [_FILTER])
    yield "<main class=wide>\n<h1>Evaluation items in training data</h1>\n"
    train = summary["train"]
    yield f"<p>{train.get('documents', 0):,} training documents, {train.get('words', 0):,} words</p>\n"
    yield from (f"<p class=note>{escape(note)}</p>\n" for note in notes)
    names = ("items", *TIERS, "long", "too_short")
    heads = ("set, split", "items", *TIERS, "13 words", "too short")
    yield html_table(
        heads,
        (
            (f"{one['set']} {one['split']}".strip(), *(one[name] for name in names))
            for one in summary["sets"]
        ),
    )
    left_out = f"; the {len(shown):,} longest are below" if len(shown) < len(rows) else ""
    yield f"<p>{len(rows):,} items found{left_out}. <input placeholder='Show items with …'></p>\n"
    for tier, some in itertools.groupby(shown, operator.itemgetter("tier")):
        yield f"<h2>{tier}: {sum(row['tier'] == tier for row in rows):,} items</h2>\n"
        yield from itertools.chain.from_iterable(map(_section, some))
    yield f"<script>{_FILTER}</script>\n</main></body></html>\n"


def _section(row: Mapping[str, Any]) -> Iterator[str]:
    title = escape(f"{row['set']} {row['split']} {row['id']}")
    yield f"<section><h3>{title}</h3><p class=note>{row['longest']:,} of {row['words']:,} words in a row;"
    yield f" documents: {row['documents']:,}, with all of it: {row['whole']:,}</p>\n"
    for passage in row["passages"]:
        ours = [(start, end) for start, end, _, _ in passage["matches"]]
        theirs = [(start, end) for _, _, start, end in passage["matches"]]
        name = escape(f"{posixpath.basename(passage['file'])} {passage['document']}")
        yield "<div class=pair><div><div class=note>item</div>"
        facts = f"{passage['tier']}, {passage['share']:.0%} of the item, at most {passage['missing']:,} words"
        facts += f" missing in a row; documents with its rarest words: {passage['documents']:,}"
        facts += f"; right answer after it: {passage['answer']}" if passage["answer"] else ""
        yield f"<p>{mark(row['text'], ours)}</p></div>\n<div><div class=note>{name}: {facts}</div>"
        yield f"<p>{mark(passage['text'], theirs)}</p></div></div>\n"
    yield "</section>\n"


def mark(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Returns a text as HTML, with the given (start, end) spans highlighted.

    A long text is truncated to the part from the first to the last span, with some characters before and
    after it.
    """
    if not spans:
        return _escape(text)
    start = max(min(start for start, _ in spans) - _CONTEXT, 0)
    stop = min(max(end for _, end in spans) + _CONTEXT, len(text))
    parts = ["… " if start else ""]
    at = start
    for first, last in sorted(spans):
        first = max(first, at)
        if first < last:
            marked = _escape(text[first:last])
            parts += [_escape(text[at:first]), f"<mark>{marked}</mark>"]
            at = last
    parts += [_escape(text[at:stop]), " …" if stop < len(text) else ""]
    return "".join(parts)


def _escape(text: str) -> str:
    """Returns the text as HTML, without empty lines."""
    return escape(_BLANK_LINES.sub("\n", text))
