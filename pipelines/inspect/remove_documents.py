"""Rewrites a finished build without some documents, or without passages of its texts.

Each file is rewritten under the same name with its remaining rows. A worker holds one row group at a time.
Each removal is sent to the worker that rewrites the file of its document; no worker holds all removals.

Reads the results of a search for near-duplicates or evaluation texts in a build.

They are read as a list of documents and passages to remove from the build.
"""

import itertools
import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa

from corpusmill.transforms.duplicates.contamination_evidence import TIERS
from corpusmill.transforms.duplicates.find_overlap import (
    NAMES,
    SetFile,
    name_positions,
    number_of_names,
)
from corpusmill.transforms.files import counters, write_rows
from corpusmill.transforms.files.builds.check_builds import list_files
from corpusmill.transforms.files.builds.finished_builds import Build, CorpusFile, opened, read_file
from corpusmill.transforms.files.distribution import SpreadAll
from corpusmill.transforms.files.formats import PARQUET, formats_of
from corpusmill.transforms.files.read_files import InputError, read_input
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, OutputFile, Rejected
from corpusmill.transforms.files.text import Shard
from corpusmill.transforms.files.write_files import write_file
from corpusmill.transforms.models.subword_models import add_subword_stats, counter_of

from .edit_files import Editor, Original, Removal, copy_file, format_of
from .removal_accounts import measure_of

STAGE = "remove"
WORDS = "words"  # column with the words of each text, which not all builds have
REMOVED = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("id", "split", "item", "detail")),
        pa.field("start", pa.int64()),  # start of a passage, in characters of the text in the file
        pa.field("end", pa.int64()),
        *(pa.field(name, pa.string()) for name in ("text", "file")),  # text of the passage
        pa.field("row", pa.int64()),  # from 0; of JSON lines outside builds, from 1
        pa.field("reason", pa.string()),
    ]
)

_DATA = re.compile(r"(\w+)-(\d+)-of-(\d+)\.\w.*")


class Rewriting(NamedTuple):
    """The settings for rewriting a build without some of its documents."""

    build: Build
    shape: CorpusShape
    folder: str  # folder of the new build
    reason: str  # reason recorded for the removed documents, as a slug
    model: str = ""  # path of the SentencePiece model that counts pieces; "" for none

    @property
    def has_ids(self) -> bool:
        """True if removals name documents by their ids, False if they have their positions."""
        return bool(self.shape.id)

    def read_places(self, file: CorpusFile) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yields (document id, (path of the file, position)) for each row of a file."""
        groups = (rows.table[self.shape.id] for rows in read_file(file, [self.shape.id]))
        keys = itertools.chain.from_iterable(group.to_pylist() for group in groups)
        return ((str(key), (file.path, str(row))) for row, key in enumerate(keys))

    def rewrite(self, file: CorpusFile, removals: Sequence[Removal]) -> Iterator[Any]:
        """Rewrites a file. Yields new files, their counts, and rejected documents."""
        rewriter = _Rewriter(self, file, removals)
        yield from rewriter.write()
        tagged = beam.pvalue.TaggedOutput
        split = file.split
        measure = measure_of(self.build.corpus)
        yield tagged("stats", (split, measure.add([measure.empty, *rewriter.stats])))
        for number, documents in sorted(rewriter.lengths.items()):
            yield tagged("lengths", ((split, number), documents))
        if self.model:
            yield tagged("pieces", (split, add_subword_stats(rewriter.pieces)))
        # the other splits only repeat documents of these splits
        yield from _tag(rewriter, is_repeated=split not in self.shape.splits)
        counters.flush()


class Copying(NamedTuple):
    """The settings for copying files that are not in a build without some of their documents."""

    folder: str  # the new folder
    reason: str
    has_ids: bool  # True if removals have the names of documents as in pairs of near-duplicates

    def read_places(self, original: Original) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yields (names of a document as JSON, (path, position)) for each document of a file."""
        named = name_positions(SetFile(original.data_set, 0, original.file))
        return ((names, (original.path, position)) for names, position in named)

    def rewrite(self, original: Original, removals: Sequence[Removal]) -> Iterator[Any]:
        """Copies a file. Yields the new file, what was removed, and counts of rows."""
        file, editor = copy_file(original, self.folder, self.reason, removals)
        yield file
        yield from _tag(editor)


