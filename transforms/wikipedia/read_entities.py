"""Reads items from Wikidata JSON dumps."""

import collections
import posixpath
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import apache_beam as beam

from corpusmill.transforms.files import counters, file_units
from corpusmill.transforms.files.check_lines import ends_whole, read_head
from corpusmill.transforms.files.compression import check_on_corrupt, codec_of
from corpusmill.transforms.files.damage import LostBytes, damage_error, tell_lost
from corpusmill.transforms.files.file_units import Damage, FileUnit
from corpusmill.transforms.files.line_blocks import lines_of
from corpusmill.transforms.files.open_input import InputError, file_bytes_of, open_raw
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.spread import Spread
from corpusmill.transforms.files.unit_blocks import LineBlock, place_of, read_blocks
from corpusmill.transforms.wikipedia.wikidata_json import (
    Entity,
    MalformedEntityError,
    begins_entities,
    parse_entity,
)

STAGE = "read-entities"
BATCH_ENTITIES = 1000
BLOCK_BYTES = 1 << 18  # bytes of lines processed at once, to fit in the processor's cache
_END_BYTES = 1 << 12
_DETAIL_BYTES = 100


class EntityBatches(NamedTuple):
    """The outputs of ReadEntities: items, rejected lines, damaged parts of files, and counts.

    Each line is read as an item, rejected, or skipped.
    """

    batches: beam.PCollection  # of list[Entity], at most BATCH_ENTITIES each
    rejected: beam.PCollection  # of Rejected: lines that are not entities
    lost: beam.PCollection  # of LostBytes
    skipped: beam.PCollection  # of int, one for each unit: number of lines without an item


class ReadEntities(beam.PTransform):
    """Reads the items of entity dumps. PBegin → EntityBatches.

    Files are split into work units, which are distributed over the workers. The id of a rejected line
    consists of the file name and the position (see unit_blocks.place_of):
    "wikidata-20261101-all.json.gz:4711", "wikidata-20261101-all.json.bz2:80123+4711".

    Args:
      paths: dump files on any Beam file system; .json, .json.gz, .json.xz, .json.bz2 (one stream or many).
      stripes: number of workers that divide the work on a file which cannot be split (.gz, .xz). Each of them
        decompresses the whole file, but processes only its share of the items.
      on_corrupt: "fail" raises InputError with the file and byte at the first damage; "keep-good" skips and
        reports damaged parts.
    """

    def __init__(self, paths: Sequence[str], stripes: int = 1, on_corrupt: str = "fail"):
        super().__init__()
        check_on_corrupt(on_corrupt)
        self.paths = list(paths)
        self.stripes = stripes
        self.on_corrupt = on_corrupt

    def expand(self, root: beam.Pipeline) -> EntityBatches:
        read = (
            root
            | "Paths" >> beam.Create(self.paths, reshuffle=False)
            | "SpreadUnits" >> Spread(plan_units, self.stripes, of=FileUnit)
            | "ReadUnits"
            >> beam.FlatMap(_read_unit, self.on_corrupt)
            .with_output_types(list[Entity])
            .with_outputs("rejected", "lost", "skipped", main="batches")
        )
        return EntityBatches(read.batches, read.rejected, read.lost, read.skipped)


def plan_units(path: str, stripes: int) -> list[FileUnit]:
    """Returns the work units of one file.

    If reading can begin only at the start of the file, it gets `stripes` units, each for one worker.
    """
    with open_raw(path) as stream:
        return file_units.plan_units(stream, path, file_bytes_of(path), stripes)


def entity_bytes_of(path: str, stripes: int) -> int:
    """Returns how many bytes of a file all workers together will read, for the progress display.

    This is the size of the file. But if reading can begin only at the start of the file, each of `stripes`
    workers reads the whole file, so its size is multiplied by `stripes`.
    """
    return sum(unit.end - unit.start for unit in plan_units(path, stripes))


