"""Cutting a dump file into work units, and reading the pages of one unit.

A unit is a range of the stored file. Whoever holds it reads every page that begins in the range, and
no other: the units of a file give each page once. Three kinds of file:

multistream  a .bz2 of many streams (Wikimedia writes 100 pages a stream). A stream begins with a
             ten-byte header on a byte boundary, so a range is entered at the first header in it.
plain        uncompressed XML. `<page>` cannot occur inside a page, so a range is entered at the next one.
whole        .gz, .xz and .bz2 of one stream cannot be entered in the middle. Each of `stripes` units
             decompresses all of it and parses every so-many-th run of pages: decompressing is the
             cheap part.

What is damaged is reported with its place, and reading goes on at the next stream.
"""

import bz2
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from transforms.text.files.compression import DECODE_ERRORS, codec_of, decompressed, read_some
from transforms.text.wikimedia.mediawiki_xml import DUMP_END, PAGE_END, PAGE_START

READ_BYTES = 1 << 16  # less than a bz2 block: what is returned before an error passed its checksum
SCAN_BYTES = 1 << 20
MIN_UNIT_BYTES = 1 << 18
MAX_UNIT_BYTES = 1 << 23
UNITS_PER_FILE = 64
MAX_PAGE_BYTES = 1 << 26  # MediaWiki stores 2 MiB of text at most, 12 MiB if all is escaped
PAGES_PER_STRIPE_RUN = 64

# A bz2 stream is "BZh", its block size, and the magic number of a block (or of the end, if empty).
_STREAM_HEADER = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_HEADER_BYTES = 10
_MULTISTREAM_PROBE_BYTES = 1 << 25
_LOOK_BACK_BYTES = 1 << 25
_TAIL_BYTES = 64


class OverlongPageError(ValueError):
    """A page that does not end: the input is no dump."""


class WorkUnit(NamedTuple):
    """A part of a dump file: bytes `start` to `end` of what is stored, or one stripe of the whole."""

    path: str
    kind: str  # "multistream", "plain" or "whole"
    start: int
    end: int
    file_bytes: int
    stripe: int = 0
    stripes: int = 1


class Damage(NamedTuple):
    """Bytes `start` to `end` of the stored file (of the XML, for kind "whole") that are not whole.

    `salvaged` pages in front of the damage were whole and have been given.
    """

    start: int
    end: int
    message: str
    salvaged: int = 0
    last_page: bytes | None = None  # the XML of the last whole page before it, if in this unit


class _Chunk(NamedTuple):
    data: bytes
    is_own: bool  # begins inside the unit; other chunks only complete the last page
    stored_bytes: int  # of the file, consumed for this chunk
    begins_stream: bool = False  # empty: lets the reader stop before a stream it does not need


class PageXml(NamedTuple):
    """The bytes of one page, and how far the reader has come."""

    xml: bytes
    stored_bytes: int  # of the file, consumed since the page before


