"""The formats in which a build can write its rows. A format is one entry of FORMATS.

An entry says how files are named, how rows become the content of a file, how the content is counted and read
again, and which builder of Hugging Face `datasets` loads it. Documented in pipelines/docs/formats.md.

TFRecord files of tf.train.Example are written without TensorFlow. The message types are those of
tensorflow/core/example/{feature,example}.proto. The framing is that of
tensorflow/core/lib/io/record_writer.h: length, masked CRC-32C of the length, data, masked CRC-32C of the
data, all little-endian.

The two metadata files that `tfds.builder_from_directory` reads in addition have the structure of
tensorflow_datasets/core/proto/{dataset_info,feature}.proto, as JSON.
"""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import json
import struct
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import google_crc32c
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import zstandard
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from .compression import DECODE_ERRORS, decompressed
from .markup import escape_field, to_line
from .records import OutputFile
from .text import SPLITS, Shard

_PACKAGE = "corpusmill.tf"
_MASK_DELTA = 0xA282EAD8
_LENGTH = 8
_FRAME_HEAD = 12  # bytes: the length and its checksum


def _declare_example() -> Any:
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="corpusmill/example.proto", package=_PACKAGE)
    file.syntax = "proto3"

    def add_field(
        message: Any, name: str, number: int, label: int, kind: int, type_name: str = ""
    ) -> None:
        added = message.field.add(name=name, number=number, label=label, type=kind)
        if type_name:
            added.type_name = f".{_PACKAGE}.{type_name}"

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    add_field(file.message_type.add(name="BytesList"), "value", 1, many, field.TYPE_BYTES)
    add_field(file.message_type.add(name="Int64List"), "value", 1, many, field.TYPE_INT64)
    feature = file.message_type.add(name="Feature")
    add_field(feature, "bytes_list", 1, one, field.TYPE_MESSAGE, "BytesList")
    add_field(feature, "int64_list", 3, one, field.TYPE_MESSAGE, "Int64List")
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    add_field(entry, "key", 1, one, field.TYPE_STRING)
    add_field(entry, "value", 2, one, field.TYPE_MESSAGE, "Feature")
    add_field(features, "feature", 1, many, field.TYPE_MESSAGE, "Features.FeatureEntry")
    example = file.message_type.add(name="Example")
    add_field(example, "features", 1, one, field.TYPE_MESSAGE, "Features")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Example"))


_Example = _declare_example()


def encode_example(features: Mapping[str, str | int]) -> bytes:
    """Returns a serialised tf.train.Example, in which each feature has a text or an integer.

    Equal input gives equal bytes. Raises TypeError for a value of another type, such as bytes.
    """
    example = _Example()
    for name, value in features.items():
        feature = example.features.feature[name]
        if type(value) is str:
            feature.bytes_list.value.append(value.encode("utf-8"))
        elif type(value) is int:
            feature.int64_list.value.append(value)
        else:
            raise TypeError(f"feature {name!r} is {type(value).__name__}, not str or int")
    return bytes(example.SerializeToString(deterministic=True))


