import bz2
import gzip
import io
import itertools
import lzma
from collections.abc import Callable
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files import compression
from corpusmill.transforms.files.compression import DECODE_ERRORS, codec_of, decompressed, read_some
from tests.makers import compressed
from tests.makers.pieces import Pieces

Compress = Callable[[bytes], bytes]
COMPRESS = {suffix[1:]: compress for suffix, compress in compressed.COMPRESS.items() if suffix}
TEXT = b"".join(b"%d\n" % number**3 for number in range(3000))
OTHER = b"another text\n"

codecs = pytest.mark.parametrize("codec", COMPRESS)


def read_all(stored: bytes, step: int = 1 << 15) -> bytes:
    return b"".join(steps_of(decompressed(io.BytesIO(stored)), step))


def steps_of(source: BinaryIO, step: int) -> list[bytes]:
    return list(iter(lambda: read_some(source, step), b""))


def read_until_error(stored: bytes, step: int = 1 << 15) -> tuple[bytes, Exception | None]:
    source, parts = decompressed(io.BytesIO(stored)), []
    try:
        while data := read_some(source, step):
            parts.append(data)
    except DECODE_ERRORS as error:
        return b"".join(parts), error
    return b"".join(parts), None


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (bz2.compress(TEXT), "bz2"),
        (bz2.compress(TEXT, 1), "bz2"),
        (bz2.compress(b""), "bz2"),
        (gzip.compress(TEXT, mtime=0), "gz"),
        (lzma.compress(TEXT), "xz"),
        (COMPRESS["zst"](TEXT), "zst"),
        (b"\x28\xb5\x2f", ""),
        (b"BZhello there\n", ""),
        (b"BZh", ""),
        (b"BZh0 has no block size\n", ""),
        (b"bzh9\n", ""),
        (b"\x1f", ""),
        (b"7zXZ\n", ""),
        (b"\xfd7zXY\0", ""),
        (b" BZh91AY&SY", ""),
        (b"", ""),
    ],
)
def test_codecs_are_told_by_the_first_bytes(head: bytes, codec: str) -> None:
    stream = io.BytesIO(head)
    stream.read()
    assert codec_of(stream) == codec
    assert stream.tell() == 0


@given(st.text(min_size=1))
def test_no_text_is_taken_for_gz_or_xz(text: str) -> None:
    for beginning in ("", "\x1f", "ý7zXZ\0"):
        assert compression.codec_of_head((beginning + text).encode()) not in ("gz", "xz", "zst")


@pytest.mark.parametrize(("codec", "head_bytes"), [("bz2", 4), ("gz", 2), ("xz", 6), ("zst", 4)])
def test_a_damaged_head_is_an_error_and_no_text(codec: str, head_bytes: int) -> None:
    whole = COMPRESS[codec](TEXT)
    for at in range(head_bytes, 12):
        if codec != "gz" or at in (2, 3, 10, 11):  # between them are a time and a kind of machine
            damaged = whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :]
            assert codec_of(io.BytesIO(damaged)) == codec
            assert read_until_error(damaged)[1] is not None


@codecs
@given(
    contents=st.lists(st.sampled_from([b"", b"x", OTHER, TEXT]), min_size=1, max_size=5),
    step=st.sampled_from([1, 7, 1000, 1 << 15]),
    padding=st.integers(0, 5),
)
def test_streams_in_a_row_are_one_content(
    codec: str, contents: list[bytes], step: int, padding: int
) -> None:
    zeros = {"gz": padding, "xz": padding * 4}.get(codec, 0)
    stored = b"".join(COMPRESS[codec](content) + bytes(zeros) for content in contents)
    assert read_all(stored, step) == b"".join(contents)
    source = decompressed(io.BytesIO(stored))
    assert all(len(part) <= step for part in steps_of(source, step))
    assert read_some(source, step) == b""


@pytest.mark.parametrize("codec", ["bz2", "xz", "zst"])
def test_streams_are_found_wherever_a_piece_of_what_is_stored_ends(codec: str) -> None:
    first, second = COMPRESS[codec](b"first\n"), COMPRESS[codec](b"second\n")
    stored = first + bytes(8 if codec == "xz" else 0) + second
    for size in range(1, len(stored) + 1):
        pieces = [stored[at : at + size] for at in range(0, len(stored), size)]
        source = compression.decompress(Pieces(pieces), codec)
        assert b"".join(steps_of(source, 100)) == b"first\nsecond\n"


