"""Reads texts with ids from finished builds, Parquet, Arrow, CSV, JSON and plain text.

A file is read one part at a time. If several columns are read, each value is a separate text. A column may be
a field in a field, such as "answers.text". The texts and their ids do not depend on the division into parts.

The fields of common evaluation sets are in evaluation_sets.toml. Of a row of such a set, the question, the
context and a long answer are separate texts.
"""

import csv
import functools
import io
import itertools
import json
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from ..files.builds.finished_builds import check_columns, opened
from ..files.compression import DECODE_ERRORS
from ..files.counters import damage_error
from ..files.line_blocks import lines_of
from ..files.markup import read_toml
from ..files.read_files import InputError, open_input, open_raw, read_input
from ..files.read_lines import TextUnit, plan_units, read_unit
from ..files.text_kinds import (
    ARROW,
    ARROW_FILE,
    CSV,
    FIRST_BYTES,
    JSON,
    JSON_LINES,
    PARQUET,
    lists_of_rows,
)
from ..files.work_units import BLOCK_BYTES, MAX_LINE_BYTES, LineBlock, Unterminated, place_of
from .contamination_evidence import sum_of
from .folded_words import fold_words

# a kind of files, in addition to those of text_kinds.py: each is a single text
FILES = "files"
QUESTION, CONTEXT, ANSWER = "question", "context", "answer"  # parts of an item of an evaluation set
# reasons to reject a text
NO_TEXT, NO_FIELD, TOO_LONG, MALFORMED = "no-text", "no-field", "line-too-long", "malformed-utf-8"

csv.field_size_limit(MAX_LINE_BYTES)
# approximate size of the rows of a Parquet file that are read at once, as encoded
_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 1 << 12  # maximum number of these rows: repeated texts are encoded once
_OBJECT = msgspec.json.Decoder(dict[str, Any])
_ALL_MEMBERS = ("*",)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WRITTEN = re.compile(r"\S")
_UNREADABLE = "\n\n"  # in place of a text that is not valid Unicode; compared by identity
_LACKING = "\n\n\n"  # in place of a text if the row has no such field; compared by identity
_LONG_ANSWER = 8  # an answer of as many words is a text of its own


class TextFile(NamedTuple):
    """A file that contains texts, and the way to read it."""

    path: str
    kind: str
    # columns that contain texts; () if each line or each file is a text
    columns: tuple[str, ...] = ()
    id: str = ""  # column of ids; "" to name texts by their position in the file
    split: str = ""
    blank: tuple[str, ...] = ()  # markers of the layout (not words), which are replaced by spaces
    # name of an evaluation set in evaluation_sets.toml whose fields the file has; then `columns` are all of
    # these fields
    shape: str = ""


class FilePart(NamedTuple):
    """A part of a file that a worker reads."""

    file: TextFile
    # the index of a row group if the file is a Parquet file; 0 if it is read as a whole
    part: TextUnit | int


class TextBatch(NamedTuple):
    """Several texts of a file with their ids, and the numbers of rejected texts."""

    ids: list[str]
    texts: list[str]
    rejected: Mapping[str, int] = {}  # reason → number of rejected texts
    # for each text, its part (QUESTION, CONTEXT or ANSWER), and the right answers to a question, one per
    # line; () if the file has no `shape`
    details: Sequence[tuple[str, str]] = ()
    # position of each text in the file, which is unique: the ids if the file has no ids
    positions: Sequence[str] = ()


