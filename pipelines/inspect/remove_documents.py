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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.duplicates.contamination_evidence import join_stretches
from corpusmill.transforms.duplicates.find_overlap import NAMES, number_of_names
from corpusmill.transforms.duplicates.folded_words import normalize
from corpusmill.transforms.duplicates.write_signatures import NamedText
from corpusmill.transforms.files import counters, write_rows
from corpusmill.transforms.files.builds.check_builds import list_files
from corpusmill.transforms.files.builds.finished_builds import Build, CorpusFile, opened, read_file
from corpusmill.transforms.files.distribution import SpreadAll
from corpusmill.transforms.files.formats import PARQUET, formats_of
from corpusmill.transforms.files.read_files import InputError, read_input
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, OutputFile, Rejected
from corpusmill.transforms.files.text import Shard, grouped
from corpusmill.transforms.files.write_files import write_file
from corpusmill.transforms.models.subword_models import add_subword_stats
from corpusmill.transforms.wikipedia.train_subwords import counter_of
from corpusmill.transforms.wikitext.article_markers import MARKERS

from .removal_accounts import measure_of

STAGE = "remove"
NOTHING_LEFT = "nothing-left"
WORDS = "words"  # column with the words of each text, which not all builds have
REMOVED = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("id", "split", "item", "detail")),
        pa.field("start", pa.int64()),  # start of a passage, in characters of the text in NFC
        pa.field("end", pa.int64()),
        pa.field("text", pa.string()),  # text of the passage
    ]
)

_DATA = re.compile(r"(\w+)-(\d+)-of-(\d+)\.\w.*")
_STAYS = re.compile("|".join((*MARKERS, "\n")))


class Removal(NamedTuple):
    """A document or passage to remove, with the reason."""

    key: str  # id of the document, or "<file name>:<row>" in a build without ids
    item: str  # the matching item: data set, split and id
    detail: str
    start: int = -1  # start of a passage; -1 to remove the whole document
    end: int = -1


class Rewriting(NamedTuple):
    """The settings for rewriting a build without some of its documents."""

    build: Build
    shape: CorpusShape
    folder: str  # folder of the new build
    reason: str  # reason recorded for the removed documents, as a slug
    model: str = ""  # path of the SentencePiece model that counts pieces; "" for none


class Removed(NamedTuple):
    """The outputs of RemoveDocuments: new files, rejected documents, all removals, and counts.

    The counts are those from which the statistics of the new build are computed.
    """

    files: beam.PCollection  # of OutputFile
    rejected: beam.PCollection  # of Rejected: documents
    removed: beam.PCollection  # of rows of REMOVED
    accounts: Mapping[str, beam.PCollection]  # see removal_accounts.py


class RemoveDocuments(beam.PTransform):
    """Removes documents and passages from a build. PCollection[Removal] → Removed.

    Raises InputError if a document to remove is not in the build.
    """

    def __init__(self, how: Rewriting):
        super().__init__()
        self.how = how
        self.files = data_files(how.build)

    def expand(self, removals: beam.PCollection) -> Removed:
        root = removals.pipeline
        files = root | "SpreadFiles" >> SpreadAll(self.files, of=CorpusFile)
        keyed = removals | "KeyByDocument" >> beam.Map(
            lambda one: (one.key, one)
        ).with_output_types(tuple[str, Any])
        if self.how.shape.id:
            places = files | "ReadIds" >> beam.FlatMap(
                read_places, self.how.shape.id
            ).with_output_types(tuple[str, str])
            placed = (
                {"removals": keyed, "places": places}
                | "MeetDocuments" >> beam.CoGroupByKey()
                | "PlaceRemovals"
                >> beam.FlatMap(place_removals, self.how.build.folder).with_output_types(
                    tuple[str, Any]
                )
            )
        else:
            placed = keyed | "PlaceByFile" >> beam.MapTuple(
                lambda key, removal: (key.rpartition(":")[0], removal)  # "<file name>:<row>"
            ).with_output_types(tuple[str, Any])
        named = files | "KeyByFile" >> beam.Map(
            lambda file: (posixpath.basename(file.path), file)
        ).with_output_types(tuple[str, CorpusFile])
        outputs = ("rejected", "removed", "stats", "lengths", "pieces", "counts")
        written = (
            {"files": named, "removals": placed}
            | "MeetFiles" >> beam.CoGroupByKey()
            | "Rewrite" >> beam.ParDo(_Rewrite(self.how)).with_outputs(*outputs, main="files")
        )
        add = measure_of(self.how.build.corpus).add
        distinct = keyed | "Documents" >> beam.Keys() | "EachOnce" >> beam.Distinct()
        return Removed(
            written.files,
            written.rejected,
            written.removed,
            {
                "named": distinct | "CountNamed" >> beam.combiners.Count.Globally(),
                "stats": written.stats | "AddStats" >> beam.CombinePerKey(add),
                "lengths": written.lengths | "AddLengths" >> beam.CombinePerKey(sum),
                "pieces": written.pieces | "AddPieces" >> beam.CombinePerKey(add_subword_stats),
                "rows": written.counts | "AddCounts" >> beam.CombinePerKey(sum),
            },
        )


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


