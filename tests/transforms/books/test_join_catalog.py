import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from corpusmill.transforms.books import gather_books
from corpusmill.transforms.books.file_text import choose_file
from corpusmill.transforms.books.gather_books import (
    JoinCatalog,
    choose_entry,
    choose_released,
    join_book,
)
from corpusmill.transforms.files.records import (
    Author,
    Book,
    BookFile,
    BookHeader,
    CatalogEntry,
    Rejected,
    ReleasedBook,
)
from tests.makers.made_books import book
from tests.tools.run_pipeline import Outcome, run_inputs

ANN, JOHN = Author("Roe, Ann", 1797, 1851), Author("Doe, John", role="Translator")


def file_of(book_id: int, name: str = "", header: BookHeader | None = None) -> BookFile:
    known = header or BookHeader(book_id, "Head Title", ("Ann Roe", "John Doe"), ("fr",))
    packed_text = f"@{name or book_id}".encode()
    return BookFile(book_id, name or f"{book_id}.txt", "utf-8", known, 1000 + book_id, packed_text)


def entry_of(book_id: int, kind: str = "Text", title: str = "Title") -> CatalogEntry:
    return CatalogEntry(book_id, kind, title, (ANN, JOHN), ("en",), ("Ice",), ("Shelf",))


def released_of(book_id: int, year: int = 1823) -> ReleasedBook:
    return ReleasedBook(book_id, "Title by Ann Roe", year, f"http://x/{book_id}")


def choose_first_by_name(
    files: Sequence[BookFile],
) -> tuple[BookFile, list[tuple[BookFile, str]]]:
    taken, *others = sorted(files, key=lambda file: file.name)
    return taken, [(other, f"{other.name}: {taken.name} is taken") for other in others]


@pytest.fixture(autouse=True)
def _choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the choice of a file, which is tested elsewhere."""
    monkeypatch.setattr(gather_books, "choose_file", choose_first_by_name)


def join(inputs: Mapping[str, Iterable[Any]]) -> Outcome:
    return run_inputs(lambda **given: given | JoinCatalog(), **inputs)


WHOLE = book("Title", ("en",), ("Ice",), ("Shelf",), 1, b"@1")._replace(
    authors=(ANN, JOHN), released_year=1823, characters=1001
)
BY_HEADER = book("Head Title", ("fr",), (), (), 2, b"@2")._replace(
    authors=(Author("Ann Roe"), Author("John Doe")), characters=1002
)
BARE = BY_HEADER._replace(title="", authors=(), languages=())
PUBLISHED = BookHeader(3, original_publication="London: Roe, 1850")

INPUTS: dict[str, list[Any]] = {
    "books": [
        file_of(1),
        file_of(2),
        file_of(3, "c.txt", PUBLISHED),
        file_of(3, "a.txt", PUBLISHED),
        file_of(3, "b.txt"),
        file_of(4),
        file_of(4, "4-0.txt"),
        file_of(5, header=BookHeader()),
    ],
    "catalog": [
        entry_of(1),
        entry_of(1),
        entry_of(3, title=""),
        entry_of(3, title="Other")._replace(authors=(), subjects=()),
        entry_of(4, "Sound"),
        entry_of(6),
        CatalogEntry(5, "", "", (), (), (), ()),
    ],
    "released": [released_of(1), released_of(1), released_of(2, 1900), released_of(7)],
}
BOOKS = [
    WHOLE,
    BY_HEADER._replace(released_year=1900),
    WHOLE._replace(
        book_id=3,
        name="a.txt",
        title="",
        released_year=0,
        original_publication="London: Roe, 1850",
        characters=1003,
        packed_text=b"@a.txt",
    ),
    BARE._replace(book_id=5, name="5.txt", is_in_catalog=True, characters=1005, packed_text=b"@5"),
]
REJECTED = [
    Rejected("3", "", "choose-file", "other-file-of-book", "b.txt: a.txt is taken"),
    Rejected("3", "", "choose-file", "other-file-of-book", "c.txt: a.txt is taken"),
    Rejected("4", "Title", "choose-file", "not-text", "Sound"),
    Rejected("4", "Title", "choose-file", "other-file-of-book", "4.txt: 4-0.txt is taken"),
]


@pytest.mark.parametrize("seed", range(3))
def test_nothing_depends_on_the_order(seed: int) -> None:
    shuffled = {
        tag: random.Random(seed).sample(elements, len(elements)) for tag, elements in INPUTS.items()
    }
    outcome = join(shuffled)
    assert sorted(outcome.elements["books"]) == BOOKS
    assert sorted(outcome.elements["rejected"]) == REJECTED
    assert len(BOOKS) + len(REJECTED) == len(INPUTS["books"])
    assert outcome.counters == {
        "choose-file/other-file-of-book": 3,
        "choose-file/not-text": 1,
        "join-catalog/books": 4,
        "join-catalog/in-catalog": 3,
        "join-catalog/released": 2,
    }


@pytest.mark.parametrize("seed", range(3))
def test_one_file_of_each_book_is_taken(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_books, "choose_file", choose_file)
    files = [file_of(7, name) for name in ("7-0.txt", "7-8.txt", "7.txt")]
    outcome = join({"books": random.Random(seed).sample(files, 3)})
    (taken,) = outcome.elements["books"]
    assert taken.name in {file.name for file in files}
    assert [one.id for one in outcome.elements["rejected"]] == ["7", "7"]
    assert all(taken.name in one.detail for one in outcome.elements["rejected"])
    assert taken == join_book(choose_file(files)[0], None)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"books": [file_of(2)]}, BY_HEADER),
        ({"books": [file_of(2)], "catalog": [], "released": []}, BY_HEADER),
        (
            {"books": [file_of(2)], "released": [released_of(2)]},
            BY_HEADER._replace(released_year=1823),
        ),
        ({"books": [file_of(1)], "catalog": [entry_of(1)]}, WHOLE._replace(released_year=0)),
    ],
)
def test_inputs_may_be_left_out(inputs: dict[str, list[Any]], expected: Book) -> None:
    outcome = join(inputs)
    assert outcome.elements == {"books": [expected], "rejected": []}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (entry_of(2, title=""), {"title": "Head Title", "authors": (ANN, JOHN)}),
        (entry_of(2)._replace(authors=()), {"title": "Title", "authors": BY_HEADER.authors}),
        (entry_of(2)._replace(languages=()), {"languages": ("fr",), "subjects": ("Ice",)}),
    ],
)
def test_the_header_tells_what_the_catalogue_leaves_open(
    entry: CatalogEntry, expected: Mapping[str, Any]
) -> None:
    joined = join_book(file_of(2), entry)._asdict()
    assert {name: joined[name] for name in expected} == expected
    assert joined["is_in_catalog"] is True


def test_the_entry_that_tells_most_is_chosen() -> None:
    poor = entry_of(1)._replace(subjects=(), title="Zzz")
    rich = entry_of(1)._replace(bookshelves=("A", "B"))
    other = rich._replace(bookshelves=("A", "C"))
    for entries in itertools.permutations([poor, rich, other, rich]):
        assert choose_entry(entries) == other
    assert choose_entry([poor]) == poor
    assert choose_entry([]) is None


def test_the_earliest_release_is_chosen() -> None:
    books = [released_of(1, 1900), released_of(1, 1823), released_of(1, 1823)._replace(title="A")]
    for released in itertools.permutations(books):
        assert choose_released(released) == books[2]
    assert choose_released([]) is None
