import random
from fractions import Fraction
from pathlib import Path

import pytest

from corpusmill.transforms.books.book_overlap import number_book
from corpusmill.transforms.books.select_books import SelectByMinHash, only_book
from corpusmill.transforms.duplicates.similar_documents import DocumentFacts, Sketch
from tests.tools.run_pipeline import run_transform
from tests.transforms.books.sequential_selection import CountedText, select_texts
from tests.transforms.books.test_select_books import measured, mixtures, verdicts_of


@pytest.mark.parametrize("workers", [1, 2])
def test_of_books_of_like_sizes_the_choice_is_the_exact_one(tmp_path: Path, workers: int) -> None:
    books = mixtures(60)
    shuffled = random.Random(workers).sample(books, len(books))
    select = SelectByMinHash(str(tmp_path), "0.5", 8)
    outcome = run_transform(select, measured(tmp_path, shuffled), workers)
    expected, found = select_texts(books, Fraction("0.5"), 8), verdicts_of(outcome)
    assert found.keys() == expected.keys()
    # 24 shares little with each of several larger ones, and none of its places agrees with them all.
    different = {one for one in found if found[one].is_kept != expected[one].is_kept}
    assert different == {24}
    kept = {one.book.book_id for one in outcome.elements["kept"]}
    dropped = {int(one.id) for one in outcome.elements["rejected"]}
    assert kept == {one for one, verdict in found.items() if verdict.is_kept}
    assert kept | dropped == expected.keys()
    assert 5 < len(dropped) < 55
    for one, verdict in found.items():
        assert verdict.ngrams == expected[one].ngrams
        assert sum(ngrams for _, ngrams in verdict.covering) == verdict.covered


def test_nothing_to_choose_from_and_books_without_words(tmp_path: Path) -> None:
    assert run_transform(SelectByMinHash(str(tmp_path)), []).elements == {
        "kept": [],
        "rejected": [],
        "verdicts": [],
    }
    empty = measured(tmp_path, [CountedText(15, 0, ""), CountedText(16, 0, " ")])
    kept = run_transform(SelectByMinHash(str(tmp_path)), empty).elements["kept"]
    assert sorted(kept) == sorted(empty)


def test_a_book_that_is_there_twice_is_named() -> None:
    number = number_book(3, 10)
    sketches = [
        Sketch(number, DocumentFacts(number, name, 0), b"") for name in ("3.txt", "3-0.txt")
    ]
    with pytest.raises(ValueError, match=r"book 3 occurs twice: 3-0\.txt and 3\.txt"):
        only_book((number, sketches))
