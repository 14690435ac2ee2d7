"""Reads pins (fixed splits of articles) from tables and finished builds, and adds them to facts about pages.

A pin assigns an identity (a Wikidata item, or a page such as "ukwiki:1088") to a fixed split. This split
replaces the one that a hash of the identity determines. There may be millions of pins. Pins and pages are
grouped into buckets by another hash of the identity.
"""

import contextlib
import itertools
import pathlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.finished_builds import COMPLETED, MANIFEST
from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.open_input import InputError, open_input, open_raw
from corpusmill.transforms.files.spread import Spread, SpreadAll
from corpusmill.transforms.wikipedia.screening import PageFacts
from corpusmill.transforms.wikipedia.split_pins import (
    ConflictingPinsError,
    MalformedPinsError,
    Pin,
    bucket_of,
    check_columns,
    pack_pins,
    pins_of_table,
    read_pin_lines,
    split_of_file,
    unpack_pins,
)

STAGE = "read-split-pins"
PINS_AT_ONCE = 1 << 18  # pins of a text file that a worker holds in memory

Block = tuple[str, bytes]  # (file name, packed pins)
PageToFacts = tuple[int, PageFacts]


class PinFile(NamedTuple):
    """A file that contains pins, or one row group of such a file."""

    path: str
    # split of all rows, in a file of a finished build; "" to read the split from a column
    split: str = ""
    row_group: int = -1  # number of a row group in a Parquet file; -1 for the whole file


class PinSources(NamedTuple):
    """The tables and builds from which pins are read."""

    files: tuple[PinFile, ...]
    inputs: tuple[str, ...]  # inputs for the manifest; a build is represented by its manifest


def find_pins(patterns: Sequence[str]) -> PinSources:
    """Finds the tables and finished builds that match the patterns, each once. They contain the pins.

    A table is a .parquet, .tsv or .csv file, plain or compressed (.gz, .bz2, .xz). A build is a folder with a
    file COMPLETED; its train, validation and test Parquet files are read.

    Raises InputError for a pattern without a match, a folder that is not a finished build, and a table
    without the required columns.
    """
    files: set[PinFile] = set()
    inputs: set[str] = set()
    for pattern in patterns:
        builds, tables = _match(pattern.rstrip("/") or pattern)
        for folder in builds:
            files.update(_files_of_build(folder))
            inputs.add(FileSystems.join(folder, MANIFEST))
        for path in tables:
            _check_head(path)
            files.add(PinFile(path))
            inputs.add(path)
    return PinSources(tuple(sorted(files)), tuple(sorted(inputs)))


def _match(pattern: str) -> tuple[list[str], list[str]]:
    """Returns (folders of finished builds, files) that match a pattern."""
    marks = _match_paths(FileSystems.join(pattern, COMPLETED))
    builds = [FileSystems.split(mark)[0] for mark in marks]
    found = _match_paths(pattern)
    folders = {path for path in found if pathlib.Path(path).is_dir()}
    unfinished = sorted(folders - set(builds))
    if unfinished:
        raise InputError(unfinished[0], "not a finished build: it has no file COMPLETED")
    tables = [path for path in found if path not in folders]
    if not builds and not tables:
        raise InputError(
            pattern, "expected a file or the folder of a finished build, found neither"
        )
    return builds, tables


def _match_paths(pattern: str) -> list[str]:
    return [metadata.path for metadata in FileSystems.match([pattern])[0].metadata_list]


def _files_of_build(folder: str) -> list[PinFile]:
    found = [
        PinFile(path, split)
        for path in _match_paths(FileSystems.join(folder, "*.parquet"))
        if (split := split_of_file(posixpath.basename(path)))
    ]
    if not found:
        raise InputError(folder, "not a build of a corpus: it contains no train-*.parquet")
    return found


def _check_head(path: str) -> None:
    """Checks the columns of a table, before any worker starts. Raises InputError if one is missing."""
    if _is_parquet(path):
        plan_units(PinFile(path))
        return
    with _naming(path), open_input(path) as lines:
        for _ in read_pin_lines(itertools.islice(lines, 1)):
            pass


@dataclass(eq=False, repr=False)
class ReadSplitPins(beam.PTransform):
    """Reads pins.

    PBegin → PCollection[(bucket, (file, packed pins))], the input of PinItems and PinPages. The bucket of a
    pin is a hash of the pinned item or page.

    A text file, or a row group of a Parquet file, is read by one worker. A line that is not a pin raises
    InputError with the file and the line.

    Args:
      files: files with pins, from `find_pins`.
    """

    files: Sequence[PinFile]

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "SpreadFiles" >> SpreadAll(self.files, of=PinFile)
            | "SpreadUnits" >> Spread(plan_units, of=PinFile)
            | "ReadPins" >> beam.FlatMap(read_blocks)
        )


