"""Blocks of lines, in which pipelines process lines because single ones cost too much: their lines, ids,
statistics and encoding.

A block has the bytes of whole lines, each with its line feed, in any encoding.

Converts blocks of lines to Arrow arrays, to sort and select lines without a Python object per line.

Converts blocks of lines to Arrow tables of texts, without a Python object per line.

Encodes ids of lines as 64-bit integers.

The sorted lines of a corpus are divided into numbered ranges. An id has the number of the line's range in its
high 32 bits, and the index of the line within this range in its low 32 bits. So ids are ascending in the
order of the lines, however the lines are divided into ranges.

Decodes and encodes UTF-8 like Perl's `:utf8` layer, with surrogates and code points above U+10FFFF.

Perl's characters have up to 63 bits. Besides Unicode's forms of up to four bytes, there are forms of five and
six bytes, of seven bytes (which begin with 0xFE) and of thirteen bytes (which begin with 0xFF). Overlong
forms are malformed. Python does not support characters above U+10FFFF, so in texts they are replaced by
stand-ins: code points of planes that Unicode leaves unassigned. The rules of this package treat stand-ins
like the original characters.
"""

import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

_T = TypeVar("_T")
_LINE_FEED, _BLANK = b"\n "
_LEVEL = 1  # zstd level; level 3 makes news sentences a sixth smaller, in twice the time


class _Contexts(threading.local):
    """A zstd compressor and decompressor for each thread. They are kept, because creating them takes time."""

    def __init__(self) -> None:
        self.pack = zstandard.ZstdCompressor(level=_LEVEL).compress
        self.unpack = zstandard.ZstdDecompressor().decompress


_contexts = _Contexts()


def lines_of(block: bytes) -> list[bytes]:
    """Returns the lines of a block without their line feeds."""
    lines = block.split(b"\n")
    lines.pop()  # the empty rest after the last line feed
    return lines


def block_of(lines: Sequence[bytes]) -> bytes:
    """Joins lines to a block. A line feed is added to each line."""
    return b"\n".join([*lines, b""])


def count_lines(block: bytes) -> int:
    """Returns the number of lines in a block."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == _LINE_FEED))


def cut_block(block: bytes, max_bytes: int) -> Iterator[bytes]:
    """Divides a block into parts of at most `max_bytes` bytes. A part has whole lines.

    A single line that is longer is a part of its own.
    """
    start = 0
    while start < len(block):
        end = block.rfind(b"\n", start, start + max_bytes) + 1
        if not end:
            end = block.index(b"\n", start) + 1
        yield block[start:end]
        start = end


def in_batches(items: Iterable[_T], enough: int, weigh: Callable[[_T], int]) -> Iterator[list[_T]]:
    """Yields items in batches whose total weight is at least `enough`. The last batch may weigh less."""
    batch: list[_T] = []
    weight = 0
    for item in items:
        batch.append(item)
        weight += weigh(item)
        if weight >= enough:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def pack_block(block: bytes) -> bytes:
    """Compresses a block."""
    return _contexts.pack(block)


def unpack_block(packed: bytes) -> bytes:
    """Decompresses a block."""
    return _contexts.unpack(packed)


Int64s = npt.NDArray[np.int64]


def line_bounds(block: bytes) -> Int64s:
    """Returns the positions at which the lines of a block begin, and the end of the block."""
    feeds = np.flatnonzero(np.frombuffer(block, np.uint8) == _LINE_FEED)
    bounds = np.zeros(len(feeds) + 1, np.int64)
    bounds[1:] = feeds + 1
    return bounds


def to_array(block: bytes, bounds: Int64s) -> pa.LargeBinaryArray:
    """Converts the lines of a block to an array whose values sort like the lines.

    Normally, the values are the lines without their line feeds. If no byte in the block has a lower value
    than a line feed, the values include the line feeds. They sort in the same way, and no copy is needed.
    """
    if block and np.frombuffer(block, np.uint8).min() >= _LINE_FEED:
        return _array_of(block, bounds)
    return _array_of(block.replace(b"\n", b""), bounds - np.arange(len(bounds)))


def take_lines(block: bytes, places: Int64s, bounds: Int64s | None = None) -> bytes:
    """Returns the lines at the indexes `places`, in the order of the indexes.

    Args:
      block: a block of lines.
      places: indexes of lines.
      bounds: the result of `line_bounds` for the block, if already known.
    """
    bounds = line_bounds(block) if bounds is None else bounds
    return _data_of(_array_of(block, bounds).take(pa.array(places)))


def sort_places(lines: pa.LargeBinaryArray) -> Int64s:
    """Returns the indexes of lines, sorted by the bytes of the lines.

    Of equal lines, only the first is returned.
    """
    order = pc.sort_indices(lines)
    in_order = lines.take(order)
    is_first = np.ones(len(order), bool)
    is_first[1:] = pc.not_equal(in_order[1:], in_order[:-1]).to_numpy(zero_copy_only=False)
    places: Int64s = order.to_numpy().astype(np.int64)[is_first]
    return places


def _array_of(data: bytes, offsets: Int64s) -> pa.LargeBinaryArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _data_of(lines: pa.LargeBinaryArray) -> bytes:
    _, offsets, data = lines.buffers()
    if not len(lines) or data is None:
        return b""
    bounds = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return bytes(data.slice(bounds[0], bounds[-1] - bounds[0]).to_pybytes())


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


def group_places(keys: npt.NDArray[Any]) -> Iterator[tuple[int, Int64s]]:
    """Yields (key, ascending indexes at which it occurs in `keys`), sorted by key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    parts = np.split(order, starts) if len(order) else []
    return zip(ordered[np.append(0, starts)].tolist() if parts else [], parts, strict=True)


