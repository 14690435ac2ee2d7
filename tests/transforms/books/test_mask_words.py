from pathlib import Path

import pytest

from corpusmill.transforms.books.screen_books import MaskWords, read_word_list
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.scratch import fetch_text
from tests.makers.made_books import make_dated
from tests.tools.run_pipeline import run_transform


def test_words_are_masked_and_counted(tmp_path: Path) -> None:
    books = [
        make_dated(book_id=1, folder=tmp_path, text="Grumble, grumble."),
        make_dated(book_id=2, folder=tmp_path, text="All is well."),
    ]
    outcome = run_transform(MaskWords(str(tmp_path), ["grumble"]), books)
    found = {dated.book.book_id: dated for dated in outcome.elements["books"]}
    assert fetch_text(found[1].book.packed_text) == "<DW>, <DW>."
    assert found[1].book.characters == 11
    assert found[1].date == books[0].date
    assert found[2] == books[1]
    assert outcome.elements["facts"] == [("masked_words", 2)]
    assert outcome.counters == {"mask-words/words": 2}


def test_without_a_list_books_stay_as_they_are(tmp_path: Path) -> None:
    books = [make_dated(book_id=1)]
    outcome = run_transform(MaskWords(str(tmp_path), []), books)
    assert outcome.elements == {"books": books, "facts": []}


def test_a_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffwug\r\nold  Grumble\r\n\r\n".encode())
    assert read_word_list(str(path)) == ("old grumble", "wug")
    for content in (b"", b"--\n", b"\xff\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"words\.txt: not a list of words"):
            read_word_list(str(path))
