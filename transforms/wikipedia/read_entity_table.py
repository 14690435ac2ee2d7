"""Reads the entity table, to link pages to items and to find names of templates.

The table has a row for each of the hundred million items of Wikidata, sorted by id, in row groups of 65,536
(see transforms/wikipedia/entity_table.py). Items are never elements of a PCollection. Instead, facts
about pages are grouped by the row group of their item, and two columns of each row group are read once.
"""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import apache_beam as beam
import numpy
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems

from ..files import counters
from ..files.builds.finished_builds import check_columns, open_build, opened
from ..files.builds.manifest import MANIFEST
from ..files.distribution import SpreadAll, transform
from ..files.formats import PARQUET
from ..files.read_files import InputError
from ..files.text import checked_date
from ..wikitext.templates.definitions import ENGLISH_TEMPLATE, TemplateFact, sitelink_alias
from .entity_table import KINDS, table_schema
from .screening import PageFacts, find_internal_class

STAGE = "read-entity-table"
ID, CLASSES = "numeric_id", "instance_of"
ENGLISH = "enwiki"
INTERNAL_CLASSES = "internal-classes.parquet"
KEYS_ELSEWHERE = 4096

PageToFacts = tuple[int, PageFacts]


class RowGroup(NamedTuple):
    """A row group of the entity table: its file and index, and the range of its ids."""

    path: str
    number: int  # index of the row group in its file
    first_id: int
    last_id: int
    rows: int


class EntityTable(NamedTuple):
    """A finished entity table, as described by its manifest and the footers of its files."""

    folder: str
    row_groups: tuple[RowGroup, ...]  # in the order of their ids
    wikis: tuple[str, ...]  # wikis whose titles the table has, such as "ukwiki"
    kinds: Mapping[int, str]  # number of an internal class → its kind, one of KINDS
    date: str = ""  # date of the dump from which it was made, "20261101"; "" if unknown

    @classmethod
    def open(cls, folder: str) -> Self:
        """Opens a table without reading rows.

        Raises InputError if the folder is not a complete entity table.
        """
        row_groups: list[RowGroup] = []
        wikis: dict[str, tuple[str, ...]] = {}
        build = open_build(folder)
        if build.corpus != "entities":
            raise InputError(folder, f"a build of {build.corpus}, not an entity table")
        records = {file["name"]: file["records"] for file in build.manifest["outputs"]}
        for name in sorted(name for name in records if name.startswith("entities-")):
            path = FileSystems.join(folder, name)
            wikis[path], groups = _read_file(path, records[name])
            row_groups += groups
        first = next(iter(wikis), "")
        for path, of_file in wikis.items():
            if of_file != wikis[first]:
                raise InputError(path, f"its columns differ from those of {first}")
        _check_order(row_groups)
        kinds = _read_kinds(FileSystems.join(folder, INTERNAL_CLASSES))
        date = checked_date(build.dump_date)
        return cls(folder, tuple(row_groups), wikis.get(first, ()), kinds, date)

    @property
    def manifest_path(self) -> str:
        """The path of the manifest.

        Its hash identifies the table, because it contains the hashes of all files.
        """
        return str(FileSystems.join(self.folder, MANIFEST))

    def column_of(self, dbname: str) -> str:
        """Returns the name of the column with the titles of a wiki. Raises ValueError if there is none."""
        if dbname not in self.wikis:
            raise ValueError(
                f"the entity table {self.folder} has no titles of {dbname}: it was made for"
                f" {', '.join(self.wikis) or 'no wiki'}; make a new table with"
                " corpusmill entities --wikis"
            )
        return dbname


