"""Reading the pages of a dump, a work unit (see file_units.py) at a time.

To a unit belong the pages whose `<page>` begins in it: the units of a file give each page once. `<page>`
cannot occur inside a page, so whoever enters in the middle passes over what comes before the next one. A
multistream .bz2, of 100 pages a stream, is read at its blocks like any other .bz2.

The last page of a unit nearly always runs into the first block of the next one. So that a block is
decompressed once, `open_border` decompresses the first block of each unit before the units are read: what
is before its first `<page>` goes to the unit before, the rest to the unit itself. Without it a unit
reads on into the next one.

What is damaged is reported with its place, and reading goes on with the first page that begins after it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from transforms.text.files import bz2_blocks
from transforms.text.files.bz2_blocks import Block, PackedBlock
from transforms.text.files.compression import DECODE_ERRORS, decompressed, read_some
from transforms.text.files.file_units import TAIL_BYTES, Chunk, FileUnit, read_chunks
from transforms.text.wikimedia.mediawiki_xml import DUMP_END, PAGE_END, PAGE_START

READ_BYTES = 1 << 16
HEAD_BYTES = 1 << 20
MAX_PAGE_BYTES = 1 << 26  # MediaWiki stores 2 MiB of text at most, 12 MiB if all is escaped

_LAST_PART_BYTES = 1 << 20
_LOOK_BACK_BYTES = (1 << 20, 1 << 25)


class OverlongPageError(ValueError):
    """A page that does not end: the input is not a dump."""


class Damage(NamedTuple):
    """Bytes `start` to `end` of the stored file (of the XML, for kind "whole") that are not whole."""

    start: int
    end: int
    message: str
    last_page: bytes | None = None  # the XML of the last whole page before it, if in this unit


class PageXml(NamedTuple):
    """The bytes of one page, and how far the reader has come."""

    xml: bytes
    stored_bytes: int  # of the file, consumed since the page before


def open_border(stream: BinaryIO, unit: FileUnit) -> tuple[FileUnit, PackedBlock | None]:
    """Decompresses the first block of a unit.

    Returns the unit with what begins in the block, and what the unit before needs of the block; None where
    nothing is known of it, as in the first unit of a file, or where the block is damaged.
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
    """The pages that begin in the unit, in file order, and what was damaged between them.

    Raises OverlongPageError where a page does not end in MAX_PAGE_BYTES.
    """
    splitter = _PageSplitter()
    consumed = xml_bytes = 0
    is_at_end = unit.end - unit.start == unit.file_bytes  # whatever is in it
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
        if unit.stripe == 0:  # every stripe meets it
            yield Damage(*event, last_page)
    problem = splitter.problem_at_end() if is_at_end and unit.stripe == 0 else ""
    if problem and unit.start and xml_bytes < TAIL_BYTES:  # too little to see the end in
        earlier = _cut(unit, max(unit.start - _LOOK_BACK_BYTES[0], 0), unit.end)
        yield from (one for one in read_unit(stream, earlier) if one[0] == unit.file_bytes)
    elif problem:
        place = xml_bytes if unit.kind == "whole" else unit.file_bytes
        yield Damage(place, place, problem, last_page)


def last_page_before(stream: BinaryIO, unit: FileUnit, offset: int) -> bytes | None:
    """The last whole page before stored byte `offset`: it shows how far a damaged file is good.

    Looks back 32 MiB.
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
    """The first whole page that begins at stored byte `offset` or later."""
    after = _cut(unit, offset, unit.file_bytes)
    pages = (one.xml for one in read_unit(stream, after) if isinstance(one, PageXml))
    return next(pages, None) if offset < unit.file_bytes else None


def last_part_of(unit: FileUnit) -> FileUnit:
    """The end of the file, as little of it as shows whether it is whole."""
    return _cut(unit, max(0, unit.file_bytes - _LAST_PART_BYTES), unit.file_bytes)


def _cut(unit: FileUnit, start: int, end: int) -> FileUnit:
    """Another part of the file of a unit."""
    return unit._replace(start=start, end=end, known=())


def index_path_of(path: str) -> str | None:
    """Returns the path at which Wikimedia puts the index of a multistream file; None for a file of another
    name.
    """
    name = re.sub(r"-multistream(\d*)\.xml", r"-multistream-index\1.txt", path)
    return None if name == path else name


def count_lost_pages(
    index_lines: Iterable[bytes], damage: Damage, last_page: str, next_page: str
) -> int:
    """Counts the pages that are lost with damaged bytes, by the index of a multistream file.

    Args:
      index_lines: `offset of the stream:page id:title`, in the order of the file.
      last_page, next_page: ids of the whole pages around the damage; "" where there is none.
    """
    lost, stream = 0, -1
    for line in index_lines:
        offset, page_id, _ = line.decode("utf-8", "replace").split(":", 2)
        if int(offset) != stream:
            stream = int(offset)
            lost = 0 if stream <= damage.start else lost  # the damage begins in it or later
        if stream >= damage.end or page_id == next_page:
            break
        lost = 0 if page_id == last_page else lost + 1
    return lost


def read_head(stream: BinaryIO, max_bytes: int = HEAD_BYTES) -> bytes:
    """The first bytes of the XML of a dump, up to the end of its first page.

    Raises ValueError where not even they can be decompressed.
    """
    if not stream.read(1):
        return b""  # a decompressor would call it cut off
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
    """Finds `<page>…</page>` in chunks of XML. Searches each byte a bounded number of times."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._turns: list[tuple[int, bool]] = []  # where in the buffer own and other text begin
        self._searched = 0

    @property
    def needs_more(self) -> bool:
        """True if an own page, or the beginning of its tag, waits for its end."""
        start = self._buffer.find(PAGE_START)
        if start < 0:
            lengths = range(len(PAGE_START) - 1, 0, -1)
            held = (length for length in lengths if self._buffer.endswith(PAGE_START[:length]))
            start = len(self._buffer) - next(held, 0)
        return start < len(self._buffer) and self._is_own(start)

    def lose_open(self) -> None:
        """Forgets a page that runs into damage."""
        self._buffer.clear()
        self._turns.clear()
        self._searched = 0

    def feed(self, data: bytes, is_own: bool) -> Iterator[tuple[bytes, bool]]:
        """The pages that end in a chunk, and whether they begin in own text.

        Raises OverlongPageError.
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
            message = f"a page of more than {MAX_PAGE_BYTES} bytes; is this a dump?"
            raise OverlongPageError(message)

    def problem_at_end(self) -> str:
        """Returns the problem of a file that ends here; "" if there is none."""
        if PAGE_START in self._buffer:
            return "the file ends inside a page: it is cut off or still being written"
        if DUMP_END not in self._buffer:
            return "the file ends without </mediawiki>: it is cut off or still being written"
        return ""

    def _is_own(self, at: int) -> bool:
        return next(is_own for turn, is_own in reversed(self._turns) if turn <= at)

    def _drop_before(self, at: int) -> None:
        later = [(turn - at, is_own) for turn, is_own in self._turns if turn > at]
        self._turns = [(0, self._is_own(at)), *later]
        del self._buffer[:at]