_SHORT, _LONG, _WIDTH = 20, 100, 5


# Numbers of words at which classes begin. The histogram of README.corpus_generation ends with ">20".

_STARTS = np.array([*range(_SHORT + 1), *range(_SHORT + 1, _LONG + 2, _WIDTH)])


CLASSES = (
    *map(str, range(_SHORT + 1)),
    *(f"{start}-{start + _WIDTH - 1}" for start in range(_SHORT + 1, _LONG, _WIDTH)),
    f">{_LONG}",
)
"""Classes of the number of words in a line: "0", "1", … "20", "21-25", … "96-100", ">100"."""


_CHUNK_BYTES = 1 << 18  # bytes measured at a time: they fit in the processor's cache


class LineStats(NamedTuple):
    """The numbers of lines, words, bytes and characters of a text, and more statistics of its lines.

    For tokenised lines, the first four numbers are those that `wc -lwcm` prints.
    """

    lines: int = 0
    words: int = 0  # separated by one or more spaces (U+0020)
    bytes: int = 0  # with line feeds
    characters: int = 0  # code points as Perl counts them, with line feeds; some are not in Unicode
    longest_line_bytes: int = 0  # without its line feed
    lines_by_words: tuple[int, ...] = (0,) * len(CLASSES)
    """Number of lines in each of CLASSES."""

    def histogram(self) -> dict[str, int]:
        """Returns a mapping: class of line lengths in words, such as "21-25" → number of lines in it."""
        return histogram(self.lines_by_words)


def histogram(lines_by_words: Sequence[int]) -> dict[str, int]:
    """Returns a mapping: class of line lengths in words, such as "21-25" → number of lines in this class.

    `lines_by_words` has the numbers of lines, in the order of CLASSES.
    """
    return dict(zip(CLASSES, lines_by_words, strict=True))


def count_by_words(words: npt.ArrayLike) -> tuple[int, ...]:
    """Returns for each class of line lengths in words (CLASSES) the number of lines in this class.

    `words` has the number of words of each line.
    """
    classes = np.searchsorted(_STARTS, np.asarray(words, np.int64), "right") - 1
    return tuple(np.bincount(classes, minlength=len(CLASSES)).tolist())


def measure_lines(block: bytes) -> LineStats:
    """Returns the statistics of a block of lines (see line_blocks.py)."""
    return add_line_stats(map(_measure_chunk, cut_block(block, _CHUNK_BYTES)))


def _measure_chunk(block: bytes) -> LineStats:
    text = np.frombuffer(block, np.uint8)
    is_end = text == _LINE_FEED
    ends = np.flatnonzero(is_end)
    is_between = is_end | (text == _BLANK)
    last_bytes = np.flatnonzero(is_between[1:] > is_between[:-1])  # of words
    words = np.diff(np.searchsorted(last_bytes, ends), prepend=0)
    return LineStats(
        lines=len(ends),
        words=int(words.sum()),
        bytes=len(text),
        characters=int(np.count_nonzero((text & 0b1100_0000) != 0b1000_0000)),
        longest_line_bytes=int(np.diff(ends, prepend=-1).max()) - 1,
        lines_by_words=count_by_words(words),
    )


