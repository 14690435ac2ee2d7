"""Evaluation items put into documents in known ways: a known truth for searches for contamination.

Chance is what random.Random(seed) gives, the same for all versions of Python.
"""

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

SHORT_WORDS = 8  # an item with fewer is found as a whole line only
LONG_WORDS = (
    16  # so long that half of an item, or one with changed words, may still have eight in a row
)
_REPLACEMENTS = ("quartz", "velvet", "marmalade", "obelisk", "zephyr", "tundra", "cobalt", "lagoon")
_QUOTES = str.maketrans({'"': "“", "'": "’", "-": "–", ",": " ,"})
_BLANKS = re.compile(r"[ \t]+")


class Planted(NamedTuple):
    """An evaluation item, and where it was put."""

    id: str
    text: str
    kind: str  # a key of KINDS; "" for an item that is in no document
    document: int  # its place in the documents; -1 for none
    put: str = ""  # the text that was put there


class Contaminated(NamedTuple):
    """Documents with items in them."""

    items: list[Planted]  # in their order by id
    documents: list[str]


def put_whole(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """The item in place of the document."""
    return item, item


def put_inside(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """The item between two words of the document."""
    blanks = [found.start() for found in _BLANKS.finditer(document)]
    at = chance.choice(blanks) if blanks else len(document)
    return item, f"{document[:at]} {item}{document[at:] or ' '}"


def put_cut(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """Half of the words of the item, the first or the last, inside the document."""
    words = item.split()
    half = len(words) // 2
    return put_inside(
        " ".join(words[:half] if chance.random() < 0.5 else words[half:]), document, chance
    )


def put_changed(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """The item with another word for one in ten, inside the document."""
    words = item.split()
    for place in chance.sample(range(len(words)), max(len(words) // 10, 1)):
        words[place] = chance.choice(_REPLACEMENTS)
    return put_inside(" ".join(words), document, chance)


def put_quoted(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """The item with other quotation marks, dashes, blanks and case, inside the document."""
    told = f"“{item.translate(_QUOTES)}”"
    return put_inside(
        chance.choice((told.upper(), told.lower(), told.title().swapcase())), document, chance
    )


def put_in_lines(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """The item with a line break after each few words, inside the document."""
    words = item.split()
    lines = []
    while words:
        count = chance.randint(3, 6)
        lines.append(" ".join(words[:count]))
        words = words[count:]
    return put_inside("\n".join(lines), document, chance)


def put_line(item: str, document: str, chance: random.Random) -> tuple[str, str]:
    """The item, a short one, as a line of its own in the document."""
    at = document.find(" ", chance.randrange(max(len(document) // 2, 1)))
    at = at if at >= 0 else len(document)
    return item, f"{document[:at]}\n{item}\n{document[at:]}"


KINDS: dict[str, Callable[[str, str, random.Random], tuple[str, str]]] = {
    "whole": put_whole,
    "inside": put_inside,
    "cut": put_cut,
    "changed": put_changed,
    "quoted": put_quoted,
    "in lines": put_in_lines,
    "short line": put_line,
}
"""Kind → (item, document, chance) → what is put, the document with it."""


def plant_items(
    texts: Sequence[str], documents: Sequence[str], planted: int, others: int, seed: int = 0
) -> Contaminated:
    """Puts items into documents, one into each, all kinds as often.

    Args:
      texts: to take items from, without two that are the same.
      documents: what they are put into.
      planted: how many items are put into a document.
      others: how many more items there are, which are not.

    Raises ValueError for too few texts or documents.
    """
    chance = random.Random(seed)
    shuffled = sorted(texts)
    chance.shuffle(shuffled)
    long = [text for text in shuffled if len(text.split()) >= LONG_WORDS]
    short = [text for text in shuffled if 2 < len(text.split()) < SHORT_WORDS]
    if planted > len(documents):
        raise ValueError(f"{planted} items for {len(documents)} documents")
    result = list(documents)
    items = []
    for number, place in enumerate(chance.sample(range(len(documents)), planted)):
        kind = list(KINDS)[number % len(KINDS)]
        text = _take(short if kind == "short line" else long)
        put, result[place] = KINDS[kind](text, result[place], chance)
        items.append(Planted(f"planted-{number:05}", text, kind, place, put))
    for number in range(others):
        text = _take(short if number % len(KINDS) == len(KINDS) - 1 else long)
        items.append(Planted(f"absent-{number:05}", text, "", -1))
    return Contaminated(sorted(items), result)


def _take(texts: list[str]) -> str:
    if not texts:
        raise ValueError("too few texts of this length to make items of")
    return texts.pop()
