"""Writes Wikimedia dump files from pages and rows, for tests, the bundled samples and benchmarks.

The layouts are those of real dumps: XML export 0.10 and its successor 0.11, the multistream packing
with its index, mysqldump tables, and the Wikidata JSON array. The same input gives the same bytes:
no clock, no chance, gzip without a time.
"""

import bz2
import contextlib
import gzip
import hashlib
import html
import io
import ipaddress
import itertools
import json
import lzma
import re
import tomllib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import zstandard

_FORMATS = {"wikitext": "text/x-wiki", "css": "text/css", "javascript": "text/javascript"}
_CASE_SENSITIVE_NAMESPACES = range(2300, 2304)  # gadgets
_SHA1_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_PENDING_STREAMS = 8  # streams that wait for a compressing thread: bounds the memory


class SamplePage(NamedTuple):
    """A page and its one revision, as a dump shows them."""

    page_id: int
    namespace: int
    title: str  # with the namespace's name: "Category:Rivers"
    wikitext: str
    revision_id: int
    timestamp: str = "2025-12-01T00:00:00Z"
    redirect_to: str = ""
    deleted: bool = False  # the text was suppressed
    model: str = "wikitext"
    contributor: str = "Sample writer"  # a user name or an IP address; "" is a suppressed name
    comment: str | None = ""  # None is a suppressed comment
    minor: bool = False


class PackedPage(NamedTuple):
    """A page as its place in a multistream dump needs it."""

    page_id: int
    title: str  # as it stands in the XML, so escaped
    xml: bytes


def _escape(text: str) -> str:
    """Escapes as MediaWiki does in element content: the apostrophe stays."""
    return html.escape(text, quote=False).replace('"', "&quot;")


def _escape_attribute(text: str) -> str:
    return _escape(text).replace("'", "&#039;")


def _sha1_base36(content: bytes) -> str:
    """SHA-1 in base 36, padded to 31 digits, as MediaWiki stores it."""
    number = int.from_bytes(hashlib.sha1(content, usedforsecurity=False).digest(), "big")
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _SHA1_DIGITS[digit] + digits
    return digits.rjust(31, "0")


def dump_header(
    dbname: str,
    language: str,
    sitename: str,
    namespaces: Mapping[int, str],
    export_version: str = "0.10",
) -> str:
    """The head of a dump, from `<mediawiki …>` to `</siteinfo>`.

    Namespaces are number → local name, "" for the articles.
    """
    lines = [
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{export_version}/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        f' xsi:schemaLocation="http://www.mediawiki.org/xml/export-{export_version}/'
        f' http://www.mediawiki.org/xml/export-{export_version}.xsd"'
        f' version="{export_version}" xml:lang="{language}">',
        "  <siteinfo>",
        f"    <sitename>{_escape(sitename)}</sitename>",
        f"    <dbname>{dbname}</dbname>",
        f"    <base>https://{language}.wikipedia.org/wiki/Main_Page</base>",
        "    <generator>MediaWiki 1.46.0-wmf.8</generator>",
        "    <case>first-letter</case>",
        "    <namespaces>",
        *(_namespace_line(number, name) for number, name in sorted(namespaces.items())),
        "    </namespaces>",
        "  </siteinfo>",
    ]
    return "\n".join(lines) + "\n"


def _namespace_line(number: int, name: str) -> str:
    case = "case-sensitive" if number in _CASE_SENSITIVE_NAMESPACES else "first-letter"
    if not name:
        return f'      <namespace key="{number}" case="{case}" />'
    return f'      <namespace key="{number}" case="{case}">{_escape(name)}</namespace>'


