"""The formats in which a build can write its rows. A format is one entry of FORMATS.

An entry says how files are named, how rows become the content of a file, how the content is counted and read
again, and which builder of Hugging Face `datasets` loads it. Documented in pipelines/docs/formats.md.
"""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import zstandard

from .compression import DECODE_ERRORS, decompressed
from .markup import escape_field, to_line
from .text import Shard

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

PARQUET, TFRECORD, JSON, TEXT, TABLE = "parquet", "tfrecord", "jsonl", "text", "tsv"
DEFAULT = f"{PARQUET},{TFRECORD}"
GZIP_LEVEL, ZSTD_LEVEL = 6, 3
ROWS_READ = 1 << 16  # rows of JSON lines in a row group
_ROWS_PARSED = 1 << 10  # rows of JSON lines that are Python objects at a time
_READ_BYTES = 1 << 20

Rows = Sequence[Sequence[Any]]  # values in the order of the schema


class Format(NamedTuple):
    """A format of files with rows."""

    files: str  # pattern of the names of files
    encode: Callable[[pa.Schema, Rows, str], Iterable[Any]]
    """Function (schema, rows, column of the text) → pieces to write, in order."""
    wrap: Callable[..., Any] | None = None
    """Function (file, schema, options of ParquetWriter) → writer of pieces; None to write into the file."""
    listed: str = ""  # name in manifests, if it is not the name in FORMATS
    count_lines: Callable[[BinaryIO], int] | None = None
    """Function from a file to the number of its lines; None if it has none."""
    read: Callable[[BinaryIO], pq.ParquetFile] | None = None  # None if commands cannot read it
    is_loadable: bool = False  # whether `datasets.load_dataset` recognises the files by their names

    @property
    def suffix(self) -> str:
        """The end of the names of files, after the numbers."""
        return self.files.rpartition("}")[2]


def _tables(schema: pa.Schema, rows: Rows, _: str) -> Iterator[pa.Table]:
    """Converts the rows of a batch to one table, which becomes a row group of a Parquet file."""
    yield table_of(rows, schema)


def table_of(rows: Rows, schema: pa.Schema) -> pa.Table:
    """Converts rows to a table. The values of a row must be in the order of the schema."""
    import pyarrow as pa  # imported here: help pages name the formats

    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _records(schema: pa.Schema, rows: Rows, _: str) -> Iterator[bytes]:
    import pyarrow as pa

    from . import tfrecord

    if len(schema) == 1 and pa.types.is_string(schema.types[0]):
        yield tfrecord.encode_texts(schema.names[0], [text.encode("utf-8") for (text,) in rows])
    else:
        yield from tfrecord.encode_rows(schema, rows)


def _objects(schema: pa.Schema, rows: Rows, _: str) -> Iterator[bytes]:
    for row in rows:
        named = dict(zip(schema.names, row, strict=True))
        yield json.dumps(named, ensure_ascii=False).encode("utf-8") + b"\n"


def _texts(schema: pa.Schema, rows: Rows, text: str) -> Iterator[bytes]:
    at = schema.names.index(text)
    for row in rows:
        yield escape_field(row[at]).encode("utf-8") + b"\n"


def _cells(_: pa.Schema, rows: Rows, __: str) -> Iterator[bytes]:
    for row in rows:
        yield to_line(row).encode("utf-8")


