"""Words of a list → a mark in their place, as PG-19 has `<DW>` for discriminatory words.

Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", 2020: the list was never
released, so it is the operator's.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MARK = "<DW>"
_WORD = re.compile(r"\w+")


class Masked(NamedTuple):
    """A text, and how often something in it was replaced."""

    text: str
    replaced: int


def read_words(lines: Iterable[str]) -> tuple[str, ...]:
    """The entries of a list: one a line, sorted, each once; blank lines are passed over.

    An entry may have several words, or a hyphen. Raises ValueError for one that has no letter or digit, and
    for a list without any.
    """
    entries = {" ".join(line.split()).lower() for line in lines}
    entries.discard("")
    wordless = sorted(entry for entry in entries if not _WORD.search(entry))
    if wordless:
        raise ValueError(f"{wordless[0]!r} is no word")
    if not entries:
        raise ValueError("there is no word in it")
    return tuple(sorted(entries))


def mask_words(text: str, entries: Sequence[str]) -> Masked:
    """The text with MARK for every entry that stands there as whole words, in capitals or not.

    Between the words of an entry there may be any white space, a line end too. Of entries that begin at
    one place the longest is taken.
    """
    present = set(_WORD.findall(text.lower()))
    live = [entry for entry in entries if present.issuperset(_WORD.findall(entry))]
    if not live:
        return Masked(text, 0)
    choices = "|".join(_pattern_of(entry) for entry in sorted(live, key=len, reverse=True))
    return Masked(*re.subn(rf"(?<!\w)(?:{choices})(?!\w)", MARK, text, flags=re.IGNORECASE))


def _pattern_of(entry: str) -> str:
    return r"\s+".join(map(re.escape, entry.split()))