def page_xml(page: SamplePage, export_version: str = "0.10") -> str:
    """The `<page>` element with its indent and final newline.

    Export 0.11 adds `<origin>`, the text's own sha1, and the size of a suppressed text.
    """
    newer = export_version != "0.10"
    lines = [
        "  <page>",
        f"    <title>{_escape(page.title)}</title>",
        f"    <ns>{page.namespace}</ns>",
        f"    <id>{page.page_id}</id>",
    ]
    if page.redirect_to:
        lines.append(f'    <redirect title="{_escape_attribute(page.redirect_to)}" />')
    lines += ["    <revision>", f"      <id>{page.revision_id}</id>"]
    lines.append(f"      <timestamp>{page.timestamp}</timestamp>")
    lines += _contributor_lines(page.contributor)
    if page.minor:
        lines.append("      <minor />")
    if page.comment is None:
        lines.append('      <comment deleted="deleted" />')
    elif page.comment:
        lines.append(f"      <comment>{_escape(page.comment)}</comment>")
    if newer:
        lines.append(f"      <origin>{page.revision_id}</origin>")
    lines.append(f"      <model>{page.model}</model>")
    lines.append(f"      <format>{_FORMATS[page.model]}</format>")
    lines += _text_lines(page, newer)
    lines += ["    </revision>", "  </page>"]
    return "\n".join(lines) + "\n"


def _contributor_lines(contributor: str) -> list[str]:
    if not contributor:
        return ['      <contributor deleted="deleted" />']
    if _is_ip_address(contributor):
        inner = [f"        <ip>{contributor}</ip>"]
    else:
        user_id = int.from_bytes(hashlib.sha1(contributor.encode()).digest()[:3], "big")
        inner = [
            f"        <username>{_escape(contributor)}</username>",
            f"        <id>{user_id}</id>",
        ]
    return ["      <contributor>", *inner, "      </contributor>"]


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _text_lines(page: SamplePage, newer: bool) -> list[str]:
    content = page.wikitext.encode()
    digest = _sha1_base36(content)
    if page.deleted:
        size = f' bytes="{len(content)}"' if newer else ""
        return [f'      <text{size} deleted="deleted" />', "      <sha1 />"]
    attributes = f'bytes="{len(content)}"' + (f' sha1="{digest}"' if newer else "")
    if not content:
        text = f"      <text {attributes} />"
    else:
        text = f'      <text {attributes} xml:space="preserve">{_escape(page.wikitext)}</text>'
    return [text, f"      <sha1>{digest}</sha1>"]


@contextlib.contextmanager
def _create(path: Path) -> Iterator[IO[bytes]]:
    """Opens a new file that is compressed as its name says."""
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", 9, raw, mtime=0) as stream:
                yield cast(IO[bytes], stream)
        elif path.suffix == ".bz2":
            with bz2.BZ2File(raw, "wb") as stream:
                yield cast(IO[bytes], stream)
        elif path.suffix == ".xz":
            with lzma.LZMAFile(raw, "wb") as stream:
                yield cast(IO[bytes], stream)
        elif path.suffix == ".zst":
            content = io.BytesIO()
            yield content
            raw.write(zstandard.compress(content.getvalue()))
        else:
            yield raw


def _export_version(header: str) -> str:
    found = re.search(r' version="([0-9.]+)"', header)
    if not found:
        raise ValueError("the header names no export version")
    return found[1]


def write_xml(path: Path, header: str, pages: Iterable[SamplePage]) -> None:
    """Writes a dump as one file: plain, .gz, .xz, .zst or single-stream .bz2 by its name."""
    version = _export_version(header)
    with _create(path) as stream:
        stream.write(header.encode())
        stream.writelines(page_xml(page, version).encode() for page in pages)
        stream.write(b"</mediawiki>\n")


def write_multistream(
    xml_path: Path,
    index_path: Path,
    header: str,
    pages: Iterable[SamplePage],
    pages_per_stream: int = 100,
) -> None:
    """Writes a bz2 multistream dump and its `offset:pageid:title` index, as Wikimedia packs them.

    The header is one bz2 stream, every `pages_per_stream` pages are one, the closing tag is one.
    """
    version = _export_version(header)
    packed = (
        PackedPage(page.page_id, _escape(page.title), page_xml(page, version).encode())
        for page in pages
    )
    _pack_streams(xml_path, index_path, header.encode(), packed, pages_per_stream)


