"""Removes rows, or passages of their texts, from files: Parquet, and JSON lines of any program.

Everything else in a file is kept: the schema, the metadata, the order of the rows, and the other columns. In
JSON lines, all other bytes are the same. A new file is compressed like the old one. A file from which nothing
is removed is copied byte for byte. One row group, or one block of lines, is in memory at a time.
"""

import bz2
import collections
import contextlib
import io
import itertools
import json
import lzma
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.duplicates.contamination_evidence import join_stretches
from corpusmill.transforms.duplicates.folded_words import places_in
from corpusmill.transforms.duplicates.read_texts import TextFile, positions_of, value_of
from corpusmill.transforms.files.builds.finished_builds import opened
from corpusmill.transforms.files.builds.manifest import is_name
from corpusmill.transforms.files.counters import damage_error
from corpusmill.transforms.files.formats import FORMATS, JSON, PARQUET
from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.files.read_files import READ_BYTES, InputError, codec_at, open_raw
from corpusmill.transforms.files.read_lines import plan_units, read_unit
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.text import grouped
from corpusmill.transforms.files.text_kinds import JSON_LINES
from corpusmill.transforms.files.work_units import (
    MAX_LINE_BYTES,
    LineBlock,
    Unterminated,
    is_archive,
)
from corpusmill.transforms.files.write_files import HashedFile
from corpusmill.transforms.wikitext.article_markers import MARKERS

DATA, LINES = "data", "json-lines"  # folder and format of new files; not all lines are rows
NOTHING_LEFT = "nothing-left"

_ALL_MEMBERS = ("*",)
_COMPRESS: Mapping[str, Callable[..., Any] | None] = {
    **{codec: FORMATS[f"{JSON}.{codec}"].wrap for codec in ("gz", "zst")},
    "bz2": lambda file: bz2.BZ2File(file, "wb"),
    "xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 closed by the caller
}
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)
_SPACE = re.compile(r"[,\s]*")
_STAYS = re.compile("|".join((*MARKERS, "\n")))


class Removal(NamedTuple):
    """A document or passage to remove, with the reason."""

    key: str  # id of the document, or "<file name>:<row>" in a build without ids
    item: str  # the matching item: data set, split and id
    detail: str
    start: int = -1  # start of a passage; -1 to remove the whole document
    end: int = -1
    file: str = ""  # path of the file, or names of the document as in pairs of near-duplicates
    position: str = (
        ""  # as in TextBatch: of the row, with "/<column>" if several columns have texts
    )


