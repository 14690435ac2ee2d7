"""Splits a page into wikitext and verbatim parts, in which markup is not interpreted.

Verbatim parts are comments, code and formulas.
"""

import functools
import re
from collections.abc import Iterator

_OPENER = re.compile(
    r"<(?:!--|((?i:nowiki|pre|math|chem|ce|source|syntaxhighlight))\b[^<>]*(?<!/)>)"
)


def split_verbatim(wikitext: str) -> Iterator[tuple[str, bool]]:
    """Yields (piece, True if the piece is verbatim) for the pieces of a page, in order.

    Markup in a verbatim piece is not interpreted. A comment without an end extends to the end of the page. A
    tag without an end is not verbatim.
    """
    position = 0
    unclosed: set[str] = set()  # tags known to have no end; a page may open thousands
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
    """Returns the page without comments, code and formulas."""
    if "<" not in wikitext:
        return wikitext
    return "".join(text for text, is_verbatim in split_verbatim(wikitext) if not is_verbatim)


@functools.cache
def _closer(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>" if name else "-->", re.IGNORECASE)
