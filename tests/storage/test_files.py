"""Files on object stores: whole, named in errors, empty ones too."""

import os
import random

import pytest

from corpusmill.transforms.files import stores
from corpusmill.transforms.files.read_files import (
    InputError,
    checksum_of,
    file_bytes_of,
    hash_input,
    hash_unchanged,
    list_files,
    list_subfolders,
    match_inputs,
    open_input,
    open_raw,
)
from corpusmill.transforms.files.scratch import OBJECT_BYTES, SCRATCH, Scratch, fetch, fetch_text
from corpusmill.transforms.files.stores import (
    Seen,
    StoreError,
    list_below,
    put_if,
    read_object,
    remove_below,
    remove_if,
)
from corpusmill.transforms.files.write_files import HashedFile, write_text
from tests.storage.stores import Store, names_below, read, write

pytestmark = pytest.mark.storage

MEBIBYTE = 1 << 20
OBJECTS = 101  # more than a request to remove some takes
SIZES = [0, 1, 5 * MEBIBYTE, 17 * MEBIBYTE + 3]  # of nothing, of parts, of what is read at once


@pytest.mark.parametrize("size", SIZES)
def test_a_file_comes_back(store: Store, size: int) -> None:
    content = random.Random(size).randbytes(size)
    with HashedFile.in_folder(store.path("build"), f"sub/{size}.bin") as file:
        file.write(content[: size // 2])
        file.write(content[size // 2 :])
    path = store.path("build", "sub", f"{size}.bin")
    with open_raw(path) as stream:
        assert stream.read() == content
    assert file_bytes_of(path) == size
    assert hash_input("a", path).sha256 == file.output_file("", "", "", 0).sha256


def test_a_file_that_is_not_finished_is_not_there(store: Store) -> None:
    def fail() -> None:
        with HashedFile.in_folder(store.path("h"), "a") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names_below(store.path("h")) == []
    with HashedFile.in_folder(store.path("h"), "a") as file:
        file.write(b"whole")
        assert names_below(store.path("h")) == []
    assert read(store.path("h", "a")) == b"whole"


def test_places_are_found_without_reading_all(store: Store) -> None:
    content = random.Random(1).randbytes(3 * MEBIBYTE)
    write(store.path("places.bin"), content)
    with open_raw(store.path("places.bin")) as stream:
        for start in (2_900_000, 5, 1_000_000, 0):
            stream.seek(start)
            assert stream.read(1000) == content[start : start + 1000]
            assert stream.tell() == start + 1000
        assert stream.seek(-7, os.SEEK_END) == len(content) - 7
        assert stream.read() == content[-7:]
        assert stream.read() == b""


def test_patterns(store: Store) -> None:
    for name in ("p/b-2.xml", "p/b-1.xml", "p/c.sql", "p/sub/b-3.xml", "p/folder/"):
        write(store.path(name), b"x")
    expected = [store.path("p/b-1.xml"), store.path("p/b-2.xml")]
    assert match_inputs([store.path("p/b-?.xml"), expected[0]]) == expected
    assert len(match_inputs([store.path("p/**")])) == 4
    with pytest.raises(InputError, match=rf"^{store.bucket}/p/d\*: no such file$"):
        match_inputs([store.path("p/d*")])
    assert list_files(store.path("p", "sub")) == {"b-3.xml": 1}
    assert "sub" in list_subfolders(store.path("p"))


def test_what_cannot_be_read_is_named(store: Store) -> None:
    for path in (store.path("nothing.xml"), f"{store.scheme}://no-such-bucket-here/a.xml"):
        with pytest.raises(InputError, match=f"^{path}: no such file"):
            open_raw(path)
        with pytest.raises(InputError, match=f"^{path}: no such file"):
            open_input(path)
        with pytest.raises(InputError, match=f"^{path}: no such file"):
            file_bytes_of(path)
        with pytest.raises(InputError, match=f"^{path}: no such file"):
            match_inputs([path])


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_without_credentials_it_ends_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    path = store.path("a.xml")
    with pytest.raises(InputError, match=f"^{path}: the store fails: Unable to locate credentials"):
        match_inputs([path])


def test_what_cannot_be_written_is_named(store: Store) -> None:
    path = f"{store.scheme}://no-such-bucket-here/a"
    with pytest.raises(StoreError, match=f"^{path}: no such file or bucket"):
        write_text(f"{store.scheme}://no-such-bucket-here", "a", "text")


def test_an_object_that_goes_while_it_is_read_is_named(store: Store) -> None:
    path = store.path("goes", "goes.bin")
    write(path, bytes(40 * MEBIBYTE))
    stream = open_raw(path)
    stream.read(10)
    remove_below(store.path("goes"))
    stream.seek(39 * MEBIBYTE)
    with pytest.raises(InputError, match=f"^{path}: no such file"):
        stream.read(100)


def test_an_object_that_is_written_anew_while_it_is_read_is_noticed(store: Store) -> None:
    path = store.path("input.xml")
    write(path, b"one")
    checksum = checksum_of(path)
    hash_unchanged("dump", path, 3, checksum)
    write(path, b"two")
    with pytest.raises(InputError, match=f"^{path}: the file is changing"):
        hash_unchanged("dump", path, 3, checksum)
    write(path, b"longer")
    with pytest.raises(InputError, match=f"^{path}, byte 6: the file is changing"):
        hash_unchanged("dump", path, 3, checksum)


def test_the_store_compares_what_it_writes_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.path("puts", "a")

    def put_unaware(content: bytes, seen: str | None) -> str | None:
        """As if another had written right after the object was compared here."""
        with monkeypatch.context() as patch:
            patch.setattr(stores, "read_object", lambda _: seen and Seen(b"", seen))
            return put_if(path, content, seen)

    first = put_unaware(b"1", None)
    assert first
    assert read_object(path) == (b"1", first)
    assert put_unaware(b"2", None) is None
    second = put_unaware(b"2", first)
    assert second
    assert read_object(path) == (b"2", second)
    assert put_unaware(b"3", first) is None
    remove_if(path, first)
    assert read_object(path) == (b"2", second)
    remove_if(path, second)
    assert read_object(path) is None
    assert put_unaware(b"3", second) is None
    assert names_below(store.path("puts")) == []


def test_large_pieces_wait_as_objects_and_small_ones_travel(store: Store) -> None:
    scratch = Scratch(store.path("stage"))
    large = random.Random(2).randbytes(2 * OBJECT_BYTES)
    pieces = [b"", b"@*", b"a\n" * OBJECT_BYTES, large]
    packed = [scratch.put(piece) for piece in pieces]
    assert [fetch(one) for one in packed] == pieces
    assert [one.startswith(b"*") for one in packed] == [False, False, False, True]
    assert len(packed[3]) < 200
    assert len(names_below(store.path("stage", SCRATCH))) == 1
    bounds = [(0, 10), (0, len(large)), (5, len(large))]
    parts = [scratch.part(packed[3], large, *one) for one in bounds]
    assert [fetch(part) for part in parts] == [large[slice(*one)] for one in bounds]
    text = "Київ " * 10
    assert fetch_text(scratch.put_text(text)) == text


def test_a_folder_goes_with_all_below(store: Store) -> None:
    for number in range(OBJECTS):
        write(store.path("go", f"{number % 3}", f"{number}"), b"x")
    write(store.path("go-not", "a"), b"x")
    assert len(list_below(store.path("go"))) == OBJECTS
    remove_below(store.path("go"))
    assert list_below(store.path("go")) == {}
    assert list(list_below(store.path("go-not"))) == ["a"]
    remove_below(store.path("go"))
