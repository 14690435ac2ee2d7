"""Where two texts differ first, and how to tell that place to a person.

Texts come as pieces of bytes, cut anywhere, and only the pieces at hand are held: a text may have
gigabytes, and be of a single line.
"""

import codecs
from collections.abc import Iterable
from typing import NamedTuple

SHOWN_BYTES = 40  # of a line on either side of the place
_CONTINUES = range(0x80, 0xC0)  # bytes of UTF-8 that begin no character


class Side(NamedTuple):
    """One of two texts, around the place."""

    column: int  # bytes of the line before the place
    before: bytes  # the last of these, SHOWN_BYTES at most
    after: (
        bytes  # from the place on, up to the line feed or SHOWN_BYTES; b"" at the end of the text
    )
    is_cut: bool  # the line goes on after `after`
    lines: int  # of the whole text; a last line without a line feed counts


class Difference(NamedTuple):
    """The first place where two texts differ."""

    line: int  # from 1
    left: Side
    right: Side


def find_difference(left: Iterable[bytes], right: Iterable[bytes]) -> Difference | None:
    """Reads both to their ends. None where they are equal."""
    one, other = _Text(left), _Text(right)
    while True:
        one.fill(1)
        other.fill(1)
        common = min(len(one.rest), len(other.rest))
        if not common or one.rest[:common] != other.rest[:common]:
            break
        one.skip(common)
        other.skip(common)
    if not one.rest and not other.rest:
        return None
    common = _common_prefix(one.rest[:common], other.rest[:common])
    one.skip(common)
    other.skip(common)
    return Difference(one.line_feeds + 1, one.describe_place(), other.describe_place())


def _common_prefix(left: bytes, right: bytes) -> int:
    """How many bytes two texts of one length share before they differ."""
    low, high = 0, len(left)
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class _Text:
    """A text that is read from its beginning."""

    def __init__(self, pieces: Iterable[bytes]):
        self._pieces = iter(pieces)
        self.rest = b""  # of what was taken from the pieces
        self.line_feeds = 0  # before the rest
        self._column = 0  # bytes of the line before the rest
        self._before = b""  # the last of these

    def fill(self, size: int) -> bool:
        """Makes the rest `size` bytes long, or all that there is; whether it has any."""
        if len(self.rest) < size:
            taken = [self.rest]
            missing = size - len(self.rest)
            while missing > 0 and (piece := next(self._pieces, None)) is not None:
                taken.append(piece)
                missing -= len(piece)
            self.rest = b"".join(taken)
        return bool(self.rest)

    def skip(self, size: int) -> None:
        """Goes on by `size` bytes of the rest."""
        passed, self.rest = self.rest[:size], self.rest[size:]
        start = passed.rfind(b"\n") + 1
        self.line_feeds += passed.count(b"\n")
        if start:
            self._column, self._before = 0, b""
        self._column += len(passed) - start
        tail = passed[max(start, len(passed) - SHOWN_BYTES) :]
        self._before = (self._before + tail)[-SHOWN_BYTES:]

    def describe_place(self) -> Side:
        """What is around the beginning of the rest. Reads the text to its end."""
        self.fill(SHOWN_BYTES + 1)
        column, before = self._column, self._before
        end = self.rest.find(b"\n", 0, SHOWN_BYTES) + 1
        after = self.rest[: end or SHOWN_BYTES]
        is_cut = not end and len(self.rest) > SHOWN_BYTES
        while self.fill(1):
            self.skip(len(self.rest))
        return Side(column, before, after, is_cut, self.line_feeds + bool(self._column))


def describe_difference(found: Difference, left: str, right: str) -> str:
    """The place, and both lines shortened around it, as part of a sentence.

    Args:
      left, right: what to call the texts: "the build".
    """
    whole = _at_character(found)
    if _name(whole.left) == _name(whole.right):  # a byte that belongs to no character
        whole = found
    one, other = whole.left, whole.right
    return (
        f"line {whole.line:,}, byte {one.column + 1:,} ({_name(one)} and {_name(other)}):"
        f" {_quote(one)} in {left}, {_quote(other)} in {right};"
        f" {one.lines:,} and {other.lines:,} lines"
    )


def _at_character(found: Difference) -> Difference:
    """Moves the place back to the beginning of a character, where it is inside of one."""
    left, right = found.left, found.right
    while left.before and any(side.after and side.after[0] in _CONTINUES for side in (left, right)):
        left, right = _one_back(left), _one_back(right)
    return Difference(found.line, left, right)


def _one_back(side: Side) -> Side:
    return side._replace(
        column=side.column - 1, before=side.before[:-1], after=side.before[-1:] + side.after
    )


def _name(side: Side) -> str:
    """The character at the place. Equal looks are no equal characters."""
    if not side.after:
        return "the end"
    if side.after[:1] == b"\n":
        return "the line feed"
    first = side.after.decode("utf-8", "surrogateescape")[0]
    is_byte = "\udc80" <= first <= "\udcff"
    return f"byte {side.after[0]:02X}" if is_byte else f"U+{ord(first):04X}"


def _quote(side: Side) -> str:
    """The line in curly quotes: normalised lines have none."""
    before = side.before
    is_cut_before = side.column > len(before)
    while is_cut_before and before and before[0] in _CONTINUES:
        before = before[1:]
    shown = _escape(_decode(before + side.after.removesuffix(b"\n"), side.is_cut))
    start, end = "…" * is_cut_before, "…" * side.is_cut
    return f"“{start}{shown}{end}”"


def _decode(data: bytes, is_cut: bool) -> str:
    """Bytes that are no UTF-8 as "\\xed"; a character that was cut at the end is left out."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    return decoder.decode(data, final=not is_cut)


def _escape(text: str) -> str:
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
