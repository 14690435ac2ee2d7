import pickle
from pathlib import Path

import pytest

from corpusmill.transforms.books.screen_books import StripBooks, strip_text
from corpusmill.transforms.files.records import Book, Reason, Rejected
from corpusmill.transforms.files.scratch import SCRATCH, fetch_text
from tests.makers.made_books import make_book
from tests.tools.run_pipeline import run_transform

PROSE = "He walked on through the rain, and no lamp was lit in any house.\n" * 40
START = "*** START OF THE PROJECT GUTENBERG EBOOK THE LANTERN ***\n"
END = "*** END OF THE PROJECT GUTENBERG EBOOK THE LANTERN ***\n"
CREDIT = "Produced by Jo Marsh and the Distributed Proofreading Team\n\n"
FURNITURE = "CONTENTS\n\nI. The Lamp    1\n\nII. The Wick    9\n\n\n\n\n[Illustration: A lamp]\n\n"
FILES = {
    7: START + CREDIT + FURNITURE + PROSE + END,
    8: START + PROSE,
    9: START + "[Illustration: A lamp]\n" + END,
}


def book(folder: Path, book_id: int) -> Book:
    said = {"title": "The Lantern", "subjects": ("Lamps",), "bookshelves": ("Light",)}
    return make_book(book_id, FILES[book_id], folder, **said)


@pytest.mark.parametrize(
    ("furniture", "text"), [(False, FURNITURE + PROSE), (True, PROSE)], ids=["pg19", "simplebooks"]
)
def test_books_are_stripped_and_files_that_cannot_be_are_rejected(
    tmp_path: Path, furniture: bool, text: str
) -> None:
    books = [book(tmp_path, book_id) for book_id in FILES]
    outcome = run_transform(StripBooks(str(tmp_path), furniture), books)
    (kept,) = outcome.elements["kept"]
    assert fetch_text(kept.packed_text) == text
    assert kept == books[0]._replace(characters=len(text), packed_text=kept.packed_text)
    too_little = "23 characters"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("8", "The Lantern", "strip-books", "no-end", START.strip()),
        Rejected("9", "The Lantern", "strip-books", "kept-too-little", too_little),
    ]
    assert outcome.counters == {
        "strip-books/stripped": 1,
        "strip-books/no-end": 1,
        "strip-books/kept-too-little": 1,
    }
    assert list((tmp_path / SCRATCH).iterdir())


def test_too_little_may_be_left_when_the_furniture_is_gone() -> None:
    picture = "[Illustration: A lamp, and the clerk who lit it on the stairs]\n\n"
    text = START + picture * 20 + "He slept.\n" + END
    assert strip_text(text, furniture=False) == picture * 20 + "He slept.\n"
    assert strip_text(text, furniture=True) == Reason("kept-too-little", "10 characters")


def test_it_travels_to_workers(tmp_path: Path) -> None:
    strip = StripBooks(str(tmp_path), furniture=True)
    assert pickle.loads(pickle.dumps(strip)).furniture is True
