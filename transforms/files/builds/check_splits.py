"""Finds the entities (Wikidata items) that are in more than one split, in all builds taken together.

Ids are grouped into buckets (see deal_rows.py), and each bucket is searched for ids with more than one split.
The elements of the PCollections are blocks of many ids, never single ids.
"""

import collections
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from corpusmill.transforms.files.builds.deal_rows import DealRows, ids_of, unpack_rows
from corpusmill.transforms.files.builds.finished_builds import CorpusRows
from corpusmill.transforms.files.fingerprint import SPLITS

ID = "wikidata_id"
SCHEMA = pa.schema([(name, pa.string()) for name in ("id", "split", "edition", "build")])
MIN_BUCKETS = 1024
BUCKET_IDS = 1 << 16  # approximate number of ids in a bucket


class IdCounts(NamedTuple):
    """Numbers of ids: all, distinct, in several editions, and in several splits.

    The numbers of several buckets can be added up.
    """

    ids: int = 0  # rows
    distinct: int = 0
    shared: int = 0  # distinct ids in two or more editions
    conflicts: int = 0  # distinct ids in two or more splits


class Conflict(NamedTuple):
    """An entity that is in more than one split, with the splits and builds that contain it."""

    id: str
    places: tuple[tuple[str, str], ...]  # (split, build), in the order of SPLITS and by name


class ConflictBlock(NamedTuple):
    """The conflicts of one bucket, compressed. They are compressed because most ids are conflicts if builds
    use different split rules.
    """

    bucket: int
    packed: bytes


class SplitFindings(NamedTuple):
    """The outputs of CheckSplits: the counts of ids, and the ids that are in more than one split."""

    counts: beam.PCollection  # of one IdCounts
    conflicts: beam.PCollection  # of ConflictBlock; only buckets with conflicts


class CheckSplits(beam.PTransform):
    """Finds ids that are in more than one split. PCollection[CorpusRows] → SplitFindings.

    The ids are those of Wikidata items. They are read from the column `wikidata_id` of the rows.

    Args:
      buckets: number of buckets into which ids are grouped, see `count_buckets`.
    """

    def __init__(self, buckets: int = MIN_BUCKETS):
        super().__init__()
        self.buckets = buckets

    def expand(self, rows: beam.PCollection) -> SplitFindings:
        checked = (
            rows
            | "DealRows" >> DealRows(make_rows, self.buckets)
            | "CheckBucket"
            >> beam.FlatMap(check_bucket)
            .with_output_types(IdCounts)
            .with_outputs("conflicts", main="counts")
        )
        counts = checked.counts | "AddUp" >> beam.CombineGlobally(add_counts)
        return SplitFindings(counts, checked.conflicts)


def count_buckets(rows: int) -> int:
    """Returns the number of buckets for `rows` rows. It is chosen so that each bucket is small."""
    return max(MIN_BUCKETS, -(-rows // BUCKET_IDS))


def make_rows(rows: CorpusRows) -> pa.Table:
    """Returns a table with the id, split, edition and build of each row.

    Raises InputError for a row without an id.
    """
    ids = ids_of(rows, ID)
    place = rows.file.split, rows.file.edition, rows.file.build
    places = (pa.repeat(name, len(ids)) for name in place)
    return pa.table([pa.array(ids, pa.string()), *places], schema=SCHEMA)


def check_bucket(
    grouped: tuple[int, Iterable[bytes]],
) -> Iterator[IdCounts | beam.pvalue.TaggedOutput]:
    """Yields the counts of the ids in a bucket.

    If some of the ids are in more than one split, yields a ConflictBlock of them on the output "conflicts".

    Args:
      grouped: (bucket, blocks of its rows from DealRows).
    """
    bucket, blocks = grouped
    counts, conflicts = check_ids(unpack_rows(blocks, SCHEMA))
    yield counts
    if conflicts:
        block = ConflictBlock(bucket, pack_conflicts(conflicts))
        yield beam.pvalue.TaggedOutput("conflicts", block)


def check_ids(rows: pa.Table) -> tuple[IdCounts, list[Conflict]]:
    """Returns the counts of ids, and a sorted list of conflicts: the ids that are in more than one split.

    Args:
      rows: table of ids from `make_rows`.
    """
    by_id = rows.group_by("id", use_threads=False).aggregate(
        [("split", "count_distinct"), ("edition", "count_distinct")]
    )
    conflicting = by_id.filter(pc.greater(by_id["split_count_distinct"], 1))["id"]
    counts = IdCounts(
        ids=rows.num_rows,
        distinct=by_id.num_rows,
        shared=pc.sum(pc.greater(by_id["edition_count_distinct"], 1)).as_py() or 0,
        conflicts=len(conflicting),
    )
    columns = rows.filter(pc.is_in(rows["id"], conflicting.combine_chunks())).to_pydict()
    places: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
    for identity, *place in zip(*map(columns.get, ("id", "split", "build")), strict=True):
        places[identity].add((place[0], place[1]))
    return counts, [Conflict(one, _sorted(places[one])) for one in sorted(places, key=order)]


def _sorted(places: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(places, key=lambda place: (SPLITS.index(place[0]), place[1])))


def order(identity: str) -> tuple[int, str]:
    """Returns the sort key of an id. Shorter ids come first, so Q9 is before Q10."""
    return len(identity), identity


def add_counts(counts: Iterable[IdCounts]) -> IdCounts:
    """Returns the sum of several counts."""
    return IdCounts(*(sum(column) for column in zip(IdCounts(), *counts, strict=True)))


def pack_conflicts(conflicts: Iterable[Conflict]) -> bytes:
    """Compresses conflicts as text, with one conflict per line.

    A line is "id <tab> train: en/2023-1.0.0, uk/2023-1.0.0; test: …".
    """
    lines = "".join(f"{one.id}\t{describe_places(one)}\n" for one in conflicts)
    return zstandard.ZstdCompressor().compress(lines.encode("utf-8"))


def unpack_lines(block: ConflictBlock) -> str:
    """Returns the decompressed text of a block, with one conflict per line."""
    return zstandard.ZstdDecompressor().decompress(block.packed).decode("utf-8")


def describe_places(conflict: Conflict) -> str:
    """Returns the splits and builds of a conflict as text: "train: en/20230501-1.1.0; test:
    el/20230501-1.1.0".
    """
    builds: dict[str, list[str]] = collections.defaultdict(list)
    for split, build in conflict.places:
        builds[split].append(build)
    return "; ".join(f"{split}: {', '.join(of_split)}" for split, of_split in builds.items())
