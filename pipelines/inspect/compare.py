"""Compares two editions of a corpus: which documents were added, removed, changed, or moved to another split.

A document that moves to another split leaks: a model trained on one edition may be tested on a document that
it has seen. In corpora whose splits depend only on the id, no document may move.

Compares the documents of two finished builds of a corpus.

Only ids, titles and fingerprints of the texts are shuffled, not the texts. They are grouped into buckets by
id (see check_builds.py), and both editions are compared bucket by bucket.

If one of the builds is a released corpus, the texts are compared, too (see text_changes.py). Then the
fingerprints of all paragraphs are shuffled, and the texts of a sample of the documents.
"""

import functools
import heapq
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.transforms.files.builds.check_builds import (
    DealRows,
    ListedFile,
    ids_of,
    list_files,
    unpack_rows,
)
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    CorpusRows,
    RowGroup,
    columns_of,
    read_row_group,
    row_groups_of,
    schema_of_files,
)
from corpusmill.transforms.files.builds.manifest import is_released, to_json
from corpusmill.transforms.files.distribution import Spread, SpreadAll, transform
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError, read_raw
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, Layout
from corpusmill.transforms.files.terminal import draw, escape_line, screen_columns
from corpusmill.transforms.files.text import fingerprint

from ..run import corpora
from ..run.editions import SUMMARY, choose_build
from ..run.engines.run_pipeline import run_pipeline
from . import edition_changes, text_changes
from .build_facts import SENTENCE
from .findings import SHOWN, Means, add_report, print_count, print_first, reporting, write_lines

MIN_BUCKETS = 64
BUCKET_ROWS = 1 << 17  # approximate number of rows in a bucket
BUCKET_BYTES = 1 << 23  # approximate compressed bytes in a bucket, if texts are compared
_TITLE_CHARACTERS = 1000  # at the beginning of a text, in which the title is searched
_BETWEEN, _NULL = "\x1f", "\x00"  # separator of compared columns, and the mark of a missing value
Side = tuple[bool, CorpusFile]  # (True for the newer edition, a Parquet file of the edition)
SideGroup = tuple[bool, RowGroup]  # (True for the newer edition, a row group of the edition)


class Compared(NamedTuple):
    """The parts of two builds of a corpus that are compared."""

    shape: CorpusShape  # names of the columns and splits of the corpus
    columns: Sequence[str]  # columns to compare, see `columns_to_compare`
    method: text_changes.Method | None = None  # how to compare the texts; None: not compared


