"""Reads pinned splits, by which articles keep the split that they had in an earlier release.

A pin is (wikidata_id, split). Tables of pins are TSV or CSV with a header line, or Arrow tables; other
columns are ignored. Splits are named train, validation and test; "dev" and "valid", the names in many
releases, mean validation. A Parquet file of the released corpus has no column of splits, but the split in its
name, such as "train-00000-of-00002.parquet".

Reads pins (fixed splits of articles) from tables and finished builds, and adds them to facts about pages.

A pin assigns an identity (a Wikidata item, or a page such as "ukwiki:1088") to a fixed split. This split
replaces the one that a hash of the identity determines. There may be millions of pins. Pins and pages are
grouped into buckets by another hash of the identity.

Assigns articles to splits.
"""

import contextlib
import itertools
import pathlib
import posixpath
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystems import FileSystems

from ..files import counters
from ..files.builds.manifest import COMPLETED, MANIFEST
from ..files.compression import DECODE_ERRORS
from ..files.distribution import Spread, SpreadAll, transform
from ..files.markup import MalformedTableError, check_split, read_columns
from ..files.read_files import InputError, open_input, open_raw
from ..files.records import PackedArticle
from ..files.text import SPLITS, grouped, split_of
from .article_rows import decode_value
from .screening import PageFacts

ID, SPLIT = "wikidata_id", "split"

BUCKETS = 256
"""Number of buckets of identities. Pins are joined with pages by bucket, so that there are few keys of about
the same size: with a hundred million pins, no worker holds more than half a million.
"""

_IDENTITY = re.compile(r"Q[1-9][0-9]{0,17}|[a-z0-9_]+:[0-9]{1,18}")
_SPLIT_OF_FILE = re.compile(rf"({'|'.join(SPLITS)})-\d+-of-\d+\.parquet")
_DETAIL_CHARACTERS = 100

Pin = tuple[str, str]  # identity ("Q64", or "ukwiki:1088" of builds without Wikidata), split


def check_pin(identity: str, split: str, place: str) -> Pin:
    """Checks a pin, and returns it with "train", "validation" or "test" as its split.

    `identity` must be like "Q64" or "ukwiki:1088". An id in another notation would match no page, and its pin
    would be ignored without an error. Raises MalformedTableError, which names `place`, if the id or the split
    is invalid.
    """
    if not _IDENTITY.fullmatch(identity):
        shown = identity[:_DETAIL_CHARACTERS]
        problem = f"{ID} is {shown!r}; expected an id like 'Q64' or 'ukwiki:1088'"
        raise MalformedTableError(f"{place}: {problem}")
    return identity, check_split(split, place)


def read_pin_lines(lines: Iterable[bytes]) -> Iterator[Pin]:
    """Yields the pins of a TSV or CSV file.

    Raises MalformedTableError, which names the line, for an invalid line. The header is line 1.
    """
    for line, (identity, split) in read_columns(lines, ID, SPLIT):
        yield check_pin(identity, split, f"line {line}")


def check_columns(names: Sequence[str], split: str = "") -> list[str]:
    """Returns the names of the columns to read from an Arrow table.

    These are the columns of the id and of the split. Raises MalformedTableError if one of them is missing.

    Args:
      names: names of all columns of the table.
      split: the split of all rows, if it is known. Then no column of splits is needed. "" if it is unknown.
    """
    wanted = [ID] if split else [ID, SPLIT]
    if missing := [name for name in wanted if name not in names]:
        raise MalformedTableError(
            f"schema: there is no column {missing[0]}; the columns are {', '.join(names)}"
        )
    return wanted


def pins_of_table(table: pa.Table, split: str = "") -> Iterator[Pin]:
    """Yields the pins of an Arrow table.

    Raises MalformedTableError, which names the row (counted from 1), for an invalid row.

    Columns may have any string or binary (UTF-8) type of Arrow. For `split` see `check_columns`.
    """
    columns = []
    for name in check_columns(table.column_names, split):
        try:
            columns.append(table[name].cast(pa.string()).to_pylist())
        except pa.ArrowException as error:
            message = f"schema: {name} is not text but {table[name].type}: {error}"
            raise MalformedTableError(message) from error
    splits = itertools.repeat(split) if split else columns[1]
    for row, (identity, name) in enumerate(zip(columns[0], splits, strict=False), start=1):
        try:
            decoded, _ = decode_value(identity or "")  # of the released corpus
        except ValueError as error:
            raise MalformedTableError(f"row {row}: {error}") from None
        yield check_pin(decoded, name or "", f"row {row}")


