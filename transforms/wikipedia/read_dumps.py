"""Reads the pages of MediaWiki dumps and the rows of SQL dumps, and checks dumps before a build starts."""

import collections
import itertools
import pathlib
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from ..files import counters, work_units
from ..files.compression import DECODE_ERRORS, check_on_corrupt
from ..files.counters import LostBytes, damage_error, tell_lost
from ..files.distribution import Spread, transform
from ..files.read_files import (
    InputError,
    damage_in,
    file_bytes_of,
    match_inputs,
    open_input,
    open_raw,
)
from ..files.records import Page, Rejected
from ..files.work_units import FileUnit
from ..wikitext.wikis import codes_of, mediawiki_table
from . import dump_folder, mediawiki_xml
from .find_dumps import sums_beside
from .sql_dump import Row, read_rows

STAGE = "read-dump"
# bytes shown of a malformed title or id in a message; valid titles have at most 255
_SHOWN_BYTES = 256


class ReadPages(NamedTuple):
    """The outputs of ReadDump: pages, malformed pages, and damaged parts of files."""

    pages: beam.PCollection  # of Page
    rejected: beam.PCollection  # of Rejected: pages that are not well-formed XML
    lost: beam.PCollection  # of LostBytes


@transform
def ReadDump(
    root: beam.Pipeline,
    paths: Sequence[str],
    stripes: int = 1,
    on_corrupt: str = "fail",
    namespaces: Collection[int] | None = None,
    limit: int = 0,
) -> ReadPages:
    """Reads the pages of dump files.

    PBegin → ReadPages. Files are split into work units, which are distributed over the workers.

    Args:
      paths: dump files on any Beam file system; .xml, .xml.bz2 (one stream or many), .xml.gz, .xz, .zst.
      stripes: number of workers that divide the work on a file which cannot be split, such as a .gz. Each of
        them decompresses the whole file, but processes only its share of the pages.
      namespaces: namespaces whose pages are read completely. Pages of other namespaces may be yielded without
        their text. None reads all pages completely.
      on_corrupt: "fail" raises InputError at the first damage, with the file, the byte and the last undamaged
        page; "keep-good" skips and reports damaged parts.
      limit: maximum number of pages in total, including malformed pages and those of other namespaces. With a
        limit, one worker reads the files, in the order of `paths`. 0 reads all pages.
    """
    check_on_corrupt(on_corrupt)
    how = on_corrupt, namespaces
    if limit:
        units = root | "Paths" >> beam.Create([paths], reshuffle=False)
        reader = beam.FlatMap(_read_first_pages, limit, *how)
    else:
        units = spread_units(root, paths, stripes)
        reader = beam.FlatMap(_read_pages, *how)
    typed = reader.with_output_types(Page).with_outputs("rejected", "lost", main="pages")
    read = units | "ReadUnits" >> typed
    return ReadPages(read.pages, read.rejected, read.lost)


def spread_units(root: beam.Pipeline, paths: Sequence[str], stripes: int) -> beam.PCollection:
    """Returns the work units of dump files, distributed over the workers.

    `stripes` is the number of workers that divide the work on a file which cannot be split, such as a .gz.
    Each of them decompresses the whole file, but processes only its share of the pages.
    """
    return (
        root
        | "Paths" >> beam.Create(paths, reshuffle=False)
        | "SpreadUnits" >> Spread(plan_units, stripes, of=FileUnit)
        | "OpenBorders" >> beam.FlatMap(open_border).with_output_types(tuple[str, FileUnit])
        | "MeetAtBorders" >> beam.GroupByKey()
        | "JoinBorders" >> beam.FlatMapTuple(join_borders).with_output_types(FileUnit)
    )


def plan_units(path: str, stripes: int) -> list[FileUnit]:
    """Returns the work units of one file.

    If reading can begin only at the start of the file, it gets `stripes` units, each for one worker.
    """
    with open_raw(path) as stream:
        return work_units.plan_units(stream, path, file_bytes_of(path), stripes)


def open_border(unit: FileUnit) -> Iterator[tuple[str, FileUnit]]:
    """Decompresses the first block of a work unit and divides it between this unit and the preceding one.

    A work unit is a part of a dump file. Yields (key of the unit, the unit with its part of the block). If
    the preceding unit needs the rest of the block, also yields (key of the preceding unit, a FileUnit with
    the kind "border" that contains the rest). `join_borders` then adds the rest to the preceding unit.
    """
    with open_raw(unit.path) as stream:
        unit, before = mediawiki_xml.open_border(stream, unit)
    yield _key_of(unit), unit
    if before is not None:
        part = FileUnit(unit.path, "border", 0, unit.start, unit.file_bytes, known=(before,))
        yield _key_of(part), part


