from collections.abc import Mapping

import apache_beam as beam

from tests.makers.made_books import make_book
from tests.tools.run_pipeline import run_pipeline
from transforms.books.keep_chosen import KeepChosen
from transforms.records import MeasuredBook, TokenizedBook

MEASURED = [MeasuredBook(make_book(number), 10, 5) for number in (1, 2, 3)]
TOKENIZED = [TokenizedBook(number, "", 1, b"", b"", 9) for number in (2, 3, 4)]


def test_books_are_kept_that_are_chosen() -> None:
    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        measured = root | "Measured" >> beam.Create(MEASURED, reshuffle=False)
        tokenized = root | "Tokenized" >> beam.Create(TOKENIZED, reshuffle=False)
        return {
            "measured": measured | "KeepMeasured" >> KeepChosen(tokenized),
            "tokenized": tokenized | "KeepTokenized" >> KeepChosen(measured),
        }

    kept = run_pipeline(build).elements
    assert sorted(kept["measured"]) == MEASURED[1:]
    assert sorted(kept["tokenized"]) == TOKENIZED[:2]
