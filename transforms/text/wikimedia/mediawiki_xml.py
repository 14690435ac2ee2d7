"""MediaWiki export XML: the head of a dump, and single pages.

A dump is `<mediawiki>`, `<siteinfo>`, then millions of `<page>` elements. The text inside is escaped,
so the bytes `<page>` can only be the tag, and each page is a small document of its own:
the parser never holds more than one. A DOCTYPE (the door of entity expansion) is an error.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from transforms.records import Page

PAGE_START = b"<page>"
PAGE_END = b"</page>"
DUMP_END = b"</mediawiki>"

_NAMESPACE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_CANONICAL_FILE_AND_CATEGORY = {6: ("File",), 14: ("Category",)}
_REQUIRED = {"page_id": "page/id", "revision_id": "page/revision/id", "title": "page/title"}

_Element = tuple[str, dict[str, str], str]  # names from the root on, attributes, text


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
                raise NotADumpError(f"a namespace in the head has the number {key!r}")
            namespaces[int(key)] = (texts[name],)
    return Siteinfo(
        dbname=texts.get("dbname", ""),
        language=language,
        sitename=texts.get("sitename", ""),
        namespaces=namespaces or dict(_CANONICAL_FILE_AND_CATEGORY),
    )


def parse_page(xml: bytes) -> Page:
    """Reads one `<page>…</page>`. Of several revisions the last one counts.

    Raises MalformedPageError.
    """
    try:
        return _to_page(_elements(xml, "not well-formed XML: {}"))
    except ValueError as error:
        raise MalformedPageError(str(error)) from None


def _to_page(elements: Iterable[_Element]) -> Page:
    texts, attributes = {}, {}
    for path, of_element, text in elements:
        texts[path], attributes[path] = text, of_element
    missing = [name for name, path in _REQUIRED.items() if path not in texts]
    if missing:
        raise ValueError(f"a page without {', '.join(missing)}")
    return Page(
        page_id=int(texts["page/id"]),
        namespace=int(texts.get("page/ns", "0")),
        title=texts["page/title"],
        revision_id=int(texts["page/revision/id"]),
        content_model=texts.get("page/revision/model", "wikitext"),
        is_redirect="page/redirect" in texts,
        is_deleted="deleted" in attributes.get("page/revision/text", {}),
        text=texts.get("page/revision/text", ""),
        redirect_target=attributes.get("page/redirect", {}).get("title", ""),
    )


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


def _elements(xml: bytes, malformed: str) -> list[_Element]:
    """The elements of a document, by their ends.

    Raises NotADumpError with the message `malformed`, in which "{}" stands for what is wrong.
    """
    elements: list[_Element] = []
    names: list[str] = []
    attributes: list[dict[str, str]] = []
    data: list[str] = []

    def start(name: str, of_element: dict[str, str]) -> None:
        names.append(name)
        attributes.append(of_element)
        data.clear()

    def end(_: str) -> None:
        elements.append(("/".join(names), attributes.pop(), "".join(data)))
        names.pop()
        data.clear()

    parser = expat.ParserCreate("UTF-8")  # whatever an XML declaration claims
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
    return elements


def _refuse_doctype(name: str, *_: object) -> NoReturn:
    raise NotADumpError(f"a DOCTYPE ({name}) has no place in a dump; entities are not expanded")
