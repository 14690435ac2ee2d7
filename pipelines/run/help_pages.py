"""Formats help pages for the width of the terminal.

Prose is wrapped, long commands are continued with backslashes, and the layout of columns is kept.
"""

import argparse
import re
import textwrap
from collections.abc import Iterator

_COMMAND = re.compile(r" {4,}(?:corpusmill |--?\w)")
_COMMENT = re.compile(r"( *\S.* {2,}# )\S")
_ROW = re.compile(r"( *\S.*? {2,})\S")
_BEFORE_FLAG = re.compile(r" (?=--?\w)")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps a help page line by line, so that lists of examples and files keep their layout."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = (f"{indent}{line}" if line else "" for line in _join_prose(text.splitlines()))
        return "\n".join(part for line in lines for part in fill(line, width))


def _join_prose(lines: list[str]) -> Iterator[str]:
    """Yields the lines of a text, with each unindented paragraph joined to one line."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line and not line.startswith(" "):
            paragraph.append(line)
            continue
        if paragraph:
            yield " ".join(paragraph)
            paragraph = []
        yield line


def fill(line: str, width: int) -> list[str]:
    """Splits a line of a help page into lines of at most `width` columns, unless a word is longer."""
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    if _COMMAND.match(line):
        return _fill_command(line, width, indent)
    comment = _COMMENT.match(line)
    row = comment or _ROW.match(line)
    kept = row[1] if row else " " * indent
    mark = "# " if comment else ""
    return textwrap.wrap(
        line[len(kept) :],
        width,
        initial_indent=kept,
        subsequent_indent=" " * (len(kept) - len(mark)) + mark,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fill_command(line: str, width: int, indent: int) -> list[str]:
    """Splits a long command into lines of at most `width` columns. The lines are broken before flags.

    Each line except the last ends with a backslash.

    Args:
      indent: The number of spaces before the command.
    """
    is_continued = line.endswith(" \\")
    first, *flags = _BEFORE_FLAG.split(line.removesuffix(" \\").strip())
    further = indent + 2 * (not first.startswith("-"))
    lines = [" " * indent + first]
    for flag in flags:
        if len(lines[-1]) + len(flag) + len("  \\") <= width:
            lines[-1] += f" {flag}"
        else:
            lines.append(" " * further + flag)
    *broken, last = lines
    return [*(f"{one} \\" for one in broken), f"{last} \\" if is_continued else last]
