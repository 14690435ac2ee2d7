"""Drops the pages of a dump that are not new.

These are the pages that are also in an older dump, or whose page ids are not above a limit.

Reads lists of articles that are left out of a build on request. A list has one id per line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsSingleton

from ..files.counters import ScreenPages, damage_error
from ..files.distribution import MapOnce, SpreadAll, transform
from ..files.read_files import InputError, match_inputs, read_input
from ..files.records import PackedArticle, Page, Reason
from ..files.text import checked_date
from ..files.work_units import FileUnit
from . import screening
from .mediawiki_xml import MalformedPageError, parse_id, parse_page
from .read_dumps import check_dumps, is_table_of, read_file, read_good_pages, spread_units
from .sql_dump import Row

LEFT_OUT_STAGE = "leave-out"
LISTED = Reason("listed", "somebody has asked for it")
MOST_IDS = 100_000  # limited, because all workers hold the ids in memory
_LISTED_ID = re.compile(r"(Q[1-9]\d{0,17}|\w+wiki:[1-9]\d{0,17})(?:\s.*)?", re.ASCII | re.DOTALL)


def read_ids(paths: Sequence[str]) -> frozenset[str]:
    """Reads the ids in files: "Q42" for an item, "ukwiki:1088" for a page.

    Text after a space or # is a comment. Raises InputError for a line that is not an id, and for more than
    MOST_IDS ids.
    """
    ids: set[str] = set()
    for path in paths:
        try:
            lines = read_input(path).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(path, f"not UTF-8: {error.reason}", error.start) from None
        for number, line in enumerate(lines, 1):
            if not (text := line.partition("#")[0].strip()):
                continue
            if not (found := _LISTED_ID.fullmatch(text)):
                raise InputError(
                    path,
                    f"line {number}: {text!r} is not an id like Q42 (item) or ukwiki:1088 (page)",
                )
            ids.add(found[1])
    if len(ids) > MOST_IDS:
        raise InputError(
            ", ".join(paths), f"{len(ids):,} ids, but at most {MOST_IDS:,} can be left out"
        )
    return frozenset(ids)


def reason_to_leave_out(ids: frozenset[str], dbname: str, article: PackedArticle) -> Reason | None:
    """Returns the reason LISTED if the item or page of an article is in the list, otherwise None."""
    names = article.wikidata_id, f"{dbname}:{article.page_id}"
    return None if ids.isdisjoint(names) else LISTED


READ_STAGE = "read-older-dump"

_HEAD_BYTES = 4_000  # bytes of a page that are read: <title>, <ns> and <id> come first
_ID = re.compile(rb"<id>(\d{1,18})</id>")


class OlderDump(NamedTuple):
    """An older dump or a page id, by which older pages are recognised.

    Pages that are in the older dump, or whose ids are at most the page id, are dropped.
    """

    dbname: str  # "elwiki"
    page_id: int = 0  # pages with ids up to this number are not new; 0 if there are files
    dumps: Sequence[str] = ()  # paths of pages-articles files
    tables: Sequence[str] = ()  # paths of page tables, <wiki>-<date>-page.sql.gz
    date: str = ""  # date of the files, "20230501" or "undated"; "" without files
    is_dated: bool = False  # True if `date` was compared with the date of the build's dump

    @property
    def paths(self) -> list[str]:
        """The paths of all files of the older dump."""
        return [*self.dumps, *self.tables]


def find_older_dump(
    given: Sequence[str], language: str, dbname: str, date: str, *, ignore_siteinfo: bool = False
) -> OlderDump | None:
    """Finds and checks the older dump of a build. Returns None if none is given.

    Args:
      given: one page id, or patterns of pages-articles files or page tables of the older dump.
      language: corpus code, such as "zh-tw".
      dbname: database name of the wiki, such as "zhwiki".
      date: date of the build's dump, "20261101" or "2026-11-01". Other values are not compared with the date
        of the older dump.
      ignore_siteinfo: True to accept the older dump even if its head names another wiki.

    Raises:
      InputError: a file belongs to another wiki or is not a dump, or the older dump is truncated or is not
        older than the build's dump.
      ValueError: a page id is combined with files.
    """
    if not given:
        return None
    if page_id := screening.parse_page_id(given):
        return OlderDump(dbname, page_id)
    paths = match_inputs(given)
    tables = [path for path in paths if is_table_of(path, dbname)]
    if dumps := [path for path in paths if path not in tables]:
        ignore = {"ignore_siteinfo": ignore_siteinfo}
        check_dumps(dumps, language, dbname, whole=True, settings={}, **ignore)
    date, older_date = checked_date(date), screening.date_of_dump(paths)
    is_dated = bool(older_date and date)
    if is_dated and older_date >= date:
        raise InputError(
            paths[0],
            f"the older dump has the date {older_date}; expected a date before that of the build's dump,"
            f" {date}",
        )
    return OlderDump(dbname, 0, dumps, tables, older_date or screening.UNDATED, is_dated)


class NewerPages(NamedTuple):
    """The outputs of DropOlderPages. Each page is kept or rejected."""

    kept: beam.PCollection  # of Page
    rejected: beam.PCollection  # of Rejected
    older: beam.PCollection  # of one OlderPages; empty if all pages are kept


@transform
def DropOlderPages(
    pages: beam.PCollection, older: OlderDump | None, stripes: int = 1
) -> NewerPages:
    """Drops pages that are not newer than an older dump or page id. PCollection[Page] → NewerPages.

    Only bitmaps of the page ids of the older dump are shuffled, some 10 MB for enwiki. Damage in the older
    dump is always an error, because its lost pages would seem to be new.

    Args:
      older: the older dump; None keeps all pages.
      stripes: number of workers that divide the work on a file which cannot be split, such as a .gz. Each of
        them decompresses the whole file, but processes only its share of the pages.
    """
    root = pages.pipeline
    if older is None:
        none = root | beam.Create([])
        return NewerPages(pages, none, none)
    if older.page_id:
        extent = root | "PageId" >> beam.Create([screening.Extent(0, older.page_id)])
        too_old = Reason(screening.OLDER_ID)
        screen = ScreenPages(
            lambda page: too_old if page.page_id <= older.page_id else None,
            stage=screening.STAGE,
        )
    else:
        blocks = root | "ReadPageIds" >> ReadPageIds(older, stripes)
        extent = (
            blocks
            | "MeasureBlocks" >> beam.Map(screening.measure_block)
            | "AddExtents" >> beam.CombineGlobally(screening.add_extents)
        )
        screen = ScreenPages(is_in_older_dump, AsDict(blocks), stage=screening.STAGE)
    largest = (
        pages
        | "PageIds" >> beam.Map(lambda page: page.page_id).with_output_types(int)
        | "LargestId" >> beam.CombineGlobally(lambda ids: max(ids, default=0))
    )
    screened = pages | "Screen" >> screen
    facts = MapOnce(describe, older, AsSingleton(extent), AsSingleton(largest))
    return NewerPages(screened.kept, screened.rejected, root | "Describe" >> facts)


def is_in_older_dump(page: Page, blocks: Mapping[int, bytes]) -> Reason | None:
    """Returns the reason to reject a page that is in the older dump, otherwise None.

    `blocks` has the page ids of the older dump: number of a block → bitmap of its ids (see screening.py).
    """
    return Reason(screening.IN_OLDER_DUMP) if screening.has_id(blocks, page.page_id) else None


def describe(
    older: OlderDump, extent: screening.Extent, largest_read_id: int
) -> screening.OlderPages:
    """Returns the description of the older dump for the manifest.

    Args:
      older: the older dump, or a page id.
      extent: number of pages of the older dump, and its largest page id.
      largest_read_id: largest page id of the build's dump.
    """
    return screening.OlderPages(older.dbname, older.date, *extent, largest_read_id, older.is_dated)


@transform
def ReadPageIds(root: beam.Pipeline, older: OlderDump, stripes: int = 1) -> beam.PCollection:
    """Reads the ids of all pages of a dump, in all namespaces.

    PBegin → PCollection[Block]. A block is a bitmap of 65,536 consecutive ids (see screening.py). Each block
    occurs once.
    """
    dumps = spread_units(root, older.dumps, stripes)
    tables = root | "Tables" >> SpreadAll(older.tables, of=str)
    return (
        (
            dumps | "IdsOfDumps" >> beam.FlatMap(ids_of_dump).with_output_types(screening.Block),
            tables | "IdsOfTables" >> beam.FlatMap(ids_of_table).with_output_types(screening.Block),
        )
        | "Flatten" >> beam.Flatten()
        | "MergeBlocks" >> beam.CombinePerKey(screening.merge_blocks)
    )


def ids_of_dump(unit: FileUnit) -> Iterator[screening.Block]:
    """Yields the ids of the pages of a work unit, as blocks (see screening.py).

    Raises InputError for damaged data, and for a page without an id.
    """
    pages = read_good_pages(unit, "fail", READ_STAGE)
    return screening.pack_ids(_id_of(unit, xml) for xml in pages)


def _id_of(unit: FileUnit, xml: bytes) -> int:
    head = xml[:_HEAD_BYTES].partition(b"<revision")[0]
    if found := _ID.search(head):
        return int(found[1])
    try:
        return parse_page(xml).page_id
    except MalformedPageError as error:
        raise damage_error(
            unit.path, unit.start, unit.end, f"a page of the older dump: {error}"
        ) from None


def ids_of_table(path: str) -> Iterator[screening.Block]:
    """Yields the ids in a page table, as blocks (see screening.py).

    Raises InputError for damaged data, and for a row without an id.
    """
    return screening.pack_ids(read_file(path, "page", ["page_id"], _id_of_row))


def _id_of_row(row: Row) -> Iterator[int]:
    yield parse_id(row[0] or b"", "page")
