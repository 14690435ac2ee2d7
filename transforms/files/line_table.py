"""Converts blocks of lines to Arrow tables of texts, without a Python object per line."""

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.transforms.files.line_arrays import line_bounds

FEATURE = "text"
SCHEMA = pa.schema([pa.field(FEATURE, pa.string(), nullable=False)])

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()

# Characters of Perl that are not in Unicode: surrogates, and code points above U+10FFFF.
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
    """The lines of a block as a table of texts."""

    table: pa.Table  # a table with SCHEMA
    block: bytes  # the same lines as in the table
    replaced: int  # number of characters that are not in Unicode, each now U+FFFD


def make_table(block: bytes) -> LineTable:
    """Converts a block to a table with one line per row, without line feeds. Spaces are kept.

    Lines may have characters that Perl reads as UTF-8 but that are not in Unicode. The table cannot represent
    them, so each becomes U+FFFD. Raises ArrowInvalid for other malformed UTF-8. The block must be smaller
    than 2 GiB.
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
