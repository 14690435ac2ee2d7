"""Removes tables and HTML lists from wikitext."""

import re
from collections.abc import Callable

from corpusmill.transforms.wikitext.marks import BREAK

# Group 1 matches only in an opener.
_TABLE = re.compile(r"\n[ \t:]*(?:(\{\|)|\|\}(?!\}))")
_HTML_BLOCK = re.compile(r"<(?:((?i:table|ul|ol|dl))\b[^<>]*|/(?i:table|ul|ol|dl)\s*)>")


def _sub_spans(text: str, pattern: re.Pattern[str], fill: Callable[[str], str]) -> str:
    """Replaces each span of text that begins with an opener, such as `{|`, and ends with its closer, `|}`.

    `pattern` matches openers and closers. Group 1 is not empty for an opener. `fill` is called with a span
    and returns its replacement. An opener or closer without a partner is kept.
    """
    kept: list[str] = []
    open_at: list[tuple[int, int]] = []  # (start of the opener, length of `spans` at that time)
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        if match[1]:
            open_at.append((match.start(), len(spans)))
        elif open_at:
            start, inner = open_at.pop()
            del spans[inner:]  # spans inside this one are replaced with it
            spans.append((start, match.end()))
    if not spans:
        return text
    position = 0
    for start, end in spans:
        kept += (text[position:start], fill(text[start:end]))
        position = end
    kept.append(text[position:])
    return "".join(kept)


def sub_tables(text: str, fill: Callable[[str], str]) -> str:
    """Replaces wikitables (`{|…|}`), including nested ones.

    `fill` is called with the wikitext of a table and returns its replacement.
    """
    if "{|" not in text:
        return text
    if text[0] in "{ \t:":  # no new line in front of the first table
        text = f"\n{text}"
    return _sub_spans(text, _TABLE, fill)


def strip_html_blocks(text: str) -> str:
    """Removes HTML tables and lists, including nested ones."""
    return _sub_spans(text, _HTML_BLOCK, lambda _: BREAK) if "</" in text else text


def strip_tables(text: str) -> str:
    """Removes wikitables, HTML tables and HTML lists, including nested ones."""
    return strip_html_blocks(sub_tables(text, lambda _: f"\n{BREAK}"))