def check_entity_dump(path: str, *, whole: bool = True) -> None:
    """Raises InputError if a file is empty or does not begin like an entity dump.

    If `whole` is True, also raises it if the file is visibly truncated. Only the beginning and the end are
    read, before the build starts. A truncated .gz is not detected, because its end does not show it.
    """
    file_bytes = file_bytes_of(path)
    if not file_bytes:
        raise InputError(path, "the file is empty", 0)
    with open_raw(path) as stream:
        codec = codec_of(stream)
        head = read_head(path, stream)
        if not begins_entities(head):
            beginning = repr(head[:_DETAIL_BYTES].decode("utf-8", "replace"))
            raise InputError(path, f"not a Wikidata JSON dump: it begins with {beginning}", 0)
        if whole and not _ends_whole(stream, codec, file_bytes):
            where = f"inside its {codec} data" if codec else "inside a line"
            problem = f"the file ends {where}: it is truncated or still being written"
            raise InputError(path, problem, file_bytes)


def _ends_whole(stream: BinaryIO, codec: str, file_bytes: int) -> bool:
    if codec:
        return ends_whole(stream, codec, file_bytes)
    stream.seek(max(file_bytes - _END_BYTES, 0))
    return stream.read(_END_BYTES).rstrip().endswith((b"]", b"}", b","))


def _read_unit(
    unit: FileUnit, on_corrupt: str
) -> Iterator[list[Entity] | beam.pvalue.TaggedOutput]:
    batch: list[Entity] = []
    skipped = 0
    for item in read_items(unit):
        if isinstance(item, Entity):
            batch.append(item)
            if len(batch) == BATCH_ENTITIES:
                yield batch
                batch = []
        elif item is None:
            skipped += 1
        elif isinstance(item, Rejected):
            yield beam.pvalue.TaggedOutput("rejected", item)
        elif on_corrupt == "fail":
            counted = " (bytes of the uncompressed text)" if unit.kind == "whole" else ""
            raise damage_error(unit.path, *item, counted)
        else:
            yield tell_lost(STAGE, LostBytes(posixpath.basename(unit.path), *item))
    if batch:
        yield batch
    yield beam.pvalue.TaggedOutput("skipped", skipped)


def read_items(unit: FileUnit) -> Iterator[Entity | Rejected | Damage | None]:
    """Yields the items in the lines of a work unit, and counts the progress.

    Also yields a Rejected for an invalid line, None for a line without an item, and a Damage for a damaged
    part of the file.
    """
    stored_bytes = 0
    with open_raw(unit.path) as stream:
        for event in read_blocks(stream, unit, block_bytes=BLOCK_BYTES):
            if isinstance(event, Damage):
                yield event
            elif isinstance(event, LineBlock):
                yield from _read_block(unit, event)
                stored_bytes += event.stored_bytes
    counters.count(STAGE, "dump_bytes", unit.end - unit.start - stored_bytes)
    counters.flush()


def _read_block(unit: FileUnit, block: LineBlock) -> Iterator[Entity | Rejected | None]:
    counts = collections.Counter(dump_bytes=block.stored_bytes, json_bytes=len(block.data))
    at = 0
    for line in [block.data] if block.is_overlong else lines_of(block.data):
        try:
            item: Entity | Rejected | None = _read_item(line, block.is_overlong)
            counts["entities"] += item is not None
        except MalformedEntityError as error:
            place = f"{posixpath.basename(unit.path)}:{place_of(block, at)[1]}"
            item = Rejected(place, "", STAGE, error.reason, error.detail)
            counts[error.reason] += 1
        yield item
        at += len(line) + 1
    counters.count_all(STAGE, counts)  # once per block: a call costs more than a line


def _read_item(line: bytes, is_overlong: bool) -> Entity | None:
    if is_overlong:
        beginning = line[:_DETAIL_BYTES].decode("utf-8", "replace")
        raise MalformedEntityError("line-too-long", beginning)
    return parse_entity(line)
