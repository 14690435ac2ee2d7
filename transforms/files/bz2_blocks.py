"""Reads a .bz2 file from the middle, block by block. A block has at most 900 kB of content.

A file made by bzip2 or lbzip2 is one stream, which a decompressor can read only from its first byte. But
every block begins with a 48-bit magic number, at any bit, and does not depend on the blocks before it. A
block that is cut out, shifted to a byte boundary, and put between a stream header and a stream end is a
complete file.

The bits of the magic number may also occur inside a block: by chance, once in some hundred dumps, or in the
list of the byte values that occur in the block. So a magic number counts as the beginning of a block only if
the block decompresses with a correct checksum. Magic numbers inside such a block are skipped, wherever
reading started. (The checksum of the whole stream is not checked, because a reader has only a part of the
stream.)

The libraries rapidgzip and indexed_bzip2 also read in parallel, but in the threads of one process, and they
need an index of the whole file to find a position. With this module, many workers can each read a part of the
file, without an index.
"""

import bisect
import bz2
import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, Self

import numpy as np
import zstandard

SCAN_BYTES = 1 << 18  # about two blocks
# maximum stored size of a block; 20 bits for each of 900,000 symbols are less
MAX_BLOCK_BYTES = 1 << 22
TRIED_ENDS = 3  # number of marks tried as the end of a block: the first two may be marks by chance

_BLOCK_MAGIC = 0x314159265359
_END_MAGIC = 0x177245385090
_MAGIC_BITS = 48
_CRC_BITS = 32
_HEADER_BITS = 32
_PACK_LEVEL = 1  # zstd level 1 takes a tenth of the time of bzip2
_SPAN_BYTES = 7  # bytes touched by a magic number that is not on a byte boundary
_CORE_BYTES = 5  # whole bytes of a magic number, at whichever bit it begins
_STREAM_HEADER = re.compile(rb"BZh[1-9]")
_EMPTY_STREAM = re.compile(rb"BZh[1-9]\x17rE8P\x90\0\0\0\0")


class Block(NamedTuple):
    """A block that decompressed with a correct checksum: bits `start` to `end` of the compressed file."""

    start: int
    end: int
    data: bytes

    @property
    def start_byte(self) -> int:
        """The offset, in the compressed file, of the byte in which the block begins.

        Blocks can begin at any bit, but no two blocks begin in the same byte.
        """
        return self.start // 8


class BadBlock(NamedTuple):
    """A damaged part of the compressed file, from bit `start` to `end`, which is not a whole block."""

    start: int
    end: int
    message: str

    @property
    def start_byte(self) -> int:
        """The offset, in the compressed file, of the byte in which the damage begins."""
        return self.start // 8


class PackedBlock(NamedTuple):
    """The content of a block, or a part of it, compressed for the transfer between workers."""

    start: int
    end: int
    packed: bytes

    @classmethod
    def pack(cls, block: Block, data: bytes) -> Self:
        """Compresses `data`, which is the content of a block or a part of it."""
        return cls(block.start, block.end, zstandard.compress(data, _PACK_LEVEL))

    def unpack(self) -> Block:
        """Returns the block, with its content decompressed."""
        return Block(self.start, self.end, zstandard.decompress(self.packed))


class _Mark(NamedTuple):
    bit: int
    is_end: bool  # True for the end of a stream, False for the beginning of a block


def _cores() -> dict[bytes, tuple[int, int]]:
    """Returns the byte strings by which magic numbers are found in a file.

    The result is: bytes to search for → (magic number, bit of a byte at which it begins). There is an entry
    for each magic number and each of the eight bits. The bytes to search for are only those that the magic
    number fills completely.
    """
    cores = {}
    for magic in (_BLOCK_MAGIC, _END_MAGIC):
        for shift in range(8):
            span = (magic << (8 - shift)).to_bytes(_SPAN_BYTES, "big")
            first = 1 if shift else 0
            cores[span[first : first + _CORE_BYTES]] = magic, shift
    return cores


_CORES = _cores()
_STARTS_CORE = np.zeros(1 << 16, bool)  # for each pair of bytes: True if a core begins with it
_STARTS_CORE[[int.from_bytes(core[:2], "little") for core in _CORES]] = True


def find_marks(data: bytes | bytearray, start: int = 0) -> Iterator[tuple[int, bool]]:
    """Yields (bit in `data`, True if it ends a stream) for each magic number from byte `start` on."""
    for core in _find_pairs(data, start):
        magic, shift = _CORES.get(bytes(data[core : core + _CORE_BYTES]), (0, 0))
        at = core - 1 if shift else core
        if magic and at >= start and at * 8 + shift + _MAGIC_BITS <= len(data) * 8:
            span = int.from_bytes(data[at : at + _SPAN_BYTES].ljust(_SPAN_BYTES, b"\0"), "big")
            if span >> (8 - shift) & ((1 << _MAGIC_BITS) - 1) == magic:
                yield at * 8 + shift, magic == _END_MAGIC


