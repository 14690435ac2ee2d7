"""Creates the entity table of Wikidata items.

The table has one row per item, sorted by id, and one column per wiki. The column has the title of the item's
page in this wiki.

During the build, items are kept in blocks. Instead of a column for each wiki, a block has one column with a
list of pages for each item. Most items have pages in few wikis, so separate columns would be mostly empty.

Finds the internal classes of Wikidata: the classes of Wikimedia's own pages, such as lists and templates.

A class is internal if it is one of a few roots, or a subclass (P279) of one. Items and classes are
represented by numbers: 64 is Q64.

Computes the counts and the dataset card of a table of Wikidata items from the ledger of its build.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy
import numpy.typing
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..files.builds.ledger import OUTPUTS, Accounts, Ledger, NothingLeftError, records_of
from ..files.builds.manifest import Description, Provenance
from ..files.markup import render
from .wikidata import Entity

ROWS_PER_FILE = 1 << 20
RANGE_BITS = 14  # ids are counted, and assigned to files, in ranges of 2**14

_IDS = pa.field("numeric_id", pa.int64(), nullable=False)
_CLASSES = pa.field("instance_of", pa.list_(pa.int64()), nullable=False)
_LINK = pa.struct(
    [pa.field("wiki", pa.int16(), nullable=False), pa.field("title", pa.string(), nullable=False)]
)
BLOCK_SCHEMA = pa.schema([_IDS, _CLASSES, pa.field("links", pa.list_(_LINK), nullable=False)])
"""Schema of blocks. `wiki` is the index in the list of wanted wikis; the links of an item are sorted
by it.
"""

_BLOCK_ENCODING: dict[str, Any] = {
    "compression": "zstd",
    "write_statistics": False,
    "use_dictionary": ["instance_of.list.element", "links.list.element.wiki"],
    "column_encoding": {
        "numeric_id": "DELTA_BINARY_PACKED",
        "links.list.element.title": "DELTA_LENGTH_BYTE_ARRAY",
    },
}

CLASS_SCHEMA = pa.schema([_IDS, pa.field("kind", pa.string(), nullable=False)])
"""Schema of internal-classes.parquet."""


class TableCounts(NamedTuple):
    """Counts of the rows in a part of the entity table, which has one row per Wikidata item."""

    rows: int
    repeated: int  # rows dropped in favour of another row with the same id
    with_class: int  # rows with at least one P31
    sitelinks: tuple[int, ...]  # rows with a page, per wiki


def table_schema(wikis: Sequence[str]) -> pa.Schema:
    """Returns the schema of entities-*.parquet. `wikis` are database names of wikis, such as "dewiki"."""
    return pa.schema([_IDS, _CLASSES, *(pa.field(wiki, pa.string()) for wiki in wikis)])


def make_block(entities: Sequence[Entity], wikis: Mapping[str, int]) -> pa.Table:
    """Returns a block of the given Wikidata items: a table with one row per item, in the same order.

    Args:
      entities: the items.
      wikis: database name of a wiki → its index. Only the titles of pages in these wikis are stored.
    """
    links = [
        sorted((wikis[site], title) for site, title in entity.sitelinks if site in wikis)
        for entity in entities
    ]
    of_items = list(chain.from_iterable(links))
    pages = pa.StructArray.from_arrays(
        [
            pa.array([wiki for wiki, _ in of_items], pa.int16()),
            pa.array([title for _, title in of_items], pa.string()),
        ],
        fields=list(_LINK),
    )
    classes = chain.from_iterable(entity.instance_of for entity in entities)
    columns = [
        pa.array([entity.numeric_id for entity in entities], pa.int64()),
        _lists([len(entity.instance_of) for entity in entities], pa.array(classes, pa.int64())),
        _lists([len(of_item) for of_item in links], pages),
    ]
    return pa.table(columns, schema=BLOCK_SCHEMA)


def _lists(lengths: Sequence[int], values: pa.Array) -> pa.ListArray:
    offsets = numpy.zeros(len(lengths) + 1, dtype=numpy.int32)
    numpy.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, values)


def merge_blocks(blocks: Iterable[pa.Table]) -> pa.Table:
    """Merges blocks into one that is sorted by item id. Rows with the same id are in no fixed order."""
    merged = pa.concat_tables([BLOCK_SCHEMA.empty_table(), *blocks]).combine_chunks()
    return merged.take(numpy.argsort(_ids_of(merged), kind="stable"))


def pack_block(block: pa.Table) -> bytes:
    """Encodes a block (a table of Wikidata items) as a Parquet file.

    The file needs about 5 bytes per row, half as much as an Arrow stream with the same compression.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(block, sink, **_BLOCK_ENCODING)
    return bytes(sink.getvalue())


def unpack_block(data: bytes) -> pa.Table:
    """Decodes a block from the bytes of a Parquet file. This is the inverse of `pack_block`."""
    return pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)


