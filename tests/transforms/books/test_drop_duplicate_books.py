import csv
from pathlib import Path

import pytest

from corpusmill.transforms.books.screen_books import DropDuplicateBooks
from corpusmill.transforms.files.records import Book, Rejected
from tests.makers.made_books import make_book
from tests.tools.real_data import DATA, needs_real_data
from tests.tools.real_gutenberg import read_bodies
from tests.tools.run_pipeline import Outcome, run_transform

PAGE = " ".join(f'"Do number {n}, don\'t!" she said--_twice_.\n' for n in range(60))
CURLY = PAGE.replace('"Do', "“Do").replace('!"', "!”").replace("'", "’").replace("--", "—")
OTHER = " ".join(f"He wrote {n} letters." for n in range(900, 990))


def drop(folder: Path, books: list[Book], threshold: str = "0.8") -> Outcome:
    return run_transform(DropDuplicateBooks(str(folder), threshold), books)


def test_the_longest_edition_stays(tmp_path: Path) -> None:
    texts = [PAGE.upper(), CURLY + "The end.", PAGE.replace("_", ""), OTHER, PAGE]
    books = [make_book(number, text, tmp_path) for number, text in enumerate(texts, start=1)]
    outcome = drop(tmp_path, books[::-1])
    assert sorted(outcome.elements["kept"]) == [books[0], books[3]]
    assert sorted(outcome.elements["rejected"]) == [
        rejected(2, "8-gram similarity 0.996 to 1, which stays"),
        rejected(3, "8-gram similarity 1.000 to 1, which stays"),
        rejected(5, "8-gram similarity 1.000 to 1, which stays"),  # as long as 1
    ]
    assert outcome.counters == {"drop-duplicates/near-duplicate": 3}


def rejected(book_id: int, detail: str) -> Rejected:
    return Rejected(str(book_id), f"Tale {book_id}", "drop-duplicates", "near-duplicate", detail)


def test_a_threshold_has_to_make_sense() -> None:
    with pytest.raises(ValueError, match="similarity must be above 0 and below 1, not 0"):
        DropDuplicateBooks("", "0")


@needs_real_data
def test_real_editions_of_a_book_are_found(tmp_path: Path) -> None:
    """All pairs of the list that are small enough for a test; similarities there are those of whole files."""
    listed = [
        (float(row["jaccard_8gram"]), stem(row["a"]), stem(row["b"]))
        for row in csv.DictReader(
            (DATA / "gutenberg" / "near_duplicates.tsv").open(encoding="utf-8"),
            delimiter="\t",
            quoting=csv.QUOTE_NONE,
        )
    ]
    bodies = read_bodies(names=tuple(name for _, *names in listed for name in names))
    names = sorted(name for name, body in bodies.items() if len(body) < 400_000)
    books = [make_book(number, bodies[name], tmp_path) for number, name in enumerate(names)]
    outcome = drop(tmp_path, books, "0.75")
    dropped = {names[int(one.id)] for one in outcome.elements["rejected"]}
    pairs = [(first, second) for listed_as, first, second in listed if listed_as >= 0.8]
    inside = [pair for pair in pairs if set(pair) <= set(names)]
    assert len(inside) > 9
    assert all(dropped & set(pair) for pair in inside)
    assert len(dropped) < len(names) / 2


def stem(path: str) -> str:
    return path.removeprefix("books/").removesuffix(".txt.gz")