def _read_file(path: str, rows: int) -> tuple[tuple[str, ...], list[RowGroup]]:
    """Returns (database names of the wikis whose titles a file has, its row groups), from the file's footer.

    Raises InputError if the file is missing or does not have `rows` rows.
    """
    row_groups = []
    with opened(path, PARQUET) as parquet:
        schema = parquet.schema_arrow
        wikis = tuple(name for name in schema.names if name not in (ID, CLASSES))
        if schema != table_schema(wikis):
            raise InputError(path, f"not a file of an entity table; its columns: {schema.names}")
        for number in range(parquet.num_row_groups):
            metadata = parquet.metadata.row_group(number)
            ids = metadata.column(0).statistics
            if ids is None or not ids.has_min_max:
                raise InputError(path, f"row group {number} has no statistics of its ids")
            row_groups.append(RowGroup(path, number, ids.min, ids.max, metadata.num_rows))
        if parquet.metadata.num_rows != rows:
            message = (
                f"{parquet.metadata.num_rows} rows; expected {rows}, the number in the manifest"
            )
            raise InputError(path, message)
    return wikis, row_groups


def _check_order(row_groups: Sequence[RowGroup]) -> None:
    """Raises InputError if the ids are not ascending in the order of the files."""
    last_id = 0
    for group in row_groups:
        if not last_id < group.first_id <= group.last_id:
            place = f"row group {group.number} begins at Q{group.first_id}"
            raise InputError(
                group.path, f"{place}, but Q{last_id} comes before it: the ids are not sorted"
            )
        last_id = group.last_id


def _read_kinds(path: str) -> dict[int, str]:
    """Reads {id of a class of Wikimedia's own pages: its kind, such as "list"}, some ten thousand classes."""
    table = _read_columns(path, None, [ID, "kind"])
    kinds = dict(zip(table[ID].to_pylist(), table["kind"].to_pylist(), strict=True))
    unknown = set(kinds.values()) - set(KINDS)
    if unknown:
        raise InputError(
            path, f"the column `kind` contains {min(unknown)!r}; expected one of {KINDS}"
        )
    return kinds


def _read_columns(path: str, row_group: int | None, columns: Sequence[str]) -> pa.Table:
    """Returns columns of a row group, or of the whole file if `row_group` is None."""
    with opened(path, PARQUET) as parquet:
        check_columns(path, parquet, columns)
        groups = range(parquet.num_row_groups) if row_group is None else [row_group]
        table = parquet.read_row_groups(list(groups), columns=list(columns)).combine_chunks()
        table.validate(full=True)  # mainly checks that titles are UTF-8
        return table


@transform
def FindClasses(page_to_facts: beam.PCollection, table: EntityTable) -> beam.PCollection:
    """Adds the classes of items to facts about pages. PCollection[(page id, PageFacts)] → the same.

    Facts are grouped by the row group of their item. The groups are small: a row group has at most 65,536
    items, and an item rarely has more than one page in a wiki.
    """
    return (
        page_to_facts
        | "KeyByRowGroup" >> beam.Map(_KeyByRowGroup(table.row_groups))
        | "GroupByRowGroup" >> beam.GroupByKey()
        | "AddClasses" >> beam.FlatMap(add_classes, table.row_groups, table.kinds)
    )


class _KeyByRowGroup:
    """Maps (page id, facts) to (index of the item's row group, (page id, facts)).

    Items outside all row groups get many different negative keys. If the entity dump is partial, most pages
    may have such items, which would be too many for one key.
    """

    def __init__(self, row_groups: Sequence[RowGroup]):
        self.first_ids = [group.first_id for group in row_groups]
        self.last_ids = [group.last_id for group in row_groups]

    def __call__(self, page_and_facts: PageToFacts) -> tuple[int, PageToFacts]:
        page_id, facts = page_and_facts
        number = number_of(facts.qid)
        at = bisect.bisect_left(self.last_ids, number)
        if number and at < len(self.last_ids) and self.first_ids[at] <= number:
            return at, page_and_facts
        return -1 - page_id % KEYS_ELSEWHERE, page_and_facts


def number_of(qid: str) -> int:
    """Returns the number in a QID (64 for "Q64"), or 0 if the text is not a QID."""
    digits = qid[1:]
    return int(digits) if qid[:1] == "Q" and digits.isascii() and digits.isdigit() else 0