def _pack_streams(
    xml_path: Path,
    index_path: Path,
    header: bytes,
    pages: Iterable[PackedPage],
    pages_per_stream: int,
) -> None:
    pages = iter(pages)
    pending: deque[tuple[list[PackedPage], Future[bytes]]] = deque()
    with (
        xml_path.open("wb") as xml_file,
        _create(index_path) as index_file,
        ThreadPoolExecutor() as pool,  # bz2 compresses outside the interpreter lock
    ):

        def write_oldest() -> None:
            batch, compressed = pending.popleft()
            offset = xml_file.tell()
            xml_file.write(compressed.result())
            lines = (f"{offset}:{page.page_id}:{page.title}\n" for page in batch)
            index_file.write("".join(lines).encode())

        xml_file.write(bz2.compress(header))
        while batch := list(itertools.islice(pages, pages_per_stream)):
            xml = b"".join(page.xml for page in batch)
            pending.append((batch, pool.submit(bz2.compress, xml)))
            if len(pending) > _PENDING_STREAMS:
                write_oldest()
        while pending:
            write_oldest()
        xml_file.write(bz2.compress(b"</mediawiki>\n"))


_PAGE_START = b"  <page>\n"
_PAGE_HEAD = re.compile(
    rb"\s*<page>\s*<title>(?P<title>.*?)</title>\s*<ns>-?\d+</ns>\s*<id>(?P<id>\d+)</id>", re.DOTALL
)


def repeat_pages(source: Path, copies: int) -> Iterator[PackedPage]:
    """Yields the pages of a dump (plain or .bz2) `copies` times, in ascending order of page id.

    The first pass leaves them as they are; pass k shifts the ids past those seen and appends " (k)"
    to the titles. The source is read once a pass, so memory holds a chunk and a page.
    """
    shift = 0
    for copy in range(1, copies + 1):
        highest = shift
        for page in _read_packed(source):
            highest = max(highest, page.page_id + shift)
            yield page if copy == 1 else _renamed(page, shift, f" ({copy})")
        shift = highest


def _renamed(page: PackedPage, shift: int, suffix: str) -> PackedPage:
    page_id, title = page.page_id + shift, page.title + suffix
    head = _page_head(page.xml)
    parts = (
        page.xml[: head.start("title")],
        title.encode(),
        page.xml[head.end("title") : head.start("id")],
        str(page_id).encode(),
        page.xml[head.end("id") :],
    )
    return PackedPage(page_id, title, b"".join(parts))


def _page_head(xml: bytes) -> re.Match[bytes]:
    head = _PAGE_HEAD.match(xml)
    if not head:
        raise ValueError(f"a page without title, ns and id: {xml[:200]!r}")
    return head


def _read_packed(source: Path) -> Iterator[PackedPage]:
    with _open_dump(source) as stream:
        pages = _split_pages(stream)
        next(pages)  # the header
        for xml in pages:
            head = _page_head(xml)
            yield PackedPage(int(head["id"]), head["title"].decode(), xml)


def _open_dump(source: Path) -> IO[bytes]:
    if source.suffix == ".bz2":
        return cast(IO[bytes], bz2.BZ2File(source))
    return source.open("rb")


def _split_pages(stream: IO[bytes], chunk_bytes: int = 1 << 20) -> Iterator[bytes]:
    """Yields the header, then every `<page>` element, with their final newlines."""
    rest = b""
    while _PAGE_START not in rest and (chunk := stream.read(chunk_bytes)):
        rest += chunk
    header, opening, rest = rest.partition(_PAGE_START)
    yield header
    rest = opening + rest
    while chunk := stream.read(chunk_bytes):
        *pages, rest = (rest + chunk).split(b"  </page>\n")
        yield from (page + b"  </page>\n" for page in pages)
    *pages, _ = rest.split(b"  </page>\n")
    yield from (page + b"  </page>\n" for page in pages)


def repeat_dump(
    source: Path, xml_path: Path, index_path: Path, copies: int, pages_per_stream: int = 100
) -> None:
    """Writes a multistream dump with the pages of `source` `copies` times: see `repeat_pages`."""
    with _open_dump(source) as stream:
        header = next(_split_pages(stream))
    _pack_streams(xml_path, index_path, header, repeat_pages(source, copies), pages_per_stream)


_SQL_ESCAPES = str.maketrans(
    {"\0": r"\0", "\n": r"\n", "\r": r"\r", "\x1a": r"\Z", '"': r"\"", "'": r"\'", "\\": r"\\"}
)
_ROWS_PER_INSERT = 1000  # mysqldump starts a new statement at 1 MB

_SQL = tomllib.loads(Path(__file__).with_name("sql_dump.toml").read_text("utf-8"))

SqlValue = str | int | float | None


def _sql_value(value: SqlValue) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.translate(_SQL_ESCAPES) + "'"
    return str(value)


