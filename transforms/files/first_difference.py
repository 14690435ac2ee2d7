"""Finds and describes the first line in which two texts differ."""

import itertools
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

SHOWN = 40  # characters shown on each side of the difference


class Difference(NamedTuple):
    """The first line in which two texts differ."""

    number: int  # from 1
    left: bytes  # with its line feed; b"" after the end of the text
    right: bytes


def find_difference(left: Iterable[bytes], right: Iterable[bytes]) -> Difference | None:
    """Returns the first line in which two texts differ, or None for equal texts."""
    pairs = itertools.zip_longest(left, right, fillvalue=b"")
    for number, (one, other) in enumerate(pairs, 1):
        if one != other:
            return Difference(number, one, other)
    return None


def describe_difference(found: Difference, left: str, right: str) -> str:
    """Returns a message with both lines, shortened around the difference.

    If the lines look the same, invisible characters are escaped.

    Args:
      left, right: names of the texts, such as "the build".
    """
    lines = [line.decode("utf-8", "backslashreplace") for line in (found.left, found.right)]
    pairs = enumerate(zip(*lines, strict=False))
    place = next((at for at, (one, other) in pairs if one != other), min(map(len, lines)))
    start = max(place - SHOWN, 0)
    shown = [line[start : start + 2 * SHOWN] for line in lines]
    looks = {unicodedata.normalize("NFKC", line).strip() for line in shown}
    if len(looks) == 1 or not all(line.rstrip("\n").isprintable() for line in shown):
        shown = [ascii(line)[1:-1] for line in shown]
    one, other = (
        f"“{'…' if start else ''}{part.rstrip()}{'…' if len(line) > start + 2 * SHOWN else ''}”"
        if line
        else "nothing"
        for line, part in zip(lines, shown, strict=True)
    )
    return f"line {found.number:,}: {one} in {left}, {other} in {right}"