def add_classes(
    grouped: tuple[int, Iterable[PageToFacts]],
    row_groups: Sequence[RowGroup],
    kinds: Mapping[int, str],
) -> Iterator[PageToFacts]:
    """Yields facts about pages, with the classes of their items added.

    Facts are returned unchanged if their item has no row in the table.

    Args:
      grouped: (index of a row group, facts about pages whose items are in its range of ids). A negative index
        stands for items outside all row groups.
      row_groups: the row groups of the entity table.
      kinds: id of each Wikidata class of pages that are not articles, such as lists and disambiguation
        pages → its kind, such as "list".
    """
    at, facts_of_pages = grouped
    if at < 0:
        yield from facts_of_pages
        return
    found = list(facts_of_pages)
    group = row_groups[at]
    table = _read_columns(group.path, group.number, [ID, CLASSES])
    counters.count(STAGE, "row_groups")
    ids = table[ID].to_numpy()
    wanted = numpy.array([number_of(facts.qid) for _, facts in found], dtype=numpy.int64)
    rows = numpy.searchsorted(ids, wanted)  # always a valid row: the item is in the range
    is_there = ids[rows] == wanted
    lists = table[CLASSES].combine_chunks()
    bounds, classes = lists.offsets.to_numpy(), lists.values.to_numpy()
    for (page_id, facts), row, known in zip(found, rows, is_there, strict=True):
        if known:
            of_item = classes[bounds[row] : bounds[row + 1]].tolist()
            kind, name = find_internal_class(of_item, kinds)
            facts = facts._replace(
                internal_kind=kind,
                internal_class=name,
                is_class_known=True,
                classes=tuple(dict.fromkeys(of_item)),
            )
        yield page_id, facts


@transform
def ReadSitelinks(root: beam.Pipeline, table: EntityTable, dbname: str) -> beam.PCollection:
    """Reads the titles of all items that have a page in a wiki. PBegin → PCollection[(title, QID)].

    Raises ValueError if the table has no titles of the wiki.
    """
    column = table.column_of(dbname)
    return (
        root
        | "SpreadRowGroups" >> SpreadAll(table.row_groups)
        | "ReadTitles" >> beam.FlatMap(titles_and_items, column)
    )


def titles_and_items(group: RowGroup, column: str) -> Iterator[tuple[str, str]]:
    """Yields (title, QID) for each row of a row group that has a title in the column."""
    table = _read_columns(group.path, group.number, [ID, column])
    table = table.filter(table[column].is_valid())
    for number, title in zip(table[ID].to_pylist(), table[column].to_pylist(), strict=True):
        yield title, f"Q{number}"


@transform
def ReadTemplateAliases(root: beam.Pipeline, table: EntityTable, dbname: str) -> beam.PCollection:
    """Reads the names that templates of the English Wikipedia have in another wiki.

    PBegin → PCollection[TemplateFact]. Raises ValueError if the table has no titles of the wiki.
    """
    english = table.column_of(ENGLISH)
    local = table.column_of(dbname)
    # The English Wikipedia needs no aliases.
    groups = table.row_groups if local != english else ()
    return (
        root
        | "SpreadRowGroups" >> SpreadAll(groups)
        | "ReadAliases" >> beam.FlatMap(template_aliases, english, local)
    )


def template_aliases(group: RowGroup, english: str, local: str) -> Iterator[TemplateFact]:
    """Yields the names that templates of the English Wikipedia have in another wiki, from one row group.

    `english` and `local` are the names of the columns with the titles of the two wikis.
    """
    table = _read_columns(group.path, group.number, [english, local])
    is_template = pc.starts_with(table[english], pattern=ENGLISH_TEMPLATE)
    table = table.filter(pc.and_(pc.fill_null(is_template, False), table[local].is_valid()))
    titles = zip(table[english].to_pylist(), table[local].to_pylist(), strict=True)
    yield from filter(None, itertools.starmap(sitelink_alias, titles))
