import struct

import google_crc32c
import pytest

from transforms.text.tf_example import encode_example, frame_record


def test_an_example_is_the_protocol_buffer_of_tensorflow() -> None:
    # Example{1: Features{1: entry{1: "id", 2: Feature{1: BytesList{1: "Q1"}}}}}, written out by hand.
    assert encode_example({"id": "Q1"}) == bytes.fromhex(
        "0a0e 0a0c 0a02 6964 1206 0a04 0a02 5131".replace(" ", "")
    )


def test_the_order_of_features_does_not_matter() -> None:
    assert encode_example({"a": "1", "b": "дві"}) == encode_example({"b": "дві", "a": "1"})


@pytest.mark.parametrize("value", [b"Q1", 1, None])
def test_what_is_no_str_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="not str"):
        encode_example({"id": value})  # type: ignore[dict-item]


def test_a_frame_has_length_and_checksums() -> None:
    frame = frame_record(b"data")
    assert frame[:8] == struct.pack("<Q", 4)
    assert frame[12:16] == b"data"
    crc = google_crc32c.value(b"data")
    assert (
        struct.unpack("<I", frame[16:])[0]
        == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    )
