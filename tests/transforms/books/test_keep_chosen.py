from tests.makers.made_books import make_book
from tests.tools.run_pipeline import run_inputs
from transforms.books.keep_chosen import KeepChosen
from transforms.records import MeasuredBook, TokenizedBook

MEASURED = [MeasuredBook(make_book(number), 10, 5) for number in (1, 2, 3)]
TOKENIZED = [TokenizedBook(number, "", 1, b"", b"", 9) for number in (2, 3, 4)]


def test_books_are_kept_that_are_chosen() -> None:
    for books, chosen, kept in (
        (MEASURED, TOKENIZED, MEASURED[1:]),
        (TOKENIZED, MEASURED, TOKENIZED[:2]),
    ):
        outcome = run_inputs(lambda of, by: of | KeepChosen(by), of=books, by=chosen)
        assert sorted(outcome.elements["main"]) == kept