class Editor:
    """Applies the removals of a file to its rows.

    Args:
      place: (name of the file, its split), for the list of what is removed.
      columns: columns with texts.
      reason: the reason for the removals.
      removals: the removals of the file, which have positions.
    """

    is_article = False  # whether texts begin with the title of an article

    def __init__(
        self,
        place: tuple[str, str],
        columns: Sequence[str],
        reason: str,
        removals: Iterable[Removal],
    ):
        self._place, self._columns, self._reason = place, columns, reason
        self.removals = grouped((one.position.partition("/")[0], one) for one in removals)
        self.read = self.kept = self.changed = 0  # rows
        self.removed: list[tuple[Sequence[Removal], str]] = []  # for each row: removals, reason
        self.listed: list[tuple[Any, ...]] = []

    def edit(self, position: str, row: int, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the new values of a row; None to remove the row.

        Args:
          position: position of the row, as in removals. It must be one of theirs.
          row: number of the row, for the list.
          values: column → value.
        """
        (name, split), after = self._place, dict(values)
        removals = self.removals.pop(position)
        listed: list[tuple[Any, ...]] = [(one, None, None, "") for one in removals if one.start < 0]
        passages = grouped(
            (one.position.partition("/")[2] or self._columns[0], one)
            for one in removals
            if one.start >= 0
        )
        for column, some in passages.items():
            if not isinstance(text := values.get(column), str):
                raise InputError(
                    name, f"{column} is no column of texts, so only whole documents can be removed"
                )
            edges = iter(places_in(text, [edge for one in some for edge in (one.start, one.end)]))
            spans = list(zip(edges, edges, strict=True))
            texts = [text[slice(*span)] for span in spans]
            listed += zip(some, *zip(*spans, strict=True), texts, strict=True)
            after[column] = cut(text, spans)
        left = [str(after.get(column) or "") for column in self._columns if passages]
        stays = any(has_words(text, self.is_article) for text in left)
        reason = NOTHING_LEFT if passages and not stays else self._reason
        for one, *passage in listed:
            of_one = one.key, split, one.item, one.detail
            self.listed.append((*of_one, *passage, name, row, reason))
        self.changed += stays
        self.removed += [] if stays else [(removals, reason)]
        return after if stays else None

    def edit_table(self, table: pa.Table, columns: Sequence[str]) -> pa.Table:
        """Returns the next rows of a file without what is removed. `columns` are those that may change."""
        stays = [True] * len(table)
        changed: dict[str, dict[int, Any]] = {
            column: {} for column in columns if column in table.column_names
        }
        for row in range(len(table)):
            if (position := str(self.read + row)) in self.removals:
                before = {column: value_of(table[column][row]) for column in changed}
                after = self.edit(position, self.read + row, before)
                stays[row] = after is not None
                for column, value in (after or {}).items():
                    if value != before[column]:
                        changed[column][row] = value
        for column, values in changed.items():
            at = table.column_names.index(column)
            if values:
                table = table.set_column(at, table.field(at), _put(table[column], values))
        self.read += len(table)
        self.kept += sum(stays)
        return table if all(stays) else table.filter(pa.array(stays))


def _put(column: pa.ChunkedArray, values: Mapping[int, Any]) -> pa.ChunkedArray:
    """Returns a column with new values at some rows. All other values are the same, even if malformed."""
    chunks: list[pa.Array] = []
    at = 0
    for row, value in values.items():
        chunks += [*column.slice(at, row - at).chunks, pa.array([value], column.type)]
        at = row + 1
    return pa.chunked_array([*chunks, *column.slice(at).chunks], column.type)


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


class Original(NamedTuple):
    """A file that is not in a build, and the name of its copy in the new folder."""

    path: str
    name: str
    data_set: str
    file: TextFile


def find_originals(files: Sequence[tuple[str, TextFile]]) -> list[Original]:
    """Returns files with the names of their copies: the paths below the folder that contains all of them.

    `files` are pairs (name of the data set, file).

    Raises ValueError if nothing can be removed from a file.
    """
    parts = [file.path.split("/") for _, file in files]
    folders = zip(*(part[:-1] for part in parts), strict=False)
    common = len(list(itertools.takewhile(lambda names: len({*names}) == 1, folders)))
    found: dict[str, Original] = {}
    for part, (data_set, file) in zip(parts, files, strict=True):
        path, name = file.path, "/".join([DATA, *part[common:]])
        with open_raw(path) as stream:
            kind = "archive" if is_archive(stream) else file.kind
        is_new = kind in (PARQUET, JSON_LINES) and path not in found
        if not is_new or not all(map(is_name, part[common:])):
            raise ValueError(
                f"{path} ({kind}): documents can be removed only from builds, and from Parquet files and"
                " JSON lines that are given once, and whose names have only letters, digits, . - and _"
            )
        found[path] = Original(path, name, data_set, file)
    return list(found.values())


class _FileEditor(Editor):
    """Removes rows and passages from a file that is not in a build."""

    def __init__(self, original: Original, reason: str, removals: Iterable[Removal]):
        file, self._path = original.file, original.path
        self._kind = file.kind
        super().__init__((original.name, file.split), file.columns, reason, removals)

    def count_rows(self) -> None:
        """Counts the rows of a file from which nothing is removed, without reading the rows of Parquet."""
        if self._kind == PARQUET:
            with opened(self._path, PARQUET) as parquet:
                self.read = self.kept = parquet.metadata.num_rows
        else:
            collections.deque(self.edit_lines(), 0)

    def edit_tables(self) -> Iterator[pa.Table]:
        """Yields the row groups of a Parquet file without what is removed."""
        with opened(self._path, PARQUET) as parquet:
            for number in range(parquet.num_row_groups):
                yield self.edit_table(parquet.read_row_group(number), self._columns)

    def edit_lines(self) -> Iterator[bytes]:
        """Yields blocks of JSON lines without what is removed."""
        units = plan_units([self._path], 1, _ALL_MEMBERS)
        events = itertools.chain.from_iterable(read_unit(unit, _ALL_MEMBERS) for unit in units)
        rows = itertools.count(1)
        is_terminated = True
        for event in events:
            if isinstance(event, Unterminated):
                is_terminated = False  # the last block follows
            elif not isinstance(event, LineBlock):
                raise damage_error(self._path, *event)
            elif event.is_overlong:
                raise InputError(self._path, f"a line has more than {MAX_LINE_BYTES:,} bytes")
            else:
                lines = lines_of(event.data)
                edited = [
                    self._edit_line(*line) if line[1] in self.removals else line[0]
                    for line in zip(lines, positions_of(event, lines), rows, strict=False)
                ]
                kept = [line for line in edited if line is not None]
                self.read += sum(map(bool, map(bytes.strip, lines)))
                self.kept += sum(map(bool, map(bytes.strip, kept)))
                data = block_of(kept)
                yield data if is_terminated or edited[-1] is None else data[:-1]

    def _edit_line(self, line: bytes, position: str, row: int) -> bytes | None:
        text = line.decode("utf-8", "surrogateescape")
        found = find_values(text)
        before = {column: found[column] for column in self._columns if column in found}
        after = self.edit(position, row, {column: one[2] for column, one in before.items()})
        if after is None:
            return None
        for column, (start, end, value) in sorted(before.items(), key=lambda one: -one[1][0]):
            if after[column] != value:
                new = json.dumps(after[column], ensure_ascii=text[start:end].isascii())
                text = text[:start] + new + text[end:]
        return text.encode("utf-8", "surrogateescape")


def find_values(line: str) -> dict[str, tuple[int, int, Any]]:
    """Returns key → (start, end, value) of the JSON object in a line. Of equal keys, the last is used."""
    found = {}
    at = _skip(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = _DECODER.raw_decode(line, at)
        start = _skip(line, line.index(":", at) + 1)
        value, end = _DECODER.raw_decode(line, start)
        found[name] = start, end, value
        at = _skip(line, end)
    return found


def _skip(line: str, at: int) -> int:
    space = _SPACE.match(line, at)
    return space.end() if space else at


def copy_file(
    original: Original, folder: str, reason: str, removals: Sequence[Removal]
) -> tuple[OutputFile, Editor]:
    """Copies a file without what is removed.

    Args:
      original: the file.
      folder: the new folder.
      reason: the reason for the removals.
      removals: the removals of the file.

    Returns the description of the copy, and the editor, which has what was removed.
    """
    editor = _FileEditor(original, reason, removals)
    is_parquet = original.file.kind == PARQUET
    with HashedFile.in_folder(folder, original.name) as new:
        if not removals:
            editor.count_rows()
            with open_raw(original.path) as stream:
                shutil.copyfileobj(stream, new, READ_BYTES)
        elif is_parquet:
            schema, options = format_of(original.path, PARQUET)
            with pq.ParquetWriter(new, schema, **options) as writer:
                for table in filter(len, editor.edit_tables()):
                    writer.write_table(table, len(table))
        else:
            compress = _COMPRESS.get(codec_at(original.path)) or contextlib.nullcontext
            with compress(new) as lines:
                for block in editor.edit_lines():
                    lines.write(block)
    if editor.removals:
        raise InputError(original.path, "was changed after the search: run the search again")
    kind = PARQUET if is_parquet else LINES
    return new.output_file(original.name, "", kind, editor.kept), editor


def format_of(path: str, kind: str = "") -> tuple[pa.Schema, dict[str, Any]]:
    """Returns the schema of a Parquet file, and options of ParquetWriter to encode it in the same way.

    `kind` is as in `opened`.
    """
    with opened(path, kind) as parquet:
        schema, footer = parquet.schema_arrow, parquet.metadata
        if not footer.num_row_groups:
            return schema, {}
        group = footer.row_group(0)
        chunks = {one.path_in_schema: one for one in map(group.column, range(group.num_columns))}
        types = {one.physical_type for one in chunks.values()}
        codecs = {
            name: one.compression.replace("UNCOMPRESSED", "NONE") for name, one in chunks.items()
        }
        options = {
            "version": "2.6",  # older ones have no nanoseconds and no uint32
            "compression": codecs,
            "use_dictionary": [name for name, one in chunks.items() if one.has_dictionary_page],
            "write_statistics": [name for name, one in chunks.items() if one.is_stats_set],
            "store_schema": b"ARROW:schema" in (footer.metadata or {}),
            "use_compliant_nested_type": not any(".list.item" in name for name in chunks),
            "use_deprecated_int96_timestamps": "INT96" in types,
        }
    pq.ParquetWriter(written := io.BytesIO(), schema, **options).close()
    if not pq.read_schema(written).equals(schema):
        raise InputError(path, "cannot be written with the same types; write it anew with pyarrow")
    return schema, options
