import collections
import hashlib
import pickle

import pytest

from corpusmill.transforms.books.released import (
    MalformedTableError,
    read_released_lines,
    read_split_lines,
    released_splits,
)
from tests.tools.real_data import DATA, needs_real_data

# Of data/<split>_files.txt in https://huggingface.co/datasets/deepmind/pg19, revision 4d28bd77e669: a line
# "<split>/<id>.txt" for each book, sorted as text.
SHA256_OF_LIST = {
    "train": "145b5f0896cc2fff3231222874a0f324ee04559144ecf25a873d294eb161719c",
    "validation": "e66d9f76a39a7a73a62270e98395c9532d306ecd2b7a10ae4098dcdd133d179b",
    "test": "c84c08139695f3312df83239a1a41e7b9cde1baf7c08bfcf230ae09eaaf18d8c",
}


def sha256_of_list(split: str, book_ids: list[int]) -> str:
    names = sorted(f"{split}/{book_id}.txt\n" for book_id in book_ids)
    return hashlib.sha256("".join(names).encode()).hexdigest()


@pytest.mark.parametrize(("split", "books"), [("validation", 50), ("test", 100)])
def test_the_ids_are_those_of_the_released_list(split: str, books: int) -> None:
    book_ids = [book_id for book_id, one in released_splits().items() if one == split]
    assert len(book_ids) == books
    assert sha256_of_list(split, book_ids) == SHA256_OF_LIST[split]


@pytest.mark.parametrize(
    ("book_id", "split"), [(10146, "test"), (1022, "validation"), (84, None), (10**9, None)]
)
def test_the_split_of_a_book(book_id: int, split: str | None) -> None:
    assert released_splits().get(book_id) == split


@needs_real_data
def test_all_other_books_of_the_release_are_the_train_split() -> None:
    with (DATA / "gutenberg/metadata.csv").open("rb") as lines:
        book_ids = [book.book_id for book in read_released_lines(lines)]
    splits = collections.defaultdict(list)
    for book_id in book_ids:
        splits[released_splits().get(book_id, "train")].append(book_id)
    assert {split: len(ids) for split, ids in splits.items()} == {
        "train": 28_602,
        "validation": 50,
        "test": 100,
    }
    assert {split: sha256_of_list(split, ids) for split, ids in splits.items()} == SHA256_OF_LIST


@pytest.mark.parametrize(
    "table",
    [
        b"book_id\tsplit\n84\ttest\n7\ttrain\n9\tdev\n",
        b'\xef\xbb\xbftitle,split,book_id\r\n"a,\nb",test,84\r\n\r\nx, train ,7\r\n,valid,9\r\n',
        b"book_id,split\n84,test\n9,validation\n7,train\n84,test\n",
    ],
)
def test_tables(table: bytes) -> None:
    lines = table.splitlines(keepends=True)
    assert read_split_lines(lines) == {84: "test", 7: "train", 9: "validation"}


def test_a_table_without_books() -> None:
    assert read_split_lines([b"book_id,split\n"]) == {}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "line 1: the header must have the columns book_id and split, found []"),
        (b"84,test\n", "line 1: the header must have the columns book_id and split"),
        (b"book_id,split,split\n", "line 1: the header must have the columns book_id and split"),
        (b"book_id,split\n84\n", "line 2: expected 2 fields as in the header, found 1"),
        (b"book_id,split\n84,Test\n", "line 2: split is 'Test'; expected one of train, validation"),
        (b"book_id,split\npg84,test\n", "line 2: book_id must be a positive number, not"),
        (b"book_id,split\n0,test\n", "line 2: book_id must be a positive number, not '0'"),
        (
            b"book_id,split\n84,test\n\n84,dev\n",
            "line 4: book 84 is in validation, but an earlier line has it in test",
        ),
        (b"book_id,split\n\xff,test\n", "line 2: not UTF-8"),
        (b'book_id,split\n84,"test" x\n', "line 2: ',' expected"),
        (b'book_id,split\n84,"test\n', "line 2: unexpected end of data"),
    ],
)
def test_tables_that_cannot_be_understood(table: bytes, message: str) -> None:
    with pytest.raises(MalformedTableError) as caught:
        read_split_lines(table.splitlines(keepends=True))
    assert str(caught.value).startswith(message)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