def plan_units(stream: BinaryIO, path: str, file_bytes: int, stripes: int) -> list[WorkUnit]:
    """Cuts a file into units; one that cannot be entered in the middle into `stripes` of them."""
    codec = codec_of(stream)
    # Of a .bz2 the first 32 MiB hold a second stream, if there is any.
    probe_bytes = min(file_bytes, _MULTISTREAM_PROBE_BYTES) if codec == "bz2" else 0
    if codec and find_stream(stream, 1, probe_bytes) is None:
        return [
            WorkUnit(path, "whole", 0, file_bytes, file_bytes, stripe, stripes)
            for stripe in range(stripes)
        ]
    kind = "multistream" if codec == "bz2" else "plain"
    step = min(max(file_bytes // UNITS_PER_FILE, MIN_UNIT_BYTES), MAX_UNIT_BYTES)
    # A unit too short to hold the end of the dump could not tell a whole file from one cut off.
    starts = range(0, max(file_bytes - _TAIL_BYTES, 1), step)
    ends = [*starts[1:], file_bytes]
    return [
        WorkUnit(path, kind, start, end, file_bytes)
        for start, end in zip(starts, ends, strict=True)
    ]


def find_stream(stream: BinaryIO, start: int, limit: int) -> int | None:
    """The offset of the first bz2 stream that begins at `start` or later and before `limit`."""
    stream.seek(start)
    offset, window = start, b""
    while offset < limit:
        data = stream.read(SCAN_BYTES)
        if not data:
            return None
        window += data
        found = _STREAM_HEADER.search(window)
        if found:
            at = offset + found.start()
            return at if at < limit else None
        keep = _HEADER_BYTES - 1
        offset += max(len(window) - keep, 0)
        window = window[-keep:]
    return None


def read_unit(stream: BinaryIO, unit: WorkUnit) -> Iterator[PageXml | Damage]:
    """The pages that begin in the unit, in file order, and what was damaged between them.

    Raises OverlongPageError where a page does not end in MAX_PAGE_BYTES.
    """
    splitter = _PageSplitter()
    pages_seen = pages_before_stream = consumed = 0
    last_page: bytes | None = None
    read_events = {"multistream": _multistream_events, "plain": _plain_events}
    for event in read_events.get(unit.kind, _whole_events)(stream, unit):
        if isinstance(event, _Chunk):
            if event.begins_stream:
                if not event.is_own and not splitter.is_inside_page:
                    return
                pages_before_stream = pages_seen
            consumed += event.stored_bytes
            for xml in splitter.feed(event.data, event.is_own):
                run = pages_seen // PAGES_PER_STRIPE_RUN
                pages_seen += 1
                last_page = xml
                if run % unit.stripes == unit.stripe:
                    yield PageXml(xml, consumed)
                    consumed = 0
            if splitter.held_bytes > MAX_PAGE_BYTES:
                raise OverlongPageError(
                    f"a page of more than {MAX_PAGE_BYTES} bytes; is this a dump?"
                )
            continue
        message = event.message or splitter.problem_at_end()
        if not message:
            return
        splitter = _PageSplitter()
        if unit.stripe == 0:
            salvaged = pages_seen - pages_before_stream
            yield event._replace(message=message, salvaged=salvaged, last_page=last_page)


def last_page_before(stream: BinaryIO, unit: WorkUnit, offset: int) -> bytes | None:
    """The last whole page of the streams before `offset`: says how far a damaged file is good.

    Looks back 32 MiB: a stream of Wikimedia's has less than one.
    """
    if unit.kind != "multistream":
        return None
    for start in reversed(_streams_before(stream, offset)):
        candidate = unit._replace(start=start, end=start + 1)
        pages = [page.xml for page in read_unit(stream, candidate) if isinstance(page, PageXml)]
        if pages:
            return pages[-1]
    return None


def last_part_of(stream: BinaryIO, unit: WorkUnit) -> WorkUnit:
    """The end of the file, as little of it as shows whether it is whole: its last stream, or 1 MiB."""
    if unit.kind == "multistream":
        starts = _streams_before(stream, unit.file_bytes)
        return unit._replace(start=starts[-1] if starts else 0, end=unit.file_bytes)
    return unit._replace(start=max(0, unit.file_bytes - SCAN_BYTES), end=unit.file_bytes)


def _streams_before(stream: BinaryIO, offset: int) -> list[int]:
    starts = []
    start = find_stream(stream, max(0, offset - _LOOK_BACK_BYTES), offset)
    while start is not None:
        starts.append(start)
        start = find_stream(stream, start + 1, offset)
    return starts


def index_path_of(path: str) -> str | None:
    """Where Wikimedia puts the index of a multistream file; None for a file of another name."""
    name = re.sub(r"-multistream(\d*)\.xml", r"-multistream-index\1.txt", path)
    return None if name == path else name


def count_indexed_pages(index_lines: Iterable[bytes], start: int, end: int) -> int:
    """How many pages the index (lines `offset:page id:title`) puts into bytes `start` to `end`."""
    return sum(start <= int(line.partition(b":")[0]) < end for line in index_lines)


def read_head(stream: BinaryIO, max_bytes: int = SCAN_BYTES) -> bytes:
    """The first bytes of the XML of a dump, up to its first page: for `parse_siteinfo`.

    Raises ValueError where not even they can be decompressed.
    """
    if not stream.read(1):
        return b""  # a decompressor would call it cut off
    stream.seek(0)
    source = decompressed(stream)
    head = b""
    try:
        while len(head) < max_bytes and PAGE_START not in head:
            data = read_some(source, READ_BYTES)
            if not data:
                break
            head += data
    except DECODE_ERRORS as error:
        if not head:
            raise ValueError(f"cannot be decompressed: {error}") from None
    return head


class _PageSplitter:
    """Finds `<page>…</page>` in chunks of XML. Searches each byte a bounded number of times."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._own = 0  # bytes of the buffer that are the unit's own
        self._searched = 0

    @property
    def held_bytes(self) -> int:
        return len(self._buffer)

    @property
    def is_inside_page(self) -> bool:
        """Whether an own page, or the beginning of its tag, still waits for its end."""
        own = bytes(self._buffer[: self._own])
        return PAGE_START in own or any(
            own.endswith(PAGE_START[:length]) for length in range(1, len(PAGE_START))
        )

    def feed(self, data: bytes, is_own: bool) -> Iterator[bytes]:
        buffer = self._buffer
        buffer += data
        if is_own:
            self._own = len(buffer)
        done = 0
        while (start := buffer.find(PAGE_START, done, self._own + len(PAGE_START) - 1)) >= 0:
            end = buffer.find(PAGE_END, max(start, self._searched))
            if end < 0:
                break
            done = end + len(PAGE_END)
            yield bytes(buffer[start:done])
        keep_from = start if start >= 0 else max(done, len(buffer) - _TAIL_BYTES)
        del buffer[:keep_from]
        self._own = max(self._own - keep_from, 0)
        self._searched = max(len(buffer) - len(PAGE_END), 0)

    def problem_at_end(self) -> str:
        """What is wrong with a file that ends here; "" for nothing."""
        if PAGE_START in self._buffer:
            return "the file ends inside a page: it is cut off or still being written"
        if DUMP_END not in self._buffer:
            return "the file ends without </mediawiki>: it is cut off or still being written"
        return ""


# Each of the three gives chunks and damages; a damage without a message is the end of the file.


def _multistream_events(stream: BinaryIO, unit: WorkUnit) -> Iterator[_Chunk | Damage]:
    size = unit.file_bytes
    position = find_stream(stream, unit.start, unit.end)
    if unit.start == 0 and position != 0:
        position = find_stream(stream, 0, size)
        yield Damage(
            0, size if position is None else position, "the file begins with no bz2 stream"
        )
    while position is not None:
        is_own = position < unit.end
        yield _Chunk(b"", is_own, 0, begins_stream=True)
        decompressor = bz2.BZ2Decompressor()
        stream.seek(position)
        offset = position
        try:
            while not decompressor.eof:
                stored = stream.read(READ_BYTES)
                if not stored:
                    raise EOFError("the file ends inside a bz2 stream: a download was cut off?")
                data = decompressor.decompress(stored)
                used = len(stored) - len(decompressor.unused_data)
                offset += used
                yield _Chunk(data, is_own, used)
        except DECODE_ERRORS as error:
            damaged_from, position = position, find_stream(stream, position + 1, size)
            yield Damage(damaged_from, size if position is None else position, f"bz2: {error}")
            continue
        if offset >= size:
            yield Damage(size, size, "")
            return
        position = find_stream(stream, offset, size)
        if position != offset:
            end = size if position is None else position
            yield Damage(offset, end, "no bz2 stream begins where the one before it ended")


def _plain_events(stream: BinaryIO, unit: WorkUnit) -> Iterator[_Chunk | Damage]:
    stream.seek(unit.start)
    position = unit.start
    while position < unit.file_bytes:
        is_own = position < unit.end
        yield _Chunk(b"", is_own, 0, begins_stream=True)
        data = stream.read(min(SCAN_BYTES, unit.end - position) if is_own else READ_BYTES)
        if not data:
            break
        position += len(data)
        yield _Chunk(data, is_own, len(data))
    yield Damage(position, position, "")


def _whole_events(stream: BinaryIO, unit: WorkUnit) -> Iterator[_Chunk | Damage]:
    source = decompressed(stream)
    position = stored = 0
    try:
        while data := read_some(source, READ_BYTES):
            position += len(data)
            stored_now = stream.tell()
            yield _Chunk(data, True, stored_now - stored)
            stored = stored_now
    except DECODE_ERRORS as error:
        yield Damage(position, position, f"the compressed file is damaged or cut off: {error}")
        return
    yield Damage(position, position, "")
