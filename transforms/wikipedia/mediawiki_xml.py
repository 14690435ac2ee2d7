"""Parses MediaWiki's export XML: the head of a dump, and single pages.

A dump is a `<mediawiki>` element with `<siteinfo>` and then millions of `<page>` elements. All text is
escaped, so the bytes `<page>` are always a tag. Each page is parsed as a separate small document, and only
one page is in memory at a time. A DOCTYPE is an error, because it could define entities that expand without
limit.

Reads the pages of a dump in work units (see work_units.py).

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
from collections.abc import Container, Iterable, Iterator
from typing import BinaryIO, NamedTuple, NoReturn
from xml.parsers import expat
from xml.sax import saxutils

from ..files import bz2_blocks
from ..files.bz2_blocks import Block, PackedBlock
from ..files.compression import DECODE_ERRORS, decompressed, is_binary, is_html, kind_of, read_some
from ..files.records import Page
from ..files.work_units import TAIL_BYTES, Chunk, FileUnit, read_chunks

PAGE_START = b"<page>"
PAGE_END = b"</page>"
DUMP_END = b"</mediawiki>"

_NAMESPACE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_MAX_DIGITS = 18  # of an id; fits 64 bits
_SHOWN = 40  # characters of a value in a message
_LONGEST_PATH = 256
"""Maximum length of the path of an element, in characters. In dumps, a path has about 40 characters.