def read_places(file: CorpusFile, column: str) -> Iterator[tuple[str, str]]:
    """Yields (document id, file name) for each row of a file. `column` is the name of the column of ids."""
    name = posixpath.basename(file.path)
    for rows in read_file(file, [column]):
        for key in rows.table[column].to_pylist():
            yield str(key), name


def place_removals(
    met: tuple[str, Mapping[str, Iterable[Any]]], folder: str
) -> Iterator[tuple[str, Removal]]:
    """Yields (file name, removal) for each file that contains the document to remove or change.

    Raises InputError if no file contains it.

    Args:
      met: (document id, {"places": names of the files, "removals": its removals}), from CoGroupByKey.
      folder: folder of the build, for the message of the error.
    """
    key, of_key = met
    removals = list(of_key["removals"])
    places = sorted(of_key["places"]) if removals else []
    if removals and not places:
        raise InputError(
            folder,
            f"the build has no document {key}, which the search found; run the search again on this build",
        )
    return itertools.product(places, removals)


class _Rewrite(beam.DoFn):
    """Rewrites a file. (file name, the file and its removals) → new files, their counts, and rejected
    documents.
    """

    def __init__(self, how: Rewriting):
        self._how = how

    def process(self, met: tuple[str, Mapping[str, Iterable[Any]]]) -> Iterable[Any]:
        name, of_file = met
        files = list(of_file["files"])
        removals = grouped((removal.key, removal) for removal in sorted(of_file["removals"]))
        if not files:
            raise InputError(
                self._how.build.folder,
                f"the build has no file {name}, in which the search found documents; run the search again on"
                " this build",
            )
        rewriter = _Rewriter(self._how, files[0], removals)
        yield from rewriter.write()
        tagged = beam.pvalue.TaggedOutput
        split = files[0].split
        measure = measure_of(self._how.build.corpus)
        yield tagged("stats", (split, measure.add([measure.empty, *rewriter.stats])))
        for number, documents in sorted(rewriter.lengths.items()):
            yield tagged("lengths", ((split, number), documents))
        if self._how.model:
            yield tagged("pieces", (split, add_subword_stats(rewriter.pieces)))
        yield from (tagged("removed", row) for row in rewriter.removed)
        # the other splits only repeat documents of these splits
        if split in self._how.shape.splits:
            yield from (tagged("rejected", one) for one in rewriter.rejected)
            yield tagged("counts", ("read", rewriter.read))
            yield tagged("counts", ("changed", rewriter.changed))
        counters.flush()


class _Rewriter:
    """Rewrites one file, one row group at a time, and collects its counts and rejections."""

    def __init__(self, how: Rewriting, file: CorpusFile, removals: Mapping[str, Sequence[Removal]]):
        self._how, self._file, self._removals = how, file, removals
        self._name = posixpath.basename(file.path)
        self._measure = measure_of(how.build.corpus)
        self._count = counter_of(read_input(how.model)).count if how.model else None
        self.read = self.changed = 0
        self.stats: list[Any] = []
        self.lengths: dict[int, int] = {}
        self.pieces: list[Any] = []
        self.rejected: list[Rejected] = []
        self.removed: list[tuple[Any, ...]] = []

    def write(self) -> list[OutputFile]:
        """Writes the new files, and returns their descriptions."""
        schema, encoding = _format_of(self._file.path)
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
        table: pa.Table = rows.table
        first, self.read = self.read, self.read + table.num_rows
        if self._how.shape.id:
            keys = list(map(str, table[self._how.shape.id].to_pylist()))
        else:
            keys = [f"{self._name}:{row}" for row in range(first, self.read)]
        if concerned := [row for row, key in enumerate(keys) if key in self._removals]:
            table = self._remove(table, keys, concerned)
        texts = table[self._measure.column].to_pylist()
        counted = list(self._measure.measure(texts))
        self.stats = [self._measure.add([*self.stats, *counted])]
        for number, documents in self._measure.histogram(counted).items():
            self.lengths[number] = self.lengths.get(number, 0) + documents
        if self._count:
            self.pieces = [add_subword_stats([*self.pieces, *map(self._count, texts)])]
        counters.count(STAGE, "documents", len(keys))
        return table

    def _remove(self, table: pa.Table, keys: Sequence[str], concerned: Sequence[int]) -> pa.Table:
        texts = table[self._measure.column].to_pylist()
        stays = [True] * len(keys)
        for row in concerned:
            removals = self._removals[keys[row]]
            if passages := [one for one in removals if one.start >= 0]:
                before = normalize(texts[row])
                texts[row] = cut(before, [(one.start, one.end) for one in passages])
                stays[row] = has_words(texts[row], self._how.shape.title == TITLE_IN_TEXT)
                self.removed += (self._row_of(one, before[one.start : one.end]) for one in passages)
                self.changed += stays[row]
            else:
                stays[row] = False
                self.removed += (self._row_of(one, "") for one in removals)
            if not stays[row]:
                reason = NOTHING_LEFT if passages else self._how.reason
                self.rejected.append(_reject(removals, reason))
        table = _replace(table, self._measure.column, texts)
        if WORDS in table.column_names:
            words = table[WORDS].to_pylist()
            for row in concerned:
                (counts,) = self._measure.measure([texts[row]])
                words[row] = counts.words
            table = _replace(table, WORDS, words)
        return table.filter(pa.array(stays))

    def _row_of(self, removal: Removal, text: str) -> tuple[Any, ...]:
        place = (removal.start, removal.end) if removal.start >= 0 else (None, None)
        return removal.key, self._file.split, removal.item, removal.detail, *place, text