def _key_of(unit: FileUnit) -> str:
    return f"{unit.stripe} {unit.end} {unit.path}"


def join_borders(_: str, parts: Iterable[FileUnit]) -> Iterator[FileUnit]:
    """Adds to a work unit the data that it needs from the following work unit of the file.

    `parts` are the unit, and any units of the kind "border" from `open_border`, which contain this data. The
    common key of the parts is not used. If a file was given twice, the unit is in `parts` twice, and is
    yielded twice.
    """
    parts = list(parts)
    known = tuple(block for part in parts if part.kind == "border" for block in part.known)
    return (part._replace(known=part.known + known) for part in parts if part.kind != "border")


def dump_bytes_of(path: str, stripes: int) -> int:
    """Returns how many bytes of a file all workers together will read, for the progress display.

    This is the size of the file. But if reading can begin only at the start of the file, each of `stripes`
    workers reads the whole file, so its size is multiplied by `stripes`.
    """
    return sum(unit.end - unit.start for unit in plan_units(path, stripes))


def read_siteinfo(path: str) -> mediawiki_xml.Siteinfo:
    """Returns the head of a dump.

    Raises InputError if the file is not a dump, or if its beginning shows that it contains all revisions.
    """
    try:
        with open_raw(path) as stream:
            head = mediawiki_xml.read_head(stream)
        mediawiki_xml.check_single_revision(head.partition(mediawiki_xml.PAGE_END)[0])
        return mediawiki_xml.parse_siteinfo(head)
    except ValueError as error:
        raise InputError(path, str(error), getattr(error, "offset", 0)) from None


def check_end(path: str) -> None:
    """Raises InputError if a plain or .bz2 dump is visibly truncated.

    Only the end of the file is read, before the build starts.
    """
    last = mediawiki_xml.last_part_of(plan_units(path, stripes=1)[-1])
    if last.kind == "whole":
        return
    with open_raw(path) as stream:
        for event in mediawiki_xml.read_unit(stream, last):
            if isinstance(event, mediawiki_xml.Damage):
                raise _damage_error(last, event)


def _read_pages(
    unit: FileUnit, on_corrupt: str, namespaces: Collection[int] | None = None
) -> Iterator[Page | beam.pvalue.TaggedOutput]:
    for event in _read_counted(unit, STAGE):
        if isinstance(event, mediawiki_xml.PageXml):
            yield _page_of(unit, event.xml, on_corrupt, namespaces)
        elif on_corrupt == "fail":
            raise _damage_error(unit, event)
        else:
            last_page = _last_page(unit, event)
            lost_pages = _count_lost_pages(unit, event, last_page)
            place = posixpath.basename(unit.path), *event[:3]
            yield tell_lost(STAGE, LostBytes(*place, lost_pages, last_page))


def _read_first_pages(
    paths: Sequence[str], limit: int, on_corrupt: str, namespaces: Collection[int] | None
) -> Iterator[Page | beam.pvalue.TaggedOutput]:
    units = (unit for path in paths for unit in plan_units(path, 1))
    left = limit
    for event in itertools.chain.from_iterable(
        _read_pages(unit, on_corrupt, namespaces) for unit in units
    ):
        yield event
        left -= isinstance(event, Page) or event.tag == "rejected"
        if not left:
            break
    counters.flush()


def _page_of(
    unit: FileUnit, xml: bytes, on_corrupt: str, namespaces: Collection[int] | None
) -> Page | beam.pvalue.TaggedOutput:
    try:
        return mediawiki_xml.parse_page(xml, namespaces)
    except mediawiki_xml.MalformedPageError as error:
        place = f"in bytes {unit.start} to {unit.end}"
        if on_corrupt == "fail":
            start = xml[:120].decode("utf-8", "replace")
            raise InputError(unit.path, f"{place}: page {start!r}: {error}") from None
        counters.count(STAGE, "malformed-xml")
        detail = f"{posixpath.basename(unit.path)}, {place}: {error}"
        rejected = Rejected(*_identify(xml), STAGE, "malformed-xml", detail)
        return beam.pvalue.TaggedOutput("rejected", rejected)