def _tag(editor: Editor, is_repeated: bool = False) -> Iterator[beam.pvalue.TaggedOutput]:
    """Yields what was removed, and counts of rows unless other files have the same documents."""
    tagged = beam.pvalue.TaggedOutput
    yield from (tagged("removed", row) for row in editor.listed)
    if not is_repeated:
        yield from (tagged("rejected", _reject(*one)) for one in editor.removed)
        for name in ("read", "kept", "changed"):
            yield tagged("counts", (name, getattr(editor, name)))


class Removed(NamedTuple):
    """The outputs of RemoveDocuments: new files, lists of all removals, rejected documents, and counts.

    The counts are those from which the statistics of the new build are computed.
    """

    files: beam.PCollection  # of OutputFile
    lists: beam.PCollection  # of OutputFile
    rejected: beam.PCollection  # of Rejected: documents
    accounts: Mapping[str, beam.PCollection]  # see removal_accounts.py


class RemoveDocuments(beam.PTransform):
    """Removes documents and passages from a build, or from other files. PCollection[Removal] → Removed.

    Raises InputError if a document to remove is not there.

    Args:
      how: the settings.
      files: the files of the build, or the other files.
    """

    def __init__(self, how: Rewriting | Copying, files: Sequence[CorpusFile | Original]):
        super().__init__()
        self.how, self.files = how, files

    def expand(self, removals: beam.PCollection) -> Removed:
        root, how = removals.pipeline, self.how
        keyed = tuple[str, Any]
        files = root | "SpreadFiles" >> SpreadAll(self.files)
        placed = removals
        if how.has_ids:
            named = beam.Map(lambda one: (one.file or one.key, one)).with_output_types(keyed)
            read = beam.FlatMap(how.read_places).with_output_types(keyed)
            placed = (
                {"removals": removals | "ByName" >> named, "places": files | "ReadPlaces" >> read}
                | "MeetDocuments" >> beam.CoGroupByKey()
                | "PlaceRemovals" >> beam.FlatMap(place_removals, how.folder)
            )
        with_name = beam.Map(lambda file: (file.path, file)).with_output_types(keyed)
        by_file = beam.Map(lambda one: (one.file, one)).with_output_types(keyed)
        outputs = ("rejected", "removed", "stats", "lengths", "pieces", "counts")
        written = (
            {"files": files | "NameFiles" >> with_name, "removals": placed | "ByFile" >> by_file}
            | "MeetFiles" >> beam.CoGroupByKey()
            | "Rewrite" >> beam.FlatMap(rewrite, how).with_outputs(*outputs, main="files")
        )
        accounts = {"rows": written.counts | "AddCounts" >> beam.CombinePerKey(sum)}
        if isinstance(how, Rewriting):
            add = measure_of(how.build.corpus).add
            keys = removals | "Documents" >> beam.Map(lambda one: one.key)
            distinct = keys | "EachOnce" >> beam.Distinct()
            accounts |= {
                "named": distinct | "CountNamed" >> beam.combiners.Count.Globally(),
                "stats": written.stats | "AddStats" >> beam.CombinePerKey(add),
                "lengths": written.lengths | "AddLengths" >> beam.CombinePerKey(sum),
                "pieces": written.pieces | "AddPieces" >> beam.CombinePerKey(add_subword_stats),
            }
        listed = written.removed | "WriteRemoved" >> write_rows.WriteRecords(
            how.folder, "removed", REMOVED, lambda row: str(row[0]), tuple
        )
        return Removed(written.files, listed, written.rejected, accounts)


def data_files(build: Build) -> list[CorpusFile]:
    """Returns the files of a build that contain documents, in the format that commands read.

    A document may be in several of them. Raises InputError if commands can read none of its formats.
    """
    return [
        file.file
        for file in list_files(build)
        if file.listed.format == build.format
        and (named := _DATA.fullmatch(file.listed.name))
        and named[1] == file.listed.split
    ]