class Shape(msgspec.Struct, frozen=True):
    """The fields of an evaluation set, see evaluation_sets.toml."""

    name: str
    question: tuple[str, ...]
    context: tuple[str, ...] = ()
    answer: str = ""
    choices: tuple[str, ...] = ()
    labels: str = ""
    first: int = 0
    rows: tuple[str, ...] = ()
    id: str = "id"
    requires: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that a file must have."""
        given = (*self.question, *self.context, self.answer, *self.choices, self.labels)
        return tuple(filter(None, (*given, *self.requires)))

    def parts(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Yields (part, text, right answers) for each text of a row."""
        answers = list(dict.fromkeys(filter(None, map(_word_of, self._answers(row)))))
        is_there = any(_has_field(row, field) for field in self.question)
        question = _join(values_at(row, *self.question)) if is_there else _LACKING
        yield QUESTION, question, "\n".join(answers)
        if context := _join(values_at(row, *self.context)):
            yield CONTEXT, context, ""
        if answers and len(fold_words(answers[0])) >= _LONG_ANSWER:
            yield ANSWER, answers[0], ""

    def _answers(self, row: Mapping[str, Any]) -> list[Any]:
        given, choices = values_at(row, self.answer), values_at(row, *self.choices)
        if not choices or not given or given[0] is None:
            return given
        if len(given) == len(choices):
            return list(itertools.compress(choices, given))
        labels = list(map(str, values_at(row, self.labels))) or list(string.ascii_uppercase)
        key = str(given[0]).strip()
        if not key.isdecimal() and key not in labels:
            return given
        number = labels.index(key) if key in labels else int(key) - self.first
        return choices[number : number + 1] if number >= 0 else []


@functools.cache
def shapes() -> dict[str, Shape]:
    """Returns the name of each shape in evaluation_sets.toml → the shape."""
    table = read_toml(__package__, "evaluation_sets.toml")["shape"]
    return {one.name: one for one in msgspec.convert(table, list[Shape])}


def find_shape(rows: Sequence[Mapping[str, Any]]) -> tuple[Shape, str] | None:
    """Finds the shape with most fields among those whose fields some rows have.

    Returns the shape, and the field of ids or ""; None if the rows have no known shape.
    """
    for shape in sorted(shapes().values(), key=lambda shape: -len(shape.fields)):
        inner = [one for row in rows for one in _inner_rows(row, shape.rows)]
        ids = (shape.id, "id", "doc_id")
        there = {one for one in (*shape.fields, *ids) if any(values_at(row, one) for row in inner)}
        if there.issuperset(shape.fields):
            return shape, next((one for one in ids if one in there), "")
    return None


