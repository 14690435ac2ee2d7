"""Encodes and reads TFRecord files of tf.train.Example without TensorFlow.

The message types are those of tensorflow/core/example/{feature,example}.proto. The framing is that of
tensorflow/core/lib/io/record_writer.h: length, masked CRC-32C of the length, data, masked CRC-32C of the
data, all little-endian.

The two metadata files that `tfds.builder_from_directory` reads in addition have the structure of
tensorflow_datasets/core/proto/{dataset_info,feature}.proto, as JSON.
"""

import functools
import itertools
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import google_crc32c
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from .compression import DamageError
from .records import OutputFile
from .text import SPLITS

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


class RecordError(DamageError):
    """Raised if a TFRecord file is damaged. `offset` is the first byte of the damaged record."""


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