def encode_rows(schema: pa.Schema, rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Yields the framed record of each row, whose values are in the order of the schema.

    A missing integer is written as 0, because the features of a record cannot be null. Truth values are 0
    or 1.
    """
    names = schema.names
    # Only integers may be missing, so a column without any value is one of integers.
    is_number = pa.types.is_integer, pa.types.is_boolean, pa.types.is_null
    numbers = [field.name for field in schema if any(one(field.type) for one in is_number)]
    for row in rows:
        features = dict(zip(names, row, strict=True))
        integers = {name: int(features[name] or 0) for name in numbers}
        yield frame_record(encode_example(features | integers))


def frame_record(data: bytes) -> bytes:
    """Returns data in the frame of a TFRecord file: length, checksum, data, checksum."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _masked_crc(length), data, _masked_crc(data)))


def encode_texts(feature: str, texts: Sequence[bytes]) -> bytes:
    """Encodes many texts as framed TFRecord records. Each record is an example with one feature.

    The result is `frame_record(encode_example({feature: text}))` for each text in order, at a tenth of the
    cost: the bytes before a text depend only on its length, and many texts have the same length.

    Args:
      feature: name of the feature.
      texts: texts in UTF-8, which is not checked.
    """
    sizes = list(map(len, texts))
    heads = {size: _record_head(feature, size) for size in set(sizes)}
    before = {size: head for size, (head, _) in heads.items()}
    begun = {size: crc for size, (_, crc) in heads.items()}
    crcs = map(google_crc32c.extend, map(begun.__getitem__, sizes), texts)
    checksums = _mask(np.fromiter(crcs, np.uint32, len(sizes))).astype("<u4").view("V4").tolist()
    records = zip(map(before.__getitem__, sizes), texts, checksums, strict=True)
    return b"".join(itertools.chain.from_iterable(records))


@functools.lru_cache(maxsize=1 << 14)
def _record_head(feature: str, size: int) -> tuple[bytes, int]:
    """Returns the bytes that precede a text of `size` bytes in a record, and a checksum.

    The checksum is that of the beginning of the example, up to the text.
    """
    example = encode_example({feature: "x" * size})
    begun = example[: len(example) - size]
    return frame_record(example)[:_FRAME_HEAD] + begun, google_crc32c.value(begun)


def _mask(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Returns the checksums in the masked form that TFRecord files require, like `_masked_crc`.

    The addition overflows, as it should, since the arithmetic is modulo 2^32.
    """
    rotated = np.bitwise_or(crcs >> np.uint32(15), crcs << np.uint32(17), dtype=np.uint32)
    masked: npt.NDArray[np.uint32] = np.add(rotated, np.uint32(_MASK_DELTA), dtype=np.uint32)
    return masked


def _masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF)


class RecordError(Exception):
    """Raised if a TFRecord file is damaged. `offset` is the first byte of the damaged record."""

    def __init__(self, message: str, offset: int):
        super().__init__(message, offset)
        self.message, self.offset = message, offset


def read_records(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the data of the records of a TFRecord file.

    Raises RecordError if the file is damaged or truncated.
    """
    start = 0
    while head := stream.read(_FRAME_HEAD):
        if len(head) < _FRAME_HEAD:
            raise RecordError("the file is truncated", start)
        if _masked_crc(head[:_LENGTH]) != head[_LENGTH:]:
            raise RecordError("the checksum of a length is wrong", start)
        (size,) = struct.unpack("<Q", head[:_LENGTH])
        data, checksum = stream.read(size), stream.read(_FRAME_HEAD - _LENGTH)
        if len(data) + len(checksum) < size + _FRAME_HEAD - _LENGTH:
            raise RecordError("the file is truncated", start)
        if _masked_crc(data) != checksum:
            raise RecordError("the checksum of a record is wrong", start)
        yield data
        start += size + 2 * _FRAME_HEAD - _LENGTH


def decode_example(data: bytes) -> dict[str, bytes | int | None]:
    """Returns name → value of the features of a serialised tf.train.Example.

    The value is the only one of the feature; None if there are none, or several. Raises ValueError if the
    data are no example.
    """
    try:
        example = _Example.FromString(data)
    except DecodeError:
        raise ValueError("a record is not a tf.train.Example") from None
    found: dict[str, bytes | int | None] = {}
    for name, feature in example.features.feature.items():
        values = [*feature.bytes_list.value, *feature.int64_list.value]
        found[name] = values[0] if len(values) == 1 else None
    return found


_FEATURES = "tensorflow_datasets.core.features"


def features_json(names: Sequence[str], numbers: Collection[str] = ()) -> dict[str, Any]:
    """Returns the content of features.json, which describes the features `names` of a record.

    The features in `numbers` are 32-bit integers. All other features are texts.
    """
    text = {"pythonClassName": f"{_FEATURES}.text_feature.Text", "text": {}}
    number = {
        "pythonClassName": f"{_FEATURES}.tensor_feature.Tensor",
        "tensor": {"shape": {}, "dtype": "int32", "encoding": "none"},
    }
    features = {name: number if name in numbers else text for name in sorted(names)}
    return {
        "pythonClassName": f"{_FEATURES}.features_dict.FeaturesDict",
        "featuresDict": {"features": features},
    }


def dataset_info_json(
    corpus: str,
    edition: str,
    version: str,
    release_notes: Mapping[str, str],
    description: str,
    citation: str,
    outputs: Iterable[OutputFile],
    splits: Sequence[str] = SPLITS,
) -> dict[str, Any]:
    """Returns the content of dataset_info.json: its splits, and the number of records of each shard.

    Args:
      corpus: name of the data set, such as "wiki40b".
      edition: name of its configuration, such as "uk".
      version: version of the data set.
      release_notes: version → what is new in it.
      description: what the data set is.
      citation: the paper to cite, in BibTeX.
      outputs: the files of the build, of which only the TFRecord files are used.
      splits: names of the splits, in order.
    """
    frames = sorted(file for file in outputs if file.format == "tfrecord")
    return {
        "citation": citation,
        "configName": edition,
        "description": description,
        "fileFormat": "tfrecord",
        "name": corpus,
        "releaseNotes": dict(release_notes),
        "splits": [_split_json(split, frames) for split in splits],
        "version": version,
    }


def _split_json(split: str, frames: Iterable[OutputFile]) -> dict[str, Any]:
    files = [file for file in frames if file.split == split]
    return {
        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        "name": split,
        "numBytes": str(sum(file.bytes for file in files)),
        "shardLengths": [str(file.records) for file in files],
    }


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

    from . import formats

    if len(schema) == 1 and pa.types.is_string(schema.types[0]):
        yield formats.encode_texts(schema.names[0], [text.encode("utf-8") for (text,) in rows])
    else:
        yield from formats.encode_rows(schema, rows)


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

    return pq.ParquetWriter(file, schema, compression="zstd", **options)


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