def _replace(table: pa.Table, column: str, values: Sequence[Any]) -> pa.Table:
    at = table.column_names.index(column)
    field = table.schema.field(at)
    return table.set_column(at, field, pa.array(values, field.type))


def _reject(removals: Sequence[Removal], reason: str) -> Rejected:
    first, others = removals[0], len(removals) - 1
    more = f"; and {others:,} more, see removed-*.parquet" if others else ""
    return Rejected(first.key, "", STAGE, reason, f"{first.detail}: {first.item}{more}")


def _format_of(path: str) -> tuple[pa.Schema, dict[str, Any]]:
    """Returns the schema of a Parquet file, and the encoding of its first column as options of
    ParquetWriter.
    """
    with opened(path) as parquet:
        schema, footer = parquet.schema_arrow, parquet.metadata
        if not footer.num_row_groups:
            return schema, {}
        chunk = footer.row_group(0).column(0)
        return schema, {
            "use_dictionary": chunk.has_dictionary_page,
            "write_statistics": chunk.is_stats_set,
        }


def cut(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Removes spans from a text.

    Line feeds and markers such as `_START_PARAGRAPH_` in the spans are kept, because they are part of the
    layout.
    """
    parts = []
    at = 0
    for start, end in join_stretches(spans):
        parts += [text[at:start], *_STAYS.findall(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def has_words(text: str, is_article: bool) -> bool:
    """Returns True if a text has letters or digits. The title of an article does not count."""
    words = _STAYS.sub(" ", text.split("\n", 3)[-1] if is_article else text)
    return any(map(str.isalnum, words))


def has_documents(file: OutputFile, splits: Sequence[str], kind: str) -> bool:
    """Returns True if a file has the format `kind` and belongs to one of the given splits."""
    return file.format == kind and file.split in splits


def read_named(
    file: OutputFile, folder: str, like: CorpusFile, columns: Sequence[str]
) -> Iterator[NamedText]:
    """Yields the documents of a new file, one row group at a time.

    Args:
      file: the new file.
      folder: folder of the new build.
      like: any file of the original build. All its properties except the path and the split also apply to
        the new file.
      columns: the names of two columns: the ids and the texts.
    """
    new = like._replace(path=FileSystems.join(folder, file.name), split=file.split)
    for rows in read_file(new, columns):
        for identity, text in zip(*rows.table.to_pydict().values(), strict=True):
            yield NamedText("", str(identity), file.split, text)


def copy_file(file: tuple[str, str, str, int], folder: str) -> OutputFile:
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

    data_set: str  # name of the build in the columns of the pairs
    side: str  # side to remove, "first" or "second"; "" to keep one document of each cluster

    def read(self, row: Mapping[str, Any]) -> Iterator[Removal]:
        """Yields a removal for each document of a pair (`row`) that is to be removed from the build."""
        detail = f"similarity {row['similarity']:.3f}"
        for side, other in (("first", "second"), ("second", "first")):
            names = [row[f"{side}_{name}"] for name in NAMES]
            if names[0] != self.data_set or self.side not in (side, ""):
                continue
            number = number_of_names(0, json.dumps(names, ensure_ascii=False))
            if self.side or f"{number:016x}" != row["cluster"]:
                item = " ".join(row[f"{other}_{name}"] for name in ("data_set", "split", "id"))
                yield Removal(names[1], item, detail)


class HitsOf(NamedTuple):
    """Reader of the rows of `hits-*.parquet`, in which a search has listed passages of documents.

    These passages also occur in evaluation items. The method `read` returns the passage or the document that
    is to be removed from a build.
    """

    folder: str  # folder of the build; rows about files in other folders are skipped
    has_ids: bool  # True if the documents of the build have ids
    by_passage: bool  # True to remove only the passages, False to remove whole documents

    def read(self, row: Mapping[str, Any]) -> Iterator[Removal]:
        """Yields the removal of the passage, or of the whole document if `by_passage` is False."""
        folder, name = posixpath.split(row["file"])
        if folder != self.folder:
            return
        key = row["document"] if self.has_ids else f"{name}:{row['document']}"
        item = " ".join(filter(None, (row["set"], row["split"], row["item"])))
        place = (row["start"], row["end"]) if self.by_passage else ()
        yield Removal(key, item, f"{row['words']} words in a row", *place)


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