def _inner_rows(row: Mapping[str, Any], fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yields the rows in a row, with the outer fields.

    The row of a sample of lm-evaluation-harness is its field "doc".
    """
    if "doc_id" in row and isinstance(row.get("doc"), dict):
        row = {"doc_id": row["doc_id"], **row["doc"]}
    if not fields:
        yield dict(row)
        return
    for inner in row.get(fields[0]) or ():
        if isinstance(inner, dict):
            yield from _inner_rows({**row, **inner}, fields[1:])


def values_at(row: Any, *fields: str) -> list[Any]:
    """Returns the values of fields, such as "answers.text". A list or an object has several values."""
    return [value for field in fields if field for value in _values_below(row, field)]


def _values_below(value: Any, field: str) -> list[Any]:
    if isinstance(value, list):
        return [inner for one in value for inner in _values_below(one, field)]
    if not isinstance(value, dict):
        return [] if field else [value]
    if not field:
        return _values_below(list(value.values()), "")
    if field in value:
        return _values_below(value[field], "")
    outer, _, inner = field.partition(".")
    return _values_below(value.get(outer), inner) if inner else []


def _has_field(value: Any, field: str) -> bool:
    if isinstance(value, list):
        return any(_has_field(one, field) for one in value) or not value
    if not isinstance(value, dict) or field in value:
        return isinstance(value, dict)
    outer, _, inner = field.partition(".")
    return bool(inner) and _has_field(value.get(outer), inner)


def _word_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value if isinstance(value, str) else str(value)


def _join(values: Iterable[Any]) -> str:
    """Joins the texts of a row. Returns _UNREADABLE itself if one of them is not valid Unicode."""
    texts = list(map(_word_of, values))
    return (
        _UNREADABLE if any(one is _UNREADABLE for one in texts) else "\n".join(filter(None, texts))
    )


def _read_json(path: str) -> list[dict[str, Any]]:
    """Returns the rows of a file of JSON.

    Rows are the elements of an array or of the only list of objects in an object, or several objects. Raises
    InputError if the file is not JSON, if it is too large, or if an object has several lists of objects.
    """
    content = read_input(path, MAX_LINE_BYTES)
    if len(content) > MAX_LINE_BYTES:
        hint = f"convert it to JSON lines, as with `jq -c '.[]' {path}`"
        raise InputError(path, f"JSON of more than {MAX_LINE_BYTES:,} bytes: {hint}")
    decoder = json.JSONDecoder(object_hook=_without_surrogates)
    text = content.decode("utf-8-sig", "surrogateescape")
    values: list[Any] = []
    try:
        at = 0
        while start := _WRITTEN.search(text, at):
            value, at = decoder.raw_decode(text, start.start())
            values.append(value)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"neither JSON lines nor JSON: {error}") from None
    if len(values) == 1:
        lists = lists_of_rows(value) if isinstance(value, dict) else {"": value}
        if len(lists) > 1:
            hint = f"write one to a file, as with `jq '.[\"{next(iter(lists))}\"]' {path}`"
            raise InputError(path, f"several lists of rows: {', '.join(lists)}; {hint}")
        values = next(iter(lists.values()), values)
    rows = [{"text": one} if isinstance(one, str) else one for one in values]
    if not all(isinstance(one, dict) for one in rows):
        raise InputError(path, "a JSON array whose elements are neither objects nor texts")
    return rows


def _read_csv(path: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a file of CSV. Raises InputError if it is damaged."""
    with io.TextIOWrapper(open_input(path), "utf-8-sig", "surrogateescape", newline="") as stream:
        try:
            header = stream.readline(MAX_LINE_BYTES)
            mark = max(",;\t", key=header.count)
            quote = None if mark == "\t" else '"'
            read = functools.partial(csv.reader, delimiter=mark, quotechar=quote, strict=True)
            names, *_ = read([header])
            if repeated := [name for name in names if name and names.count(name) > 1]:
                raise InputError(path, f"the first line has the name {repeated[0]} more than once")
            for row in filter(None, read(stream)):
                if len(row) != len(names):
                    lengths = f"{len(row)} fields, but the first line {len(names)}"
                    raise InputError(path, f"a row of CSV has {lengths}")
                yield _without_surrogates(dict(zip(names, row, strict=True)))
        except (csv.Error, *DECODE_ERRORS) as error:
            raise InputError(path, f"not a valid CSV file: {error}") from None


def columns_of_file(path: str, kind: str) -> list[str]:
    """Returns the columns of a file, or the keys of its first rows, depending on `kind`.

    Raises InputError if the file is damaged, or has no line that is short enough to be read.
    """
    if kind == PARQUET:
        with opened(path, PARQUET) as parquet:
            return list(parquet.schema_arrow.names)
    rows = first_rows(path, kind)
    if not rows and kind == JSON_LINES:
        raise InputError(path, f"no line has at most {MAX_LINE_BYTES:,} bytes")
    return list(dict.fromkeys(key for row in rows for key in row))


def first_rows(path: str, kind: str) -> list[dict[str, Any]]:
    """Returns the first rows of a file with rows; [] if it has none. Raises InputError if it is damaged."""
    for part in plan_parts(TextFile(path, kind), 1):
        for _, rows in read_rows(part, FIRST_BYTES):
            if rows:
                return rows
    return []


def check_texts(name: str, files: Iterable[TextFile]) -> None:
    """Checks that texts can be read from at least one of some files, and from each of its columns.

    Reads files only to the first word of each column.

    Args:
      name: what the files are, for the error.
      files: files of the same data set.

    Raises InputError if the files have no text, or mostly lines that are not UTF-8.
    """
    problem = "no files"
    for file in files:
        columns = [file._replace(columns=(column,)) for column in file.columns] or [file]
        if not (problem := next(filter(None, map(_problem_of, columns)), "")):
            return
    raise InputError(name, problem)


def check_most(name: str, texts: int, rejected: Mapping[str, int]) -> None:
    """Raises InputError if most rows of a data set, other than empty ones, cannot be read.

    Args:
      name: name of the data set, for the error.
      texts: number of texts that were read.
      rejected: reason → number of rejected texts.
    """
    lost = {
        one: number for one, number in rejected.items() if not one.endswith((NO_TEXT, NO_FIELD))
    }
    if (number := sum(lost.values())) > texts:
        rows = f"{number:,} of {number + texts:,} ({', '.join(lost)})"
        raise InputError(name, f"most of its rows cannot be read: {rows}")


def _problem_of(file: TextFile) -> str:
    """Returns why a file, or its only wanted column, cannot be read as text; "" if it can."""
    rejected: dict[str, int] = {}
    texts = 0
    for batch in read_texts(file, FIRST_BYTES):
        rejected = sum_of([rejected, batch.rejected])
        texts += len(batch.texts)
        if any(map(fold_words, batch.texts)):
            check_most(file.path, texts, rejected)
            return ""
    where, there = "", ""
    if file.columns:
        where = f" in the column {file.columns[0]}"
        there = f"; the file has {', '.join(columns_of_file(file.path, file.kind))}"
    counts = sum_of([rejected, _counts("no-words", texts)])
    read = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    return f"no text{where} ({f'rejected: {read}' if read else 'it is empty'}){there}"


def plan_parts(file: TextFile, stripes: int) -> Iterator[FilePart]:
    """Yields the parts into which a file is divided for the workers.

    Args:
      file: the file to read.
      stripes: number of workers that divide the work on a large file which cannot be split, such as a .gz.
        Each of them decompresses the whole file, but processes only its share of the texts.
    """
    if file.kind == PARQUET:
        with opened(file.path, PARQUET) as parquet:
            groups = range(parquet.num_row_groups)
        return (FilePart(file, number) for number in groups)
    if file.kind in (FILES, JSON, ARROW, CSV):
        return iter([FilePart(file, 0)])
    return (FilePart(file, unit) for unit in plan_units([file.path], stripes, _ALL_MEMBERS))


def read_part(part: FilePart, block_bytes: int = BLOCK_BYTES) -> Iterator[TextBatch]:
    """Yields the texts of a part, in file order. Raises InputError if the file is damaged.

    `block_bytes` is the maximum size of the lines that are read at once, unless it is a single line.
    """
    file = part.file
    if file.kind == FILES:
        batches = iter([_read_whole(file)])
    elif file.kind in (JSON, CSV) or file.shape or "." in "".join(file.columns):
        batches = (
            _texts_of(file, *rows) if rows[0] else TextBatch([], [], {TOO_LONG: 1})
            for rows in read_rows(part, block_bytes)
        )
    elif isinstance(part.part, int):
        batches = (_rows_of(file, *rows) for rows in _read_table(part))
    else:
        batches = _read_lines(part, block_bytes)
    return map(_blank_markers, batches, itertools.repeat(file.blank)) if file.blank else batches


def read_rows(
    part: FilePart, block_bytes: int = BLOCK_BYTES
) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """Yields (positions in the file, rows) of a part of a file with rows, for all columns.

    If the file names columns, only these are read from Parquet. Both lists are empty for a line that is too
    long. Raises InputError if the file is damaged.
    """
    file = part.file
    if file.kind in (JSON, CSV):
        source = iter(_read_json(file.path) if file.kind == JSON else _read_csv(file.path))
        first = 0
        while rows := list(itertools.islice(source, _BATCH_ROWS)):
            yield list(map(str, range(first, first + len(rows)))), rows
            first += len(rows)
    elif file.kind == JSON_LINES:
        for block in _read_blocks(part, block_bytes):
            lines = [] if block.is_overlong else list(_decode_block(file, _OBJECT, block))
            if lines or block.is_overlong:
                yield [place for place, _ in lines], [row for _, row in lines]
    else:
        for first, batch in _read_table(part):
            columns = map(_values_of, batch.columns)
            names = batch.schema.names
            rows = [dict(zip(names, one, strict=True)) for one in zip(*columns, strict=True)]
            yield list(map(str, range(first, first + batch.num_rows))), rows


def read_texts(file: TextFile, block_bytes: int = BLOCK_BYTES) -> Iterator[TextBatch]:
    """Yields all texts of a file, part by part. `block_bytes` is as in `read_part`."""
    for part in plan_parts(file, 1):
        yield from read_part(part, block_bytes)


def _read_whole(file: TextFile) -> TextBatch:
    content = read_input(file.path, MAX_LINE_BYTES)
    if len(content) > MAX_LINE_BYTES:
        raise InputError(
            file.path, f"more than {MAX_LINE_BYTES:,} bytes, too many for a single document"
        )
    try:
        return _batch_of([""], [[content.decode("utf-8-sig")]], (), [""])
    except UnicodeDecodeError as error:
        raise InputError(file.path, "not UTF-8", error.start) from None


def _read_blocks(part: FilePart, block_bytes: int) -> Iterator[LineBlock]:
    assert not isinstance(part.part, int)
    for event in read_unit(part.part, _ALL_MEMBERS, block_bytes):
        if isinstance(event, LineBlock):
            yield event
        elif not isinstance(event, Unterminated):
            raise damage_error(part.file.path, *event)


def _read_lines(part: FilePart, block_bytes: int) -> Iterator[TextBatch]:
    file = part.file
    decoder = _line_decoder(file) if file.kind == JSON_LINES else None
    for block in _read_blocks(part, block_bytes):
        if block.is_overlong:
            yield TextBatch([], [], {TOO_LONG: 1})
        elif decoder:
            yield _decode_lines(file, _decode_block(file, decoder, block))
        else:
            lines = lines_of(block.data)
            places = positions_of(block, lines)
            yield _batch_of(places, [list(map(_decode_text, lines))], (), places)


def positions_of(block: LineBlock, lines: Iterable[bytes]) -> list[str]:
    """Returns the position in its file of each line of a block, such as "4711" (see `place_of`)."""
    starts = itertools.accumulate((len(line) + 1 for line in lines), initial=0)
    found = [place_of(block, at) for at in starts][:-1]
    return [f"{member}:{place}" if member else place for member, place in found]


def _decode_text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return _UNREADABLE


def _decode_block(file: TextFile, decoder: Any, block: LineBlock) -> Iterator[tuple[str, Any]]:
    """Yields (position, row) for each line of a block that is not empty."""
    lines = lines_of(block.data)
    for line, place in zip(lines, positions_of(block, lines), strict=True):
        if line.strip():
            try:
                yield place, _decode_row(decoder, line)
            except (ValueError, RecursionError) as error:
                raise InputError(file.path, f"line at byte {place}: {error}") from None


def _line_decoder(file: TextFile) -> Any:
    """Returns a decoder that extracts the id and the wanted columns from a JSON line."""
    value = str | list[str] | None
    keys = {f"column_{number}": name for number, name in enumerate(file.columns)}
    fields: list[tuple[str, Any, Any]] = [(field, value, _LACKING) for field in keys]
    if file.id:
        fields.append(("key", str | int | float | None, None))
        keys["key"] = file.id
    return msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=keys))


