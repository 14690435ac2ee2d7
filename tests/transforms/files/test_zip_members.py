import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.packed_files import (
    ZipError,
    is_zip,
    list_zip,
    open_member,
    why_not_unzipped,
)
from corpusmill.transforms.files.records import Reason
from tests.makers.zip_files import pack_zip

FILES = [("cache/84/pg84.txt", b"a line\n" * 1000), ("empty.txt", b""), ("café.txt", b"\xe9\n")]


def read_all(packed: bytes, step: int = 1000) -> list[tuple[str, bytes]]:
    archive = io.BytesIO(packed)
    found = []
    for member in list_zip(archive):
        content = open_member(archive, member)
        parts = []
        while data := content.read(step):
            parts.append(data)
        found.append((member.filename, b"".join(parts)))
    return found


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("is_zip64", [False, True])
@pytest.mark.parametrize("before", [b"", b"#!/bin/sh unzips itself\n"])
def test_contents(method: int, is_zip64: bool, before: bytes) -> None:
    packed = pack_zip(FILES, method, is_zip64=is_zip64)
    assert is_zip(packed)
    assert read_all(before + packed) == FILES


@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-zé]{1,9}\.txt", fullmatch=True), st.binary(max_size=3000)),
        unique_by=lambda file: file[0],
        max_size=4,
    ),
    st.integers(1, 5000),
)
def test_every_content_comes_back(files: list[tuple[str, bytes]], step: int) -> None:
    assert read_all(pack_zip(files), step) == files


def test_an_archive_of_nothing_is_one() -> None:
    packed = io.BytesIO()
    zipfile.ZipFile(packed, "w").close()
    assert is_zip(packed.getvalue())
    assert read_all(packed.getvalue()) == []
    assert not is_zip(b"PK is how this text begins")


@pytest.mark.parametrize("cut", [1, 22, 100])
def test_without_its_end_there_is_no_directory(cut: int) -> None:
    packed = pack_zip(FILES)[:-cut]
    with pytest.raises(ZipError, match="directory at the end of the archive is damaged") as caught:
        list_zip(io.BytesIO(packed))
    assert caught.value.offset == len(packed)


def test_damage_in_a_content_is_an_error_and_the_rest_is_read() -> None:
    packed = bytearray(pack_zip(FILES, zipfile.ZIP_STORED))
    packed[packed.index(b"a line") + 1] ^= 1
    archive = io.BytesIO(bytes(packed))
    first, _, third = list_zip(archive)
    with pytest.raises(DECODE_ERRORS, match=r"Bad CRC-32 for file 'cache/84/pg84\.txt'"):
        open_member(archive, first).read(1 << 20)
    assert open_member(archive, third).read(1 << 20) == FILES[2][1]


def test_a_file_that_is_not_where_the_directory_says() -> None:
    packed = bytearray(pack_zip(FILES))
    start = packed.index(b"PK\x03\x04", 10)
    packed[start] = 0
    archive = io.BytesIO(bytes(packed))
    with pytest.raises(
        ZipError, match=r"pg84\.txt is not at the position that the directory"
    ) as caught:
        open_member(archive, list_zip(archive)[0])
    assert caught.value.offset == start


@pytest.mark.parametrize("start", [-9, 1 << 63])
def test_a_file_at_a_place_that_there_is_not(start: int) -> None:
    archive = io.BytesIO(pack_zip(FILES))
    member = list_zip(archive)[0]
    member.header_offset = start
    with pytest.raises(ZipError, match=r"pg84\.txt is not at the position that the directory"):
        open_member(archive, member)


def test_no_more_is_given_than_the_directory_says() -> None:
    archive = io.BytesIO(pack_zip([("bomb.txt", bytes(1 << 20))]))
    (member,) = list_zip(archive)
    member.file_size = 1000
    content = open_member(archive, member)
    with pytest.raises(DECODE_ERRORS, match="Bad CRC-32"):
        content.read(1 << 21)


def test_what_cannot_be_read_has_a_reason() -> None:
    (member,) = list_zip(io.BytesIO(pack_zip(FILES[:1])))
    assert why_not_unzipped(member) is None
    member.compress_type = 6
    assert why_not_unzipped(member) == Reason(
        "unsupported-compression", "zip method 6 is not supported: repack the archive"
    )
    member.flag_bits |= 1
    assert why_not_unzipped(member) == Reason("encrypted", "cache/84/pg84.txt is encrypted")
