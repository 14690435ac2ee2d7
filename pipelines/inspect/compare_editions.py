"""Compares the documents of two finished builds of a corpus.

Only ids, titles and fingerprints of the texts are shuffled, not the texts. They are grouped into buckets by
id (see deal_rows.py), and both editions are compared bucket by bucket.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from corpusmill.pipelines.inspect.edition_changes import (
    SCHEMA,
    Change,
    Tally,
    add_tallies,
    compare_rows,
    to_line,
)
from corpusmill.transforms.files.builds.check_files import ListedFile, list_files
from corpusmill.transforms.files.builds.corpus_shapes import TITLE_IN_TEXT, CorpusShape
from corpusmill.transforms.files.builds.deal_rows import DealRows, ids_of, unpack_rows
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    CorpusRows,
    RowGroup,
    columns_of,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.spread import Spread, SpreadAll

MIN_BUCKETS = 64
BUCKET_ROWS = 1 << 17  # approximate number of rows in a bucket
_TITLE_CHARACTERS = 1000  # at the beginning of a text, in which the title is searched
_BETWEEN, _NULL = "\x1f", "\x00"  # separator of compared columns, and the mark of a missing value


Side = tuple[bool, CorpusFile]  # (True for the newer edition, a Parquet file of the edition)
SideGroup = tuple[bool, RowGroup]  # (True for the newer edition, a row group of the edition)


class FoundChanges(NamedTuple):
    """The outputs of CompareEditions: numbers of documents per kind of change, and a list of the changes."""

    tally: beam.PCollection  # of one Tally
    changes: beam.PCollection  # of bytes: the changes of one bucket as compressed lines, in order


class CompareEditions(beam.PTransform):
    """Finds the documents that differ between two builds. Pipeline → FoundChanges.

    Raises InputError for a row without an id.

    Args:
      old, new: two builds of the same corpus.
      shape: the names of the columns and splits of the corpus.
      columns: the columns to compare, see `columns_to_compare`.
    """

    def __init__(self, old: Build, new: Build, shape: CorpusShape, columns: Sequence[str]):
        super().__init__()
        self.files = [
            (is_new, file.file)
            for is_new, build in enumerate((old, new))
            for file in document_files(build, shape)
        ]
        self.splits = shape.splits
        self.read_rows = functools.partial(read_rows, shape=shape, columns=tuple(columns))
        self.buckets = count_buckets(count_documents(old, shape) + count_documents(new, shape))

    def expand(self, root: beam.Pipeline) -> FoundChanges:
        compared = (
            root
            | "SpreadFiles" >> SpreadAll(self.files, of=Side)
            | "SpreadRowGroups" >> Spread(plan_row_groups, of=SideGroup)
            | "DealRows" >> DealRows(self.read_rows, self.buckets)
            | "CompareBucket"
            >> beam.FlatMap(compare_bucket, self.splits)
            .with_output_types(Tally)
            .with_outputs("changes", main="tally")
        )
        tally = compared.tally | "AddUp" >> beam.CombineGlobally(add_tallies)
        return FoundChanges(tally, compared.changes)


def count_buckets(rows: int) -> int:
    """Returns the number of buckets for `rows` rows. It is chosen so that each bucket is small."""
    return max(MIN_BUCKETS, -(-rows // BUCKET_ROWS))


def document_files(build: Build, shape: CorpusShape) -> list[ListedFile]:
    """Returns the Parquet files of a build that together contain each document once."""
    return [
        file
        for file in list_files(build)
        if file.listed.format == "parquet"
        and file.listed.split in shape.splits
        and file.listed.name.startswith(f"{file.listed.split or build.corpus}-")
    ]


def count_documents(build: Build, shape: CorpusShape) -> int:
    """Returns the number of documents of a build, as listed in its manifest."""
    return sum(file.listed.records for file in document_files(build, shape))


def columns_to_compare(old: Build, new: Build, shape: CorpusShape) -> list[str]:
    """Returns the names of the columns to compare: `shape.texts`, and those of `shape.facts` in both builds.

    If `shape.texts` is empty, returns all columns that both builds have, except for the column of ids. In
    this case, raises InputError if a build has no documents or its first file is damaged.
    """
    if shape.texts and not shape.facts:
        return [*shape.texts]
    there = set(_columns_of(new, shape))
    in_both = [name for name in _columns_of(old, shape) if name in there and name != shape.id]
    if not shape.texts:
        return in_both
    return [*shape.texts, *(name for name in shape.facts if name in in_both)]


def _columns_of(build: Build, shape: CorpusShape) -> list[str]:
    files = document_files(build, shape)
    if not files:
        raise InputError(build.folder, "the build has no documents")
    return columns_of(files[0].file.path)


def plan_row_groups(side: Side) -> Iterator[SideGroup]:
    """Yields (is new, row group) for each row group of a Parquet file.

    `side` is (is new, the file). "Is new" is True if the file belongs to the newer of the two builds.
    """
    is_new, file = side
    return ((is_new, group) for group in row_groups_of(file))


def read_rows(side: SideGroup, shape: CorpusShape, columns: Sequence[str]) -> pa.Table:
    """Reads a row group. Returns its rows in the form in which they are compared (see `make_rows`).

    Args:
      side: (True for the newer build, row group).
      columns: names of the columns to compare.
    """
    is_new, group = side
    wanted = dict.fromkeys([*filter(None, [shape.id, _title_column(shape)]), *columns])
    return make_rows(read_row_group(group, list(wanted)), shape, columns, is_new)


def _title_column(shape: CorpusShape) -> str:
    return shape.texts[0] if shape.title == TITLE_IN_TEXT else shape.title


def make_rows(
    rows: CorpusRows, shape: CorpusShape, columns: Sequence[str], is_new: bool
) -> pa.Table:
    """Converts rows to the form in which they are compared (SCHEMA): id, title, and hash of the columns.

    `is_new` is True for rows of the newer build. Raises InputError for a row without an id.
    """
    table = rows.table
    digests = [fingerprint(text) for text in join_columns(table, columns)]
    return pa.table(
        {
            "id": ids_of(rows, shape.id) if shape.id else [f"{digest:016x}" for digest in digests],
            "title": _titles(table, shape),
            "split": np.full(table.num_rows, shape.splits.index(rows.file.split), np.int8),
            "digest": np.array(digests, np.uint64),
            "bytes": _count_bytes(table, shape.texts or columns),
            "is_new": np.full(table.num_rows, is_new),
        },
        schema=SCHEMA,
    )


def join_columns(table: pa.Table, columns: Sequence[str]) -> list[str]:
    """Joins the values of the compared columns into one string for each row.

    Different rows have different strings, unless their values contain the two control characters that
    separate columns and mark missing values.
    """
    texts = [_as_text(table[name]) for name in columns]
    joined: list[str] = pc.binary_join_element_wise(
        *texts, _BETWEEN, null_handling="replace", null_replacement=_NULL
    ).to_pylist()
    return joined


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(column.type):
        return pc.binary_join(column.cast(pa.list_(pa.string())), ",")
    return column.cast(pa.string())


def _count_bytes(table: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    total = np.zeros(table.num_rows, np.int64)
    for name in columns:
        lengths = pc.binary_length(_as_text(table[name]))
        total += pc.fill_null(lengths, 0).to_numpy()
    return total


def _titles(table: pa.Table, shape: CorpusShape) -> list[str]:
    if not shape.title:
        return [""] * table.num_rows
    titles: list[str] = table[_title_column(shape)].to_pylist()
    if shape.title == TITLE_IN_TEXT:
        return [_title_of(text[:_TITLE_CHARACTERS]) for text in titles]
    return titles


def _title_of(head: str) -> str:
    """Returns the title of an article; "" if the text has too few lines.

    The layout of the text is that of text/wikimedia/article_markers.py. `head` is its beginning.
    """
    lines = head.split("\n", 3)
    return lines[2] if len(lines) > 2 else ""


def compare_bucket(
    grouped: tuple[int, Iterable[bytes]], splits: Sequence[str]
) -> Iterator[Tally | beam.pvalue.TaggedOutput]:
    """Compares the rows of both builds in one bucket, and yields the number of documents per kind of change.

    If there are changes, they are yielded in compressed form on the output "changes".

    Args:
      grouped: (bucket, blocks of rows from DealRows).
      splits: names of the splits.
    """
    tally, changes = compare_rows(unpack_rows(grouped[1], SCHEMA), splits)
    yield tally
    if changes:
        yield beam.pvalue.TaggedOutput("changes", pack_changes(changes))


def pack_changes(changes: Iterable[Change]) -> bytes:
    """Compresses changes as text with one change per line."""
    return zstandard.ZstdCompressor().compress("".join(map(to_line, changes)).encode("utf-8"))
