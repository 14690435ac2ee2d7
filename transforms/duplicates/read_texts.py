"""Reads texts with ids from finished builds, Parquet files, JSON lines and plain text.

A file is read one part at a time. If several columns are read, each value is a separate text. The texts and
their ids do not depend on the division into parts.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from ..files.builds.finished_builds import check_columns, opened
from ..files.compression import DECODE_ERRORS
from ..files.counters import damage_error
from ..files.line_blocks import lines_of
from ..files.read_files import InputError, open_input, open_raw, read_input
from ..files.read_lines import TextUnit, plan_units, read_unit
from ..files.tar_members import is_tar
from ..files.work_units import BLOCK_BYTES, MAX_LINE_BYTES, LineBlock, Unterminated, place_of
from .contamination_evidence import sum_of
from .folded_words import fold_words

PARQUET, JSON_LINES, LINES, FILES = "parquet", "JSON lines", "lines", "files"  # kinds of files
QUESTION, CONTEXT, ANSWER = "question", "context", "answer"  # parts of an item of an evaluation set
# reasons to reject a text
NO_TEXT, TOO_LONG, MALFORMED = "no-text", "line-too-long", "malformed-utf-8"

_MAGIC = b"PAR1"
_HEAD_BYTES = 1 << 12
# approximate size of the rows of a Parquet file that are read at once, as encoded
_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 1 << 12  # maximum number of these rows: repeated texts are encoded once
_ALL_MEMBERS = ("*",)
_SURROGATE = re.compile("[\ud800-\udfff]")
_FIRST_BYTES = 1 << 16  # size of the blocks that are read to see what a file contains
_UNREADABLE = "\n\n"  # in place of a text that is not valid Unicode; compared by identity


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
    part: TextUnit | int  # the index of a row group if the file is a Parquet file


class TextBatch(NamedTuple):
    """Several texts of a file with their ids, and the numbers of rejected texts."""

    ids: list[str]
    texts: list[str]
    rejected: Mapping[str, int] = {}  # reason → number of rejected texts
    # for each text, its part (QUESTION, CONTEXT or ANSWER), and the right answers to a question, one per
    # line; () if the file has no `shape`
    details: Sequence[tuple[str, str]] = ()


def kind_of_file(path: str) -> str:
    """Returns PARQUET, JSON_LINES or LINES, detected from the first bytes of a file.

    Raises InputError if the file is damaged.
    """
    with open_raw(path) as stream:
        if stream.read(len(_MAGIC)) == _MAGIC:
            return PARQUET
    try:
        with open_input(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except DECODE_ERRORS as error:
        raise InputError(path, f"damaged or truncated: {error}") from None
    if b"\0" in head and not is_tar(head):
        raise InputError(path, "not Parquet, JSON lines or UTF-8 text, but UTF-16 or binary data")
    return JSON_LINES if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else LINES


def columns_of_file(path: str, kind: str) -> list[str]:
    """Returns the columns of a Parquet file, or the keys of the first JSON line, depending on `kind`.

    Raises InputError if the file is damaged, or has no line that is short enough to be read.
    """
    if kind == PARQUET:
        with opened(path, PARQUET) as parquet:
            return list(parquet.schema_arrow.names)
    decoder = msgspec.json.Decoder(dict[str, Any])
    number = 0
    for unit in plan_units([path], 1, _ALL_MEMBERS):
        for block in _read_blocks(path, unit, _FIRST_BYTES):
            for line in [b""] if block.is_overlong else lines_of(block.data):
                number += 1
                if not line.strip():
                    continue
                try:
                    return list(_decode_row(decoder, line))
                except (ValueError, RecursionError) as error:
                    raise InputError(path, f"line {number}: not a JSON object: {error}") from None
    raise InputError(path, f"no line has at most {MAX_LINE_BYTES:,} bytes")


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


def _problem_of(file: TextFile) -> str:
    """Returns why a file, or its only wanted column, cannot be read as text; "" if it can."""
    rejected: dict[str, int] = {}
    texts = 0
    for batch in read_texts(file, _FIRST_BYTES):
        rejected = sum_of([rejected, batch.rejected])
        texts += len(batch.texts)
        if any(map(fold_words, batch.texts)):
            if (lost := rejected.get(MALFORMED, 0)) > texts:
                return f"most of its lines are not UTF-8 text: {lost:,} of {lost + texts:,}"
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
    if file.kind == FILES:
        return iter([FilePart(file, 0)])
    return (FilePart(file, unit) for unit in plan_units([file.path], stripes, _ALL_MEMBERS))


def read_part(part: FilePart, block_bytes: int = BLOCK_BYTES) -> Iterator[TextBatch]:
    """Yields the texts of a part, in file order. Raises InputError if the file is damaged.

    `block_bytes` is the maximum size of the lines that are read at once, unless it is a single line.
    """
    file = part.file
    if file.kind == FILES:
        batches = iter([_read_whole(file)])
    elif isinstance(part.part, int):
        batches = _read_row_group(file, part.part)
    else:
        batches = _read_lines(file, part.part, block_bytes)
    return map(_blank_markers, batches, itertools.repeat(file.blank)) if file.blank else batches


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
        return _batch_of([""], [[content.decode("utf-8-sig")]], ())
    except UnicodeDecodeError as error:
        raise InputError(file.path, "not UTF-8", error.start) from None


def _read_blocks(path: str, unit: TextUnit, block_bytes: int) -> Iterator[LineBlock]:
    for event in read_unit(unit, _ALL_MEMBERS, block_bytes):
        if isinstance(event, LineBlock):
            yield event
        elif not isinstance(event, Unterminated):
            raise damage_error(path, *event)


def _read_lines(file: TextFile, unit: TextUnit, block_bytes: int) -> Iterator[TextBatch]:
    decoder = _line_decoder(file) if file.kind == JSON_LINES else None
    for block in _read_blocks(file.path, unit, block_bytes):
        if block.is_overlong:
            yield TextBatch([], [], {TOO_LONG: 1})
            continue
        lines = lines_of(block.data)
        starts = itertools.accumulate((len(line) + 1 for line in lines), initial=0)
        found = (place_of(block, at) for at in itertools.islice(starts, len(lines)))
        places = [f"{member}:{place}" if member else place for member, place in found]
        if decoder:
            yield _decode_lines(file, decoder, lines, places)
        else:
            yield _batch_of(places, [list(map(_decode_text, lines))], ())


def _decode_text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return _UNREADABLE


def _line_decoder(file: TextFile) -> Any:
    """Returns a decoder that extracts the id and the wanted columns from a JSON line."""
    value = str | list[str] | None
    keys = {f"column_{number}": name for number, name in enumerate(file.columns)}
    fields: list[tuple[str, Any, Any]] = [(field, value, None) for field in keys]
    if file.id:
        fields.append(("key", str | int | float | None, None))
        keys["key"] = file.id
    return msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=keys))


def _decode_lines(
    file: TextFile, decoder: Any, lines: Sequence[bytes], places: Sequence[str]
) -> TextBatch:
    ids: list[str] = []
    columns: list[list[str | None]] = [[] for _ in file.columns]
    for line, place in zip(lines, places, strict=True):
        if not line.strip():
            continue
        try:
            row = _decode_row(decoder, line)
        except (ValueError, RecursionError) as error:
            raise InputError(file.path, f"line at byte {place}: {error}") from None
        for number, column in enumerate(columns):
            value = getattr(row, f"column_{number}")
            column.append("\n".join(value) if isinstance(value, list) else value)
        key = row.key if file.id else None
        ids.append(place if key in (None, _UNREADABLE) else str(key))
    return _batch_of(ids, columns, file.columns)


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


def _read_row_group(file: TextFile, number: int) -> Iterator[TextBatch]:
    with opened(file.path, PARQUET) as parquet:
        wanted = list(dict.fromkeys([*file.columns, *([file.id] if file.id else [])]))
        check_columns(file.path, parquet, wanted)
        footer = parquet.metadata
        group = footer.row_group(number)
        rows = group.num_rows * _BATCH_BYTES // max(group.total_byte_size, _BATCH_BYTES)
        rows = min(max(rows, 1), _BATCH_ROWS)
        row = sum(footer.row_group(before).num_rows for before in range(number))
        for batch in parquet.iter_batches(rows, [number], wanted):
            yield _rows_of(file, batch, row)
            row += batch.num_rows


def _rows_of(file: TextFile, batch: pa.RecordBatch, first: int) -> TextBatch:
    columns = []
    for name in file.columns:
        kind = batch.column(name).type
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
    if file.id:
        keys = _values_of(batch.column(file.id))
        ids = [
            str(first + row if key in (None, _UNREADABLE) else key) for row, key in enumerate(keys)
        ]
    else:
        ids = list(map(str, range(first, first + batch.num_rows)))
    return _batch_of(ids, columns, file.columns)


def _values_of(column: pa.Array) -> list[Any]:
    """Returns the values of a column as a list. Texts that are not UTF-8 are replaced by _UNREADABLE.

    Texts are converted by NumPy, which is faster than `to_pylist`.
    """
    try:
        if _is_text(column.type):
            texts: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
            return texts
        values: list[Any] = column.to_pylist()
        return values
    except (pa.ArrowException, UnicodeDecodeError):
        return list(map(_value_of, column))


def _value_of(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _UNREADABLE


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _batch_of(
    ids: Sequence[str], values: Sequence[Sequence[str | None]], columns: Sequence[str]
) -> TextBatch:
    """Returns the texts of some rows. Values that are missing, empty or unreadable are counted as rejected.

    Args:
      ids: the id of each row.
      values: for each column, its values, one for each row.
      columns: the names of the columns.
    """
    if len(columns) > 1:
        ids = [f"{key}/{column}" for key in ids for column in columns]
        values = [list(itertools.chain.from_iterable(zip(*values, strict=True)))]
    (found,) = values
    texts = [text for text in found if text and not text.isspace()]
    lost = len(found) - len(texts)
    unreadable = 0
    if lost:
        ids = list(itertools.compress(ids, ((text or "").strip() for text in found)))
        unreadable = sum(text is _UNREADABLE for text in found)
    rejected = {**_counts(MALFORMED, unreadable), **_counts(NO_TEXT, lost - unreadable)}
    return TextBatch(list(ids), texts, rejected)


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