def _write_table(
    path: Path, database: str, table: str, rows: Iterable[tuple[SqlValue, ...]]
) -> None:
    rows, columns = iter(rows), _SQL["columns"][table]
    with _create(path) as stream:
        head = _SQL["head"].format(database=database, table=table, columns=columns)
        stream.write(head.encode())
        while batch := list(itertools.islice(rows, _ROWS_PER_INSERT)):
            tuples = ("(" + ",".join(map(_sql_value, row)) + ")" for row in batch)
            stream.write(f"INSERT INTO `{table}` VALUES {','.join(tuples)};\n".encode())
        stream.write(_SQL["tail"].format(table=table).encode())


def write_page_props(
    path: Path, rows: Iterable[tuple[int, str, str]], database: str = "enwiki"
) -> None:
    """Writes `page_props.sql` rows: page id, property name, value."""
    full_rows = ((page_id, name, value, None) for page_id, name, value in rows)
    _write_table(path, database, "page_props", full_rows)


def write_items_per_site(path: Path, rows: Iterable[tuple[int, str, str]]) -> None:
    """Writes `wb_items_per_site.sql` rows: item number (42 for Q42), site ("enwiki"), title."""
    full_rows = ((number, *row) for number, row in enumerate(rows, start=1))
    _write_table(path, "wikidatawiki", "wb_items_per_site", full_rows)


def write_page_table(path: Path, pages: Iterable[SamplePage], database: str = "enwiki") -> None:
    """Writes `page.sql` rows for the pages: titles without namespace, blanks as underscores."""
    _write_table(path, database, "page", map(_page_row, pages))


def _page_row(page: SamplePage) -> tuple[SqlValue, ...]:
    title = page.title.split(":", 1)[1] if page.namespace else page.title
    touched = re.sub(r"\D", "", page.timestamp)
    size = len(page.wikitext.encode())
    flags = (int(bool(page.redirect_to)), 0, round(page.page_id * 0.618034 % 1, 12))
    key = (page.page_id, page.namespace, title.replace(" ", "_"))
    return (*key, *flags, touched, touched, page.revision_id, size, page.model, None)


def wikidata_item(
    qid: str,
    labels: Mapping[str, str],
    claims: Mapping[str, Iterable[str]],
    sitelinks: Mapping[str, str],
    badges: Mapping[str, str] | None = None,
    deprecated: Collection[str] = (),
) -> dict[str, Any]:
    """An item in the shape of the JSON dump.

    Claims are property → items ("P31" → ["Q5"]), sitelinks site → title, badges site → item of the
    badge; statements whose value is in `deprecated` have that rank. An empty map is an empty list,
    as in the dump, whose PHP writer cannot tell the two apart.
    """
    badges = badges or {}
    return {
        "type": "item",
        "id": qid,
        "labels": {code: {"language": code, "value": text} for code, text in labels.items()} or [],
        "descriptions": [],
        "aliases": [],
        "claims": {
            name: [
                _statement(qid, name, value, "deprecated" if value in deprecated else "normal")
                for value in values
            ]
            for name, values in claims.items()
        }
        or [],
        "sitelinks": {
            site: {
                "site": site,
                "title": title,
                "badges": [badges[site]] if site in badges else [],
            }
            for site, title in sitelinks.items()
        }
        or [],
    }


def _statement(subject: str, name: str, value: str, rank: str) -> dict[str, Any]:
    digest = hashlib.sha1(f"{subject}{name}{value}".encode(), usedforsecurity=False).hexdigest()
    uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    item = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
    return {
        "mainsnak": {
            "snaktype": "value",
            "property": name,
            "datavalue": {"value": item, "type": "wikibase-entityid"},
            "datatype": "wikibase-item",
        },
        "type": "statement",
        "id": f"{subject}${uuid.upper()}",
        "rank": rank,
    }


def write_entities(path: Path, entities: Iterable[Mapping[str, Any]]) -> None:
    """Writes a Wikidata JSON dump: `[`, one entity a line with commas between them, `]`."""
    with _create(path) as stream:
        stream.write(b"[")
        separator = b"\n"
        for entity in entities:
            stream.write(separator + json.dumps(entity, separators=(",", ":")).encode())
            separator = b",\n"
        stream.write(b"\n]\n")