def targets_of(build: Build, file: CorpusFile) -> list[write_rows.Target]:
    """Returns the files of a build, in all its formats, with the same rows as one of `data_files`."""
    named = _DATA.fullmatch(posixpath.basename(file.path))
    assert named
    shard = Shard(named[1], int(named[2]), int(named[3]))
    return write_rows.row_files(formats_of(build.manifest), build.corpus, shard)


def place_removals(met: tuple[str, Mapping[str, Iterable[Any]]], folder: str) -> Iterator[Removal]:
    """Yields the removals of a document with the file and position of each of its places.

    Raises InputError if the document is not there.

    Args:
      met: (document id, {"places": places of the document, "removals": its removals}), from CoGroupByKey.
      folder: folder of the build, for the message of the error.
    """
    key, of_key = met
    removals = list(of_key["removals"])
    places = sorted(of_key["places"]) if removals else []
    if removals and not places:
        raise InputError(
            folder,
            f"there is no document {key}, which the search found; run the search again on this data",
        )
    for (file, position), removal in itertools.product(places, removals):
        yield removal._replace(file=file, position=position)


def rewrite(
    met: tuple[str, Mapping[str, Iterable[Any]]], how: Rewriting | Copying
) -> Iterator[Any]:
    """Rewrites a file. (path, the file and its removals) → the outputs of RemoveDocuments.

    Raises InputError if there is no such file.
    """
    name, of_file = met
    for file in (files := list(of_file["files"])):
        yield from how.rewrite(file, sorted(of_file["removals"]))
    if not files:
        raise InputError(
            name,
            "the search found documents in this file, which is not there: run the search again",
        )


