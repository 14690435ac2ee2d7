"""Books with <unk> for the words that the vocabulary of their size lacks."""

from pathlib import Path

import pyarrow as pa

from corpusmill.transforms.books.book_rows import SizedBook
from corpusmill.transforms.books.count_book_vocabulary import map_book
from corpusmill.transforms.books.simplebooks_rows import LARGE, SMALL
from corpusmill.transforms.files.records import TokenizedBook
from corpusmill.transforms.files.scratch import Scratch, fetch_text
from corpusmill.transforms.models.word_vocabulary import pack_words


def test_each_size_has_its_own_vocabulary(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    packed = scratch.put_text("the red hen\nthe end .\n")
    large, small = (
        pack_words(pa.array(words, pa.binary()))
        for words in ([b"the", b"hen", b"."], [b"the", b"."])
    )
    book = TokenizedBook(7, "Hen", 2, b"raw", packed, 6)
    mapped = map_book(SizedBook(book, "train", True), scratch, large, small)
    text_in = {size: fetch_text(mapped.in_size(size).packed_tokens) for size in (LARGE, SMALL)}
    assert text_in[LARGE] == "the <unk> hen\nthe <unk> .\n"
    assert text_in[SMALL] == "the <unk> <unk>\nthe <unk> .\n"
    assert mapped.book.packed_raw == b"raw"
    alone = map_book(SizedBook(book, "train", False), scratch, large, small)
    assert alone.packed_small == b""
    assert alone.in_size(SMALL) == alone.book
