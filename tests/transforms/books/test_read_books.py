import bz2
import gzip
import pathlib
import random
import tarfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books import read_books
from corpusmill.transforms.books.gather_books import match_books
from corpusmill.transforms.books.read_books import (
    BookUnit,
    ReadBooks,
    plan_units,
    read_unit,
    share_out,
    short_names,
    sizes_of,
)
from corpusmill.transforms.files import work_units
from corpusmill.transforms.files.counters import LostBytes
from corpusmill.transforms.files.packed_files import PackedDamage, PackedFile
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import BookFile, BookHeader, Rejected
from corpusmill.transforms.files.scratch import fetch_text
from corpusmill.transforms.files.text import fingerprint
from tests.makers.tar_files import pack_links, pack_tar
from tests.makers.zip_files import pack_zip
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data
from tests.tools.run_pipeline import Outcome, run_pipeline

Files = Sequence[tuple[str, bytes]]


def book(number: int, text: str = "Où est le café ?") -> bytes:
    head = f"Title: Book {number}\r\n\r\nRelease Date: May, 2001 [EBook #{number}]\r\n\r\n"
    return f"{head}*** START OF THIS PROJECT GUTENBERG EBOOK ***\r\n{text}\r\n".encode()


def text_of(number: int) -> str:
    return book(number).decode().replace("\r\n", "\n")


PAGE = b"<!DOCTYPE html><title>404</title>"
FILES: Files = [
    ("cache/epub/84/pg84.txt", book(84)),
    ("cache/epub/85/pg85.txt", "No head, été.".encode("cp1252")),
    ("cache/epub/86/pg86.txt", PAGE),
    ("cache/epub/86/pg86.html", PAGE),
    ("cache/epub/87/notes.txt", b"A text without a number."),
]
PACK: dict[str, Callable[[Files], bytes]] = {
    "a.zip": pack_zip,
    "a.tar": pack_tar,
    "a.tar.gz": lambda files: gzip.compress(pack_tar(files)),
    "a.tar.bz2": lambda files: bz2.compress(pack_tar(files)),
    "a.tar.zip": lambda files: pack_zip([("a.tar", pack_tar(files))]),
    "a.tgz.tar": lambda files: pack_tar([("a.tgz", gzip.compress(pack_tar(files)))]),
}


def write_file(folder: pathlib.Path, name: str, content: bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def read(folder: pathlib.Path, paths: Sequence[str], *args: Any, **settings: Any) -> Outcome:
    build = folder / "build"
    build.mkdir(exist_ok=True)
    return run_pipeline(lambda root: root | ReadBooks(paths, str(build), *args, **settings))


def unpacked(books: Iterable[BookFile]) -> list[BookFile]:
    return sorted(
        book._replace(packed_text=fetch_text(book.packed_text).encode()) for book in books
    )


@pytest.mark.parametrize("stripes", [1, 3])
@pytest.mark.parametrize("name", PACK)
def test_everything_is_accounted_for(tmp_path: pathlib.Path, name: str, stripes: int) -> None:
    path = write_file(tmp_path, name, PACK[name](FILES))
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", 1):
        outcome = read(tmp_path, [path], stripes)
    inside = f"{name}/cache/epub"
    assert unpacked(outcome.elements["books"]) == [
        BookFile(
            84,
            f"{inside}/84/pg84.txt",
            "utf-8",
            BookHeader(84, "Book 84", release_date="2001-05"),
            len(text_of(84)),
            text_of(84).encode(),
            fingerprint(text_of(84)),
        ),
        BookFile(
            85,
            f"{inside}/85/pg85.txt",
            "cp1252",
            BookHeader(),
            13,
            "No head, été.".encode(),
            fingerprint("No head, été."),
        ),
    ]
    stage = "read-books"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected(f"{inside}/86/pg86.txt", "", stage, "html-page", "404"),
        Rejected(
            f"{inside}/87/notes.txt", "", stage, "no-ebook-number", "A text without a number."
        ),
    ]
    assert outcome.elements["lost"] == []
    assert sum(outcome.elements["files"]) == 4
    assert outcome.counters == {
        "read-books/dump_bytes": sum(sizes_of([path])),
        "read-books/text_bytes": sum(len(data) for name, data in FILES if name.endswith("txt")),
        "read-books/books": 2,
        "read-books/skipped": 1,
        "read-books/html-page": 1,
        "read-books/no-ebook-number": 1,
    }
    assert sum(sizes_of([path])) == pathlib.Path(path).stat().st_size


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_device_in_an_archive_is_rejected(
    tmp_path: pathlib.Path, compress: Callable[[bytes], bytes]
) -> None:
    packed = pack_links([("84.txt", book(84))], [("85.txt", tarfile.CHRTYPE, "")])
    outcome = read(tmp_path, [write_file(tmp_path, "a.tar", compress(packed))])
    assert [book.book_id for book in outcome.elements["books"]] == [84]
    detail = "a character device"
    assert outcome.elements["rejected"] == [
        Rejected("a.tar/85.txt", "", "read-books", "not-a-file", detail)
    ]
    assert sum(outcome.elements["files"]) == 2


