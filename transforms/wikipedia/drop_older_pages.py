"""Drops the pages of a dump that are not new.

These are the pages that are also in an older dump, or whose page ids are not above a limit.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsSingleton

from corpusmill.transforms.files.damage import damage_error
from corpusmill.transforms.files.dates import checked_date
from corpusmill.transforms.files.file_units import FileUnit
from corpusmill.transforms.files.files_screen import ScreenPages
from corpusmill.transforms.files.open_input import InputError, match_inputs
from corpusmill.transforms.files.records import Page, Reason
from corpusmill.transforms.files.spread import SpreadAll
from corpusmill.transforms.wikipedia.check_dumps import check_dumps
from corpusmill.transforms.wikipedia.mediawiki_xml import MalformedPageError, parse_id, parse_page
from corpusmill.transforms.wikipedia.older_pages import (
    IN_OLDER_DUMP,
    OLDER_ID,
    STAGE,
    UNDATED,
    OlderPages,
    date_of_dump,
    parse_page_id,
)
from corpusmill.transforms.wikipedia.page_ids import (
    Block,
    Extent,
    add_extents,
    has_id,
    measure_block,
    merge_blocks,
    pack_ids,
)
from corpusmill.transforms.wikipedia.read_dumps import read_good_pages, spread_units
from corpusmill.transforms.wikipedia.read_sql_dumps import is_table_of, read_file
from corpusmill.transforms.wikipedia.sql_dump import Row

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
    if page_id := parse_page_id(given):
        return OlderDump(dbname, page_id)
    paths = match_inputs(given)
    tables = [path for path in paths if is_table_of(path, dbname)]
    dumps = [path for path in paths if path not in tables]
    if dumps:
        ignore = {"ignore_siteinfo": ignore_siteinfo}
        check_dumps(dumps, language, dbname, whole=True, settings={}, **ignore)
    date, older_date = checked_date(date), date_of_dump(paths)
    is_dated = bool(older_date and date)
    if is_dated and older_date >= date:
        raise InputError(
            paths[0],
            f"the older dump has the date {older_date}; expected a date before that of the build's dump,"
            f" {date}",
        )
    return OlderDump(dbname, 0, dumps, tables, older_date or UNDATED, is_dated)


class NewerPages(NamedTuple):
    """The outputs of DropOlderPages. Each page is kept or rejected."""

    kept: beam.PCollection  # of Page
    rejected: beam.PCollection  # of Rejected
    older: beam.PCollection  # of one OlderPages; empty if all pages are kept


class DropOlderPages(beam.PTransform):
    """Drops pages that are not newer than an older dump or page id. PCollection[Page] → NewerPages.

    Only bitmaps of the page ids of the older dump are shuffled, some 10 MB for enwiki. Damage in the older
    dump is always an error, because its lost pages would seem to be new.

    Args:
      older: the older dump; None keeps all pages.
      stripes: number of workers that divide the work on a file which cannot be split, such as a .gz. Each of
        them decompresses the whole file, but processes only its share of the pages.
    """

    def __init__(self, older: OlderDump | None, stripes: int = 1):
        super().__init__()
        self.older = older
        self.stripes = stripes

    def expand(self, pages: beam.PCollection) -> NewerPages:
        root, older = pages.pipeline, self.older
        if older is None:
            none = root | beam.Create([])
            return NewerPages(pages, none, none)
        if older.page_id:
            extent = root | "PageId" >> beam.Create([Extent(0, older.page_id)])
            screen = ScreenPages(functools.partial(not_above, page_id=older.page_id), stage=STAGE)
        else:
            blocks = root | "ReadPageIds" >> ReadPageIds(older, self.stripes)
            extent = (
                blocks
                | "MeasureBlocks" >> beam.Map(measure_block)
                | "AddExtents" >> beam.CombineGlobally(add_extents)
            )
            screen = ScreenPages(is_in_older_dump, AsDict(blocks), stage=STAGE)
        largest = (
            pages
            | "PageIds" >> beam.Map(lambda page: page.page_id).with_output_types(int)
            | "LargestId" >> beam.CombineGlobally(largest_of)
        )
        screened = pages | "Screen" >> screen
        facts = (
            root
            | "Once" >> beam.Create([older])
            | "Describe" >> beam.Map(describe, AsSingleton(extent), AsSingleton(largest))
        )
        return NewerPages(screened.kept, screened.rejected, facts)


def not_above(page: Page, page_id: int) -> Reason | None:
    """Returns the reason to reject a page whose id is not greater than `page_id`, otherwise None."""
    return Reason(OLDER_ID) if page.page_id <= page_id else None


def is_in_older_dump(page: Page, blocks: Mapping[int, bytes]) -> Reason | None:
    """Returns the reason to reject a page that is in the older dump, otherwise None.

    `blocks` has the page ids of the older dump: number of a block → bitmap of its ids (see page_ids.py).
    """
    return Reason(IN_OLDER_DUMP) if has_id(blocks, page.page_id) else None


def largest_of(ids: Iterable[int]) -> int:
    """Returns the largest of some ids, or 0 if there are none."""
    return max(ids, default=0)


def describe(older: OlderDump, extent: Extent, largest_read_id: int) -> OlderPages:
    """Returns the description of the older dump for the manifest.

    Args:
      older: the older dump, or a page id.
      extent: number of pages of the older dump, and its largest page id.
      largest_read_id: largest page id of the build's dump.
    """
    return OlderPages(older.dbname, older.date, *extent, largest_read_id, older.is_dated)


class ReadPageIds(beam.PTransform):
    """Reads the ids of all pages of a dump, in all namespaces.

    PBegin → PCollection[Block]. A block is a bitmap of 65,536 consecutive ids (see page_ids.py). Each block
    occurs once.
    """

    def __init__(self, older: OlderDump, stripes: int = 1):
        super().__init__()
        self.older = older
        self.stripes = stripes

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        dumps = spread_units(root, self.older.dumps, self.stripes)
        tables = root | "Tables" >> SpreadAll(self.older.tables, of=str)
        return (
            (
                dumps | "IdsOfDumps" >> beam.FlatMap(ids_of_dump).with_output_types(Block),
                tables | "IdsOfTables" >> beam.FlatMap(ids_of_table).with_output_types(Block),
            )
            | "Flatten" >> beam.Flatten()
            | "MergeBlocks" >> beam.CombinePerKey(merge_blocks)
        )


def ids_of_dump(unit: FileUnit) -> Iterator[Block]:
    """Yields the ids of the pages of a work unit, as blocks (see page_ids.py).

    Raises InputError for damaged data, and for a page without an id.
    """
    pages = read_good_pages(unit, "fail", READ_STAGE)
    return pack_ids(_id_of(unit, xml) for xml in pages)


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


def ids_of_table(path: str) -> Iterator[Block]:
    """Yields the ids in a page table, as blocks (see page_ids.py).

    Raises InputError for damaged data, and for a row without an id.
    """
    return pack_ids(read_file(path, "page", ["page_id"], _id_of_row))


def _id_of_row(row: Row) -> Iterator[int]:
    yield parse_id(row[0] or b"", "page")
