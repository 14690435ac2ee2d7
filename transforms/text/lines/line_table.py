"""Blocks of lines → Arrow: a text for each line, without a Python object for any."""

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from transforms.text.lines.line_arrays import line_bounds

FEATURE = "text"
SCHEMA = pa.schema([pa.field(FEATURE, pa.string(), nullable=False)])

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()

# Characters of Perl that are none of Unicode: surrogates, and what is above U+10FFFF.
_PERL_CHARACTER = re.compile(
    rb"\xed[\xa0-\xbf][\x80-\xbf]"
    rb"|\xf4[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf5-\xf7][\x80-\xbf]{3}"
    rb"|[\xf8-\xfb][\x80-\xbf]{4}"
    rb"|[\xfc\xfd][\x80-\xbf]{5}"
    rb"|\xfe[\x80-\xbf]{6}"
    rb"|\xff[\x80-\xbf]{12}"
)


class LineTable(NamedTuple):
    """The lines of a block as texts."""

    table: pa.Table  # of SCHEMA
    block: bytes  # the lines as the table has them
    replaced: int  # characters that are none of Unicode, each now a U+FFFD


def make_table(block: bytes) -> LineTable:
    """The lines without their line feeds, and else as they are: spaces at their ends stay.

    Lines may hold what Perl reads as UTF-8 and Unicode does not have; as texts cannot, each such
    character becomes a U+FFFD. Raises ArrowInvalid for lines that are not UTF-8 even so. The block is
    below 2 GiB.
    """
    table = _split_lines(block)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        valid, replaced = _PERL_CHARACTER.subn(_REPLACEMENT, block)
        table = _split_lines(valid)
        table.validate(full=True)
        return LineTable(table, valid, replaced)
    return LineTable(table, block, 0)


def _split_lines(block: bytes) -> pa.Table:
    bounds = line_bounds(block)
    offsets = (bounds - np.arange(len(bounds))).astype(np.int32)  # without the line feeds
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block.replace(b"\n", b""))]
    lines = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
    return pa.table([lines], schema=SCHEMA)