def _find_pairs(data: bytes | bytearray, start: int) -> list[int]:
    """Returns the positions in `data`, from `start` on, at which the first two bytes of a core are.

    One position in 4,096 is such a position. A table finds them four times as fast as a regular expression
    finds the cores.
    """
    found: list[int] = []
    for first in (start, start + 1):
        pairs = np.frombuffer(data, "<u2", max(len(data) - first, 0) // 2, min(first, len(data)))
        found += (np.flatnonzero(_STARTS_CORE[pairs]) * 2 + first).tolist()
    return sorted(found)


def decode_block(data: bytes | bytearray, start: int, end: int) -> bytes | None:
    """Returns the content of the block at bits `start` to `end` of `data`, or None if the block is
    incomplete.
    """
    length = end - start
    if length < _MAGIC_BITS + _CRC_BITS:
        return None
    cut = int.from_bytes(data[start // 8 : -(-end // 8)], "big") >> -end % 8
    cut &= (1 << length) - 1
    crc = cut >> (length - _MAGIC_BITS - _CRC_BITS) & ((1 << _CRC_BITS) - 1)
    # For a stream of one block, the checksum is the same as that of the block.
    stream = (cut << _MAGIC_BITS | _END_MAGIC) << _CRC_BITS | crc
    bits = length + _MAGIC_BITS + _CRC_BITS
    packed = b"BZh9" + (stream << -bits % 8).to_bytes(-(-bits // 8), "big")
    decompressor = bz2.BZ2Decompressor()
    try:
        content = decompressor.decompress(packed)
    except (OSError, ValueError):
        return None
    return content if decompressor.eof and not decompressor.unused_data else None


def first_block_bit(stream: BinaryIO) -> int | None:
    """Returns the bit at which the first block should begin: after the file header and any empty streams.

    Returns None if the file does not begin with a stream.
    """
    at = 0
    while True:
        stream.seek(at)
        head = stream.read(_HEADER_BITS // 8 + _MAGIC_BITS // 8 + _CRC_BITS // 8)
        if not _EMPTY_STREAM.fullmatch(head):
            break
        at += len(head)
    return at * 8 + _HEADER_BITS if _STREAM_HEADER.match(head) else None


def ends_whole(stream: BinaryIO, file_bytes: int) -> bool:
    """Returns True if the last bytes of a file are the end of a bz2 stream."""
    trailer = (_MAGIC_BITS + _CRC_BITS) // 8
    start = max(file_bytes - trailer - 1, 0)
    stream.seek(start)
    tail = stream.read(file_bytes - start)
    return any(is_end and end_of_stream(bit) == len(tail) for bit, is_end in find_marks(tail))


def end_of_stream(bit: int) -> int:
    """Returns the position of the byte after a stream, given the bit at which its end mark begins."""
    return -(-(bit + _MAGIC_BITS + _CRC_BITS) // 8)


def read_blocks(
    stream: BinaryIO,
    start: int,
    end: int,
    file_bytes: int,
    needs_more: Callable[[], bool] = lambda: True,
    known: Sequence[PackedBlock] = (),
) -> Iterator[Block | BadBlock]:
    """Yields the blocks that begin between byte `start` and byte `end` (exclusive) of the compressed file.

    Further blocks are yielded as long as they are needed, because a line may continue there: `needs_more` is
    called before each of them is decompressed, and the reading ends if it returns False. A block in `known`
    is not decompressed again. Damage is yielded by the reader of the part that has the last magic number
    before the damage. So a file that is read in parts yields each block and each damage once.
    """
    known_at = {block.start: block for block in known}
    window = _Window(stream, start, file_bytes)
    if start == 0 and (damage := window.problem_at_start()):
        yield damage
    if (mark := window.next_mark(start * 8, end * 8)) is None:
        return
    first, good_until = mark, -1
    while mark is not None:
        if mark.bit >= end * 8 and not needs_more():
            return
        if mark.bit >= good_until:
            packed = known_at.get(mark.bit)
            found = packed.unpack() if packed else window.read_mark(mark)
            if isinstance(found, Block):
                good_until = found.end
                yield found
            elif found is not None:
                if good_until < 0:
                    good_until = _end_of_block_across(stream, first.bit, file_bytes)
                if mark.bit >= good_until:
                    yield found
        mark = window.next_mark(mark.bit + 1)


def _end_of_block_across(stream: BinaryIO, bit: int, file_bytes: int) -> int:
    """Returns the end, counted in bits, of the block that begins before `bit` and ends after it.

    Returns `bit` if there is no such undamaged block.
    """
    window = _Window(stream, max(bit // 8 - MAX_BLOCK_BYTES, 0), file_bytes)
    before: list[_Mark] = []
    mark = window.next_mark(0, bit)
    while mark is not None:
        before = [*before[1 - TRIED_ENDS :], mark]
        mark = window.next_mark(mark.bit + 1, bit)
    for candidate in before:
        window = _Window(stream, candidate.bit // 8, file_bytes)
        window.next_mark(candidate.bit)
        found = window.read_mark(candidate)
        if isinstance(found, Block) and found.end > bit:
            return found.end
    return bit


class _Window:
    """A part of the stored file in memory, which moves forward, and the magic numbers in it."""

    def __init__(self, stream: BinaryIO, start: int, file_bytes: int):
        self._stream = stream
        self._start = start  # offset in the compressed file of the start of the buffer
        self._file_bytes = file_bytes
        self._buffer = bytearray()
        self._marks: list[_Mark] = []  # marks in the buffer, in order

    @property
    def _stop(self) -> int:
        return self._start + len(self._buffer)

    def next_mark(self, bit: int, limit: int | None = None) -> _Mark | None:
        """Returns the first mark (magic number) at `bit` or later, but before `limit`; None if there is none.

        The bytes before the mark are removed from memory.
        """
        while True:
            self._drop_before(bit)
            if self._marks:
                mark = self._marks[0]
                if limit is not None and mark.bit >= limit:
                    return None
                self._drop_before(mark.bit)
                return mark
            self._drop_before(max(self._stop - _SPAN_BYTES, self._start) * 8)
            if (limit is not None and self._start * 8 >= limit) or not self._read_on():
                return None

    def read_mark(self, mark: _Mark) -> Block | BadBlock | None:
        """Returns the block or the damage that begins at a mark, or None if the mark ends a stream.

        A mark is a magic number.
        """
        if mark.is_end:
            return self._read_end(mark)
        for end in self._ends_of(mark):
            data = decode_block(self._buffer, mark.bit - self._start * 8, end - self._start * 8)
            if data is not None:
                return Block(mark.bit, end, data)
        if len(self._ends_of(mark)) == 0 and self._stop >= self._file_bytes:
            message = "the file ends inside a bz2 block: was a download interrupted?"
        else:
            message = "a damaged bz2 block"
        return self._bad_until_next_mark(mark.bit, message)

    def problem_at_start(self) -> BadBlock | None:
        """Returns None if the file begins with a bz2 stream, otherwise the damage at its beginning."""
        while self._stop < _HEADER_BITS // 8 + _SPAN_BYTES and self._read_on():
            pass
        begins_well = _STREAM_HEADER.match(self._buffer)
        if begins_well and self._marks and self._marks[0].bit == _HEADER_BITS:
            return None
        return self._bad_until_next_mark(-1, "the file does not begin with a bz2 stream")

    def _ends_of(self, mark: _Mark) -> list[int]:
        """Returns the bits at which the block that begins at `mark` may end: those of the next marks."""
        limit = mark.bit // 8 + MAX_BLOCK_BYTES
        while True:
            after = self._index_of(mark.bit + 1)
            ends = [later.bit for later in self._marks[after : after + TRIED_ENDS]]
            if len(ends) == TRIED_ENDS or self._stop >= limit or not self._read_on():
                return ends

    def _read_end(self, mark: _Mark) -> BadBlock | None:
        after = end_of_stream(mark.bit)
        header_end = after + (_HEADER_BITS + _MAGIC_BITS) // 8
        while self._stop < header_end and self._read_on():
            pass
        if after == self._file_bytes:
            return None
        if after > self._file_bytes:
            return BadBlock(mark.bit, self._file_bytes * 8, "the file ends inside a bz2 stream")
        header = _STREAM_HEADER.match(self._buffer, after - self._start)
        begins = after * 8 + _HEADER_BITS
        if header and any(
            later.bit == begins for later in self._marks[self._index_of(begins) :][:1]
        ):
            return None
        message = "no bz2 stream begins where the one before it ended"
        return self._bad_until_next_mark(mark.bit, message)

    def _bad_until_next_mark(self, bit: int, message: str) -> BadBlock:
        """Returns a bad block that extends from `bit` to the next mark, or to the end of the file.

        The bytes before the next mark are removed from memory.
        """
        following = self.next_mark(bit + 1)
        end = self._file_bytes * 8 if following is None else following.bit
        return BadBlock(max(bit, 0), end, message)

    def _read_on(self) -> bool:
        """Reads more of the file into memory. Returns False at the end of the file."""
        if self._stop >= self._file_bytes:
            return False
        self._stream.seek(self._stop)
        if not (data := self._stream.read(min(SCAN_BYTES, self._file_bytes - self._stop))):
            return False
        searched_from = max(len(self._buffer) - _SPAN_BYTES, 0)
        self._buffer += data
        last = self._marks[-1].bit if self._marks else -1
        for bit, is_end in find_marks(self._buffer, searched_from):
            if self._start * 8 + bit > last:
                self._marks.append(_Mark(self._start * 8 + bit, is_end))
        return True

    def _drop_before(self, bit: int) -> None:
        cut = bit // 8 - self._start
        if cut > 0:
            del self._buffer[:cut]
            self._start += cut
        del self._marks[: self._index_of(bit)]

    def _index_of(self, bit: int) -> int:
        """Returns the index of the first mark (magic number) in memory that is at `bit` or later."""
        return bisect.bisect_left(self._marks, bit, key=lambda mark: mark.bit)