def test_single_files_whatever_their_names(tmp_path: pathlib.Path) -> None:
    paths = [
        write_file(tmp_path, "84-0.txt", book(84)),
        write_file(tmp_path, "old/84-0.txt", book(84, "older")),
        write_file(tmp_path, "85", gzip.compress(book(85))),
        write_file(tmp_path, "86.txt.gz", b"Not compressed at all."),
        write_file(tmp_path, "87.txt", b""),
        write_file(tmp_path, "88-h.zip", pack_zip([("88.htm", PAGE)])),
    ]
    outcome = read(tmp_path, paths)
    found = {book.name: book.book_id for book in outcome.elements["books"]}
    parent = tmp_path.name
    assert found == {f"{parent}/84-0.txt": 84, "old/84-0.txt": 84, "85": 85, "86.txt.gz": 86}
    assert [one.reason for one in outcome.elements["rejected"]] == ["empty-file"]
    assert sorted(outcome.elements["files"]) == [0, 1, 1, 1, 1, 1]
    assert outcome.counters["read-books/dump_bytes"] == sum(sizes_of(paths))
    assert outcome.counters["read-books/skipped"] == 1


@pytest.mark.parametrize(("paths", "names"), read_cases("books/read_books", "short_names"))
def test_short_names(paths: list[str], names: list[str]) -> None:
    assert short_names(paths) == names


