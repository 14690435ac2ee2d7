"""Ranges of lines for the tests of what is done with them."""

from collections.abc import Iterable, Sequence

from corpusmill.transforms.files.line_blocks import block_of, lines_of, pack_block
from corpusmill.transforms.files.records import LineRange
from corpusmill.transforms.files.scratch import fetch


def ranges_of(parts: Sequence[Sequence[bytes]]) -> list[LineRange]:
    """A range for each part."""
    return [
        LineRange(number, len(part), pack_block(block_of(part)))
        for number, part in enumerate(parts)
    ]


def cut(lines: Sequence[bytes], size: int) -> list[LineRange]:
    """Ranges of `size` lines each."""
    return ranges_of([lines[start : start + size] for start in range(0, len(lines), size)])


def lines_in(ranges: Iterable[LineRange]) -> list[bytes]:
    """All lines, range by range; each range tells how many it has."""
    lines = []
    for one in sorted(ranges):
        in_range = lines_of(fetch(one.packed))
        assert one.lines == len(in_range)
        lines += in_range
    return lines