@pytest.mark.parametrize("zeros", [4, 8, 8192, 20_000])
def test_an_xz_file_may_be_padded_with_fours_of_zeros(zeros: int) -> None:
    stored = lzma.compress(TEXT) + bytes(zeros)
    assert read_all(stored) == TEXT
    assert read_all(stored + lzma.compress(OTHER)) == TEXT + OTHER
    assert read_all(stored + lzma.compress(OTHER) + bytes(4)) == TEXT + OTHER


@pytest.mark.parametrize("zeros", [1, 6, 8193])
def test_other_padding_of_an_xz_file_is_an_error(zeros: int) -> None:
    for following in (b"", lzma.compress(OTHER)):
        found, error = read_until_error(lzma.compress(TEXT) + bytes(zeros) + following)
        assert found == TEXT
        assert str(error) == f"{zeros} zero bytes follow an xz stream; expected a multiple of four"


def test_padding_of_a_bz2_file_is_an_error() -> None:
    """The blocks of one are read so, too: see bz2_blocks.py."""
    found, error = read_until_error(bz2.compress(TEXT) + bytes(8))
    assert found == TEXT
    assert error is not None


@codecs
@pytest.mark.parametrize("between", [b"junk", b"junk" * 5000, b"<html>", b"\0\0\0\0junk"])
@pytest.mark.parametrize("is_last", [True, False])
def test_what_follows_a_stream_and_begins_none_is_an_error(
    codec: str, between: bytes, is_last: bool
) -> None:
    compress = COMPRESS[codec]
    stored = compress(TEXT) + between + (b"" if is_last else compress(OTHER))
    found, error = read_until_error(stored)
    assert found == TEXT
    assert error is not None


@codecs
def test_no_bit_of_the_head_of_a_second_stream_can_hide_it(codec: str) -> None:
    first, second = COMPRESS[codec](TEXT), COMPRESS[codec](OTHER)
    for at, bit in itertools.product(range(10), range(8)):
        damaged = bytearray(second)
        damaged[at] ^= 1 << bit
        found, error = read_until_error(first + bytes(damaged))
        assert found == TEXT + OTHER if error is None else found.startswith(TEXT)
        # The flags, the time and the machine in a .gz, the block size of a .bz2, and a bit of the descriptor
        # of a .zst that means nothing, may change nothing.
        harmless = {"bz2": (3,), "gz": range(3, 10), "zst": (4,)}.get(codec, ())
        assert error is not None or at in harmless


@codecs
def test_a_file_that_is_cut_off_is_an_error_wherever_it_is_cut(codec: str) -> None:
    first, second = COMPRESS[codec](TEXT), COMPRESS[codec](OTHER)
    for length in range(1, len(second)):
        found, error = read_until_error(first + second[:length])
        assert found.startswith(TEXT)
        assert (TEXT + OTHER).startswith(found)
        assert error is not None
        assert codec == "gz" or "ended before the end-of-stream marker" in str(error)


@codecs
def test_what_comes_before_an_error_is_not_lost(codec: str) -> None:
    stored = COMPRESS[codec](TEXT)[:-1]
    found, error = read_until_error(stored, 100)
    assert found == TEXT
    assert isinstance(error, EOFError)


@codecs
def test_the_content_can_be_buffered(codec: str) -> None:
    stored = COMPRESS[codec](TEXT) + COMPRESS[codec](OTHER)
    source = decompressed(io.BytesIO(stored))
    buffered = io.BufferedReader(source)  # type: ignore[type-var]  # it is raw to mypy alone
    assert buffered.readline() == b"0\n"
    assert buffered.read(4) == b"1\n8\n"
    assert buffered.read() == (TEXT + OTHER)[6:]
    assert decompressed(io.BytesIO(stored)).read() == TEXT + OTHER


def test_what_is_not_compressed_is_given_as_it_is() -> None:
    stream = io.BytesIO(b"BZhello there\n")
    assert decompressed(stream) is stream
    assert read_some(stream, 3) == b"BZh"
