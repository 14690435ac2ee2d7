from collections import Counter
from pathlib import Path

import pytest

from corpusmill.transforms.books.book_rows import SizedBook
from corpusmill.transforms.books.count_book_vocabulary import CountSizes, place_in
from corpusmill.transforms.files.records import TokenizedBook
from corpusmill.transforms.files.scratch import Scratch
from tests.tools.run_pipeline import Outcome, run_transform

BOOKS = [
    ("train", True, "the hen sat .\n"),
    ("train", False, "the owl sat .\nthe owl !\n"),
    ("validation", True, "the hen ran .\n"),
    ("test", True, "an owl sat .\n"),
]


@pytest.fixture
def counted(tmp_path: Path) -> Outcome:
    scratch = Scratch(str(tmp_path))
    sized = [
        SizedBook(
            TokenizedBook(
                number, "", text.count("\n"), b"", scratch.put_text(text), len(text.split())
            ),
            split,
            is_small,
        )
        for number, (split, is_small, text) in enumerate(BOOKS, start=1)
    ]
    return run_transform(CountSizes(str(tmp_path), 2, str(tmp_path)), sized)


def test_each_size_has_a_vocabulary_of_its_own(counted: Outcome, tmp_path: Path) -> None:
    files = {file.name: file for file in counted.elements["files"]}
    assert files.keys() == {"vocabulary-92.tsv", "vocabulary-2.tsv"}
    assert (tmp_path / "vocabulary-92.tsv").read_text() == "the\t3\n.\t2\nowl\t2\nsat\t2\n"
    assert (tmp_path / "vocabulary-2.tsv").read_text() == ""  # no word is twice in its one book
    assert [files[name].records for name in sorted(files)] == [0, 4]


def test_each_size_has_figures_of_its_own(counted: Outcome) -> None:
    facts = dict(counted.elements["facts"])
    assert facts.keys() == {"simplebooks-92", "simplebooks-2"}
    large, small = facts["simplebooks-92"]["splits"], facts["simplebooks-2"]["splits"]
    assert (large["train"]["tokens"], small["train"]["tokens"]) == (11, 4)
    assert (large["train"]["out_of_vocabulary"], small["train"]["out_of_vocabulary"]) == (2, 4)
    for split in ("validation", "test"):
        assert large[split]["tokens"] == small[split]["tokens"] == 4
    assert large["test"]["out_of_vocabulary"] == 1
    assert facts["simplebooks-92"]["vocabulary_words"] == 4


def test_all_books_are_in_the_large_size() -> None:
    sized = [
        SizedBook(TokenizedBook(n, "", 1, b"", b"", 1), split, is_small)
        for n, (split, is_small, _) in enumerate(BOOKS)
    ]
    placed = {
        size: Counter(split for one in sized for split, _ in place_in(one, size))
        for size in ("simplebooks-92", "simplebooks-2")
    }
    assert placed["simplebooks-92"] == {"train": 2, "validation": 1, "test": 1}
    assert placed["simplebooks-2"] == {"train": 1, "validation": 1, "test": 1}