def count_ranges(ids: Iterable[int]) -> Counter[int]:
    """Counts the item ids in each range of 2**RANGE_BITS ids. Returns number of a range → number of ids."""
    return Counter(number >> RANGE_BITS for number in ids)


def plan_files(rows_in_range: Mapping[int, int], rows_per_file: int) -> list[int]:
    """Divides the entity table into files of about `rows_per_file` rows. Returns the first id of each file.

    `rows_in_range` is the result of `count_ranges`. A file consists of one or more whole ranges of ids. The
    number of ranges in a file depends on the number of rows in them, so files have similar sizes even if ids
    are unevenly distributed, as in a part of a dump.
    """
    rows = sum(rows_in_range.values())
    files = -(-rows // rows_per_file)
    starts, before, last_file = [0], 0, None
    for number, of_range in sorted(rows_in_range.items()):
        file = (2 * before + of_range) * files // (2 * rows)  # file of the range's middle row
        if last_file not in (None, file):
            starts.append(number << RANGE_BITS)
        before, last_file = before + of_range, file
    return starts


def cut_block(block: pa.Table, starts: Sequence[int]) -> Iterator[tuple[int, pa.Table]]:
    """Divides a block among the files of the entity table. Yields (number of a file, part of the block).

    The block must be sorted by id; `starts` are the first ids of the files.
    """
    cuts = numpy.searchsorted(_ids_of(block), [*starts[1:]]).tolist()
    for file, (first, end) in enumerate(pairwise([0, *cuts, block.num_rows])):
        if end > first:
            yield file, block.slice(first, end - first)


def drop_repeated(block: pa.Table) -> pa.Table:
    """Returns a block with one row for each item id. The given block must be sorted by id.

    Of several rows with the same id, the one with the most pages is kept. If several rows have equally many
    pages, their contents are compared as tuples, and the largest one is kept. So the result does not depend
    on the order of the rows.
    """
    ids = _ids_of(block)
    firsts = numpy.flatnonzero(numpy.diff(ids, prepend=-1))
    if len(firsts) == len(ids):
        return block
    kept = firsts.copy()
    lengths = numpy.diff(firsts, append=len(ids))
    for run in numpy.flatnonzero(lengths > 1).tolist():
        first, length = int(firsts[run]), int(lengths[run])
        ranks = [_rank(row) for row in block.slice(first, length).to_pylist()]
        kept[run] = first + ranks.index(max(ranks))
    return block.take(kept)


def _rank(row: Mapping[str, Any]) -> tuple[object, ...]:
    links = [tuple(link.values()) for link in row["links"]]
    return len(links), row["instance_of"], links


def widen_block(block: pa.Table, wikis: Sequence[str]) -> pa.Table:
    """Converts the rows of a block to the schema `table_schema`, with one column per wiki.

    `wikis` are the database names of all wikis, such as "dewiki". The block stores the index of a page's wiki
    in this sequence instead of the name.
    """
    links = block["links"].combine_chunks()
    owners = pc.list_parent_indices(links).to_numpy()
    pages = links.flatten()
    wiki_of_page, titles = pages.field("wiki").to_numpy(), pages.field("title")
    columns = [block["numeric_id"], block["instance_of"]]
    for wiki in range(len(wikis)):
        places = numpy.flatnonzero(wiki_of_page == wiki)
        page_of_row = numpy.full(block.num_rows, -1)
        page_of_row[owners[places]] = places
        columns.append(titles.take(pa.array(page_of_row, mask=page_of_row < 0)))
    return pa.table(columns, schema=table_schema(wikis))


def count_rows(table: pa.Table) -> TableCounts:
    """Counts the rows of a part of the entity table. Its schema must be `table_schema`."""
    return TableCounts(
        rows=table.num_rows,
        repeated=0,
        with_class=pc.sum(pc.greater(pc.list_value_length(table["instance_of"]), 0)).as_py() or 0,
        sitelinks=tuple(column.length() - column.null_count for column in table.columns[2:]),
    )


def add_counts(counts: Iterable[TableCounts]) -> TableCounts:
    """Adds up one or more counts, which must be of tables with the same wikis."""
    rows, repeated, with_class, sitelinks = zip(*counts, strict=True)
    per_wiki = tuple(sum(column) for column in zip(*sitelinks, strict=True))
    return TableCounts(sum(rows), sum(repeated), sum(with_class), per_wiki)


def class_table(kinds: Mapping[int, str]) -> pa.Table:
    """Returns the content of internal-classes.parquet: rows (class, kind), sorted by class.

    `kinds` maps each internal class of Wikidata to its kind, such as "list". Internal classes are the classes
    of Wikimedia's own pages.
    """
    rows = sorted(kinds.items())
    columns = [[number for number, _ in rows], [kind for _, kind in rows]]
    return pa.table(columns, schema=CLASS_SCHEMA)


def _ids_of(block: pa.Table) -> numpy.typing.NDArray[numpy.int64]:
    ids: numpy.typing.NDArray[numpy.int64] = block["numeric_id"].to_numpy()
    return ids


Ids = numpy.typing.NDArray[numpy.int64]

DISAMBIGUATION, CATEGORY, LIST, TEMPLATE, INTERNAL = KINDS = (
    "disambiguation",
    "category",
    "list",
    "template",
    "internal",
)
"""The kinds of internal classes. A subclass of roots of several kinds gets the first of these kinds."""

INTERNAL_ROOTS = {
    17442446: INTERNAL,  # Wikimedia internal item: exists only for the wikis
    4167410: DISAMBIGUATION,  # Wikimedia disambiguation page
    22808320: DISAMBIGUATION,  # Wikimedia human name disambiguation page
    4167836: CATEGORY,  # Wikimedia category
    20010800: CATEGORY,  # Wikimedia user language category
    13406463: LIST,  # Wikimedia list article
    11266439: TEMPLATE,  # Wikimedia template
    11753321: TEMPLATE,  # Wikimedia navigational template
    19887878: TEMPLATE,  # Wikimedia infobox template
    15184295: INTERNAL,  # Wikimedia module
    4663903: INTERNAL,  # Wikimedia portal
    14204246: INTERNAL,  # Wikimedia project page
    17362920: INTERNAL,  # Wikimedia duplicated page
    21286738: INTERNAL,  # Wikimedia permanent duplicate item
    17633526: INTERNAL,  # Wikinews article
}
"""Class → its kind. Nearly all internal items are instances of these classes.

They are listed here so that internal items are also found in a part of a dump, where the classes
themselves and their P279 statements are often missing.
"""


def kinds_of(lower: Ids, upper: Ids) -> dict[int, str]:
    """Returns the internal classes of Wikidata, sorted by number: class → its kind, such as "list".

    Internal classes are the classes of Wikimedia's own pages. They are the classes in INTERNAL_ROOTS and all
    subclasses of these.

    `lower` and `upper` contain the subclass statements: class `lower[i]` is a subclass of `upper[i]`. As in
    Wikidata, statements may be in any order, be repeated, and form cycles. The function needs 32 bytes of
    memory for each statement in addition to the two arrays: about 160 MB for all of Wikidata.
    """
    order = numpy.argsort(upper, kind="stable")
    lower, upper = lower[order], upper[order]
    kinds: dict[int, str] = {}
    for kind in KINDS:
        waiting = [root for root, of_kind in INTERNAL_ROOTS.items() if of_kind == kind]
        while waiting:
            above = waiting.pop()
            if above in kinds:  # and so are all its subclasses
                continue
            kinds[above] = kind
            first, end = numpy.searchsorted(upper, [above, above + 1])
            waiting += lower[first:end].tolist()
    return dict(sorted(kinds.items()))


TABLE = "entities-"  # prefix of the names of the table's files

DESCRIPTION = Description(
    title="Entity table",
    about="""\
The items of Wikidata, as far as corpora need them: what they are instances of, and the titles of their
pages in the wikis. Made with corpusmill from an entity dump. Wikidata is CC0.""",
)


def account_for_entities(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of an entity table.

    An entity table is a table of Wikidata items. `provenance` has the facts about its build that were known
    before it ran, such as the settings. The ledger contains the counts of all stages of the build. In
    addition to the entries of every build, it has:
      entities: number of items that were read.
      skipped: number of lines without an item.
      counts: one TableCounts for each part of the table.
      kinds: one mapping: class of Wikimedia's own pages → its kind, such as "list".

    Raises:
      AccountingError: the numbers of written and repeated rows do not add up to the number of items read.
      NothingLeftError: there is no item. If the table were accepted, a build that uses it would drop all
        pages without an error.
    """
    entities, skipped = ledger.number("entities"), ledger.number("skipped")
    table, rejected = add_counts(ledger.values("counts")), ledger.rejected
    ledger.balance(entities, "items that were read", rows=table.rows, repeated=table.repeated)
    files = [file for file in ledger.values(OUTPUTS) if file.name.startswith(TABLE)]
    ledger.balance(table.rows, "rows", in_the_files=records_of(files))
    if not table.rows:
        raise NothingLeftError(
            (),
            f"the dump has no item: {rejected['total']:,} lines were rejected, {skipped:,} are not items;"
            " an entity dump has one item on each line",
        )
    classes = Counter(ledger.one("kinds").values())
    counts = {
        "lines_read": entities + skipped + rejected["total"],
        "rows": table.rows,
        "repeated": table.repeated,
        "without_item": skipped,
        "rejected": rejected,
    }
    total: dict[str, Any] = {
        "items": table.rows,
        "items_with_class": table.with_class,
        "sitelinks": dict(zip(provenance.settings["wikis"], table.sitelinks, strict=True)),
        "internal_classes": {kind: classes[kind] for kind in KINDS},
    }
    return Accounts(counts, {"total": total}, render("entities", stats=total, counts=counts))