@transform
def CompareEditions(
    root: beam.Pipeline, old: Build, new: Build, compared: Compared
) -> tuple[beam.PCollection, ...]:
    """Finds the documents that differ between two builds.

    Pipeline → (one Tally, the changes of each bucket as compressed lines, in order, one TextChanges).

    Raises InputError for a row without an id.

    Args:
      old, new: two builds of the same corpus.
      compared: what is compared.
    """
    shape = compared.shape
    files = [
        (is_new, file.file)
        for is_new, build in enumerate((old, new))
        for file in document_files(build, shape)
    ]
    read = functools.partial(read_rows, compared=compared)
    rows = count_documents(old, shape) + count_documents(new, shape)
    size = _count_bytes_of((old, new), shape) if compared.method else 0
    buckets = max(MIN_BUCKETS, -(-rows // BUCKET_ROWS), size // BUCKET_BYTES)
    found = (
        root
        | "SpreadFiles" >> SpreadAll(files, of=Side)
        | "SpreadRowGroups" >> Spread(plan_row_groups, of=SideGroup)
        | "DealRows" >> DealRows(read, buckets)
        | "CompareBucket"
        >> beam.FlatMap(compare_bucket, compared)
        .with_output_types(edition_changes.Tally)
        .with_outputs("changes", "texts", main="tally")
    )
    tally = found.tally | "AddUp" >> beam.CombineGlobally(edition_changes.add_tallies)
    texts = found.texts | "AddUpTexts" >> beam.CombineGlobally(text_changes.add_text_changes)
    return tally, found.changes, texts


def document_files(build: Build, shape: CorpusShape) -> list[ListedFile]:
    """Returns the files of a build, in the format that is read, that together contain each document once."""
    return [
        file
        for file in list_files(build)
        if file.listed.format == build.format
        and file.listed.split in shape.splits
        and file.listed.name.removeprefix(f"{shape.withheld}/").startswith(
            f"{file.listed.split or build.corpus}-"
        )
    ]


def _count_bytes_of(builds: Iterable[Build], shape: CorpusShape) -> int:
    return sum(file.listed.bytes for build in builds for file in document_files(build, shape))


def count_documents(build: Build, shape: CorpusShape) -> int:
    """Returns the number of documents of a build, as listed in its manifest."""
    of_row = len(build.manifest["languages"]) if shape.per_language else 1
    return of_row * sum(file.listed.records for file in document_files(build, shape))


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
    names = list(schema_of_files([file.file.path for file in files]).names)
    return [*names, *shape.texts] if shape.per_language else names


def plan_row_groups(side: Side) -> Iterator[SideGroup]:
    """Yields (is new, row group) for each row group of a Parquet file.

    `side` is (is new, the file). "Is new" is True if the file belongs to the newer of the two builds.
    """
    is_new, file = side
    return ((is_new, group) for group in row_groups_of(file))


def read_rows(side: SideGroup, compared: Compared) -> pa.Table:
    """Reads a row group. Returns its rows in the form in which they are compared (see `make_rows`).

    `side` is (True for the newer build, row group).
    """
    is_new, group = side
    shape, columns, method = compared
    if method and method.by_paragraph:
        rows = read_row_group(group, [method.column])
        rows = rows._replace(table=method.paragraph_rows(rows.table))
    else:
        named = (shape.id, _title_column(shape), *columns, method.column if method else "")
        rows = _read_named(group, list(dict.fromkeys(filter(None, named))), shape)
    made = make_rows(rows, shape, columns, is_new)
    return method.add_fingerprints(made, rows.table) if method else made


def _read_named(group: RowGroup, names: Sequence[str], shape: CorpusShape) -> CorpusRows:
    """Reads columns of a row group; of a package, a row for each sentence and language: "dev-0001-fra"."""
    if not shape.per_language:
        return read_row_group(group, names)
    columns = columns_of(group.file.path)
    texts = [name for name in columns if name.startswith(shape.per_language)]
    (column,) = shape.texts
    rows = read_row_group(group, [*(name for name in names if name != column), *texts])
    tables = []
    for name in texts:
        ends = pa.scalar(f"-{name.removeprefix(shape.per_language)}")
        ids = pc.binary_join_element_wise(rows.table[shape.id], ends, "")
        table = rows.table.drop_columns(texts).append_column(column, rows.table[name])
        table = table.set_column(table.column_names.index(shape.id), shape.id, ids)
        tables.append(table)
    return rows._replace(table=pa.concat_tables(tables))


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
        schema=edition_changes.SCHEMA,
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
        # As in article_markers.py; "" if the text has too few lines.
        heads = (text[:_TITLE_CHARACTERS].split("\n", 3) for text in titles)
        return [head[2] if len(head) > 2 else "" for head in heads]
    return titles


def compare_bucket(
    grouped: tuple[int, Iterable[bytes]], compared: Compared
) -> Iterator[edition_changes.Tally | beam.pvalue.TaggedOutput]:
    """Compares the rows of both builds in one bucket, and yields the number of documents per kind of change.

    If there are changes, they are yielded in compressed form on the output "changes". If texts are compared,
    their differences are yielded on the output "texts".

    Args:
      grouped: (bucket, blocks of rows from DealRows).
      compared: what is compared.
    """
    method = compared.method
    fields = text_changes.FIELDS if method else ()
    rows = unpack_rows(grouped[1], pa.schema([*edition_changes.SCHEMA, *fields]))
    texts = text_changes.BucketTexts(method) if method else None
    counted = [texts.compare] if texts else []
    tally, changes = edition_changes.compare_rows(rows, compared.shape.splits, *counted)
    if texts:
        yield beam.pvalue.TaggedOutput("texts", texts.total(rows))
    yield tally
    if changes:
        lines = "".join(map(edition_changes.to_line, changes)).encode("utf-8")
        yield beam.pvalue.TaggedOutput("changes", zstandard.ZstdCompressor().compress(lines))


class EditionChanges(NamedTuple):
    """The differences between the documents of two editions."""

    old: str  # signature of the older build
    new: str
    unit: str  # of documents, such as "articles"
    splits: Mapping[str, edition_changes.SplitChanges] = {}
    # {"old_split": …, "new_split": …, the unit: number of documents} for all pairs of splits
    moved: Sequence[Mapping[str, Any]] = ()
    # fields of the first SHOWN moved documents, see edition_changes.Change
    first_moved: Sequence[Mapping[str, Any]] = ()
    first_changed: Sequence[str] = ()  # ids of the first SHOWN changed translations of a package
    repeated: int = 0  # ids in several rows of an edition, if ids are unique in the corpus
    why_moves: str = ""  # why documents may move in this corpus; "" if none may
    # differences in versions, settings and kinds of input: "version: 1.2.0 → 1.3.0"
    differences: Sequence[str] = ()
    texts: Mapping[str, Any] | None = None  # see text_changes.summarise; None: not compared

    @property
    def total(self) -> edition_changes.SplitChanges:
        """The sums of the counts over all splits.

        `moved_out` and `moved_in` are equal, because each document that leaves a split enters another one.
        """
        return edition_changes.SplitChanges(
            *map(sum, zip(edition_changes.SplitChanges(), *self.splits.values(), strict=True))
        )

    @property
    def share(self) -> float:
        """The share (0 to 1) of documents that were added, removed, changed or moved.

        It is a share of all documents of the two editions. A document in both editions is counted once.
        """
        total = self.total
        everything = total.old + total.added
        return (everything - total.unchanged) / everything if everything else 0.0

    @property
    def is_sound(self) -> bool:
        """True if no document moved to another split, or if the corpus allows such moves."""
        return bool(self.why_moves) or not self.total.moved_in


def compare_builds(
    old: str, new: str, text: bool = False, **means: Unpack[Means]
) -> EditionChanges:
    """Compares two finished builds of the same corpus and language.

    Args:
      old, new: The folders of the builds.
      text: Whether to compare the texts paragraph by paragraph. If one of the builds is a released corpus,
        they are always compared.
      means: How to run the comparison and where to write the report, see Means. The report lists each
        document that differs between the builds; the file `<report>.json` contains the counts.

    Raises InputError if a folder does not contain a finished build; ValueError if the builds are of different
    corpora or languages; BuildError if rows are damaged, have no id, or do not match the manifest.
    """
    with reporting(**means) as (engine, path):
        builds = choose_build(old), choose_build(new)
        shape = check_comparable(*builds)
        compared = choose_compared(*builds, shape, text)
        run_pipeline(lambda root: add_comparison(root, builds, compared, path), engine)
        changes = _read_summary(path + SUMMARY)
    method = compared.method
    if not (method and method.by_paragraph and method.paragraphs):
        _check_counts(changes, builds, shape)
    return changes


def choose_compared(old: Build, new: Build, shape: CorpusShape, text: bool) -> Compared:
    """Returns what is compared of two builds.

    If the rows of the builds have no ids in common, paragraphs are compared instead of documents. Raises
    ValueError if texts are to be compared, but the builds have no column of texts in common.
    """
    is_of_release = (is_released(one.manifest.get("settings", {})) for one in (old, new))
    if not (text or any(is_of_release)):
        return Compared(shape, columns_to_compare(old, new, shape))
    in_both = set(_columns_of(old, shape)) & set(_columns_of(new, shape))
    layout = corpora.layout_of(old.manifest) or Layout("", "")
    column = next((name for name in (layout.column, *shape.texts) if name in in_both), "")
    if not column:
        raise ValueError(f"{old.folder} and {new.folder} have no column of texts in common")
    sample = min(1.0, text_changes.SAMPLE_BYTES / max(_count_bytes_of((old, new), shape), 1))
    method = text_changes.Method(column, layout.paragraphs, shape.id not in in_both, sample)
    if not method.by_paragraph:
        return Compared(shape, columns_to_compare(old, new, shape), method)
    rows = shape._replace(id=text_changes.KEY, title="", texts=(column,), facts=(), repeats=True)
    unit = "paragraphs" if method.paragraphs else shape.unit
    return Compared(rows._replace(unit=unit), (column,), method)


def check_comparable(old: Build, new: Build) -> CorpusShape:
    """Returns the CorpusShape of two builds of the same corpus: its columns, splits and unit.

    Raises ValueError if the builds cannot be compared.
    """
    for what, of_old, of_new in (
        ("corpora", old.corpus, new.corpus),
        ("languages", old.language, new.language),
    ):
        if of_old != of_new:
            raise ValueError(
                f"cannot compare builds of different {what}: {of_old} in {old.folder}, {of_new} in"
                f" {new.folder}"
            )
    shape = corpora.shape_of(old.manifest)
    if not shape:
        known = ", ".join(corpora.shapes())
        raise ValueError(
            f"builds of {old.corpus} contain no documents to compare; builds of {known} do"
        )
    packages = ["languages" in one.manifest for one in (old, new)]
    if any("|layout:floresplus|" in one.signature for one in (old, new)):
        raise ValueError("packages of --layout flores+ are not compared: make them without it")
    if all(packages):
        return shape._replace(id="id", repeats=False, per_language=SENTENCE)
    if any(packages):
        raise ValueError(
            f"cannot compare a package of translations with a build of sentences: {old.folder} and"
            f" {new.folder}"
        )
    return shape


def add_comparison(
    root: beam.Pipeline, builds: tuple[Build, Build], compared: Compared, report: str
) -> None:
    """Adds all steps of the comparison to a pipeline. The last step writes the report and its summary.

    Args:
      root: The pipeline.
      builds: The old and the new build.
      compared: What is compared.
      report: The path of the report.
    """
    old, new = builds
    shape = compared.shape
    tally, changes, texts = root | "CompareEditions" >> CompareEditions(old, new, compared)
    differences = edition_changes.find_differences(old.manifest, new.manifest)
    if len({is_released(one.manifest.get("settings", {})) for one in builds}) > 1:
        differences = ()  # the settings of a release are not known
    nothing = EditionChanges(old.signature, new.signature, shape.unit, differences=differences)
    found = AsSingleton(tally), AsList(changes), AsSingleton(texts) if compared.method else None
    add_report(root, report, write_report, nothing, shape, *found)


def write_report(
    path: str,
    nothing: EditionChanges,
    shape: CorpusShape,
    tally: edition_changes.Tally,
    blocks: Sequence[bytes],
    texts: text_changes.TextChanges | None = None,
) -> None:
    """Writes a report of all changes, sorted by id, and then its summary in a JSON file.

    Args:
      path: The path of the report.
      nothing: A result without changes, to which the changes are added. It has the signatures of the two
        builds, and the differences between their manifests.
      shape: The columns, the splits and the unit of the corpus.
      tally: The counts of the changes.
      blocks: The changes, compressed. Each block is sorted by id; the blocks may be in any order.
      texts: The differences between the texts; None if they were not compared.
    """
    first_moved: list[dict[str, Any]] = []
    first_changed: list[str] = []

    def lines() -> Iterator[str]:
        columns = (*edition_changes.Change._fields[:-1], *edition_changes.PARAGRAPHS * bool(texts))
        yield "\t".join(columns) + "\n"
        for change in heapq.merge(*map(read_changes, blocks), key=edition_changes.order):
            yield edition_changes.to_line(change)
            if change.fate == edition_changes.MOVED and len(first_moved) < SHOWN:
                first_moved.append(change._asdict())
            if shape.per_language and change.fate == edition_changes.CHANGED:
                first_changed.extend([change.id][: SHOWN - len(first_changed)])

    write_lines(path, lines())
    found = nothing._replace(
        splits=edition_changes.split_changes(tally, shape.splits),
        moved=[
            {"old_split": old, "new_split": new, shape.unit: count}
            for (old, new), count in edition_changes.moves(tally).items()
        ],
        first_moved=first_moved,
        first_changed=first_changed,
        why_moves=shape.why_moves,
        repeated=0 if shape.repeats else tally.get((edition_changes.REPEATED, "", ""), 0),
        texts=texts and text_changes.summarise(texts),
    )
    write_lines(path + SUMMARY, [to_json(summarise(found))])


def read_changes(block: bytes) -> Iterator[edition_changes.Change]:
    """Yields the changes in a block of lines that is compressed with Zstandard."""
    stream = zstandard.ZstdDecompressor().stream_reader(block)
    return map(edition_changes.parse_line, io.TextIOWrapper(stream, "utf-8", newline="\n"))


def summarise(changes: EditionChanges) -> dict[str, Any]:
    """Returns the changes as an object that can be written as JSON."""
    return {
        **changes._asdict(),
        "total": changes.total._asdict(),
        "share": changes.share,
        "splits": {split: counts._asdict() for split, counts in changes.splits.items()},
    }


def _read_summary(path: str) -> EditionChanges:
    """Reads the changes from JSON as written by `summarise`."""
    summary = json.loads(read_raw(path))
    found = EditionChanges(**{name: summary[name] for name in EditionChanges._fields})
    splits = summary["splits"].items()
    return found._replace(
        splits={split: edition_changes.SplitChanges(**counts) for split, counts in splits}
    )


def _check_counts(changes: EditionChanges, builds: tuple[Build, Build], shape: CorpusShape) -> None:
    """Raises BuildError if a build does not have the number of documents that its manifest states."""
    for build, rows in zip(builds, changes.total[:2], strict=True):
        built = count_documents(build, shape)
        if rows != built:
            raise BuildError(
                f"{build.folder}: has {rows:,} {shape.unit}, but {built:,} in the manifest;"
                " corpusmill verify shows the details"
            )


def print_changes(changes: EditionChanges, report: str = "") -> None:
    """Prints a summary of the changes. `report` is the path of the file that lists all changes."""
    print(f"old: {changes.old}\nnew: {changes.new}")
    for difference in changes.differences:
        print(f"  differs: {escape_line(difference)}")
    rows = [*changes.splits.items()] if len(changes.splits) > 1 else []
    width = screen_columns()
    names = (
        name.replace("_", "\n" if width else " ") for name in edition_changes.SplitChanges._fields
    )
    table = draw(
        (changes.unit, *names),
        [(split, *(f"{count:,}" for count in counts)) for split, counts in rows],
        numbers=len(edition_changes.SplitChanges._fields),
        total=("total", *(f"{count:,}" for count in changes.total)),
        width=width,
    )
    print(table, end="")
    print(f"not the same in both: {changes.share:.2%}")
    if changes.texts:
        print("\n" + text_changes.draw_text_changes(changes.texts, width))
    if changes.repeated:
        print(f"ids in several rows of an edition: {changes.repeated:,}")
    if changes.first_changed:
        print("changed:")
        print_first(changes.first_changed, changes.total.changed, report)
    _print_moved(changes, report)


def _print_moved(changes: EditionChanges, report: str) -> None:
    count = changes.total.moved_in
    if len(changes.splits) < 2:
        return
    print_count("moved between splits", count)
    for one in changes.moved:
        print(f"  {one['old_split']} → {one['new_split']}: {one[changes.unit]:,}")
    if changes.why_moves and count:
        print(f"  moves are allowed: {changes.why_moves}")
        return
    told = "{id} {title}: {old_split} → {new_split}".format_map
    print_first([*map(told, changes.first_moved)], count, report)
