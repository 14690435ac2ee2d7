"""Parses MediaWiki's export XML: the head of a dump, and single pages.

A dump is a `<mediawiki>` element with `<siteinfo>` and then millions of `<page>` elements. All text is
escaped, so the bytes `<page>` are always a tag. Each page is parsed as a separate small document, and only
one page is in memory at a time. A DOCTYPE is an error, because it could define entities that expand without
limit.
"""

import re
from collections.abc import Container, Iterable
from typing import NamedTuple, NoReturn
from xml.parsers import expat
from xml.sax import saxutils

from corpusmill.transforms.files.file_kinds import is_binary, is_html, kind_of
from corpusmill.transforms.files.records import Page

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
    found = _HEAD_OF_PAGE.match(xml)
    if not found:
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
    missing = [name for name, path in _REQUIRED.items() if path not in texts]
    if missing:
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