class _Rewriter(Editor):
    """Rewrites one file, one row group at a time, and collects its counts and rejections."""

    def __init__(self, how: Rewriting, file: CorpusFile, removals: Iterable[Removal]):
        self._how, self._file = how, file
        self._measure = measure_of(how.build.corpus)
        place = posixpath.basename(file.path), file.split
        self.is_article = how.shape.title == TITLE_IN_TEXT
        super().__init__(place, [self._measure.column], how.reason, removals)
        self._count = counter_of(read_input(how.model)).count if how.model else None
        self.stats: list[Any] = []
        self.lengths: dict[int, int] = {}
        self.pieces: list[Any] = []

    def write(self) -> list[OutputFile]:
        """Writes the new files, and returns their descriptions."""
        schema, encoding = format_of(self._file.path)
        targets = targets_of(self._how.build, self._file)
        formats = [target.format for target in targets]
        batches = map(self._rewrite, read_file(self._file, schema.names))
        some = (self._encode(table, formats) for table in batches if table.num_rows)
        return write_rows.write_files(self._how.folder, targets, schema, some, encoding)

    def _encode(self, table: pa.Table, formats: Sequence[str]) -> write_rows.Batch:
        others = [one for one in formats if one != PARQUET]
        rows = [tuple(row.values()) for row in table.to_pylist()] if others else []
        encoded = write_rows.encode_batch(table.schema, rows, others, self._how.shape.texts[0])
        return write_rows.Batch(table.num_rows, {PARQUET: [table], **encoded.pieces})

    def _rewrite(self, rows: Any) -> pa.Table:
        """Removes documents and passages from a row group, and adds its other rows to the statistics.

        Returns the rows that are kept, without the removed passages.
        """
        table = self.edit_table(rows.table, [self._measure.column, WORDS])
        texts = table[self._measure.column].to_pylist()
        counted = list(self._measure.measure(texts))
        self.stats = [self._measure.add([*self.stats, *counted])]
        for number, documents in self._measure.histogram(counted).items():
            self.lengths[number] = self.lengths.get(number, 0) + documents
        if self._count:
            self.pieces = [add_subword_stats([*self.pieces, *map(self._count, texts)])]
        counters.count(STAGE, "documents", len(rows.table))
        return table

    def edit(self, position: str, row: int, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the new values of a row, with the number of its words; None to remove the row."""
        after = super().edit(position, row, values)
        if after and WORDS in after:
            (counts,) = self._measure.measure([after[self._measure.column]])
            after[WORDS] = counts.words
        return after


def _reject(removals: Sequence[Removal], reason: str) -> Rejected:
    first, others = removals[0], len(removals) - 1
    more = f"; and {others:,} more, see removed-*.parquet" if others else ""
    return Rejected(first.key, "", STAGE, reason, f"{first.detail}: {first.item}{more}")


def carry_file(file: tuple[str, str, str, int], folder: str) -> OutputFile:
    """Copies a file of a build to the folder of the new build.

    Args:
      file: (path, name in the build, format, number of records).
      folder: folder of the new build.
    """
    path, name, kind, records = file
    return write_file(folder, name, [read_input(path)], kind, records)


NEAR_DUPLICATE, CONTAMINATED = "near-duplicate", "in-evaluation-set"  # reasons of removals


class PairsOf(NamedTuple):
    """Reader of the rows of `pairs-*.parquet`, in which a search has listed pairs of near-duplicates.

    The method `read` returns the documents of a pair that are to be removed from a build.
    """

    data_sets: Collection[str]  # names in the columns of the pairs
    side: str  # side to remove, "first" or "second"; "" to keep one document of each cluster
    by_name: bool = False  # True to yield removals with the names of documents

    def read(self, row: Mapping[str, Any]) -> Iterator[Removal]:
        """Yields a removal for each document of a pair (`row`) that is to be removed from the build."""
        detail = f"similarity {row['similarity']:.3f}"
        for side, other in (("first", "second"), ("second", "first")):
            names = [row[f"{side}_{name}"] for name in NAMES]
            if names[0] not in self.data_sets or self.side not in (side, ""):
                continue
            key = json.dumps(names, ensure_ascii=False)
            number = number_of_names(0, key)
            if self.side or f"{number:016x}" != row["cluster"]:
                item = " ".join(row[f"{other}_{name}"] for name in ("data_set", "split", "id"))
                yield Removal(names[1], item, detail, file=key if self.by_name else "")


class HitsOf(NamedTuple):
    """Reader of the rows of `hits-*.parquet`, in which a search has listed passages of documents.

    These passages also occur in evaluation items. The method `read` returns the passage or the document that
    is to be removed from a build.
    """

    folder: (
        str  # folder of the build: rows about other files are skipped; "" for files outside builds
    )
    has_ids: bool  # True if documents are named by their ids, False by their positions
    by_passage: bool  # True to remove only the passages, False to remove whole documents
    tier: str = "copied"  # rows with a later tier are skipped
    skipped: Collection[str] = ()  # folders of builds, for files outside builds

    def read(self, row: Mapping[str, Any]) -> Iterator[Removal]:
        """Yields the removal of the passage, or of the whole document if `by_passage` is False."""
        file, key = row["file"], row["document"]
        folder, name = posixpath.split(file)
        is_here = folder not in self.skipped and self.folder in (folder, "")
        if not is_here or TIERS.index(row["tier"]) > TIERS.index(self.tier):
            return
        if self.folder and not self.has_ids:
            key = f"{name}:{key}"
        item = " ".join(filter(None, (row["set"], row["split"], row["item"])))
        place = (row["start"], row["end"]) if self.by_passage else (-1, -1)
        at = () if self.has_ids else (file, row["position"])
        yield Removal(key, item, f"{row['words']} words in a row", *place, *at)


class ReadRemovals(beam.PTransform):
    """Reads the documents and passages to remove. Pipeline → PCollection[Removal], without repetitions.

    Args:
      paths: paths of the Parquet files that a search has written.
      found: reader of the rows of these files.
    """

    def __init__(self, paths: list[str], found: PairsOf | HitsOf):
        super().__init__()
        self.paths, self.found = paths, found

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "SpreadLists" >> SpreadAll(self.paths, of=str)
            | "ReadLists" >> beam.FlatMap(read_removals, self.found).with_output_types(Removal)
            | "EachOnce" >> beam.Distinct()
        )


def read_removals(path: str, found: PairsOf | HitsOf) -> Iterator[Removal]:
    """Yields the removals in the rows of a file."""
    with opened(path) as parquet:
        for batch in parquet.iter_batches():
            for row in batch.to_pylist():
                yield from found.read(row)