def split_of_file(name: str) -> str | None:
    """Returns the split in the name of a Parquet file: "test" for "test-00000-of-00002.parquet".

    Returns None for names of another form.
    """
    found = _SPLIT_OF_FILE.fullmatch(name)
    return found[1] if found else None


def bucket_of(identity: str) -> int:
    """Returns the number of the bucket in which `pack_pins` puts the pin of the article with this id."""
    return zlib.crc32(identity.encode()) % BUCKETS


def pack_pins(pins: Iterable[Pin]) -> dict[int, bytes]:
    """Groups pins by bucket (see `bucket_of`). Returns bucket → its pins as UTF-8 lines.

    The lines are sorted and without repetitions.
    """
    in_order = sorted(set(pins))
    lines = grouped((bucket_of(identity), f"{identity}\t{split}") for identity, split in in_order)
    return {bucket: "\n".join(of_bucket).encode() for bucket, of_bucket in lines.items()}


def unpack_pins(blocks: Iterable[tuple[str, bytes]]) -> Mapping[str, str]:
    """Returns id of the article → split, for all pins in `blocks`.

    A block is (name of the file from which the pins were read, pins packed by `pack_pins`). Raises
    InputError if an article has pins to different splits.
    """
    splits: dict[str, tuple[str, str]] = {}
    for file, block in sorted(blocks):
        for line in block.decode().splitlines():
            identity, _, split = line.partition("\t")
            known = splits.setdefault(identity, (split, file))
            if known[0] != split:
                message = f"{identity} is pinned to {split}, but to {known[0]} in {known[1]}"
                raise InputError(file, message)
    return {identity: split for identity, (split, _) in splits.items()}


STAGE = "read-split-pins"
PINS_AT_ONCE = 1 << 18  # pins of a text file that a worker holds in memory

Block = tuple[str, bytes]  # (file name, packed pins)
PageToFacts = tuple[int, PageFacts]


class PinFile(NamedTuple):
    """A file that contains pins, or one row group of such a file."""

    path: str
    # split of all rows, in a file of a finished build or of the released corpus; "" to read it from a column
    split: str = ""
    row_group: int = -1  # number of a row group in a Parquet file; -1 for the whole file


class PinSources(NamedTuple):
    """The tables and builds from which pins are read."""

    files: tuple[PinFile, ...]
    inputs: tuple[str, ...]  # inputs for the manifest; a build is represented by its manifest


def find_pins(patterns: Sequence[str]) -> PinSources:
    """Finds the tables and finished builds that match the patterns, each once. They contain the pins.

    A table is a .parquet, .tsv or .csv file, plain or compressed (.gz, .bz2, .xz). A build is a folder with a
    file COMPLETED; its train, validation and test Parquet files are read. So are those of a folder with the
    released corpus.

    Raises InputError for a pattern without a match, a folder without such files, and a table without the
    required columns.
    """
    files: set[PinFile] = set()
    inputs: set[str] = set()
    for pattern in patterns:
        builds, tables = _match(pattern.rstrip("/") or pattern)
        for folder in builds:
            files.update(_files_of_build(folder))
            inputs.add(FileSystems.join(folder, MANIFEST))
        for path in tables:
            files.add(_check_head(path))
            inputs.add(path)
    return PinSources(tuple(sorted(files)), tuple(sorted(inputs)))


def _match(pattern: str) -> tuple[list[str], list[str]]:
    """Returns (folders of finished builds, files) that match a pattern."""
    marks = _match_paths(FileSystems.join(pattern, COMPLETED))
    builds = [posixpath.dirname(mark) for mark in marks]  # FileSystems.split makes paths absolute
    found = _match_paths(pattern)
    folders = {path for path in found if pathlib.Path(path).is_dir()}
    tables = [path for path in found if path not in folders]
    for folder in sorted(folders - set(builds)):
        released = [file.path for file in _files_in(folder)]
        if not released or _match_paths(FileSystems.join(folder, MANIFEST)):
            raise InputError(folder, f"not a finished build: it has no file {COMPLETED}")
        tables += released
    if not builds and not tables:
        raise InputError(
            pattern, "expected a file or the folder of a finished build, found neither"
        )
    return builds, tables


def _match_paths(pattern: str) -> list[str]:
    return [metadata.path for metadata in FileSystems.match([pattern])[0].metadata_list]


def _files_in(folder: str) -> list[PinFile]:
    paths = _match_paths(FileSystems.join(folder, "*.parquet"))
    found = [(path, split_of_file(posixpath.basename(path))) for path in paths]
    return [PinFile(path, split) for path, split in found if split]