def add_line_stats(stats: Iterable[LineStats]) -> LineStats:
    """Adds up the statistics of several texts. Of their longest lines, the longest one is used."""
    columns = list(zip(LineStats(), *stats, strict=True))
    lines, words, size, characters = (sum(column) for column in columns[:4])
    by_words = tuple(sum(column) for column in zip(*columns[5], strict=True))
    return LineStats(lines, words, size, characters, max(columns[4]), by_words)


# Forms beyond Unicode. Each alternative excludes overlong forms.
_BEYOND = (
    rb"\xf4[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf5-\xf7][\x80-\xbf]{3}"
    rb"|(?:\xf8[\x88-\xbf]|[\xf9-\xfb][\x80-\xbf])[\x80-\xbf]{3}"
    rb"|(?:\xfc[\x84-\xbf]|\xfd[\x80-\xbf])[\x80-\xbf]{4}"
    rb"|\xfe[\x82-\xbf][\x80-\xbf]{5}"
    rb"|\xff\x80(?!\x80{5})[\x80-\x87][\x80-\xbf]{10}"
)


_BEYOND_UNICODE = re.compile(_BEYOND)


_STAND_INS = range(0x40000, 0xE0000)  # planes 4 to 13


_FOUR_BYTES = re.compile(rb"[\xf1-\xf3][\x80-\xbf]{3}")  # stand-ins are among these


StandIns = Mapping[str, bytes]


def is_perl_utf8(line: bytes) -> bool:
    """Returns True if Perl can read these bytes as UTF-8."""
    return _can_decode(line, "strict") or _is_lax(line)


def malformed_lines(block: bytes) -> list[int]:
    """Returns the indexes, from 0, of those lines in a block of text that Perl cannot read as UTF-8."""
    if _is_unicode(block):
        return []
    return [index for index, line in enumerate(lines_of(block)) if not is_perl_utf8(line)]


def decode(line: bytes) -> tuple[str, StandIns]:
    """Decodes a line. Returns its text, and a mapping: stand-in → the bytes that it replaces.

    A stand-in is an unassigned code point. It replaces a character above U+10FFFF, which Python does not
    support.

    Raises:
        ValueError: the bytes are malformed, or have more different characters above U+10FFFF than there are
            stand-ins (655,360).
    """
    try:
        return line.decode("utf-8", "surrogatepass"), {}
    except UnicodeDecodeError as error:
        if not _is_lax(line):
            raise ValueError(f"malformed UTF-8 at byte {error.start} of {line[:80]!r}") from error
    beyond = sorted(set(_BEYOND_UNICODE.findall(line)))
    rest = _BEYOND_UNICODE.sub(b"\n", line).decode("utf-8", "surrogatepass")
    unused = itertools.filterfalse(set(rest).__contains__, map(chr, _STAND_INS))
    stand_ins = list(itertools.islice(unused, len(beyond)))
    if len(stand_ins) < len(beyond):
        raise ValueError(
            f"too many different characters above U+10FFFF ({len(beyond)}) in {line[:80]!r}"
        )
    places = {held: stand_in.encode() for held, stand_in in zip(beyond, stand_ins, strict=True)}
    strict = _BEYOND_UNICODE.sub(lambda match: places[match[0]], line)
    return strict.decode("utf-8", "surrogatepass"), dict(zip(stand_ins, beyond, strict=True))


def encode(text: str, stand_ins: StandIns) -> bytes:
    """Returns the UTF-8 bytes of a text. This is the inverse of `decode`.

    Args:
      text: the text, in which stand-ins replace characters above U+10FFFF.
      stand_ins: stand-in → the bytes that it replaces, as returned by `decode`.
    """
    line = text.encode("utf-8", "surrogatepass")
    if not stand_ins:
        return line
    held = {stand_in.encode(): beyond for stand_in, beyond in stand_ins.items()}
    return _FOUR_BYTES.sub(lambda match: held.get(match[0], match[0]), line)


def _is_unicode(block: bytes) -> bool:
    """Returns True if a block is UTF-8 as Unicode defines it. The block is not decoded to a string."""
    buffers = [None, pa.py_buffer(np.array([0, len(block)], np.int64)), pa.py_buffer(block)]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, buffers).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_lax(line: bytes) -> bool:
    # Lead bytes of the long forms occur nowhere else. The line feed keeps the bytes on both sides apart.
    return _can_decode(_BEYOND_UNICODE.sub(b"\n", line), "surrogatepass")


def _can_decode(line: bytes, errors: str) -> bool:
    try:
        line.decode("utf-8", errors)
    except UnicodeDecodeError:
        return False
    return True
