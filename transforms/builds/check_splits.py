"""Rows of corpora → the entities that stand in more than one split, over all builds together.

Ids travel in blocks: some hundred thousand of a worker are dealt out by a hash into buckets, and each
bucket looks for ids with more than one split. No element is made for an id.
"""

import collections
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from transforms.builds.finished_builds import CorpusRows
from transforms.files.open_input import InputError
from transforms.text.fingerprint import SPLITS

ID = "wikidata_id"
MIN_BUCKETS = 1024
BUCKET_IDS = 1 << 16  # in a bucket, about
BUFFER_IDS = 1 << 18  # that a worker holds before it deals them out
_SEPARATOR = "\n"


class IdBlock(NamedTuple):
    """Ids of one split of one build that fall into one bucket."""

    edition: str  # "uk"
    build: str  # "uk/20230501-1.1.0"
    split: str
    ids: bytes  # UTF-8, a line feed between them; one at least


class IdCounts(NamedTuple):
    """What was looked at. Counts add up."""

    ids: int = 0  # rows
    distinct: int = 0
    shared: int = 0  # distinct ids in two or more editions
    conflicts: int = 0  # distinct ids in two or more splits


class Conflict(NamedTuple):
    """An entity in more than one split."""

    id: str
    places: tuple[tuple[str, str], ...]  # (split, build), in the order of SPLITS and by name


class ConflictBlock(NamedTuple):
    """The conflicts of one bucket, packed: of builds with other splits, most ids are conflicts."""

    bucket: int
    packed: bytes


class SplitFindings(NamedTuple):
    """What CheckSplits gives."""

    counts: beam.PCollection  # of one IdCounts
    conflicts: beam.PCollection  # of ConflictBlock, for buckets that have conflicts


class CheckSplits(beam.PTransform):
    """PCollection[CorpusRows] with the column of ids → SplitFindings.

    Args:
      buckets: see `count_buckets`.
    """

    def __init__(self, buckets: int = MIN_BUCKETS):
        super().__init__()
        if buckets < 1:
            raise ValueError(f"buckets is {buckets}, and must be positive")
        self.buckets = buckets

    def expand(self, rows: beam.PCollection) -> SplitFindings:
        checked = (
            rows
            | "DealOut" >> beam.ParDo(_DealOut(self.buckets)).with_output_types(tuple[int, IdBlock])
            | "GroupBuckets" >> beam.GroupByKey()
            | "CheckBucket"
            >> beam.ParDo(_CheckBucket())
            .with_output_types(IdCounts)
            .with_outputs("conflicts", main="counts")
        )
        counts = checked.counts | "AddUp" >> beam.CombineGlobally(add_counts)
        return SplitFindings(counts, checked.conflicts)


