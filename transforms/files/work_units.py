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

Reads the lines of a work unit in blocks (see line_blocks.py), because single lines have too much overhead.

A work unit that starts in the middle of a file may start in the middle of a line. The
reader cannot know if it does, so it skips all bytes up to the first line feed. They belong to an earlier
unit. For the same reason, a line that begins exactly at the end of a unit belongs to this unit. In addition
to the kinds above, there is one more kind of unit:

tar a compressed .tar archive. Each of `stripes` units decompresses the whole archive and uses only every n-th
       run (part of fixed size) of the texts of the wanted files, where n is `stripes`.

Only a line feed ends a line. The text after the last line feed of a file is a line, too, and gets a line
feed; `cat` would join it with the first line of the next file.
"""

import bisect
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple, Protocol

from . import bz2_blocks, tar_members
from .bz2_blocks import BadBlock, PackedBlock
from .compression import DECODE_ERRORS, codec_of, decompressed, read_some
from .tar_members import Member, TarError

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
    kind: str  # "plain", "bz2" or "whole"; units of lines may be "tar", too
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
    return [
        FileUnit(path, codec or "plain", start, end, file_bytes)
        for start, end in zip(starts, [*starts[1:], file_bytes], strict=True)
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
        # a file that was cut off there may have the mark of a block instead
        is_last = bz2_blocks.end_of_stream(found.end) == unit.file_bytes
        ends_file = is_last and bz2_blocks.ends_whole(stream, unit.file_bytes)
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
            is_own = self._position // STRIPE_RUN_BYTES % self._unit.stripes == self._unit.stripe
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


BLOCK_BYTES = 1 << 22
MAX_LINE_BYTES = 1 << 26
"""Largest size of a line. The rest of a longer line is dropped. Wikidata limits entities to below 5 MB."""


class Span(NamedTuple):
    """The origin of a part of a block: the text from which it was read, and its offset in this text."""

    at: int  # start of the part in the block
    member: str  # name of a file in an archive; "" for the text of the file itself
    block: int  # offset in the file at which its .bz2 block begins; -1 without .bz2 blocks
    offset: int  # offset of its first byte in the .bz2 block, or in the text


class LineBlock(NamedTuple):
    """Whole lines, each with its line feed; or the beginning of a single line that is too long."""

    data: bytes
    spans: tuple[Span, ...]  # sorted by `at`; the first one has 0
    stored_bytes: int  # number of the unit's stored bytes read since the previous block
    is_overlong: bool = False  # True for the first MAX_LINE_BYTES of a longer line


class Unterminated(NamedTuple):
    """A text that does not end with a line feed."""

    member: str  # name of a file in an archive; "" for the text of the file itself


class NoMemberError(Exception):
    """Raised if an archive does not contain any wanted file."""

    def __init__(self, names: Sequence[str]):
        super().__init__(names)
        self.names = names  # names of files in the archive


def plan_block_units(stream: BinaryIO, path: str, file_bytes: int, stripes: int) -> list[FileUnit]:
    """Divides a file into work units. A file that cannot be read from the middle gets `stripes` units."""
    if is_archive(stream):
        return plan_stripes("tar", path, file_bytes, stripes)
    return plan_units(stream, path, file_bytes, stripes)


def is_archive(stream: BinaryIO) -> bool:
    """Returns True if a stored file is a .tar, possibly compressed. Moves the stream back to its start."""
    head = b""
    source = decompressed(stream)
    try:
        while data := read_some(source, tar_members.BLOCK_BYTES - len(head)):
            head += data
    except DECODE_ERRORS:
        pass  # the reader of the file will report the damage with its position
    stream.seek(0)
    return tar_members.is_tar(head)


def shares_of(stored_bytes: Sequence[int], workers: int) -> list[int]:
    """Divides `workers` workers among files, and returns the number of workers for each file.

    `stored_bytes` has the size of each file, to which its number of workers is proportional. With five files
    of equal size and at most five workers, each file has one worker and is decompressed only once. A single
    large file gets all workers. A file gets at least one worker, and at most one for each MIN_UNIT_BYTES of
    its size.
    """
    total = max(sum(stored_bytes), 1)
    return [
        max(min(-(-size * workers // total), -(-size // MIN_UNIT_BYTES), workers), 1)
        for size in stored_bytes
    ]


def read_blocks(
    stream: BinaryIO,
    unit: FileUnit,
    members: Sequence[str] = ("*",),
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[LineBlock | Unterminated | Damage]:
    """Yields the lines of a unit in blocks, in file order, and the damage between them.

    A line that is cut off by damage is lost. The `stored_bytes` of all blocks add up to the size of the unit,
    or to less if bytes follow the last line.

    Args:
      stream: the stored file.
      unit: the work unit to read.
      members: patterns for names of the wanted files in a .tar, without their folders.
      block_bytes: largest size of a block, unless it is a single longer line.

    Raises NoMemberError for a .tar without a wanted file.
    """
    splitter = _BlockSplitter(block_bytes)
    is_tar = unit.kind == "tar"
    events = _tar_events(stream, unit, members) if is_tar else read_chunks(stream, unit, splitter)
    for event in events:
        if isinstance(event, Chunk):
            yield from splitter.feed(event)
            continue
        if splitter.needs_more:
            splitter.lose_open()
        if unit.stripe == 0:  # all stripes find this damage; only the first reports it
            yield event
    yield from splitter.end_text()
    yield from splitter.finish()


def place_of(block: LineBlock, at: int) -> tuple[str, str]:
    """Returns (file in the archive, position in the file as text) of the line at byte `at` of a block.

    The result does not depend on how the file was divided into units. The position is the offset of the line
    in the text, such as "4711". In a .bz2 file, this offset is not known without reading all of the text
    before. So the position in a .bz2 file consists of the offset at which the .bz2 block begins in the file,
    and the offset in the block, such as "80123+4711".
    """
    span = block.spans[bisect.bisect_right(block.spans, at, key=lambda span: span.at) - 1]
    offset = span.offset + at - span.at
    return span.member, str(offset) if span.block < 0 else f"{span.block}+{offset}"


class _BlockSplitter:
    """Collects the lines of a unit in blocks. Its memory is limited to about one block or MAX_LINE_BYTES."""

    def __init__(self, block_bytes: int):
        self._limit = min(block_bytes, MAX_LINE_BYTES)
        self._is_taking = False  # True at the start of a line of the unit or inside the line
        self._parts: list[bytes] = []
        self._spans: list[Span] = []
        self._held = 0  # total bytes of the parts
        self._open = 0  # bytes of the last line, if it is incomplete
        self._member = ""
        self._stored_bytes = 0  # stored bytes read since the last block

    @property
    def needs_more(self) -> bool:
        """True if a line of the unit is incomplete. For a line that is too long, the rest is not needed."""
        return self._is_taking

    def lose_open(self) -> None:
        """Drops an incomplete line, because damaged bytes follow. The next line begins after a line feed."""
        self._keep(self._join()[: self._held - self._open], self._spans)
        self._is_taking = False

    def feed(self, chunk: Chunk) -> Iterator[LineBlock | Unterminated]:
        """Adds a chunk. Yields the blocks that are now complete."""
        data, at = chunk.data, 0
        self._stored_bytes += chunk.stored_bytes
        if chunk.begins_text:
            yield from self.end_text()
            self._is_taking, self._member = chunk.is_own, chunk.member
        if not self._is_taking:
            at = data.find(b"\n") + 1 if chunk.is_own else 0
            if not at:
                return
            self._is_taking = True
        end = len(data)
        if not chunk.is_own:
            feed = data.find(b"\n")
            self._is_taking = feed < 0
            end = end if feed < 0 else feed + 1
        self._hold(data[at:end], Span(self._held, chunk.member, chunk.block, chunk.offset + at))
        if self._held > self._limit:
            yield from self._give_full_blocks()

    def end_text(self) -> Iterator[Unterminated]:
        """Adds a line feed to the last line of a text if it has none, and then yields an Unterminated."""
        self._is_taking = False
        if self._open:
            self._parts.append(b"\n")
            self._held += 1
            self._open = 0
            yield Unterminated(self._member)

    def finish(self) -> Iterator[LineBlock]:
        """Yields the remaining whole lines as blocks."""
        yield from self._give_full_blocks()
        if self._held:
            yield self._give(self._join(), self._spans)
            self._keep(b"", [])

    def _hold(self, data: bytes, span: Span) -> None:
        if not data:
            return
        if not self._spans or not _goes_on(self._spans[-1], span):
            self._spans.append(span)
        self._parts.append(data)
        self._held += len(data)
        last_feed = data.rfind(b"\n")
        self._open = len(data) - 1 - last_feed if last_feed >= 0 else self._open + len(data)

    def _give_full_blocks(self) -> Iterator[LineBlock]:
        """Yields full blocks, until the rest is smaller than a block or is a single incomplete line."""
        if self._open < self._held:
            data, at = self._join(), 0
            spans = self._spans
            while len(data) - at > self._limit:
                end = data.rfind(b"\n", at, at + self._limit) + 1
                end = end or data.find(b"\n", at + self._limit) + 1
                if not end:
                    break
                yield self._give(data[at:end], _spans_of(spans, at, end))
                at = end
            self._keep(data[at:], _spans_of(spans, at, len(data)))
        if self._open > MAX_LINE_BYTES:  # then it is the only line held
            yield self._give(self._join(), self._spans)
            self._keep(b"", [])
            self._is_taking = False

    def _give(self, data: bytes, spans: Sequence[Span]) -> LineBlock:
        stored_bytes, self._stored_bytes = self._stored_bytes, 0
        is_overlong = len(data) > MAX_LINE_BYTES  # never for a block of several lines
        data = data[:MAX_LINE_BYTES]
        return LineBlock(data, tuple(spans), stored_bytes, is_overlong)

    def _join(self) -> bytes:
        return b"".join(self._parts)

    def _keep(self, data: bytes, spans: Sequence[Span]) -> None:
        self._parts = [data] if data else []
        self._held = len(data)
        self._spans = [span for span in spans if span.at < self._held]
        self._open = self._held - (data.rfind(b"\n") + 1)


def _goes_on(span: Span, following: Span) -> bool:
    """Returns True if `following` begins at the end of `span`, in the same text."""
    return (
        span.member == following.member
        and span.block == following.block == -1
        and following.offset - span.offset == following.at - span.at
    )


def _spans_of(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Returns the origins of the bytes `start` to `end` of a block. `spans` has those of the whole block."""
    first = max(bisect.bisect_right(spans, start, key=lambda span: span.at) - 1, 0)
    last = bisect.bisect_left(spans, end, key=lambda span: span.at)
    starts = [max(span.at, start) for span in spans[first:last]]
    return [
        span._replace(at=at - start, offset=span.offset + at - span.at)
        for span, at in zip(spans[first:last], starts, strict=True)
    ]


def _tar_events(
    stream: BinaryIO, unit: FileUnit, members: Sequence[str]
) -> Iterator[Chunk | Damage]:
    names: list[str] = []
    wanted: set[str] = set()
    texts = StripedTexts(stream, unit)
    try:
        for member in tar_members.read_members(decompressed(stream)):
            names.append(member.name)
            if not tar_members.is_named_like(member.name, members):
                continue
            if isinstance(member, Member):
                text = tar_members.text_of(member)
                try:
                    yield from texts.read(text, member.name)
                except DECODE_ERRORS as error:
                    place = f"at byte {texts.offset} of its text"
                    message = f"{member.name} is damaged or truncated {place}: {error}"
                    yield Damage(member.start, member.start + member.bytes, message)
            elif problem := tar_members.problem_of(member, wanted):
                # A new text begins. End the text before it, which is complete.
                yield Chunk(b"", True, 0, -1, 0, begins_text=True, member=member.name)
                yield Damage(member.start, member.start, problem)
            wanted.add(member.name)
    except TarError as error:
        yield Damage(error.offset, error.offset, error.message)
        return
    if not wanted:
        raise NoMemberError(names)
