import bz2
import errno
import gzip
import io
import lzma
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from corpusmill.transforms.files import read_files
from corpusmill.transforms.files.read_files import (
    InputError,
    _StoredObject,
    file_bytes_of,
    is_there,
    match_inputs,
    open_input,
    open_raw,
)
from tests.tools.error_of import error_of


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".xml", bytes), (".bz2", bz2.compress), (".gz", gzip.compress), (".xz", lzma.compress)],
)
def test_compression_is_undone_whatever_the_name(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    for path in (tmp_path / f"a{suffix}", tmp_path / "a.json.gz"):
        path.write_bytes(compress("Київ\n".encode()) + compress("富士山\n".encode()))
        with open_input(str(path)) as stream:
            assert stream.readline().decode() == "Київ\n"
            assert stream.read() == "富士山\n".encode()
        with open_raw(str(path)) as stream:
            assert stream.read() == path.read_bytes()


def test_patterns_give_each_file_once_sorted_by_name(tmp_path: Path) -> None:
    for name in ("b-2.xml", "b-1.xml", "a 1.xml", "c.sql"):
        (tmp_path / name).touch()
    patterns = [f"{tmp_path}/b-2.xml", f"{tmp_path}/*.xml", f"{tmp_path}/b-?.xml"]
    expected = [str(tmp_path / name) for name in ("a 1.xml", "b-1.xml", "b-2.xml")]
    assert match_inputs(patterns) == match_inputs(patterns[::-1]) == expected
    assert match_inputs([]) == []


def test_patterns_are_taken_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("b-1.xml", "b-2.xml", "sub/b-3.xml"):
        (tmp_path / name).touch()
    assert match_inputs(["b-?.xml"]) == ["b-1.xml", "b-2.xml"]
    assert match_inputs(["b-1.xml", "sub/*"]) == ["b-1.xml", "sub/b-3.xml"]
    assert match_inputs(["*"]) == ["b-1.xml", "b-2.xml"]
    with pytest.raises(InputError, match=r"^c-\*: no such file$"):
        match_inputs(["c-*"])


@pytest.mark.parametrize("name", ["br[ack]et.xml", "what?.xml", "all*.xml"])
def test_a_name_is_no_pattern_where_there_is_such_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"1234")
    assert match_inputs([f"{tmp_path}/{name}"]) == [f"{tmp_path}/{name}"]
    assert file_bytes_of(f"{tmp_path}/{name}") == 4


def test_the_size_of_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone: no such file"):
        file_bytes_of(f"{tmp_path}/gone")


def test_what_a_store_does_not_give_is_not_called_damaged() -> None:
    class Silent(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            raise TimeoutError("timed out")

    with pytest.raises(InputError, match="gs://b/x: the store fails: timed out") as raised:
        _StoredObject("gs://b/x", Silent()).read(1)
    assert pickle.loads(pickle.dumps(raised.value)).is_unread
    assert not InputError("x", "cut off").is_unread


def test_a_file_is_there_or_not_or_the_disk_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    assert is_there(f"{tmp_path}/a")
    assert not is_there(f"{tmp_path}/b")
    assert not is_there(f"{tmp_path}/a/b")

    def fail(_: Path) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(Path, "stat", fail)
    with pytest.raises(OSError, match="Stale file handle"):
        is_there(f"{tmp_path}/a")


@pytest.mark.parametrize("missing", ["x.xml", "*.bz2", "no/such/folder/*.xml"])
def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path, missing: str) -> None:
    (tmp_path / "a.xml").touch()
    patterns = [f"{tmp_path}/*.xml", f"{tmp_path}/{missing}"]
    assert error_of(InputError, match_inputs, patterns) == f"{patterns[1]}: no such file"


def test_a_folder_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "dumps").mkdir()
    (tmp_path / "dumps" / "a.xml").touch()
    with pytest.raises(InputError, match="/dumps: a folder, not a file"):
        match_inputs([f"{tmp_path}/dumps"])
    (tmp_path / "b.xml").touch()
    assert match_inputs([f"{tmp_path}/*"]) == [f"{tmp_path}/b.xml"]


def test_a_pipe_or_a_device_is_no_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "a.xml").touch()
    problem = "not a regular file, but a pipe: copy its content to a file first"
    for pattern in (f"{tmp_path}/pipe.xml", f"{tmp_path}/*.xml"):
        message = error_of(InputError, match_inputs, [pattern])
        assert message == f"{tmp_path}/pipe.xml: {problem}"
    for read in (open_raw, open_input):  # no pipe, which would make the test wait
        message = error_of(InputError, read, "/dev/null")
        assert message.startswith("/dev/null: not a regular file, but a character device")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("a.xml", "cut", 12), "a.xml, byte 12: cut"),
        (InputError("a.xml", "cut", 0), "a.xml, byte 0: cut"),
        (InputError("a.xml", "no such file"), "a.xml: no such file"),
    ],
)
def test_errors_name_the_place_also_when_they_come_from_another_process(
    error: InputError, message: str
) -> None:
    assert str(error) == message
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.path, sent.message, sent.offset) == (
        message,
        error.path,
        error.message,
        error.offset,
    )


def test_a_small_file_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_files, "MAX_SMALL_BYTES", 9)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a" * 10))
    assert "more than 9 bytes" in error_of(InputError, read_files.read_input, str(path))
    assert read_files.read_input(str(path), max_bytes=9) == b"a" * 10
