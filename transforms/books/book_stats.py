"""Counts the books, words and characters of a corpus, and defines the order and the schema of its books."""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.white_space import count_words


class BookStats(NamedTuple):
    """The number of books, and the numbers of words, characters, bytes and line feeds in their texts."""

    books: int = 0
    # words separated by white space; word-level perplexity is computed from this number
    words: int = 0
    characters: int = 0  # Unicode code points
    text_bytes: int = 0  # UTF-8
    line_feeds: int = 0  # included in characters


def measure_book(text: str) -> BookStats:
    """Returns the counts for a single book with this text: its words, characters, bytes and line feeds."""
    text_bytes = len(text.encode("utf-8"))
    return BookStats(1, count_words(text), len(text), text_bytes, text.count("\n"))


def add_book_stats(stats: Iterable[BookStats]) -> BookStats:
    """Adds up the counts of several books or groups of books, field by field."""
    return BookStats(*(sum(column) for column in zip(BookStats(), *stats, strict=True)))


def identity_of(book_id: int) -> str:
    """Returns the text that determines the split, the shard and the position of a book: "gutenberg:84"."""
    return f"gutenberg:{book_id}"


def place_of(book_id: int) -> tuple[int, int]:
    """Returns the sort key of a book: its fingerprint, by which books are shuffled, and its id."""
    return fingerprint(identity_of(book_id)), book_id


def book_schema(*texts: str) -> pa.Schema:
    """Returns the schema of a corpus of books: book_id, a 32-bit integer, and a string column for each of
    `texts`.
    """
    names = {"book_id": pa.int32(), **dict.fromkeys(texts, pa.string())}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in names.items()])
