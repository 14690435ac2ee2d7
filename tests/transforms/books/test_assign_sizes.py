import pytest

from corpusmill.transforms.books.book_rows import AssignSizes, SizedBook, plan_all
from corpusmill.transforms.books.simplebooks_rows import plan_sizes
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import TokenizedBook
from tests.tools.run_pipeline import run_transform

BOOKS = [TokenizedBook(number, "", 1, b"", b"", 100 + number) for number in range(1, 13)]


def test_books_are_placed_by_the_plan_for_all() -> None:
    plan = plan_sizes([(book.book_id, book.tokens) for book in BOOKS], 2, 500)
    sized = run_transform(AssignSizes(2, 500), BOOKS[::-1]).elements["main"]
    assert sorted(sized) == [SizedBook(book, *plan[book.book_id]) for book in BOOKS]
    assert sorted(one.split for one in sized) == ["test"] * 2 + ["train"] * 8 + ["validation"] * 2
    small = [one.book.tokens for one in sized if one.is_small and one.split == "train"]
    assert 0 < sum(small) <= 500


def test_too_few_books_are_an_error_of_the_input() -> None:
    with pytest.raises(InputError, match="4 books are left, but 5 are needed"):
        plan_all(None, [(number, 100) for number in range(4)], 2, 500)
