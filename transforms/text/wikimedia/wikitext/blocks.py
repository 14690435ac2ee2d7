"""Remove what is laid out as a block: tables, HTML lists, and their kind."""

import re
from collections.abc import Callable

from transforms.text.wikimedia.wikitext.marks import BREAK

# Group 1 takes part in an opener only.
_TABLE = re.compile(r"\n[ \t:]*(?:(\{\|)|\|\}(?!\}))")
_HTML_BLOCK = re.compile(r"<(?:((?i:table|ul|ol|dl))\b[^<>]*|/(?i:table|ul|ol|dl)\s*)>")


def _sub_spans(text: str, pattern: re.Pattern[str], fill: Callable[[str], str]) -> str:
    """Replace everything from an opener to its closer; openers and closers without one stay."""
    kept: list[str] = []
    open_at: list[tuple[int, int]] = []  # (where it starts, how much of `spans` came before)
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        if match[1]:
            open_at.append((match.start(), len(spans)))
        elif open_at:
            start, inner = open_at.pop()
            del spans[inner:]  # spans inside this one go with it
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
    """Replace wikitables, nested ones with them."""
    if "{|" not in text:
        return text
    if text[0] in "{ \t:":  # no new line in front of the first table
        text = f"\n{text}"
    return _sub_spans(text, _TABLE, fill)


def strip_html_blocks(text: str) -> str:
    """Remove HTML tables and lists, nested ones with them."""
    return _sub_spans(text, _HTML_BLOCK, lambda _: BREAK) if "</" in text else text


def strip_tables(text: str) -> str:
    """Remove wikitables and HTML tables and lists, nested ones with them."""
    return strip_html_blocks(sub_tables(text, lambda _: f"\n{BREAK}"))