def read_good_pages(unit: FileUnit, on_corrupt: str, stage: str) -> Iterator[bytes]:
    """Yields the XML of the undamaged pages of a unit. Pages and bytes read are counted under `stage`.

    Raises InputError for damaged data, unless `on_corrupt` is "keep-good".
    """
    for event in _read_counted(unit, stage):
        if isinstance(event, mediawiki_xml.PageXml):
            yield event.xml
        elif on_corrupt == "fail":
            raise _damage_error(unit, event)


def _read_counted(
    unit: FileUnit, stage: str
) -> Iterator[mediawiki_xml.PageXml | mediawiki_xml.Damage]:
    """Yields the pages and the damaged parts of a unit. Pages and bytes read are counted under `stage`."""
    left = unit.end - unit.start
    counts: collections.Counter[str] = collections.Counter()
    try:
        with open_raw(unit.path) as stream:
            for event in mediawiki_xml.read_unit(stream, unit):
                if isinstance(event, mediawiki_xml.PageXml):
                    mediawiki_xml.check_single_revision(event.xml)
                    counts["pages"] += 1
                    counts["xml_bytes"] += len(event.xml)
                    if event.stored_bytes:  # counted once per block: a call takes time
                        counts["dump_bytes"] = event.stored_bytes
                        left -= event.stored_bytes
                        counters.count_all(stage, counts)
                        counts.clear()
                yield event
    except (mediawiki_xml.OverlongPageError, mediawiki_xml.HistoryExportError) as error:
        raise InputError(unit.path, f"in bytes {unit.start} to {unit.end}: {error}") from None
    finally:
        counters.count_all(stage, counts)
    counters.count(stage, "dump_bytes", left)
    counters.flush()


def _identify(xml: bytes) -> tuple[str, str]:
    """Returns (id, title) of a page whose XML may be malformed. An element that is missing gives ""."""
    page_id, title = (
        xml.partition(b"<%b>" % name)[2].partition(b"</%b>" % name)[0][:_SHOWN_BYTES]
        for name in (b"id", b"title")
    )
    return page_id.decode("utf-8", "replace"), title.decode("utf-8", "replace")


def _damage_error(unit: FileUnit, damage: mediawiki_xml.Damage) -> InputError:
    counted = " (bytes of the uncompressed XML)" if unit.kind == "whole" else ""
    note = f"; last whole page: {_last_page(unit, damage)}{counted}"
    return damage_error(unit.path, *damage[:3], note)


def _last_page(unit: FileUnit, damage: mediawiki_xml.Damage) -> str:
    if (xml := damage.last_page) is None:
        with open_raw(unit.path) as stream:
            xml = mediawiki_xml.last_page_before(stream, unit, damage.start)
    if xml is None:
        return "none"
    try:
        page = mediawiki_xml.parse_page(xml)
    except mediawiki_xml.MalformedPageError:
        return " ".join(_identify(xml))
    return f"{page.page_id} {page.title}"


def _count_lost_pages(unit: FileUnit, damage: mediawiki_xml.Damage, last_page: str) -> int:
    """Returns the number of pages that were in damaged bytes, or -1 if it is unknown.

    The pages are counted in the index of the dump file, between `last_page` (the id and title of the last
    page before the damage) and the first page after the damage.
    """
    index = mediawiki_xml.index_path_of(unit.path)
    if unit.kind != "bz2" or index is None or not FileSystems.exists(index):
        return -1
    with open_raw(unit.path) as stream:
        following = mediawiki_xml.first_page_after(stream, unit, damage.end)
    next_page = _identify(following)[0] if following else ""
    try:
        with open_input(index) as lines:
            return mediawiki_xml.count_lost_pages(
                cast(Iterable[bytes], lines), damage, last_page.partition(" ")[0], next_page
            )
    except DECODE_ERRORS:  # a damaged or invalid index
        return -1


_XML_LANGUAGES = {"zh-cn": "zh", "zh-tw": "zh"}
# Sites other than Wikipedia: suffix of the database name → name of the site, which is the same in all
# supported languages.
_SISTER_SITES = {"wikinews": "Wikinews", "wikibooks": "Wikibooks", "wikivoyage": "Wikivoyage"}