def plan_units(file: PinFile) -> list[PinFile]:
    """Divides a file with pins into parts, each of which is read by one worker."""
    if not _is_parquet(file.path):
        return [file]
    with _naming(file.path), open_raw(file.path) as stream:
        parquet = pq.ParquetFile(stream)
        check_columns(parquet.schema_arrow.names, file.split)
        return [file._replace(row_group=index) for index in range(parquet.num_row_groups)]


def read_blocks(unit: PinFile) -> Iterator[tuple[int, Block]]:
    """Yields (bucket, (file, packed pins)) for the pins in a part of a file.

    The bucket of a pin is a hash of the pinned item or page. A limited number of pins is in memory at a time.
    """
    pins = read_pins(unit)
    while some := list(itertools.islice(pins, PINS_AT_ONCE)):
        counters.count(STAGE, "pins", len(some))
        for bucket, block in pack_pins(some).items():
            yield bucket, (unit.path, block)


def read_pins(unit: PinFile) -> Iterator[Pin]:
    """Yields the pins in a part of a file, in order.

    Raises InputError if the file is damaged or has an invalid line.
    """
    with _naming(unit.path, unit.row_group):
        if _is_parquet(unit.path):
            with open_raw(unit.path) as stream:
                parquet = pq.ParquetFile(stream)
                columns = check_columns(parquet.schema_arrow.names, unit.split)
                table = parquet.read_row_group(unit.row_group, columns=columns)
            yield from pins_of_table(table, unit.split)
        else:
            with open_input(unit.path) as lines:
                yield from read_pin_lines(lines)


def _is_parquet(path: str) -> bool:
    return path.endswith(".parquet")


@contextlib.contextmanager
def _naming(path: str, row_group: int = -1) -> Iterator[None]:
    """Converts errors inside the block to InputError with the name of the file and the row group."""
    place = "" if row_group < 0 else f"row group {row_group}, "
    try:
        yield
    except MalformedPinsError as error:
        raise InputError(path, f"{place}{error}") from error
    except (pa.ArrowException, *DECODE_ERRORS) as error:
        raise InputError(path, f"{place}damaged or truncated: {error}") from error


@dataclass(eq=False, repr=False)
class PinItems(beam.PTransform):
    """Adds the pinned splits of items to facts about pages. PCollection[(page id, PageFacts)] → the same.

    Args:
      pins: output of ReadSplitPins. An identity with two different splits raises InputError.
    """

    pins: beam.PCollection

    def expand(self, page_to_facts: beam.PCollection) -> beam.PCollection:
        keyed = page_to_facts | "KeyByBucket" >> beam.Map(key_by_bucket)
        return (
            {"facts": keyed, "pins": self.pins}
            | "JoinPins" >> beam.CoGroupByKey()
            | "AddPins" >> beam.FlatMapTuple(add_pins)
        )


def key_by_bucket(page_and_facts: PageToFacts) -> tuple[int, PageToFacts]:
    """Returns (bucket, (page id, facts)).

    The bucket is a hash of the page's item, so the pin of the item is in the same bucket. If the page has no
    item, the bucket is a hash of the page id.
    """
    page_id, facts = page_and_facts
    return bucket_of(facts.qid or str(page_id)), page_and_facts


def add_pins(_: int, found: Mapping[str, Iterable[Any]]) -> Iterator[PageToFacts]:
    """Yields the facts about pages in one bucket, with pinned splits added.

    `found` has the "pins" and the "facts" of the bucket. Pins without a page are ignored.
    """
    splits = unpack_blocks(found["pins"])
    for page_id, facts in found["facts"]:
        yield page_id, facts._replace(pinned_split=splits.get(facts.qid, ""))


def unpack_blocks(blocks: Iterable[Block]) -> Mapping[str, str]:
    """Returns identity → split for all pins in one bucket. An identity is the id of an item or page.

    Raises InputError if an identity has two different splits.
    """
    try:
        return unpack_pins(blocks)
    except ConflictingPinsError as error:
        raise InputError(error.second[1], str(error)) from error


@dataclass(eq=False, repr=False)
class PinPages(beam.PTransform):
    """Converts the pins of a wiki's pages to facts.

    Output of ReadSplitPins → PCollection[(page id, PageFacts)].

    It is used by builds whose identities are pages, such as "ukwiki:1088". Raises InputError if an identity
    has two different splits.
    """

    dbname: str

    def expand(self, pins: beam.PCollection) -> beam.PCollection:
        grouped = pins | "GroupPins" >> beam.GroupByKey()
        return grouped | "FactsOfPins" >> beam.FlatMap(facts_of_pins, self.dbname)


def facts_of_pins(of_bucket: tuple[int, Iterable[Block]], dbname: str) -> Iterator[PageToFacts]:
    """Yields (page id, facts with the pinned split) for each pin of a page of the wiki."""
    for identity, split in unpack_blocks(of_bucket[1]).items():
        if identity.startswith(f"{dbname}:"):
            page_id = int(identity.removeprefix(f"{dbname}:"))
            yield page_id, PageFacts(pinned_split=split)
