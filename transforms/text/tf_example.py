"""TFRecord files of tf.train.Example, without TensorFlow.

The message types are declared here as in tensorflow/core/example/{feature,example}.proto; the framing
is that of tensorflow/core/lib/io/record_writer.h: length, masked CRC-32C of the length, data, masked
CRC-32C of the data, all little-endian.
"""

import struct
from collections.abc import Mapping
from typing import Any

import google_crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "corpusmill.tf"
_MASK_DELTA = 0xA282EAD8


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
    bytes_list = file.message_type.add(name="BytesList")
    add_field(bytes_list, "value", 1, many, field.TYPE_BYTES)
    feature = file.message_type.add(name="Feature")
    add_field(feature, "bytes_list", 1, one, field.TYPE_MESSAGE, "BytesList")
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


def encode_example(features: Mapping[str, str]) -> bytes:
    """A serialised tf.train.Example with one text per feature, the same bytes for the same features.

    Raises TypeError for a value that is no str: the repr of bytes must never become a text.
    """
    example = _Example()
    for name, value in features.items():
        if type(value) is not str:
            raise TypeError(f"feature {name!r} is {type(value).__name__}, not str")
        example.features.feature[name].bytes_list.value.append(value.encode("utf-8"))
    return bytes(example.SerializeToString(deterministic=True))


def frame_record(data: bytes) -> bytes:
    """The record as it stands in a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _masked_crc(length), data, _masked_crc(data)))


def _masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    masked = ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
    return struct.pack("<I", masked)
