import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpusmill.pipelines.book_build import BookBuild, BookInputs, find_books
from corpusmill.transforms.files.read_files import InputError
from tests.makers.book_files import make_book
from tests.transforms.books.test_read_catalog import HEADER


def build_of(inputs: BookInputs) -> BookBuild:
    build = BookBuild()
    build.files = inputs
    return build


BOOK = make_book("The hen sat on the wall.\n", 90_001, "The Hen", "A. Wren")


@pytest.mark.parametrize(
    ("names", "catalog", "date"),
    [
        (["84.txt"], [], "undated"),
        (["x/txt-files-20261101.tar.zip"], ["pg_catalog.csv"], "20261101"),
        (["a-2026-10-31.zip", "b-20260901.zip"], ["c-20261030.csv"], "20261031"),
        (["20010101/84.txt"], [], "undated"),  # a folder's name is none of a file
        (["90001-0.txt", "120261101.txt", "19991399.txt"], [], "undated"),
        (["a.zip"], ["pg_catalog-20250203.csv.gz"], "20250203"),
    ],
)
def test_the_newest_date_in_the_names(names: Sequence[str], catalog: list[str], date: str) -> None:
    assert build_of(BookInputs(names, catalog)).date_of_inputs() == date


def test_roles_are_the_names_of_the_flags() -> None:
    inputs = BookInputs(["b"], ["c"], ["m"], ["w"], ["s"])
    roles = ["books", "catalog", "metadata", "word-list", "split-ids"]
    assert build_of(inputs).inputs() == dict(zip(roles, inputs, strict=True))


def test_files_are_found_by_folder_and_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "mirror" / "9"
    folder.mkdir(parents=True)
    for name in ("90001.txt", "90002-0.txt", "cover.jpg"):
        (folder / name).write_bytes(BOOK)
    (tmp_path / "catalog.csv").write_text(HEADER)
    mirror, tables = [str(tmp_path / "mirror")], [str(tmp_path / "*.csv")]
    inputs = find_books(mirror, "fail", catalog=tables, split_ids=[])
    books = [str(folder / name) for name in ("90001.txt", "90002-0.txt")]
    assert inputs == BookInputs(books, [str(tmp_path / "catalog.csv")], split_ids=[])
    assert build_of(inputs).bytes_to_read(3) == 2 * len(BOOK)


def test_what_is_missing_or_cut_off_is_named(tmp_path: Path) -> None:
    book = tmp_path / "90001.txt"
    book.write_bytes(BOOK)
    with pytest.raises(InputError, match=r"nothing\.csv"):
        find_books([str(book)], "fail", catalog=[], metadata=[str(tmp_path / "nothing.csv")])
    with pytest.raises(InputError, match=r"a\.zip"):
        find_books([str(tmp_path / "a.zip")], "fail", catalog=[])
    cut = tmp_path / "cut.zip"
    cut.write_bytes(b"PK\x03\x04" + gzip.compress(BOOK))
    with pytest.raises(InputError, match=r"cut\.zip"):
        find_books([str(book), str(cut)], "fail", catalog=[])
    kept = find_books([str(book), str(cut)], "keep-good", catalog=[])
    assert kept == BookInputs([str(book), str(cut)], [])
