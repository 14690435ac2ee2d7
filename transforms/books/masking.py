"""Replaces the words of a list by the mark `<DW>`, as PG-19 does with discriminatory words.

See Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", 2020. Their list was never
released, so users must provide their own.
"""

import collections
import functools
import re
from collections.abc import Iterable, Mapping, Sequence

MARK = "<DW>"
_WORD = re.compile(r"\w+")


def read_words(lines: Iterable[str]) -> tuple[str, ...]:
    """Parses a list of words to mask, one entry per line.

    Returns the entries in lower case, sorted, each once.

    Empty lines are skipped. An entry may have several words, or a hyphen. Raises ValueError for an entry
    without a letter or digit, and for an empty list.
    """
    entries = {" ".join(line.split()).lower() for line in lines}
    entries.discard("")
    wordless = sorted(entry for entry in entries if not _WORD.search(entry))
    if wordless:
        raise ValueError(f"the entry {wordless[0]!r} has no letter or digit")
    if not entries:
        raise ValueError("the list has no words")
    return tuple(sorted(entries))


def mask_words(text: str, entries: Sequence[str]) -> tuple[str, int]:
    """Replaces words of a text by `<DW>`. Returns the new text and the number of replacements.

    `entries` are the words or phrases to replace, from `read_words`. They match whole words in any case.
    Between the words of an entry there may be any white space, including line ends. If several entries begin
    with the same word, the longest match is replaced.
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
    """Groups the entries by their first word.

    Returns first word → [(offset of the first word in the entry, pattern of the entry), …], with the longest
    entry first. The offset is not 0 if the entry begins with punctuation. The entries are grouped for speed:
    a single pattern for twenty thousand entries would take seconds per book.
    """
    found = collections.defaultdict(list)
    for entry in sorted(entries, key=len, reverse=True):
        first = _WORD.search(entry)
        assert first is not None  # `read_words` checks this
        words = r"\s+".join(map(re.escape, entry.split()))
        pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
        found[first[0]].append((first.start(), pattern))
    return dict(found)