The limit bounds the nesting depth, and therefore the time needed for each element.
"""

_HEAD_OF_PAGE = re.compile(
    rb"<page>\s*<title>(?P<title>(?:[^<&\0-\x1f]|&(?:amp|lt|gt|quot);)*+)</title>"
    rb"\s*<ns>(?P<namespace>-?[0-9]{1,9})</ns>\s*<id>(?P<page_id>[0-9]{1,18})</id>"
    rb'\s*(?P<redirect><redirect title="[^"<]*+" />\s*)?'
    rb"<revision>\s*<id>(?P<revision_id>[0-9]{1,18})</id>"
)
"""Matches the beginning of a page in dumps since 2012."""

_FORBIDDEN = re.compile(
    rb"[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]"
    rb"|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])"
    rb"|x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[fF]{3}[efEF]));"
)
"""Characters that XML 1.0 does not allow (section 2.2), and references to them."""

_CANONICAL_FILE_AND_CATEGORY = {6: ("File",), 14: ("Category",)}
_REQUIRED = {"page_id": "/page/id", "revision_id": "/page/revision/id", "title": "/page/title"}

_OF_PAGE = {
    *_REQUIRED.values(),
    "/page/ns",
    "/page/redirect",
    "/page/revision/comment",
    "/page/revision/parentid",
    "/page/revision/timestamp",
    "/page/revision/model",
    "/page/revision/text",
}

_Element = tuple[str, dict[str, str], str]  # "/page/id", attributes, text


class Siteinfo(NamedTuple):
    """The head of a dump, which describes the wiki."""

    dbname: str  # "ukwiki"; "" if the dump has no siteinfo
    language: str  # xml:lang of the root, "uk"
    sitename: str
    namespaces: dict[int, tuple[str, ...]]  # number → names in this wiki
    is_case_sensitive: bool = False  # titles may begin with a lower-case letter


class NotADumpError(ValueError):
    """Raised if the input is not a MediaWiki dump in UTF-8.

    `offset` is the position of the first error, in bytes.
    """

    def __init__(self, message: str, offset: int = 0):
        super().__init__(message)
        self.offset = offset


class _TooDeepError(ValueError):
    """Raised if the path of an XML element, such as "/page/id", has more than _LONGEST_PATH characters."""


class MalformedPageError(ValueError):
    """Raised if a `<page>` element is not well-formed XML, or lacks an element that every page has."""


class HistoryExportError(ValueError):
    """Raised if a dump contains all revisions of its pages, not only the current ones."""


def parse_siteinfo(head: bytes) -> Siteinfo:
    """Parses the head of a dump, which is everything before its first page.

    Raises NotADumpError if the input is not a dump in UTF-8. Examples of such input are an empty file, HTML,
    UTF-16, and XML with a DOCTYPE.
    """
    _check_start(head)
    head = head.partition(PAGE_START)[0]
    if DUMP_END not in head:
        head += DUMP_END
    texts: dict[str, str] = {}
    language = ""
    namespaces: dict[int, tuple[str, ...]] = {}
    for path, attributes, text in _elements(
        head, "the head of the dump is not well-formed XML ({})"
    ):
        name = path.rpartition("/")[2]
        texts[name] = text.strip()
        if name == "mediawiki":
            language = attributes.get("xml:lang", "")
        elif name == "namespace":
            key = attributes.get("key", "")
            if not _NAMESPACE_NUMBER.fullmatch(key):
                raise NotADumpError(
                    f"a namespace in the head of the dump has the key {key!r}, expected a number"
                )
            namespaces[int(key)] = (texts[name],)
    return Siteinfo(
        dbname=texts.get("dbname", ""),
        language=language,
        sitename=texts.get("sitename", ""),
        namespaces=namespaces or dict(_CANONICAL_FILE_AND_CATEGORY),
        is_case_sensitive=texts.get("case") == "case-sensitive",
    )


def check_single_revision(xml: bytes) -> None:
    """Raises HistoryExportError if `xml`, a `<page>` element, contains several revisions.

    Several revisions mean that the input is a history dump. In a history dump, the newest revision of a page
    may be in another file.
    """
    if (revisions := xml.count(b"<revision>")) > 1:
        raise HistoryExportError(
            f"a page has {revisions} revisions: this is a history export. Use a dump of current revisions:"
            " mediawiki_content_current or pages-articles"
        )


def parse_page(xml: bytes, namespaces: Container[int] | None = None) -> Page:
    """Parses one `<page>…</page>`.

    If there are several revisions, the last one is used; if there are several content slots, the main one.
    Characters that XML does not allow are dropped, because dumps may contain them.

    Args:
      namespaces: the namespaces whose pages are parsed completely. Pages of other namespaces may be returned
        without text. If it is None, all pages are parsed completely.

    Raises MalformedPageError if the element is malformed.
    """
    if namespaces is not None and (head := _parse_head(xml)) and head.namespace not in namespaces:
        return head
    try:
        return _to_page(_elements(xml, "not well-formed XML: {}", _OF_PAGE))
    except ValueError as error:
        allowed = _FORBIDDEN.sub(b"", xml)
        if allowed == xml:
            raise MalformedPageError(str(error)) from None
    return parse_page(allowed)


def _parse_head(xml: bytes) -> Page | None:
    """Parses the title, namespace and ids of a page, but not its text.

    Returns None if the elements at the beginning of the page differ from those in dumps since 2012.
    """
    if not (found := _HEAD_OF_PAGE.match(xml)):
        return None
    try:
        title = found["title"].decode("utf-8")
    except UnicodeDecodeError:
        return None
    return Page(
        page_id=int(found["page_id"]),
        namespace=int(found["namespace"]),
        title=saxutils.unescape(title, {"&quot;": '"'}),
        revision_id=int(found["revision_id"]),
        content_model="",
        is_redirect=found["redirect"] is not None,
        is_deleted=False,
        text="",
    )


def _to_page(elements: Iterable[_Element]) -> Page:
    texts, attributes = {}, {}
    for path, of_element, text in elements:
        texts[path], attributes[path] = text, of_element
    if missing := [name for name, path in _REQUIRED.items() if path not in texts]:
        raise ValueError(f"the page has no {', '.join(missing)}")
    has_parent = texts.get("/page/revision/parentid", "").strip() not in ("", "0")
    return Page(
        page_id=parse_id(texts["/page/id"], "page"),
        namespace=_parse_namespace(texts.get("/page/ns", "0")),
        title=texts["/page/title"],
        revision_id=parse_id(texts["/page/revision/id"], "revision"),
        content_model=texts.get("/page/revision/model", "wikitext"),
        is_redirect="/page/redirect" in texts,
        is_deleted="deleted" in attributes.get("/page/revision/text", {}),
        text=texts.get("/page/revision/text", ""),
        redirect_target=attributes.get("/page/redirect", {}).get("title", ""),
        created="" if has_parent else texts.get("/page/revision/timestamp", "").strip(),
        comment=texts.get("/page/revision/comment", ""),
        revised=texts.get("/page/revision/timestamp", "").strip(),
    )


def parse_id(text: str | bytes, of: str) -> int:
    """Parses the id of a page, revision or item.

    Raises ValueError if the text does not have 1 to 18 digits. `of` is the word used in the error message,
    such as "page".
    """
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS):
        raise ValueError(f"the {of} id is {_shown(text)}, expected a number with 1 to 18 digits")
    return int(digits)


def _parse_namespace(text: str) -> int:
    if not _NAMESPACE_NUMBER.fullmatch(text.strip()):
        raise ValueError(f"the namespace is {_shown(text)}, expected an integer")
    return int(text)


def _shown(text: str | bytes) -> str:
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _check_start(head: bytes) -> None:
    if not head:
        raise NotADumpError("the file is empty")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotADumpError("expected UTF-8, found UTF-16 (iconv -f UTF-16 -t UTF-8 converts it)")
    if is_html(head.removeprefix(b"\xef\xbb\xbf").decode("latin-1")):
        raise NotADumpError(
            "expected a dump, found an HTML page: did a download save an error page?"
        )
    if b"<mediawiki" not in head:
        kind = kind_of(head) or ("binary data" if is_binary(head) else "")
        seems = f"; the file seems to be {kind}" if kind else ""
        raise NotADumpError(f"expected <mediawiki> at the start, found {head[:40]!r}{seems}")


def _elements(xml: bytes, malformed: str, wanted: Container[str] | None = None) -> list[_Element]:
    """Returns the elements of an XML document in the order of their end tags.

    If `wanted` is given, returns only the elements with these paths. A path lists the names of the nested
    elements, such as "/mediawiki/siteinfo".

    Raises NotADumpError if the XML is not well-formed. The message is `malformed`, in which "{}" is replaced
    by the parser's error.
    """
    elements: list[_Element] = []
    paths: list[str] = [""]
    attributes: list[dict[str, str]] = []
    data: list[str] = []

    def start(name: str, of_element: dict[str, str]) -> None:
        path = f"{paths[-1]}/{name}"
        if len(path) > _LONGEST_PATH:
            raise _TooDeepError(f"elements are nested too deeply: {_shown(path)}")
        paths.append(path)
        attributes.append(of_element)
        data.clear()

    def end(_: str) -> None:
        path, of_element = paths.pop(), attributes.pop()
        if wanted is None or path in wanted:
            elements.append((path, of_element, "".join(data)))
        data.clear()

    parser = expat.ParserCreate("UTF-8")  # even if an XML declaration says another encoding
    parser.buffer_text = True
    parser.buffer_size = max(len(xml), 1024)
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data.append
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        raise NotADumpError(malformed.format(error), parser.ErrorByteIndex) from None
    except _TooDeepError as error:
        raise NotADumpError(str(error), parser.CurrentByteIndex) from None
    return elements


def _refuse_doctype(name: str, *_: object) -> NoReturn:
    raise NotADumpError(f"found a DOCTYPE ({name}), which no dump has; entities are not expanded")


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