def _files_of_build(folder: str) -> list[PinFile]:
    if not (found := _files_in(folder)):
        raise InputError(folder, "not a build of a corpus: it contains no train-*.parquet")
    return found


def _check_head(path: str) -> PinFile:
    """Checks the columns of a table, before any worker starts. Raises InputError if one is missing."""
    file = PinFile(path)
    if _is_parquet(path):
        named = split_of_file(posixpath.basename(path)) or ""
        with _naming(path), open_raw(path) as stream:
            if SPLIT not in pq.ParquetFile(stream).schema_arrow.names:
                file = PinFile(path, named)
        plan_units(file)
        return file
    with _naming(path), open_input(path) as lines:
        for _ in read_pin_lines(itertools.islice(lines, 1)):
            pass
    return file


@transform
def ReadSplitPins(root: beam.Pipeline, files: Sequence[PinFile]) -> beam.PCollection:
    """Reads pins.

    PBegin → PCollection[(bucket, (file, packed pins))], the input of PinItems and PinPages. The bucket of a
    pin is a hash of the pinned item or page.

    A text file, or a row group of a Parquet file, is read by one worker. A line that is not a pin raises
    InputError with the file and the line.

    Args:
      files: files with pins, from `find_pins`.
    """
    return (
        root
        | "SpreadFiles" >> SpreadAll(files, of=PinFile)
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
    except MalformedTableError as error:
        raise InputError(path, f"{place}{error}") from error
    except (pa.ArrowException, *DECODE_ERRORS) as error:
        raise InputError(path, f"{place}damaged or truncated: {error}") from error


@transform
def PinItems(page_to_facts: beam.PCollection, pins: beam.PCollection) -> beam.PCollection:
    """Adds the pinned splits of items to facts about pages. PCollection[(page id, PageFacts)] → the same.

    Args:
      pins: output of ReadSplitPins. An identity with two different splits raises InputError.
    """
    keyed = page_to_facts | "KeyByBucket" >> beam.Map(key_by_bucket)
    return (
        {"facts": keyed, "pins": pins}
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
    splits = unpack_pins(found["pins"])
    for page_id, facts in found["facts"]:
        yield page_id, facts._replace(pinned_split=splits.get(facts.qid, ""))


@transform
def PinPages(pins: beam.PCollection, dbname: str) -> beam.PCollection:
    """Converts the pins of a wiki's pages to facts.

    Output of ReadSplitPins → PCollection[(page id, PageFacts)].

    It is used by builds whose identities are pages, such as "ukwiki:1088". Raises InputError if an identity
    has two different splits.
    """
    grouped = pins | "GroupPins" >> beam.GroupByKey()
    return grouped | "FactsOfPins" >> beam.FlatMap(facts_of_pins, dbname)


def facts_of_pins(of_bucket: tuple[int, Iterable[Block]], dbname: str) -> Iterator[PageToFacts]:
    """Yields (page id, facts with the pinned split) for each pin of a page of the wiki."""
    for identity, split in unpack_pins(of_bucket[1]).items():
        if identity.startswith(f"{dbname}:"):
            yield int(identity.removeprefix(f"{dbname}:")), PageFacts(pinned_split=split)


class Assigned(NamedTuple):
    """The outputs of AssignSplits: the articles with their splits, and counts of pinned articles.

    A pinned article is one whose split was already set, to that of an earlier release.
    """

    articles: beam.PCollection  # of PackedArticle with its split
    pinned: beam.PCollection  # of (True if moved, number of pinned articles)


@transform
def AssignSplits(articles: beam.PCollection) -> Assigned:
    """Assigns articles to splits by their Wikidata ids. PCollection[PackedArticle] → Assigned.

    The split depends only on the Wikidata id, so an entity is in the same split in every language. A split
    that is already set is kept. Such articles are pinned to the split of an earlier release, and are counted.
    A pinned article counts as moved if the hash of its id would give another split.
    """
    assign = beam.FlatMap(assign_split).with_output_types(PackedArticle)
    assigned = articles | assign.with_outputs("pinned", main="articles")
    pinned = assigned.pinned | "CountPinned" >> beam.combiners.Count.PerElement()
    return Assigned(assigned.articles, pinned)


def assign_split(article: PackedArticle) -> Iterator[Any]:
    """Yields an article with its split.

    If the split was already set (the article is pinned), it is kept. In this case, also yields a bool on the
    output "pinned": True if the hash of the article's id would give another split.
    """
    split = split_of(article.wikidata_id)
    if article.split:
        yield beam.pvalue.TaggedOutput("pinned", article.split != split)
    yield article._replace(split=article.split or split)
