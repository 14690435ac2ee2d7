"""Reads the pages of a dump in work units (see file_units.py).

A work unit is a part of a file. A page belongs to the unit in which its `<page>` tag begins, so each page is
in exactly one unit. A reader that starts in the middle of a file skips everything before the next `<page>`;
this tag cannot occur inside a page. A multistream .bz2 file, with 100 pages in each stream, is read block by
block like any other .bz2 file.

The last page of a unit nearly always continues in the first block of the next unit. To avoid decompressing
this block twice, `open_border` decompresses the first block of each unit before the units are read. The bytes
before the first `<page>` in the block are given to the previous unit. The other bytes stay in their unit.
This step is optional. Without it, the reader of a unit decompresses the start of the next unit, too.

Damaged bytes are reported with their position. Reading continues with the first page that begins after them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from corpusmill.transforms.files import bz2_blocks
from corpusmill.transforms.files.bz2_blocks import Block, PackedBlock
from corpusmill.transforms.files.compression import DECODE_ERRORS, decompressed, read_some
from corpusmill.transforms.files.file_units import TAIL_BYTES, Chunk, FileUnit, read_chunks
from corpusmill.transforms.wikipedia.mediawiki_xml import DUMP_END, PAGE_END, PAGE_START

READ_BYTES = 1 << 16
HEAD_BYTES = 1 << 20
MAX_PAGE_BYTES = 1 << 26  # MediaWiki stores 2 MiB of text at most; escaped, 12 MiB

_LAST_PART_BYTES = 1 << 20  # a block begins there, because it has at most 900 kB
_LOOK_BACK_BYTES = (1 << 20, 1 << 25)


class OverlongPageError(ValueError):
    """Raised if a page is too long or has no end. In this case the input is probably not a dump."""


class Damage(NamedTuple):
    """A damaged part of a file, from byte `start` to byte `end`.

    The bytes are counted in the stored file or, for units of kind "whole", in the decompressed XML.
    """

    start: int
    end: int
    message: str
    last_page: bytes | None = None  # XML of the last whole page before the damage, if in this unit


class PageXml(NamedTuple):
    """The XML of one page, and the number of bytes of the file that were read since the previous page."""

    xml: bytes
    stored_bytes: int  # number of bytes of the file read since the page before


def open_border(stream: BinaryIO, unit: FileUnit) -> tuple[FileUnit, PackedBlock | None]:
    """Decompresses the first block of a work unit, and divides it between this unit and the previous one.

    A work unit is a part of a dump file. Returns two values: the unit with its part of the block, and the
    part for the previous unit. The second value is None if there is no such part (as in the first unit of a
    file) or if the block is damaged.
    """
    if unit.kind != "bz2" or unit.start == 0:
        return unit, None
    own_blocks = bz2_blocks.read_blocks(
        stream, unit.start, unit.end, unit.file_bytes, needs_more=lambda: False
    )
    first = next(own_blocks, None)
    if not isinstance(first, Block):
        return unit, None
    start = first.data.find(PAGE_START)
    own = first.data[max(start, 0) :]
    before = first.data[:start] if start >= 0 else first.data
    return unit._replace(known=(PackedBlock.pack(first, own),)), PackedBlock.pack(first, before)


def read_unit(stream: BinaryIO, unit: FileUnit) -> Iterator[PageXml | Damage]:
    """Yields the pages that begin in a work unit of a dump file, and a Damage for each damaged part.

    Pages and damaged parts are yielded in the order of the file.

    Raises OverlongPageError if a page is longer than 64 MiB (MAX_PAGE_BYTES).
    """
    splitter = _PageSplitter()
    consumed = xml_bytes = 0
    is_at_end = unit.end - unit.start == unit.file_bytes  # True for a whole file, even an empty one
    last_page: bytes | None = None
    for event in read_chunks(stream, unit, splitter):
        if isinstance(event, Chunk):
            consumed += event.stored_bytes
            xml_bytes += len(event.data)
            for xml, is_own in splitter.feed(event.data, event.is_own):
                last_page = xml
                if is_own:
                    yield PageXml(xml, consumed)
                    consumed = 0
            is_at_end = unit.kind == "whole" or (event.is_own and event.ends_file)
            continue
        splitter.lose_open()
        is_at_end = False
        if unit.stripe == 0:  # every stripe reads the damage; one reports it
            yield Damage(*event, last_page)
    problem = splitter.problem_at_end() if is_at_end and unit.stripe == 0 else ""
    if problem and unit.start and xml_bytes < TAIL_BYTES:  # too short to contain the end of the XML
        earlier = _cut(unit, max(unit.start - _LOOK_BACK_BYTES[0], 0), unit.end)
        yield from (one for one in read_unit(stream, earlier) if one[0] == unit.file_bytes)
    elif problem:
        place = xml_bytes if unit.kind == "whole" else unit.file_bytes
        yield Damage(place, place, problem, last_page)


def last_page_before(stream: BinaryIO, unit: FileUnit, offset: int) -> bytes | None:
    """Returns the last whole page before byte `offset` of the stored file.

    The page shows how much of a damaged file is readable. Only the 32 MiB before `offset` are searched.
    Returns None if these contain no whole page, or if the unit is of kind "whole".
    """
    if unit.kind == "whole":
        return None
    for look_back in _LOOK_BACK_BYTES:
        before = _cut(unit, max(offset - look_back, 0), offset)
        page = None
        for event in read_unit(stream, before) if offset else ():
            page = event.xml if isinstance(event, PageXml) else page
        if page:
            return page
    return None


def first_page_after(stream: BinaryIO, unit: FileUnit, offset: int) -> bytes | None:
    """Returns the first whole page from byte `offset` of a file on, or None if there is no such page."""
    after = _cut(unit, offset, unit.file_bytes)
    pages = (one.xml for one in read_unit(stream, after) if isinstance(one, PageXml))
    return next(pages, None) if offset < unit.file_bytes else None


def last_part_of(unit: FileUnit) -> FileUnit:
    """Returns a short work unit: the last 1 MiB of the file of `unit`.

    It is read to check that the file is complete.
    """
    return _cut(unit, max(0, unit.file_bytes - _LAST_PART_BYTES), unit.file_bytes)


def _cut(unit: FileUnit, start: int, end: int) -> FileUnit:
    """Returns a work unit for the bytes from `start` to `end` of the file of `unit`."""
    return unit._replace(start=start, end=end, known=())


def index_path_of(path: str) -> str | None:
    """Returns the path of the index of a multistream file, or None if `path` is not a multistream file."""
    name = re.sub(r"-multistream(\d*)\.xml", r"-multistream-index\1.txt", path)
    return None if name == path else name


def count_lost_pages(
    index_lines: Iterable[bytes], damage: Damage, last_page: str, next_page: str
) -> int:
    """Counts the pages that are lost because of damaged bytes, using the index of a multistream file.

    Args:
      index_lines: the lines of the index in order, in the form `offset of the stream:page id:title`.
      damage: the damaged part of the file.
      last_page: the id of the last whole page before the damage; "" if there is none.
      next_page: the id of the first whole page after the damage; "" if there is none.
    """
    lost, stream = 0, -1
    for line in index_lines:
        offset, page_id, _ = line.decode("utf-8", "replace").split(":", 2)
        if int(offset) != stream:
            stream = int(offset)
            lost = 0 if stream <= damage.start else lost  # the damage begins here or later
        if stream >= damage.end or page_id == next_page:
            break
        lost = 0 if page_id == last_page else lost + 1
    return lost


def read_head(stream: BinaryIO, max_bytes: int = HEAD_BYTES) -> bytes:
    """Returns the beginning of a dump's XML, which includes its first page unless the limit is reached.

    Args:
      stream: the dump file, compressed or not.
      max_bytes: the limit: reading ends after this many bytes of XML, even if the first page is longer.

    Raises ValueError if not even the first bytes can be decompressed.
    """
    if not stream.read(1):
        return b""  # a decompressor would report a truncated file
    stream.seek(0)
    source = decompressed(stream)
    head = b""
    try:
        while len(head) < max_bytes and PAGE_END not in head:
            if not (data := read_some(source, READ_BYTES)):
                break
            head += data
    except DECODE_ERRORS as error:
        if not head:
            raise ValueError(f"cannot be decompressed: {error}") from None
    return head


class _PageSplitter:
    """Splits chunks of XML into pages. Each byte is searched a bounded number of times.

    "Own text" is text of the work unit that is being read. All other text belongs to the next unit.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._turns: list[tuple[int, bool]] = []  # (place in the buffer, True if own text begins)
        self._searched = 0

    @property
    def needs_more(self) -> bool:
        """True if a page that begins in the work unit being read ("own text") is not complete yet.

        This includes a page of which only a part of the `<page>` tag has been read.
        """
        start = self._buffer.find(PAGE_START)
        if start < 0:
            lengths = range(len(PAGE_START) - 1, 0, -1)
            held = (length for length in lengths if self._buffer.endswith(PAGE_START[:length]))
            start = len(self._buffer) - next(held, 0)
        return start < len(self._buffer) and self._is_own(start)

    def lose_open(self) -> None:
        """Drops a page that is not complete yet, because damaged bytes follow."""
        self._buffer.clear()
        self._turns.clear()
        self._searched = 0

    def feed(self, data: bytes, is_own: bool) -> Iterator[tuple[bytes, bool]]:
        """Adds a chunk of XML. Yields (page, True if it begins in own text) for each page now complete.

        "Own text" is text of the work unit that is being read. `is_own` is True if the chunk is own text, and
        False if it belongs to the next unit.

        Raises OverlongPageError if a page is longer than MAX_PAGE_BYTES.
        """
        buffer = self._buffer
        if not self._turns or self._turns[-1][1] != is_own:
            self._turns.append((len(buffer), is_own))
        buffer += data
        done = 0
        while (start := buffer.find(PAGE_START, done)) >= 0:
            end = buffer.find(PAGE_END, max(start, self._searched))
            if end < 0:
                break
            done = end + len(PAGE_END)
            yield bytes(buffer[start:done]), self._is_own(start)
        self._drop_before(start if start >= 0 else max(done, len(buffer) - TAIL_BYTES, 0))
        self._searched = max(len(buffer) - len(PAGE_END), 0)
        if len(buffer) > MAX_PAGE_BYTES:
            message = f"a page has more than {MAX_PAGE_BYTES} bytes; is this file a dump?"
            raise OverlongPageError(message)

    def problem_at_end(self) -> str:
        """Returns an error message if the file is incomplete, or "". To be called at the end of the file."""
        if PAGE_START in self._buffer:
            return "the file ends inside a page: it is truncated or still being written"
        if DUMP_END not in self._buffer:
            return "the file ends without </mediawiki>: it is truncated or still being written"
        return ""

    def _is_own(self, at: int) -> bool:
        return next(is_own for turn, is_own in reversed(self._turns) if turn <= at)

    def _drop_before(self, at: int) -> None:
        later = [(turn - at, is_own) for turn, is_own in self._turns if turn > at]
        self._turns = [(0, self._is_own(at)), *later]
        del self._buffer[:at]
