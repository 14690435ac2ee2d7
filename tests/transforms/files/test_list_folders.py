from collections.abc import Iterator
from pathlib import Path

import pytest
from apache_beam.io.filesystem import BeamIOError, FileMetadata

from corpusmill.transforms.files.read_files import (
    InputError,
    check_folder,
    is_local,
    list_files,
    list_subfolders,
)
from tests.tools.error_of import error_of
from tests.tools.object_store import ObjectStore


class FolderStore(ObjectStore):
    """folders://…: with folders, as HDFS has them. A listing is of one folder, which must exist."""

    @classmethod
    def scheme(cls) -> str:
        return "folders"

    def has_dirs(self) -> bool:
        return True

    def exists(self, path: str) -> bool:
        return any(name == path or name.startswith(f"{path}/") for name in self.objects)

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        if not self.exists(dir_or_prefix):
            raise BeamIOError("List operation failed")
        start = f"{dir_or_prefix}/"
        sizes = {}
        for name, content in self.objects.items():
            if name.startswith(start):
                child, _, below = name.removeprefix(start).partition("/")
                sizes[child] = 0 if below else len(content)
        for child, size in sizes.items():
            yield FileMetadata(start + child, size, 0.0)


@pytest.fixture(params=["disk", "store://bucket", "folders://server"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with the file "top" of 3 bytes, and the files "1" and "22" in folders below."""
    files = {"top": b"123", "a/20230501/1": b"1", "a/20230501/22": b"22", "b/c/d/1": b"1"}
    folder = str(tmp_path) if request.param == "disk" else f"{request.param}/dumps"
    monkeypatch.setattr(ObjectStore, "objects", {f"{folder}/{n}": c for n, c in files.items()})
    for name, content in files.items() if request.param == "disk" else ():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return folder


def test_folders_in_a_folder(root: str) -> None:
    assert set(list_subfolders(root)) - {"top"} == {"a", "b"}
    assert list_subfolders(f"{root}/a") == ["20230501"]
    assert list_subfolders(f"{root}/b/c") == ["d"]
    assert list_subfolders(f"{root}/nothing") == []


def test_files_in_a_folder(root: str) -> None:
    assert list_files(f"{root}/a/20230501") == {"1": 1, "22": 2}
    assert list_files(root)["top"] == 3
    assert list_files(f"{root}/nothing") == {}


def test_which_folders_are_local(root: str) -> None:
    assert is_local(root) == ("://" not in root)
    check_folder(root)


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"12")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "alias").symlink_to(tmp_path / "real" / "file")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert list_subfolders(str(tmp_path)) == ["link", "real"]
    assert list_files(str(tmp_path)) == {"alias": 2}
    assert list_files(str(tmp_path / "link")) == {"file": 2}


def test_names_may_hold_what_patterns_are_made_of(tmp_path: Path) -> None:
    (tmp_path / "[a]*").mkdir()
    (tmp_path / "[a]*" / "?").write_bytes(b"1")
    assert list_files(str(tmp_path / "[a]*")) == {"?": 1}


def test_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name, message in (("file", "a file, not a folder"), ("nothing", "no such folder")):
        path = str(tmp_path / name)
        assert error_of(InputError, check_folder, path) == f"{path}: {message}"
        assert list_files(str(tmp_path / name)) == {}
        assert list_subfolders(str(tmp_path / name)) == []


def test_a_folder_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    for listing in (list_files, list_subfolders):
        assert error_of(InputError, listing, str(tmp_path)) == f"{tmp_path}: Permission denied"
