from pathlib import Path

from corpusmill.transforms.books.take_simplest import TokenizeBooks
from corpusmill.transforms.files.records import MeasuredBook, TokenizedBook
from corpusmill.transforms.files.scratch import fetch_text
from tests.makers.made_books import make_book
from tests.tools.run_pipeline import Outcome, run_transform

TEXTS = {
    90_001: "CHAPTER I\n\nThe hen sat\non the wall.\n\n\n“I'm 1,5,” said she—\nand\tslept.\n",
    90_002: "",
    90_003: "It was\xa0Mr. Öhl.\n\nÉlan!",
}
TOKENIZED = {
    90_001: (
        "CHAPTER I\nThe hen sat on the wall.\n“I'm 1,5,” said she—and slept.\n",
        "CHAPTER I\nThe hen sat on the wall .\n“ I 'm 1 @,@ 5 , ” said she — and slept .\n",
        2 + 7 + 14,
    ),
    90_002: ("", "", 0),
    90_003: ("It was Mr. Öhl.\nÉlan!\n", "It was Mr. Öhl .\nÉlan !\n", 5 + 2),
}


def books_in(folder: Path) -> list[MeasuredBook]:
    books = [make_book(book_id, text, folder) for book_id, text in TEXTS.items()]
    return [MeasuredBook(book, 1, 1) for book in books]


def tokenize(folder: Path, style: str = "distinct") -> Outcome:
    return run_transform(TokenizeBooks(str(folder), style), books_in(folder))


def unpack(book: TokenizedBook) -> tuple[str, str, int]:
    return fetch_text(book.packed_raw), fetch_text(book.packed_tokens), book.tokens


def test_books_come_in_both_forms(tmp_path: Path) -> None:
    outcome = tokenize(tmp_path)
    books = outcome.elements["main"]
    assert {book.book_id: unpack(book) for book in books} == TOKENIZED
    assert {book.title for book in books} == {"Tale 90001", "Tale 90002", "Tale 90003"}
    for book in books:
        raw, tokens, count = unpack(book)
        assert raw.count("\n") == tokens.count("\n") == book.paragraphs
        assert len(tokens.split()) == count
    size = sum(len(text.encode()) for text in TEXTS.values())
    assert outcome.counters == {"tokenize-books/books": 3, "tokenize-books/text_bytes": size}


def test_the_style_of_numbers(tmp_path: Path) -> None:
    text = "It cost 1.5.\n"
    measured = MeasuredBook(make_book(7, text, tmp_path), 1, 1)
    for style, tokens in (("distinct", "1 @.@ 5"), ("comma", "1 @,@ 5")):
        (book,) = run_transform(TokenizeBooks(str(tmp_path), style), [measured]).elements["main"]
        assert unpack(book) == (text, f"It cost {tokens} .\n", 6)


def test_nothing_depends_on_workers_or_order(tmp_path: Path) -> None:
    books = books_in(tmp_path)[::-1]
    found = run_transform(TokenizeBooks(str(tmp_path)), books, workers=2).elements["main"]
    assert {book.book_id: unpack(book) for book in found} == TOKENIZED
