"""Reads lines.case: lines, and what Perl makes of them.

    === label | language | version of Perl
    "line" → "normalised" → "normalised and tokenised"

The strings are JSON; one that is left out is the same as the one before it.
"""

import json
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files import line_blocks

_FILE = pathlib.Path(__file__).parent / "lines.case"


class Case(NamedTuple):
    label: str
    language: str
    perl: str
    line: str
    normalized: str
    tokenized: str


def _read_cases() -> Iterator[Case]:
    _, *sections = _FILE.read_text("utf-8").split("\n=== ")
    for section in sections:
        head, *rows = section.splitlines()
        label, language, perl = head.split(" | ")
        for row in filter(None, rows):
            strings = [json.loads(string) for string in row.split(" → ")]
            strings += strings[-1:] * (3 - len(strings))
            yield Case(label, language, perl, *strings)


CASES = list(_read_cases())


def by_line(
    change: Callable[[str, str, str], str], lines: Sequence[bytes], language: str, perl: str
) -> list[bytes]:
    """Changes each line alone."""
    decoded = map(line_blocks.decode, lines)
    return [line_blocks.encode(change(text, language, perl), held) for text, held in decoded]
