from pathlib import Path

import pytest

from corpusmill.transforms.books import book_rows
from corpusmill.transforms.books.book_accounts import place_of
from corpusmill.transforms.books.simplebooks_rows import plan_sizes
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import TokenizedBook
from corpusmill.transforms.files.scratch import Scratch
from tests.tools.run_pipeline import run_transform

BOOKS = [TokenizedBook(number, "", 1, b"", b"", 100 + number) for number in range(1, 13)]


def test_books_are_placed_by_the_plan_for_all() -> None:
    plan = plan_sizes([(book.book_id, book.tokens) for book in BOOKS], 2, 500)
    sized = run_transform(book_rows.AssignSizes(2, 500), BOOKS[::-1]).elements["main"]
    assert sorted(sized) == [book_rows.SizedBook(book, *plan[book.book_id]) for book in BOOKS]
    assert sorted(one.split for one in sized) == ["test"] * 2 + ["train"] * 8 + ["validation"] * 2
    small = [one.book.tokens for one in sized if one.is_small and one.split == "train"]
    assert 0 < sum(small) <= 500


def test_too_few_books_are_an_error_of_the_input() -> None:
    with pytest.raises(InputError, match="4 books are left, but 5 are needed"):
        book_rows.plan_all(2, 500, [(number, 100) for number in range(4)])


FOLDERS = ("simplebooks-2", "simplebooks-2-raw", "simplebooks-92", "simplebooks-92-raw")


def book(folder: Path, book_id: int) -> TokenizedBook:
    scratch = Scratch(str(folder))
    raw = "".join(f"Book {book_id}, line {line}.\n" for line in range(book_id % 10))
    tokens = raw.replace(",", " ,").replace(".", " .")
    return TokenizedBook(
        book_id,
        f"Book {book_id}",
        book_id % 10,
        scratch.put_text(raw),
        scratch.put_text(tokens),
        len(tokens.split()),
    )


def test_the_files_of_the_release(tmp_path: Path) -> None:
    ids = [90_001, 90_002, 90_003, 90_004]
    books = {book_id: book(tmp_path, book_id) for book_id in ids}
    sized = [
        book_rows.SizedBook(books[90_001], "train", True),
        book_rows.SizedBook(books[90_002], "train", False),
        book_rows.SizedBook(books[90_003], "train", True),
        book_rows.SizedBook(books[90_004], "validation", True),
    ]
    outcome = run_transform(book_rows.WriteLayout(str(tmp_path)), sized)
    files = sorted(outcome.elements["files"])
    names = {f"{folder}/{split}.txt" for folder in FOLDERS for split in ("test", "train", "valid")}
    assert {file.name for file in files} == names
    assert {file.split for file in files} == {""}
    in_order = sorted(ids[:3], key=place_of)
    raw = {i: "".join(f"Book {i}, line {line}.\n" for line in range(i % 10)) for i in ids}
    expected = {
        "simplebooks-92-raw/train.txt": "".join(raw[i] for i in in_order),
        "simplebooks-2-raw/train.txt": "".join(raw[i] for i in in_order if i != 90_002),
        "simplebooks-92-raw/valid.txt": raw[90_004],
        "simplebooks-2-raw/valid.txt": raw[90_004],
        "simplebooks-92-raw/test.txt": "",
        "simplebooks-2-raw/test.txt": "",
    }
    for name, text in list(expected.items()):
        expected[name.replace("-raw", "")] = text.replace(",", " ,").replace(".", " .")
    assert {file.name: (tmp_path / file.name).read_text("utf-8") for file in files} == expected
    assert {file.name: file.records for file in files} == {
        name: text.count("\n") for name, text in expected.items()
    }
    places = sorted(outcome.elements["places"])
    lines = (tmp_path / "simplebooks-92-raw/train.txt").read_text("utf-8").splitlines()
    for place in places[:3]:
        own = lines[place.first_line - 1 : place.first_line - 1 + place.lines]
        assert "".join(f"{line}\n" for line in own) == raw[place.book_id]
    assert [place.book_id for place in places] == ids
    assert places[3] == book_rows.Place(90_004, 1, 4)