def _decode_lines(file: TextFile, lines: Iterable[tuple[str, Any]]) -> TextBatch:
    ids: list[str] = []
    positions: list[str] = []
    columns: list[list[str | None]] = [[] for _ in file.columns]
    for place, row in lines:
        for number, column in enumerate(columns):
            value = getattr(row, f"column_{number}")
            column.append("\n".join(filter(None, value)) if isinstance(value, list) else value)
        key = row.key if file.id else None
        ids.append(place if key in (None, _UNREADABLE) else str(key))
        positions.append(place)
    return _batch_of(ids, columns, file.columns, positions)


def _texts_of(
    file: TextFile, places: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> TextBatch:
    """Returns the texts of rows: by the shape of the file, or by its columns."""
    shape = shapes()[file.shape] if file.shape else None
    names: list[list[str]] = []  # id and position of each text
    texts: list[str] = []
    details: list[tuple[str, str]] = []
    for place, outer in zip(places, rows, strict=True):
        for number, row in enumerate(_inner_rows(outer, shape.rows) if shape else [outer]):
            position = f"{place}.{number}" if shape and shape.rows else place
            keys = [one for one in values_at(row, file.id) if one not in (None, _UNREADABLE)]
            for part, text, answers in shape.parts(row) if shape else _columns_of(file, row, place):
                end = f"/{part}" if shape or len(file.columns) > 1 else ""
                names.append([f"{one}{end}" for one in ([*keys, position][0], position)])
                texts.append(text)
                details.append((part, answers))
    ids, positions = ([one[at] for one in names] for at in (0, 1))
    return _batch_of(ids, [texts], (), positions, details if shape else ())


def _columns_of(
    file: TextFile, row: Mapping[str, Any], place: str
) -> Iterator[tuple[str, str, str]]:
    for column in file.columns:
        values = [value for value in values_at(row, column) if value is not None]
        if wrong := [type(one).__name__ for one in values if not isinstance(one, str)]:
            problem = f"the column {column} has {wrong[0]}, but must contain text"
            raise InputError(file.path, f"row {place}: {problem}")
        yield column, _join(values) if _has_field(row, column) else _LACKING, ""


def _decode_row(decoder: Any, line: bytes) -> Any:
    """Decodes a JSON line. Texts in it that are not valid Unicode are replaced by _UNREADABLE.

    msgspec does not read lines with such texts, so they are parsed again. Raises ValueError for other errors
    in the line, or RecursionError.
    """
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except ValueError:
        text = line.decode("utf-8-sig", "surrogateescape")
        return msgspec.convert(json.loads(text, object_hook=_without_surrogates), decoder.type)


def _without_surrogates(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _UNREADABLE if _is_unreadable(one) else one
        for name, one in row.items()
        if not _is_unreadable(name)
    }


def _is_unreadable(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(one, str) and _SURROGATE.search(one) for one in texts)


def _read_table(part: FilePart) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields (number of its first row, batch) for the wanted columns of a row group, or of a whole table."""
    file, number = part
    assert isinstance(number, int)
    fields = [] if file.shape else [*file.columns, *([file.id] if file.id else [])]
    row = 0
    if file.kind == ARROW:
        for batch in _read_arrow(file.path):
            yield row, batch.select(_outer_columns(fields, batch.schema.names))
            row += batch.num_rows
        return
    with opened(file.path, PARQUET) as parquet:
        wanted = _outer_columns(fields, parquet.schema_arrow.names)
        check_columns(file.path, parquet, wanted)
        footer = parquet.metadata
        group = footer.row_group(number)
        rows = group.num_rows * _BATCH_BYTES // max(group.total_byte_size, _BATCH_BYTES)
        rows = min(max(rows, 1), _BATCH_ROWS)
        row = sum(footer.row_group(before).num_rows for before in range(number))
        for batch in parquet.iter_batches(rows, [number], wanted):
            yield row, batch
            row += batch.num_rows


def _outer_columns(fields: Sequence[str], names: Sequence[str]) -> list[str]:
    """Returns the columns that have some fields; all columns if `fields` is empty."""
    outer = (one if one in names else one.partition(".")[0] for one in fields)
    return list(dict.fromkeys(outer)) or list(names)


def _read_arrow(path: str) -> Iterator[pa.RecordBatch]:
    """Yields the batches of an Arrow file or stream. Raises InputError if it is damaged."""
    with open_raw(path) as stream:
        try:
            if stream.read(len(ARROW_FILE)) == ARROW_FILE:
                file = pa.ipc.open_file(stream)
                yield from map(file.get_batch, range(file.num_record_batches))
            else:
                stream.seek(0)
                yield from pa.ipc.open_stream(stream)
        except (pa.ArrowException, OSError) as error:
            raise InputError(path, f"not a valid Arrow file: {error}") from None


def _rows_of(file: TextFile, first: int, batch: pa.RecordBatch) -> TextBatch:
    columns = []
    for name in file.columns:
        kind = batch.column(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if not _is_text(kind.value_type if is_list else kind):
            raise InputError(
                file.path, f"the column {name} has the type {kind}, but must contain text"
            )
        values = _values_of(batch.column(name))
        if is_list:
            values = [
                one if one is _UNREADABLE else "\n".join(filter(None, one or ())) for one in values
            ]
        columns.append(values)
    ids = positions = list(map(str, range(first, first + batch.num_rows)))
    if file.id:
        keys = _values_of(batch.column(file.id))
        ids = [
            row if key in (None, _UNREADABLE) else str(key)
            for row, key in zip(positions, keys, strict=True)
        ]
    return _batch_of(ids, columns, file.columns, positions)


def _values_of(column: pa.Array) -> list[Any]:
    """Returns the values of a column as a list. Texts that are not UTF-8 are replaced by _UNREADABLE.

    Texts are converted by NumPy, which is faster than `to_pylist`.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        if _is_text(column.type):
            texts: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
            return texts
        values: list[Any] = column.to_pylist()
        return values
    except (pa.ArrowException, UnicodeDecodeError):
        return list(map(value_of, column))


def value_of(scalar: pa.Scalar) -> Any:
    """Returns a value of a column. A text that is not UTF-8 is replaced by one without words."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _UNREADABLE


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _batch_of(
    ids: Sequence[str],
    values: Sequence[Sequence[str | None]],
    columns: Sequence[str],
    positions: Sequence[str],
    details: Sequence[tuple[str, str]] = (),
) -> TextBatch:
    """Returns the texts of some rows. Values that are missing, empty or unreadable are counted as rejected,
    and rows without the field apart from those without a text.

    Args:
      ids: the id of each row.
      values: for each column, its values, one for each row.
      columns: the names of the columns.
      positions: the position of each row in the file.
      details: as in TextBatch, if there is one column.
    """
    if len(columns) > 1:
        ids, positions = (
            [f"{key}/{column}" for key in keys for column in columns] for keys in (ids, positions)
        )
        values = [list(itertools.chain.from_iterable(zip(*values, strict=True)))]
    (found,) = values
    texts = [text for text in found if text and not text.isspace()]
    lost = len(found) - len(texts)
    unreadable = lacking = 0
    if lost:
        is_text = [bool((text or "").strip()) for text in found]
        ids, positions = (list(itertools.compress(keys, is_text)) for keys in (ids, positions))
        details = list(itertools.compress(details, is_text))
        unreadable = sum(text is _UNREADABLE for text in found)
        lacking = sum(text is _LACKING for text in found)
    rejected = {
        **_counts(MALFORMED, unreadable),
        **_counts(NO_FIELD, lacking),
        **_counts(NO_TEXT, lost - unreadable - lacking),
    }
    return TextBatch(list(ids), texts, rejected, details, positions)


def _blank_markers(batch: TextBatch, markers: Sequence[str]) -> TextBatch:
    """Replaces layout markers such as `_START_PARAGRAPH_` in the texts of a batch by a line feed and spaces.

    The replacement is as long as the marker, so offsets in the texts do not change.
    """
    texts = batch.texts
    for marker in markers:
        blank = "\n".ljust(len(marker))
        texts = [text.replace(marker, blank) for text in texts]
    return batch._replace(texts=texts)


def _counts(reason: str, number: int) -> dict[str, int]:
    return {reason: number} if number else {}
