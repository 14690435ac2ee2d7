"""MediaWiki export XML: the head of a dump, and single pages.

A dump is `<mediawiki>`, `<siteinfo>`, then millions of `<page>` elements. The text inside is escaped,
so the bytes `<page>` can only be the tag, and each page is a small document of its own:
the parser never holds more than one. A DOCTYPE (the door of entity expansion) is an error.
"""

import re
from typing import Any, ClassVar, NamedTuple, NoReturn
from xml.parsers import expat

from transforms.records import Page

PAGE_START = b"<page>"
PAGE_END = b"</page>"
DUMP_END = b"</mediawiki>"

_NAMESPACE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_CANONICAL_FILE_AND_CATEGORY = {6: ("File",), 14: ("Category",)}


class Siteinfo(NamedTuple):
    """What the head of a dump says of its wiki."""

    dbname: str  # "ukwiki"; "" where the dump has no siteinfo
    language: str  # xml:lang of the root, "uk"
    sitename: str
    namespaces: dict[int, tuple[str, ...]]  # number → names in this wiki


class NotADumpError(ValueError):
    """The input is something other than a MediaWiki dump in UTF-8; `offset` is where that shows."""

    def __init__(self, message: str, offset: int = 0):
        super().__init__(message)
        self.offset = offset


class MalformedPageError(ValueError):
    """A page element that is no well-formed XML or lacks what a page has."""


def parse_siteinfo(head: bytes) -> Siteinfo:
    """Reads the head of a dump: everything before its first page.

    Raises NotADumpError for an empty input, UTF-16, HTML, a DOCTYPE and anything else that is no dump.
    """
    _check_start(head)
    head = head.partition(PAGE_START)[0]
    if DUMP_END not in head:
        head += DUMP_END
    reader = _SiteinfoReader()
    parser = _make_parser(reader, len(head))
    try:
        parser.Parse(head, True)
    except expat.ExpatError as error:
        raise NotADumpError(
            f"the head of the dump is not well-formed XML ({error})", parser.ErrorByteIndex
        ) from None
    return reader.siteinfo()


def parse_page(xml: bytes) -> Page:
    """Reads one `<page>…</page>`. Of several revisions the last one counts.

    Raises MalformedPageError.
    """
    reader = _PageReader()
    parser = _make_parser(reader, len(xml))
    try:
        parser.Parse(xml, True)
        return reader.page()
    except expat.ExpatError as error:
        raise MalformedPageError(f"not well-formed XML: {error}") from None
    except ValueError as error:
        raise MalformedPageError(str(error)) from None


def _check_start(head: bytes) -> None:
    if not head:
        raise NotADumpError("the file is empty")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotADumpError(
            "the text is UTF-16, a Wikimedia dump is UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)"
        )
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if re.match(rb"<(?:!doctype\s+html|html|head|body)\b", start, re.IGNORECASE):
        raise NotADumpError("this is an HTML page (an error page saved by a download?), not a dump")
    if b"<mediawiki" not in head:
        raise NotADumpError(f"no <mediawiki> element at the start, but {head[:40]!r}")


def _make_parser(reader: "_SiteinfoReader | _PageReader", xml_bytes: int) -> expat.XMLParserType:
    parser = expat.ParserCreate("UTF-8")  # whatever an XML declaration claims
    parser.buffer_text = True
    parser.buffer_size = max(xml_bytes, 1024)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    return parser


def _refuse_doctype(name: str, *_: object) -> NoReturn:
    raise NotADumpError(f"a DOCTYPE ({name}) has no place in a dump; entities are not expanded")


class _SiteinfoReader:
    def __init__(self) -> None:
        self._attributes: dict[str, str] = {}
        self._fields = {"dbname": "", "sitename": ""}
        self._language = ""
        self._namespaces: dict[int, tuple[str, ...]] = {}
        self._data: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "mediawiki":
            self._language = attributes.get("xml:lang", "")
        self._attributes = attributes
        self._data = []

    def text(self, data: str) -> None:
        self._data.append(data)

    def end(self, name: str) -> None:
        value = "".join(self._data).strip()
        if name in self._fields:
            self._fields[name] = value
        elif name == "namespace":
            key = self._attributes.get("key", "")
            if not _NAMESPACE_NUMBER.fullmatch(key):
                raise NotADumpError(f"a namespace in the head has the number {key!r}")
            self._namespaces[int(key)] = (value,)

    def siteinfo(self) -> Siteinfo:
        return Siteinfo(
            dbname=self._fields["dbname"],
            language=self._language,
            sitename=self._fields["sitename"],
            namespaces=self._namespaces or dict(_CANONICAL_FILE_AND_CATEGORY),
        )


class _PageReader:
    """Handlers of one page. The path of open elements tells the id of a page from its revision's."""

    _WANTED: ClassVar[dict[str, str]] = {
        "page/title": "title",
        "page/ns": "namespace",
        "page/id": "page_id",
        "page/revision/id": "revision_id",
        "page/revision/model": "model",
        "page/revision/text": "text",
    }

    def __init__(self) -> None:
        self._path: list[str] = []
        self._fields: dict[str, str] = {}
        self._data: list[str] = []
        self._is_redirect = False
        self._redirect_target = ""
        self._is_deleted = False

    def start(self, name: str, attributes: dict[str, Any]) -> None:
        self._path.append(name)
        self._data = []
        if name == "redirect":
            self._is_redirect = True
            self._redirect_target = attributes.get("title", "")
        elif name == "text":
            self._is_deleted = "deleted" in attributes

    def text(self, data: str) -> None:
        self._data.append(data)

    def end(self, name: str) -> None:
        field = self._WANTED.get("/".join(self._path))
        if field:
            self._fields[field] = "".join(self._data)
        self._path.pop()
        self._data = []

    def page(self) -> Page:
        missing = {"title", "page_id", "revision_id"} - self._fields.keys()
        if missing:
            raise ValueError(f"a page without {', '.join(sorted(missing))}")
        return Page(
            page_id=int(self._fields["page_id"]),
            namespace=int(self._fields.get("namespace", "0")),
            title=self._fields["title"],
            revision_id=int(self._fields["revision_id"]),
            content_model=self._fields.get("model", "wikitext"),
            is_redirect=self._is_redirect,
            is_deleted=self._is_deleted,
            text=self._fields.get("text", ""),
            redirect_target=self._redirect_target,
        )
