"""Part a page into wikitext and what only looks like it: remarks, code, formulas."""

import functools
import re
from collections.abc import Iterator

_OPENER = re.compile(
    r"<(?:!--|((?i:nowiki|pre|math|chem|ce|source|syntaxhighlight))\b[^<>]*(?<!/)>)"
)


def split_verbatim(wikitext: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a page in their order, and whether markup in a piece is none.

    A comment without an end runs to the end of the page, a tag without one holds nothing.
    """
    position = 0
    unclosed: set[str] = set()  # looked for once only: a page may open ten thousand of them
    for opener in _OPENER.finditer(wikitext):
        if opener.start() < position:
            continue
        name = (opener[1] or "").lower()
        if name in unclosed:
            continue
        closer = _closer(name).search(wikitext, opener.end())
        if not closer and name:
            unclosed.add(name)
            continue
        yield wikitext[position : opener.start()], False
        position = closer.end() if closer else len(wikitext)
        yield wikitext[opener.start() : position], True
    yield wikitext[position:], False


def drop_verbatim(wikitext: str) -> str:
    """Return the page without remarks, code and formulas."""
    if "<" not in wikitext:
        return wikitext
    return "".join(text for text, is_verbatim in split_verbatim(wikitext) if not is_verbatim)


@functools.cache
def _closer(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>" if name else "-->", re.IGNORECASE)