def check_dumps(
    paths: Sequence[str],
    language: str,
    dbname: str,
    *,
    whole: bool,
    ignore_siteinfo: bool = False,
    settings: Mapping[str, str] | None = None,
) -> mediawiki_xml.Siteinfo:
    """Checks a dump and returns its head.

    Args:
      paths: dump files of one wiki; the list must not be empty.
      language: corpus code, such as "zh-tw".
      dbname: database name of the wiki, such as "zhwiki" or "enwikinews".
      whole: True to raise an error if the dump is truncated.
      ignore_siteinfo: True to accept any head. Nothing in the head is used then, not even the names of
        namespaces.
      settings: database name of each wiki → command-line flag for its dump. If the dump is of another wiki,
        the error message names the right flag. None for builds from one wiki; then the message suggests a
        value for --language.

    Raises InputError for a file of another wiki, for a truncated file, and for files that are not from the
    same export.
    """
    check_ranges(paths, whole=whole)
    for path in paths:
        site = read_siteinfo(path)
        if ignore_siteinfo:
            site = mediawiki_xml.Siteinfo(dbname="", language=language, sitename="", namespaces={})
        elif not _is_of(site, language, dbname):
            is_of = site.dbname or f"{site.sitename or 'a wiki'} in {site.language!r}"
            suggestion = _suggest(site) if settings is None else _suggest_setting(site, settings)
            raise InputError(path, f"a dump of {is_of}, not of {dbname}{suggestion}", 0)
        if whole:
            check_end(path)
    return site


def check_ranges(paths: Sequence[str], *, whole: bool) -> None:
    """Checks the page ranges in the names of export files.

    Raises InputError if two files overlap. If `whole` is True, also raises it if pages are missing between
    files.
    """
    files = _export_files(paths)
    reason = dump_folder.why_not_one_export(files)
    if not reason and whole and (gaps := dump_folder.find_gaps(files)):
        reason = f"{gaps[0]}; --on-corrupt keep-good builds without them"
    if reason:
        raise InputError(posixpath.dirname(paths[0]) or ".", reason)


def caveats_of_export(paths: Sequence[str]) -> tuple[str, ...]:
    """Returns sentences for the dataset card about pages or files that are missing in an export.

    They are detected from the file names, and from the checksum lists in the same folders.
    """
    gaps = (f"In the export, {gap}." for gap in dump_folder.find_gaps(_export_files(paths)))
    listed = (path for path in sums_beside(paths) if path not in set(paths))
    if not (unread := [file.name for file in _export_files(list(listed))]):
        return tuple(gaps)
    names = dump_folder.name_some(unread, len(unread))
    return (*gaps, f"SHA256SUMS lists files of the export that were not read: {names}.")


def _export_files(paths: Sequence[str]) -> list[dump_folder.ExportFile]:
    for path in paths:
        if dump_folder.HISTORY in pathlib.PurePosixPath(path).parts:
            raise InputError(
                path,
                f"an export of all revisions is not supported; use one from {dump_folder.CURRENT}",
            )
    return sorted(filter(None, map(dump_folder.parse_name, paths)))


def _is_of(site: mediawiki_xml.Siteinfo, language: str, dbname: str) -> bool:
    if site.dbname:
        return site.dbname == dbname
    sister = next((name for end, name in _SISTER_SITES.items() if dbname.endswith(end)), "")
    is_sister = site.sitename in _SISTER_SITES.values()
    if site.sitename and site.sitename != sister and (sister or is_sister):
        return False
    written_in = str(mediawiki_table(language).get("language", language))
    return site.language == _XML_LANGUAGES.get(language, written_in)


def _suggest(site: mediawiki_xml.Siteinfo) -> str:
    if not (codes := " or ".join(codes_of([site.dbname]))):
        return ""
    return (
        f"; did you mean --language {codes}? (--ignore-siteinfo, if the head of the dump is wrong)"
    )


def _suggest_setting(site: mediawiki_xml.Siteinfo, settings: Mapping[str, str]) -> str:
    setting = settings.get(site.dbname)
    return f"; did you mean {setting}?" if setting else ""


READ_SQL = "read-sql-dump"
CHUNK_BYTES = 1 << 20

_HEAD_BYTES = 4_000
_IS_TABLE = re.compile(rb"\s*(?:--|/\*|#|(?:BEGIN|CREATE|DROP|INSERT|LOCK|SET|START|USE)[ ;])")
_DATABASE = re.compile(rb"^-- Host: .*\bDatabase: (\w+)", re.MULTILINE)
_TABLE = re.compile(rb"^(?:CREATE TABLE|INSERT INTO) `(\w+)`", re.MULTILINE)

