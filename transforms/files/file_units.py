"""Divides a file into work units, and reads the text of one unit.

A work unit is a part of a file. The units of a file yield each record once, wherever the file is divided: a
record belongs to the unit in which it begins, and the reader of the unit reads its last record to the end. A
splitter extracts the records (lines or pages) from the text. There are three kinds of units:

plain  not compressed: a range of bytes.
bz2    the blocks that begin in a range of the stored bytes (see bz2_blocks.py), of one stream or more.
whole  a .gz, .xz or .zst file, which cannot be read from the middle. Each of `stripes` units decompresses the
       whole file and uses only every n-th run (part of one mebibyte) of the text, where n is `stripes`.
       Decompression is cheap compared with the rest.

Damage is reported with its position. Reading continues with the first record that begins after it.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from corpusmill.transforms.files import bz2_blocks
from corpusmill.transforms.files.bz2_blocks import BadBlock, PackedBlock
from corpusmill.transforms.files.compression import DECODE_ERRORS, codec_of, decompressed, read_some

READ_BYTES = 1 << 20
STRIPE_RUN_BYTES = 1 << 20
STEP_BYTES = 1 << 15  # bytes requested from a decompressor, which returns some 20 kB at most
MIN_UNIT_BYTES = 1 << 20
MAX_UNIT_BYTES = 1 << 26
UNITS_PER_FILE = 64
TAIL_BYTES = 64  # minimum size of the last unit, which must show whether the text ends as it should
SHORTER = "the file has become shorter since it was first read: it is being written or replaced"


class FileUnit(NamedTuple):
    """A part of a file: the stored bytes from `start` to `end`, or a stripe (every n-th run of the text).

    A run is a part of fixed size. For a stripe, n is `stripes`, and the bytes from `start` to `end` are the
    whole file.
    """

    path: str
    kind: str  # "plain", "bz2" or "whole"; unit_blocks.py adds one more
    start: int
    end: int
    file_bytes: int
    stripe: int = 0
    stripes: int = 1
    known: tuple[PackedBlock, ...] = ()  # for "bz2": blocks that need not be decompressed again


class Damage(NamedTuple):
    """A damaged part of a file, from byte `start` to byte `end` of the file before decompression.

    For units of the kind "whole", `start` and `end` count the bytes of the decompressed text.
    """

    start: int
    end: int
    message: str


class Chunk(NamedTuple):
    """A part of the text of a file."""

    data: bytes
    is_own: bool  # True if records that begin in it belong to the unit
    stored_bytes: int
    block: int  # offset in the compressed file at which its block begins; -1 without blocks
    offset: int  # offset of its first byte in the block or in the text
    begins_text: bool
    member: str = ""  # name in the archive, if the text is a file in an archive
    ends_file: bool = False  # True if nothing follows; always False for kind "whole"


class Splitter(Protocol):
    """Extracts the records of a unit from its chunks, for `read_chunks`."""

    @property
    def needs_more(self) -> bool:
        """True if a record of the unit is incomplete."""

    def lose_open(self) -> None:
        """Drops an incomplete record, because damaged bytes follow."""


def plan_units(
    stream: BinaryIO,
    path: str,
    file_bytes: int,
    stripes: int,
) -> list[FileUnit]:
    """Divides a file into units. A file that cannot be read from the middle gets `stripes` units."""
    codec = codec_of(stream)
    if codec not in ("", "bz2"):
        return plan_stripes("whole", path, file_bytes, stripes)
    step = min(max(file_bytes // UNITS_PER_FILE, MIN_UNIT_BYTES), MAX_UNIT_BYTES)
    starts = range(0, max(file_bytes - TAIL_BYTES, 1), step)
    ends = [*starts[1:], file_bytes]
    return [
        FileUnit(path, codec or "plain", start, end, file_bytes)
        for start, end in zip(starts, ends, strict=True)
    ]


def plan_stripes(kind: str, path: str, file_bytes: int, stripes: int) -> list[FileUnit]:
    """Returns `stripes` units of the given `kind`, for a file that cannot be read from the middle."""
    return [
        FileUnit(path, kind, 0, file_bytes, file_bytes, stripe, stripes)
        for stripe in range(stripes)
    ]


def read_chunks(stream: BinaryIO, unit: FileUnit, splitter: Splitter) -> Iterator[Chunk | Damage]:
    """Yields the text of a unit, and any damage in it, in order.

    After the end of the unit, further text is yielded as long as the splitter needs it.
    """
    if unit.kind == "bz2":
        return _bz2_events(stream, unit, splitter)
    if unit.kind == "plain":
        return _plain_events(stream, unit, splitter)
    return _whole_events(stream, unit)


def _plain_events(stream: BinaryIO, unit: FileUnit, splitter: Splitter) -> Iterator[Chunk | Damage]:
    stream.seek(unit.start)
    position = unit.start
    while position < unit.end or splitter.needs_more:
        is_own = position < unit.end
        data = stream.read(min(READ_BYTES, unit.end - position) if is_own else READ_BYTES >> 4)
        if not data:
            if is_own:
                yield Damage(position, unit.end, SHORTER)
            elif position < unit.file_bytes:  # the text is too short; another unit reports this
                splitter.lose_open()
            return
        at, position = position, position + len(data)
        stored_bytes = len(data) if is_own else 0
        ends_file = position == unit.file_bytes
        yield Chunk(data, is_own, stored_bytes, -1, at, at == 0, ends_file=ends_file)


def _bz2_events(stream: BinaryIO, unit: FileUnit, splitter: Splitter) -> Iterator[Chunk | Damage]:
    first_bit = bz2_blocks.first_block_bit(stream)
    damage: Damage | None = None
    blocks = bz2_blocks.read_blocks(
        stream, unit.start, unit.end, unit.file_bytes, lambda: splitter.needs_more, unit.known
    )
    for found in blocks:
        is_own = found.start_byte < unit.end
        if isinstance(found, BadBlock) and is_own:
            damage = damage or Damage(found.start_byte, 0, found.message)
            damage = damage._replace(end=-(-found.end // 8))
            continue
        if damage:
            yield damage
            damage = None
        if not is_own and not splitter.needs_more:
            return
        # another unit reports the damage; a line of this unit continues into it
        if isinstance(found, BadBlock):
            splitter.lose_open()
            return
        stored_bytes = max(min(found.end // 8, unit.end) - found.start_byte, 0)
        begins_text = found.start == first_bit
        ends_file = bz2_blocks.end_of_stream(found.end) == unit.file_bytes
        at = found.start_byte
        yield Chunk(found.data, is_own, stored_bytes, at, 0, begins_text, ends_file=ends_file)
    if damage:
        yield damage


class StripedTexts:
    """Reads the texts of a file that cannot be read from the middle, in chunks, for one of its units.

    The texts are the decompressed content of the file, or the files in it if it is an archive. They are
    divided into runs of fixed size, and each run belongs to one unit. Each chunk lies in a single run. Its
    attribute `is_own` is True if the run belongs to this unit.
    """

    def __init__(self, stream: BinaryIO, unit: FileUnit):
        self._stream, self._unit = stream, unit
        self._position = 0  # position in all texts together
        self._stored = 0
        self.offset = 0  # offset in the current text

    def read(self, text: BinaryIO, member: str = "") -> Iterator[Chunk]:
        """Yields the chunks of one text. Raises DECODE_ERRORS if it is damaged or truncated.

        `member` is the name of the text if it is a file in an archive, otherwise "".
        """
        self.offset = 0
        while data := read_some(text, self._run_bytes()):
            run = self._position // STRIPE_RUN_BYTES
            is_own = run % self._unit.stripes == self._unit.stripe
            stored = self._stream.tell()
            consumed, self._stored = stored - self._stored, stored
            yield Chunk(data, is_own, consumed, -1, self.offset, self.offset == 0, member)
            self.offset += len(data)
            self._position += len(data)

    def _run_bytes(self) -> int:
        return min(STRIPE_RUN_BYTES - self._position % STRIPE_RUN_BYTES, STEP_BYTES)


def _whole_events(stream: BinaryIO, unit: FileUnit) -> Iterator[Chunk | Damage]:
    texts = StripedTexts(stream, unit)
    try:
        yield from texts.read(decompressed(stream))
    except DECODE_ERRORS as error:
        at = texts.offset
        yield Damage(at, at, f"the compressed file is damaged or truncated: {error}")