def count_buckets(rows: int) -> int:
    """How many buckets keep a bucket small, whatever the number of rows."""
    return max(MIN_BUCKETS, -(-rows // BUCKET_IDS))


class _DealOut(beam.DoFn):
    def __init__(self, buckets: int):
        self.buckets = buckets

    def start_bundle(self) -> None:
        self._rows: list[CorpusRows] = []
        self._buffered = 0

    def process(self, rows: CorpusRows) -> Iterable[tuple[int, IdBlock]]:
        self._rows.append(rows)
        self._buffered += rows.table.num_rows
        if self._buffered >= BUFFER_IDS:
            yield from self._flush()

    def finish_bundle(self) -> Iterable[WindowedValue]:
        window = GlobalWindow()
        for block in self._flush():
            yield WindowedValue(block, window.max_timestamp(), (window,))

    def _flush(self) -> Iterator[tuple[int, IdBlock]]:
        rows, self._rows, self._buffered = self._rows, [], 0
        yield from deal_out(rows, self.buckets)


def deal_out(several: Iterable[CorpusRows], buckets: int) -> Iterator[tuple[int, IdBlock]]:
    """(bucket, block) for the ids of rows. Raises InputError for a row without an id."""
    ids_of: dict[tuple[str, str, str], dict[int, list[str]]] = collections.defaultdict(
        lambda: collections.defaultdict(list)
    )
    for rows in several:
        dealt = ids_of[rows.edition, rows.build, rows.split]
        for identity in _ids(rows):
            dealt[zlib.crc32(identity.encode("utf-8")) % buckets].append(identity)
    for place, dealt in ids_of.items():
        for bucket, ids in dealt.items():
            yield bucket, IdBlock(*place, _SEPARATOR.join(ids).encode("utf-8"))


def _ids(rows: CorpusRows) -> list[str]:
    ids: list[str] = rows.table.column(ID).to_pylist()
    if not all(ids) or not "".join(ids).isprintable():
        raise InputError(rows.path, f"a row has no {ID}, or one that cannot be printed")
    return ids


class _CheckBucket(beam.DoFn):
    def process(
        self, grouped: tuple[int, Iterable[IdBlock]]
    ) -> Iterable[IdCounts | beam.pvalue.TaggedOutput]:
        bucket, blocks = grouped
        counts, conflicts = check_ids(blocks)
        yield counts
        if conflicts:
            yield beam.pvalue.TaggedOutput(
                "conflicts", ConflictBlock(bucket, pack_conflicts(conflicts))
            )


def check_ids(blocks: Iterable[IdBlock]) -> tuple[IdCounts, list[Conflict]]:
    """Counts the ids of blocks, and lists those in more than one split, sorted."""
    blocks = list(blocks)
    table = _table_of(blocks)
    by_id = table.group_by("id", use_threads=False).aggregate(
        [("split", "count_distinct"), ("edition", "count_distinct")]
    )
    conflicting = by_id.filter(pc.greater(by_id["split_count_distinct"], 1))["id"]
    counts = IdCounts(
        ids=table.num_rows,
        distinct=by_id.num_rows,
        shared=pc.sum(pc.greater(by_id["edition_count_distinct"], 1)).as_py() or 0,
        conflicts=len(conflicting),
    )
    rows = table.filter(pc.is_in(table["id"], conflicting.combine_chunks()))
    return counts, _conflicts(rows, blocks)


def _table_of(blocks: Sequence[IdBlock]) -> pa.Table:
    """The ids of blocks, each with the numbers of its split, edition and block."""
    ids = _SEPARATOR.encode("utf-8").join(block.ids for block in blocks).decode("utf-8")
    rows = [block.ids.count(_SEPARATOR.encode("utf-8")) + 1 for block in blocks]
    editions = {name: number for number, name in enumerate({block.edition for block in blocks})}
    numbers = {
        "split": [SPLITS.index(block.split) for block in blocks],
        "edition": [editions[block.edition] for block in blocks],
        "block": list(range(len(blocks))),
    }
    columns = {name: np.repeat(of_blocks, rows) for name, of_blocks in numbers.items()}
    return pa.table({"id": pa.array(ids.split(_SEPARATOR), pa.string())} | columns)


def _conflicts(rows: pa.Table, blocks: Sequence[IdBlock]) -> list[Conflict]:
    places: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
    for identity, number in zip(*rows.select(["id", "block"]).to_pydict().values(), strict=True):
        places[identity].add((blocks[number].split, blocks[number].build))
    return [Conflict(identity, _sorted(places[identity])) for identity in sorted(places, key=order)]


def _sorted(places: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(places, key=lambda place: (SPLITS.index(place[0]), place[1])))


def order(identity: str) -> tuple[int, str]:
    """Q9 stands before Q10."""
    return len(identity), identity


def add_counts(counts: Iterable[IdCounts]) -> IdCounts:
    """The sum of several counts."""
    return IdCounts(*(sum(column) for column in zip(IdCounts(), *counts, strict=True)))


def pack_conflicts(conflicts: Iterable[Conflict]) -> bytes:
    """The conflicts as lines "id <tab> train: en/2023-1.0.0, uk/2023-1.0.0; test: …", compressed."""
    lines = "".join(f"{one.id}\t{describe_places(one)}\n" for one in conflicts)
    return zstandard.ZstdCompressor().compress(lines.encode("utf-8"))


def unpack_lines(block: ConflictBlock) -> str:
    """The lines of `pack_conflicts`."""
    return zstandard.ZstdDecompressor().decompress(block.packed).decode("utf-8")


def describe_places(conflict: Conflict) -> str:
    """ "train: en/20230501-1.1.0, uk/20230501-1.1.0; test: el/20230501-1.1.0"."""
    builds: dict[str, list[str]] = collections.defaultdict(list)
    for split, build in conflict.places:
        builds[split].append(build)
    return "; ".join(f"{split}: {', '.join(of_split)}" for split, of_split in builds.items())
