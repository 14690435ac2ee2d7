import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.released import MalformedTableError, read_released_lines
from corpusmill.transforms.files.records import ReleasedBook
from tests.tools.real_data import DATA, needs_real_data

LINE = b"%d,Some Title by Ann Roe,1823,http://www.gutenberg.org/ebooks/%d\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_lines(end: bytes) -> None:
    lines = [LINE % (84, 84), '7,"é" \' \x85,1483,http://x/7'.encode() + end]
    assert list(read_released_lines(lines)) == [
        ReleasedBook(84, "Some Title by Ann Roe", 1823, "http://www.gutenberg.org/ebooks/84"),
        ReleasedBook(7, '"é" \' \x85', 1483, "http://x/7"),
    ]


_titles = st.text(st.characters(exclude_characters=",\n\r", codec="utf-8"))


@given(st.integers(1, 10**9), _titles, st.integers(1000, 9999))
def test_reading_is_the_inverse_of_writing(book_id: int, title: str, year: int) -> None:
    book = ReleasedBook(book_id, title, year, f"http://www.gutenberg.org/ebooks/{book_id}")
    assert list(read_released_lines([",".join(map(str, book)).encode() + b"\n"])) == [book]


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
    with pytest.raises(MalformedTableError, match=r"^line 2: expected id,title,year,link"):
        list(read_released_lines([LINE % (1, 1), line]))


def test_text_that_is_not_utf_8() -> None:
    with pytest.raises(MalformedTableError, match=r"^line 1: not UTF-8") as caught:
        list(read_released_lines([b"84,\xe9,1823,http://x/84\n"]))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@needs_real_data
def test_the_real_file() -> None:
    with (DATA / "gutenberg/metadata.csv").open("rb") as lines:
        books = list(read_released_lines(lines))
    assert len(books) == len({book.book_id for book in books}) == 28_752
    assert (min(book.year for book in books), max(book.year for book in books)) == (1483, 1918)
    assert books[0].title == "A Voyage to the Moon by George Tucker"


def test_a_byte_order_mark_is_no_part_of_an_id() -> None:
    line = "\ufeff90001,Hen by Ada Wren,1905,http://www.gutenberg.org/ebooks/90001\r\n".encode()
    assert [book.book_id for book in read_released_lines([line])] == [90_001]