def test_a_large_archive_is_cut_into_units_and_read_once(tmp_path: pathlib.Path) -> None:
    files = [(f"{number}.txt", book(number)) for number in range(1, 40)]
    for name, pack in (("a.zip", pack_zip), ("a.tar", pack_tar)):
        path = write_file(tmp_path, name, pack(files))
        with mock.patch.object(read_books, "UNIT_BYTES", 600):
            (source,) = share_out([path], 2)
            units = [unit for unit in plan_units(source) if isinstance(unit, BookUnit)]
        assert 5 < len(units) < 39
        assert sum(unit.counted_bytes for unit in units) == source.stored_bytes
        found = [event for unit in units for event in read_unit(unit)]
        assert found == [PackedFile(f"{name}/{member}", content) for member, content in files]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 8), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_books_do_not_depend_on_how_they_are_packed(
    tmp_path_factory: pytest.TempPathFactory, count: int, stripes: int, chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("books")
    files = [(f"{number}.txt", book(number)) for number in range(1, count + 1)]
    cut = chance.randint(0, count)
    paths = [
        write_file(folder, f"{number}{name}", PACK[name](part))
        for number, part in enumerate([files[:cut], files[cut:]])
        for name in [chance.choice([*PACK])]
    ]
    with (
        mock.patch.object(work_units, "MIN_UNIT_BYTES", 1),
        mock.patch.object(read_books, "UNIT_BYTES", chance.choice([1, 500])),
    ):
        units = [unit for source in share_out(paths, stripes) for unit in plan_units(source)]
    assert all(isinstance(unit, BookUnit) for unit in units)
    found = [event for unit in units if isinstance(unit, BookUnit) for event in read_unit(unit)]
    contents = sorted(event.content for event in found if isinstance(event, PackedFile))
    assert contents == sorted(content for _, content in files)
    counted = [unit.counted_bytes for unit in units if isinstance(unit, BookUnit)]
    assert sum(counted) == sum(sizes_of(paths))


GOOD = [("84.txt", book(84)), ("85.txt", book(85))]


def flipped(packed: bytes, at: int) -> bytes:
    return packed[:at] + bytes([packed[at] ^ 0xFF]) + packed[at + 1 :]


BROKEN: dict[str, tuple[bytes, str, list[int]]] = {
    # name of the file: content, what fails, the books that are whole
    "84.txt.gz": (
        gzip.compress(book(84))[:-8],
        rf", byte {len(book(84))}: damaged or truncated",
        [],
    ),
    "a.zip": (
        flipped(pack_zip(GOOD, 0), pack_zip(GOOD, 0).index(b"Title: Book 84")),
        r"/84\.txt, byte \d+: damaged or truncated: Bad CRC-32",
        [85],
    ),
    "cut.zip": (pack_zip(GOOD)[:-30], ", byte 0: the directory at the end of the archive", []),
    "a.tar": (pack_tar(GOOD)[:1800], ", byte [0-9]+: the archive is truncated", [84]),
    "a.tar.gz": (
        gzip.compress(pack_tar(GOOD)[:1800]),
        r", byte 1800: the archive is truncated \(bytes of the archive, decompressed\)",
        [84],
    ),
    "b.tar": (
        pack_tar([("84.txt.gz", gzip.compress(book(84))[:-5]), *GOOD[1:]]),
        r"/84\.txt\.gz, byte \d+: damaged or truncated",
        [85],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damage(tmp_path: pathlib.Path, name: str) -> None:
    content, message, whole = BROKEN[name]
    path = write_file(tmp_path, name, content)
    with pytest.raises(Exception, match=f"InputError: {path}{message}"):
        read(tmp_path, [path])
    outcome = read(tmp_path, [path], on_corrupt="keep-good")
    assert [book.book_id for book in outcome.elements["books"]] == whole
    assert outcome.elements["rejected"] == []
    (lost,) = outcome.elements["lost"]
    assert isinstance(lost, LostBytes)
    assert lost.name.startswith(name)
    assert outcome.counters["read-books/damages"] == 1
    assert sum(outcome.elements["files"]) == len(whole)
    assert outcome.counters["read-books/dump_bytes"] == len(content)


def test_damage_shared_by_stripes_is_told_once(tmp_path: pathlib.Path) -> None:
    path = write_file(tmp_path, "a.tar.gz", gzip.compress(pack_tar(GOOD)[:1800]))
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", 1):
        (source,) = share_out([path], 3)
        units = [unit for unit in plan_units(source) if isinstance(unit, BookUnit)]
    assert len(units) == 3
    found = [event for unit in units for event in read_unit(unit)]
    assert sum(isinstance(event, PackedDamage) for event in found) == 1
    assert sum(isinstance(event, PackedFile) for event in found) == 1


def test_missing_files_are_reported(tmp_path: pathlib.Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        share_out([str(tmp_path / "missing.zip")], 1)


@needs_real_data
def test_real_books_come_the_same_from_files_and_an_archive(tmp_path: pathlib.Path) -> None:
    paths = [path for path in match_books([str(DATA / "gutenberg/books")]) if "/1" in path][:20]
    files = [
        (
            path.rpartition("/")[2].removesuffix(".gz"),
            gzip.decompress(pathlib.Path(path).read_bytes()),
        )
        for path in paths
    ]
    archive = write_file(
        tmp_path, "txt-files.tar.zip", pack_zip([("txt-files.tar", pack_tar(files))])
    )
    alone = unpacked(read(tmp_path, paths).elements["books"])
    together = read(tmp_path, [archive], 2)
    assert len(alone) == len(paths) == sum(together.elements["files"])
    plain = [book._replace(name=book.name.removesuffix(".gz")) for book in alone]
    inside = [
        book._replace(name=book.name.removeprefix("txt-files.tar.zip/"))
        for book in unpacked(together.elements["books"])
    ]
    assert inside == sorted(plain)
    assert together.counters["read-books/dump_bytes"] == sum(sizes_of([archive]))


@pytest.mark.parametrize(
    ("limit", "numbers"), [(1, [84]), (2, [84, 85]), (3, [84, 85, 90]), (9, [84, 85, 90])]
)
@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_of_the_first_books_no_more_are_read(
    tmp_path: pathlib.Path, name: str, limit: int, numbers: list[int]
) -> None:
    paths = [
        write_file(tmp_path, name, PACK[name](FILES)),
        write_file(tmp_path, "pg90.txt", book(90)),
    ]
    outcome = read(tmp_path, paths, 2, limit=limit)
    assert [one[0] for one in outcome.elements["books"]] == numbers
    looked_at = len(outcome.elements["books"]) + len(outcome.elements["rejected"])
    assert sum(outcome.elements["files"]) == looked_at
