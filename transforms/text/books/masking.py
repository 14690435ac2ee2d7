"""Words of a list → a mark in their place, as PG-19 has `<DW>` for discriminatory words.

Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", 2020: the list was never
released, so it is the operator's.
"""

import collections
import functools
import re
from collections.abc import Iterable, Mapping, Sequence

MARK = "<DW>"
_WORD = re.compile(r"\w+")


def read_words(lines: Iterable[str]) -> tuple[str, ...]:
    """The entries of a list: one a line, sorted, each once; blank lines are passed over.

    An entry may have several words, or a hyphen. Raises ValueError for one that has no letter or digit, and
    for a list without any.
    """
    entries = {" ".join(line.split()).lower() for line in lines}
    entries.discard("")
    wordless = sorted(entry for entry in entries if not _WORD.search(entry))
    if wordless:
        raise ValueError(f"{wordless[0]!r} is not a word")
    if not entries:
        raise ValueError("there is no word in it")
    return tuple(sorted(entries))


def mask_words(text: str, entries: Sequence[str]) -> tuple[str, int]:
    """The text with MARK for every entry that is there as whole words, in capitals or not; and how many.

    Between the words of an entry there may be any white space, a line end too. Of entries that begin with
    one word the longest is taken.
    """
    by_first_word = _by_first_word(tuple(entries))
    if by_first_word.keys().isdisjoint(_WORD.findall(text.lower())):
        return text, 0
    parts, done, replaced = [], 0, 0
    for word in _WORD.finditer(text):
        for before, pattern in by_first_word.get(word[0].lower(), ()):
            start = word.start() - before
            if start >= done and (found := pattern.match(text, start)):
                parts += [text[done:start], MARK]
                done = found.end()
                replaced += 1
                break
    return "".join([*parts, text[done:]]), replaced


@functools.lru_cache(maxsize=1)
def _by_first_word(entries: Sequence[str]) -> Mapping[str, Sequence[tuple[int, re.Pattern[str]]]]:
    """First word → (characters of the entry before it, pattern) of each entry, the longest first.

    A list may have twenty thousand entries: one pattern of them all would take seconds for a book.
    """
    found = collections.defaultdict(list)
    for entry in sorted(entries, key=len, reverse=True):
        first = _WORD.search(entry)
        assert first is not None  # `read_words` sees to it
        words = r"\s+".join(map(re.escape, entry.split()))
        pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
        found[first[0]].append((first.start(), pattern))
    return dict(found)
