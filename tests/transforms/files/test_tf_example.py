import struct

import google_crc32c
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.files.tfrecord import (
    encode_example,
    encode_rows,
    encode_texts,
    frame_record,
)


def test_an_example_is_the_protocol_buffer_of_tensorflow() -> None:
    # Example{1: Features{1: entry{1: "id", 2: Feature{1: BytesList{1: "Q1"}}}}}, written out by hand.
    assert encode_example({"id": "Q1"}) == bytes.fromhex(
        "0a0e 0a0c 0a02 6964 1206 0a04 0a02 5131".replace(" ", "")
    )


def test_the_order_of_features_does_not_matter() -> None:
    assert encode_example({"a": "1", "b": "дві"}) == encode_example({"b": "дві", "a": "1"})


def test_a_number_is_an_int64_list() -> None:
    # Example{1: Features{1: entry{1: "id", 2: Feature{3: Int64List{1: 84}}}}}, written out by hand.
    assert encode_example({"id": 84}) == bytes.fromhex("0a0d0a0b0a02696412051a030a0154")


@pytest.mark.parametrize("value", [b"Q1", 1.0, True, None])
def test_what_is_no_str_or_int_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="not str or int"):
        encode_example({"id": value})  # type: ignore[dict-item]


def test_a_missing_number_of_a_row_is_zero_and_a_missing_text_is_refused() -> None:
    schema = pa.schema([pa.field("title", pa.string()), pa.field("year", pa.int32())])
    rows = [("Alice", None), ("Emma", 1815)]
    assert list(encode_rows(schema, rows)) == [
        frame_record(encode_example({"title": title, "year": year or 0})) for title, year in rows
    ]
    with pytest.raises(TypeError, match="feature 'title' is NoneType"):
        list(encode_rows(schema, [(None, 1815)]))


def test_a_frame_has_length_and_checksums() -> None:
    frame = frame_record(b"data")
    assert frame[:8] == struct.pack("<Q", 4)
    assert frame[12:16] == b"data"
    crc = google_crc32c.value(b"data")
    assert (
        struct.unpack("<I", frame[16:])[0]
        == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    )


@given(st.text(max_size=20), st.lists(st.text(max_size=200)))
@example("text", [])
@example("text", [""])
@example("text", ["", "a", "", "a"])
@example("text", ["x" * size for size in (100, 115, 116, 117, 118, 119, 120, 126, 127, 128)])
@example("text", ["x" * size for size in (16_370, 16_383, 16_384, 2_097_152)])  # longer varints
@example("text", ["дві\0\r富士山", "x", "富士山"])
def test_texts_are_encoded_as_examples_are(feature: str, texts: list[str]) -> None:
    one_by_one = b"".join(frame_record(encode_example({feature: text})) for text in texts)
    assert encode_texts(feature, [text.encode("utf-8") for text in texts]) == one_by_one