Parse = Callable[[Row], Iterable[Any]]


def keep_row(row: Row) -> tuple[Row]:
    """Returns the unchanged row, as the only element of a tuple."""
    return (row,)


def is_table_of(path: str, dbname: str, table: str = "") -> bool:
    """Returns True if a file is an SQL dump. Raises InputError if it is a dump of another wiki or table.

    If `dbname` is "", it may be of any wiki; if `table` is "", of any table. A dump of several tables may
    begin with any of them, so another table is an error only if the file is named after it.
    """
    with open_input(path) as stream:
        try:
            head = stream.read(_HEAD_BYTES)
        except DECODE_ERRORS:
            return False  # damage is reported when the dump is read
    if not _IS_TABLE.match(head):
        return False
    if (database := _DATABASE.search(head)) and database[1] != dbname.encode() and dbname:
        raise InputError(path, f"a table of {database[1].decode()}, not of {dbname}", 0)
    first = found[1].decode() if table and (found := _TABLE.search(head)) else table
    if first != table and first in posixpath.basename(path):
        raise InputError(path, f"a dump of the table {first}, not of {table}", 0)
    return True


class SqlRows(NamedTuple):
    """The outputs of ReadSqlDump: the parsed rows, and malformed rows."""

    rows: beam.PCollection  # of the results of `parse`
    tagged: beam.PCollection  # of the results of `parse` that have the tag
    rejected: beam.PCollection  # of Rejected


@transform
def ReadSqlDump(
    root: beam.Pipeline,
    patterns: Sequence[str],
    table: str,
    columns: Sequence[str],
    parse: Parse = keep_row,
    of: Any = Row,
    tag: str = "tagged",
    on_corrupt: str = "fail",
) -> SqlRows:
    """Reads columns of a table from SQL dumps. PBegin → SqlRows. Each file is read by one worker.

    A file that is damaged, or is not a dump of this table with these columns, always raises InputError with
    the file and the byte of the uncompressed dump.

    Args:
      patterns: dump files on any Beam file system, plain, .gz, .bz2 or .xz.
      table: name of the table, such as "page_props".
      columns: names of the columns, in the order of the values in a row.
      parse: function that converts a row, a tuple of the values of `columns`, to elements. It raises
        ValueError for a malformed row.
      of: type of the elements.
      tag: name of the separate output on which `parse` may yield some elements.
      on_corrupt: "fail" raises InputError at the first malformed row, "keep-good" rejects the row.
    """
    check_on_corrupt(on_corrupt)
    read = (
        root
        | "Patterns" >> beam.Create([list(patterns)])
        | "SpreadFiles" >> Spread(match_inputs, of=str)
        | "ReadRows"
        >> beam.FlatMap(read_file, table, columns, parse, on_corrupt)
        .with_output_types(of)
        .with_outputs("rejected", tag, main="rows")
    )
    return SqlRows(read.rows, read[tag], read.rejected)


def read_file(
    path: str,
    table: str,
    columns: Sequence[str],
    parse: Parse = keep_row,
    on_corrupt: str = "fail",
) -> Iterator[Any]:
    """Yields the results of `parse` for the rows of a table in one dump file.

    Raises InputError if the file is damaged, is not a dump of the table, or has a malformed row.
    """
    rows = 0
    with open_input(path) as stream, damage_in(path):
        for row in read_rows(_read_chunks(stream, path), table, columns):
            rows += 1
            try:
                yield from parse(row)
            except ValueError as error:
                yield _reject(path, f"row {rows} of {table}", error, on_corrupt)
    counters.count(READ_SQL, table, rows)


def _reject(path: str, place: str, error: ValueError, on_corrupt: str) -> beam.pvalue.TaggedOutput:
    if on_corrupt == "fail":
        raise InputError(path, f"{place}: {error}") from None
    counters.count(READ_SQL, "malformed-row")
    name = f"{posixpath.basename(path)}, {place}"
    return beam.pvalue.TaggedOutput(
        "rejected", Rejected(name, "", READ_SQL, "malformed-row", str(error))
    )


def _read_chunks(stream: BinaryIO, path: str) -> Iterator[bytes]:
    offset = 0
    while True:
        try:
            chunk = stream.read(CHUNK_BYTES)
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or truncated: {error}", offset) from error
        if not chunk:
            return
        offset += len(chunk)
        yield chunk