def _to_parquet(file: BinaryIO, schema: pa.Schema, **options: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(file, schema, **{"compression": "zstd", **options})


def _count_lines(stream: BinaryIO, is_compressed: bool) -> int:
    content = decompressed(stream) if is_compressed else stream
    pieces = iter(functools.partial(content.read, _READ_BYTES), b"")
    return sum(piece.count(b"\n") for piece in pieces)


def _from_parquet(stream: BinaryIO) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(stream)


def _object(line: bytes) -> dict[str, Any]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a line is not an object")
    return row


def _from_json(stream: BinaryIO) -> pq.ParquetFile:
    """Returns JSON lines as a temporary Parquet file. Raises ArrowInvalid if they are damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        objects = map(_object, io.BufferedReader(cast(io.RawIOBase, decompressed(stream))))
        batches = iter(lambda: list(itertools.islice(objects, _ROWS_PARSED)), [])
        tables = [pa.Table.from_pylist(rows) for rows in batches] or [pa.table({})]
        # A column may have no value in a batch.
        table = pa.concat_tables(tables, promote_options="permissive")
        del tables
    except (OverflowError, RecursionError, *DECODE_ERRORS) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise pa.ArrowInvalid(str(error)) from None
    sink = tempfile.TemporaryFile()  # noqa: SIM115 closed with the file that is returned
    options = {"compression": "none", "use_dictionary": False}  # sizes are those of the texts
    try:
        with pq.ParquetWriter(sink, table.schema, **options) as writer:
            if table.num_rows:  # nothing says which columns an empty file has
                writer.write_table(table, ROWS_READ)
        sink.flush()
    except OSError as error:
        if not error.errno:
            raise
        raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from None
    return pq.ParquetFile(sink)


_NUMBERS = "-{shard:05d}-of-{shards:05d}"
_COMPRESSED: Mapping[str, Callable[..., Any] | None] = {
    "": None,
    # The bytes depend neither on the time nor on the name of the file.
    ".gz": lambda file, *_, **__: gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0),
    ".zst": lambda file, *_, **__: zstandard.ZstdCompressor(ZSTD_LEVEL).stream_writer(
        file, closefd=False
    ),
}

FORMATS: Mapping[str, Format] = {
    PARQUET: Format(
        f"{{split}}{_NUMBERS}.parquet",
        _tables,
        _to_parquet,
        read=_from_parquet,
        is_loadable=True,
    ),
    TFRECORD: Format(f"{{corpus}}-{{split}}.tfrecord{_NUMBERS}", _records),
    **{
        kind + end: Format(
            f"{{split}}{_NUMBERS}.{suffix}{end}",
            encode,
            wrap,
            count_lines=functools.partial(_count_lines, is_compressed=bool(end)),
            read=read,
            is_loadable=True,
        )
        for kind, suffix, encode, read in (
            (JSON, "jsonl", _objects, _from_json),
            (TEXT, "txt", _texts, None),
        )
        for end, wrap in _COMPRESSED.items()
    },
    TABLE: Format(f"{{split}}{_NUMBERS}.tsv", _cells, listed=TEXT),
}
"""Name → format. Commands read the first one that a build has."""

CHOICES = tuple(name for name in FORMATS if name != TABLE)
READABLE = tuple(name for name in CHOICES if FORMATS[name].read)


def file_name(kind: str, corpus: str, shard: Shard) -> str:
    """Returns the name of the file of a shard in the format `kind`.

    Examples are "train-00000-of-00016.parquet" and "wiki40b-train.tfrecord-00000-of-00016".
    """
    return FORMATS[kind].files.format(corpus=corpus, **shard._asdict())


def file_pattern(kind: str, corpus: str, split: str) -> str:
    """Returns the pattern of the names of all files of a split, such as "train-*.parquet"."""
    return FORMATS[kind].files.replace(_NUMBERS, "-*").format(corpus=corpus, split=split)


def parse_formats(text: str) -> tuple[str, ...]:
    """Returns the formats in a list with commas. Raises ValueError for unknown or repeated formats."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in CHOICES:
            raise ValueError(f"unknown format {name!r}; the formats are {', '.join(CHOICES)}")
        if names.count(name) > 1:
            raise ValueError(f"the format {name} is named twice")
    return tuple(name for name in CHOICES if name in names)


def formats_in(settings: Mapping[str, Any], default: str = DEFAULT) -> tuple[str, ...]:
    """Returns the formats that the settings of a build name."""
    return parse_formats(settings.get("formats", default))


def formats_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the formats of the rows of a build, given its manifest, in the order of FORMATS.

    Files with the names of an earlier release, such as the text of One Billion Word, do not count.
    """
    found = {file["format"]: file["name"] for file in manifest["outputs"] if file["split"]}
    return tuple(
        one for one in FORMATS if one in found and found[one].endswith(FORMATS[one].suffix)
    )


def readable_format(manifest: Mapping[str, Any]) -> str:
    """Returns the format of the files from which commands read the rows of a build.

    Returns "" if they can read none of its formats. For a build without splits, it is Parquet.
    """
    found = {file["format"] for file in manifest["outputs"] if file["split"]}
    return next((one for one in READABLE if one in found), "" if found & {*CHOICES} else PARQUET)


def loadable_suffix(manifest: Mapping[str, Any]) -> str:
    """Returns the suffix of the files that `datasets.load_dataset` loads from a build; "" if none."""
    splits = [file for file in manifest["outputs"] if file["split"]]
    ours = formats_of(manifest) if splits else [PARQUET]
    return next((FORMATS[one].suffix for one in ours if FORMATS[one].is_loadable), "")
