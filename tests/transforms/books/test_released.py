import collections
import hashlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books import catalog
from corpusmill.transforms.files.records import ReleasedBook
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import read_table

CASES = read_table("released")

LINE = b"%d,Some Title by Ann Roe,1823,http://www.gutenberg.org/ebooks/%d\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_lines(end: bytes) -> None:
    lines = [LINE % (84, 84), '7,"é" \' \x85,1483,http://x/7'.encode() + end]
    assert list(catalog.read_released_lines(lines)) == [
        ReleasedBook(84, "Some Title by Ann Roe", 1823, "http://www.gutenberg.org/ebooks/84"),
        ReleasedBook(7, '"é" \' \x85', 1483, "http://x/7"),
    ]


_titles = st.text(st.characters(exclude_characters=",\n\r", codec="utf-8"))


@given(st.integers(1, 10**9), _titles, st.integers(1000, 9999))
def test_reading_is_the_inverse_of_writing(book_id: int, title: str, year: int) -> None:
    book = ReleasedBook(book_id, title, year, f"http://www.gutenberg.org/ebooks/{book_id}")
    assert list(catalog.read_released_lines([",".join(map(str, book)).encode() + b"\n"])) == [book]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"id,title,year,url\n",
        b"0,T,1823,http://x/0\n",
        b"84,T,1823\n",
        b"84,T, or U,1823,http://x/84\n",
        b"84,T,182,http://x/84\n",
        b"84,T,c1823,http://x/84\n",
        b"84,T,1823,http://x/8\n",
        b"84,T,1823,http://x/184\n",
        b"84,T,1823,http://x/84\n\n",
    ],
)
def test_other_lines(line: bytes) -> None:
    with pytest.raises(catalog.MalformedTableError, match=r"^line 2: expected id,title,year,link"):
        list(catalog.read_released_lines([LINE % (1, 1), line]))


def test_text_that_is_not_utf_8() -> None:
    with pytest.raises(catalog.MalformedTableError, match=r"^line 1: not UTF-8") as caught:
        list(catalog.read_released_lines([b"84,\xe9,1823,http://x/84\n"]))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@needs_real_data
def test_the_real_file() -> None:
    with (DATA / "gutenberg/metadata.csv").open("rb") as lines:
        books = list(catalog.read_released_lines(lines))
    assert len(books) == len({book.book_id for book in books}) == 28_752
    assert (min(book.year for book in books), max(book.year for book in books)) == (1483, 1918)
    assert books[0].title == "A Voyage to the Moon by George Tucker"


def test_a_byte_order_mark_is_no_part_of_an_id() -> None:
    line = "\ufeff90001,Hen by Ada Wren,1905,http://www.gutenberg.org/ebooks/90001\r\n".encode()
    assert [book.book_id for book in catalog.read_released_lines([line])] == [90_001]


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
    book_ids = [book_id for book_id, one in catalog.released_splits().items() if one == split]
    assert len(book_ids) == books
    assert sha256_of_list(split, book_ids) == SHA256_OF_LIST[split]


@pytest.mark.parametrize(
    ("book_id", "split"), [(10146, "test"), (1022, "validation"), (84, None), (10**9, None)]
)
def test_the_split_of_a_book(book_id: int, split: str | None) -> None:
    assert catalog.released_splits().get(book_id) == split


@needs_real_data
def test_all_other_books_of_the_release_are_the_train_split() -> None:
    with (DATA / "gutenberg/metadata.csv").open("rb") as lines:
        book_ids = [book.book_id for book in catalog.read_released_lines(lines)]
    splits = collections.defaultdict(list)
    for book_id in book_ids:
        splits[catalog.released_splits().get(book_id, "train")].append(book_id)
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
    assert catalog.read_split_lines(lines) == {84: "test", 7: "train", 9: "validation"}


def test_a_table_without_books() -> None:
    assert catalog.read_split_lines([b"book_id,split\n"]) == {}


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
    with pytest.raises(catalog.MalformedTableError) as caught:
        catalog.read_split_lines(table.splitlines(keepends=True))
    assert str(caught.value).startswith(message)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(("text", "masked", "count"), CASES["masked"])
def test_whole_words_are_masked(text: str, masked: str, count: int) -> None:
    entries = catalog.read_words(["grumbler", "old mudfoot", "half-wug", "Wug", "ґедзь", "", "wug"])
    assert entries == ("grumbler", "half-wug", "old mudfoot", "wug", "ґедзь")
    assert catalog.mask_words(text, entries) == (masked, count)


@pytest.mark.parametrize("lines", [[], ["", "  "], ["wug", "--"]])
def test_a_list_without_words_is_an_error(lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"no word|no letter"):
        catalog.read_words(lines)


@given(
    st.text(alphabet="ab B\n-'"), st.sets(st.sampled_from(["a", "ab", "b a", "a-b"]), min_size=1)
)
def test_nothing_is_left_to_mask_and_all_else_stays(text: str, entries: set[str]) -> None:
    masked, replaced = catalog.mask_words(text, catalog.read_words(entries))
    assert masked.count(catalog.MARK) == replaced
    again = masked.replace(catalog.MARK, "<<>>")
    assert catalog.mask_words(again, catalog.read_words(entries)) == (again, 0)


def test_a_long_list_takes_no_longer_than_its_first_words() -> None:
    entries = catalog.read_words([f"wug{number} old" for number in range(4_000)] + ["'tis", "wug7"])
    text = "'Tis a wug7 old and a WUG7; wug3999\told. " * 500
    assert catalog.mask_words(text, entries) == ("<DW> a <DW> and a <DW>; <DW>. " * 500, 2000)
