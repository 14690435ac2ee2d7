import bz2
import gzip
import lzma
import pathlib
from unittest import mock

import pytest

from corpusmill.transforms.books import gather_books as checked
from corpusmill.transforms.books.gather_books import check_books, match_books
from corpusmill.transforms.files.read_files import InputError
from tests.makers.tar_files import pack_tar
from tests.makers.zip_files import pack_zip
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.test_read_books import GOOD, PACK, book, write_file


@pytest.mark.parametrize("name", PACK)
def test_whole_archives_are_fine(tmp_path: pathlib.Path, name: str) -> None:
    check_books([write_file(tmp_path, name, PACK[name](GOOD))])


@pytest.mark.parametrize("name", ["84.txt", "84"])
def test_texts_are_fine(tmp_path: pathlib.Path, name: str) -> None:
    empty = write_file(tmp_path, "empty.txt", b"")
    for pack in (bytes, gzip.compress, bz2.compress, lzma.compress):
        check_books([write_file(tmp_path, name, pack(book(84))), empty])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", b"", "a.zip: the file is empty"),
        ("a.tgz", b"", "a.tgz: the file is empty"),
        ("a.zip", pack_zip(GOOD)[:-9], "a.zip, byte [0-9]+: the directory at the end"),
        ("a.tar", pack_tar(GOOD)[:1800], "a.tar, byte 1800: the archive is truncated"),
        (
            "84.txt.bz2",
            bz2.compress(book(84))[:-9],
            "84.txt.bz2, byte [0-9]+: the file ends inside",
        ),
        ("84.txt.xz", lzma.compress(book(84))[:-9], "84.txt.xz, byte [0-9]+: the file ends inside"),
        (
            "84.txt.gz",
            gzip.compress(book(84), mtime=0)[:9],
            "84.txt.gz, byte 0: cannot be decompressed",
        ),
    ],
)
def test_what_is_cut_off(tmp_path: pathlib.Path, name: str, content: bytes, message: str) -> None:
    path = write_file(tmp_path, name, content)
    other = write_file(tmp_path, "85.txt", book(85))
    with pytest.raises(InputError, match=message):
        check_books([path, other])
    if content:
        check_books([path, other], whole=False)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", pack_zip([("84.htm", b"x")])),
        ("a.tar", pack_tar([("84-readme.txt", b"x")])),
        ("84.txt", b"<!doctype html><title>404</title>"),
        ("84.txt", b"\x89PNG" + bytes(range(256))),
        ("84.txt", b" \r\n"),
    ],
)
def test_no_book_anywhere(tmp_path: pathlib.Path, name: str, content: bytes) -> None:
    path = write_file(tmp_path, name, content)
    message = (
        "none of these files is a text, or an archive that contains texts, so none can be a book"
    )
    with pytest.raises(InputError, match=message):
        check_books([path])
    small = write_file(tmp_path, "1.txt", b"A")
    with mock.patch.object(checked, "LOOKED_INTO", 1):
        check_books([path, small])  # not all of them were looked into


def test_a_missing_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        check_books([str(tmp_path / "84.txt")])


def test_folders(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "mirror [1]"
    wanted = [write_file(root, name, b"x") for name in ("8/84-0.txt", "8/old/84.zip", "85.txt.gz")]
    for name in ("8/84.htm", "readme.txt", "x.jpg"):
        write_file(root, name, b"x")
    assert match_books([str(root)]) == match_books([f"{root}/", wanted[0]]) == sorted(wanted)
    picture = f"{root}/x.jpg"
    assert match_books([picture]) == [picture]
    (tmp_path / "empty").mkdir()
    for pattern in (tmp_path / "empty", tmp_path / "none-*"):
        with pytest.raises(InputError):
            match_books([str(pattern)])


@needs_real_data
def test_real_files() -> None:
    paths = match_books([str(DATA / "gutenberg/books"), str(DATA / "gutenberg/oddities")])
    assert len(paths) == 330
    check_books(paths)
