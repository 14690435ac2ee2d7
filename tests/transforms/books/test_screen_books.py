import csv
import pickle
from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.books import screen_books
from corpusmill.transforms.books.publication_dates import BookEvidence, DatedBook, PublicationDate
from corpusmill.transforms.books.simplicity import NotSimple
from corpusmill.transforms.books.text_screening import TooShort, not_english
from corpusmill.transforms.duplicates.similar_documents import DropDuplicates
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Author, Book, MeasuredBook, Reason, Rejected
from corpusmill.transforms.files.scratch import SCRATCH, Scratch, fetch_text
from tests.makers.made_books import book, make_book, make_dated
from tests.tools.real_data import DATA, needs_real_data
from tests.tools.real_gutenberg import read_bodies
from tests.tools.run_pipeline import Outcome, run_transform
from tests.transforms.books.sample_texts import GERMAN, PROSE

TEXTS = ["one two three", "one", "a a a a", "", "b c"]


def reject_b(book: Book, text: str) -> Reason | None:
    return Reason("has-b", book.title) if "b" in text else None


@pytest.fixture
def books(tmp_path: Path) -> list[Book]:
    scratch = Scratch(str(tmp_path))
    return [
        book(f"Title {number}", book_id=number, packed_text=scratch.put_text(text))
        for number, text in enumerate(TEXTS, start=1)
    ]


def test_kept_and_rejected_are_what_was_read(books: list[Book]) -> None:
    outcome = run_transform(screen_books.ScreenBooks(TooShort(2), reject_b), books)
    assert sorted(outcome.elements["kept"]) == [books[0], books[2]]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Title 2", "screen-books", "too-short", "1 words"),
        Rejected("4", "Title 4", "screen-books", "too-short", "0 words"),
        Rejected("5", "Title 5", "screen-books", "has-b", "Title 5"),
    ]
    assert outcome.counters == {"screen-books/too-short": 2, "screen-books/has-b": 1}


def test_a_text_is_fetched_once_for_all_rules(
    books: list[Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[bytes] = []

    def fetch(packed: bytes) -> str:
        fetched.append(packed)
        return fetch_text(packed)

    monkeypatch.setattr(screen_books, "fetch_text", fetch)
    rules = (TooShort(0), TooShort(1), reject_b)
    assert [screen_books.first_reason(rules, one) for one in books[:3]] == [None] * 3
    assert fetched == [one.packed_text for one in books[:3]]


def reject_long_titles(book: Book, _: str) -> Reason | None:
    return Reason("long-title", book.title) if len(book.title) > 5 else None


def test_the_first_rule_that_speaks_against_a_book_decides(tmp_path: Path) -> None:
    rules = pickle.loads(pickle.dumps((reject_long_titles, TooShort(2), not_english)))

    def reason(title: str, text: str) -> Reason | None:
        packed = Scratch(str(tmp_path)).put_text(text)
        return screen_books.first_reason(rules, book(title, packed_text=packed))

    assert reason("Hen", PROSE) is None
    assert reason("Hen", "one") == Reason("too-short", "1 words")
    assert reason("Long title", "one") == Reason("long-title", "Long title")
    german = reason("Hen", GERMAN)
    assert german is not None
    assert german.slug == "not-english"
    assert (
        screen_books.first_reason((), book(packed_text=Scratch(str(tmp_path)).put_text(""))) is None
    )


def test_books_are_measured(books: list[Book]) -> None:
    outcome = run_transform(beam.Map(screen_books.measure_book), books)
    assert sorted(outcome.elements["main"]) == [
        MeasuredBook(books[0], 3, 3),
        MeasuredBook(books[1], 1, 1),
        MeasuredBook(books[2], 4, 1),
        MeasuredBook(books[3], 0, 0),
        MeasuredBook(books[4], 2, 2),
    ]


def test_measured_books_are_screened_as_books(books: list[Book]) -> None:
    measured = [screen_books.measure_book(book) for book in books]
    outcome = run_transform(screen_books.ScreenBooks(TooShort(3)), measured)
    assert sorted(outcome.elements["kept"]) == [measured[0], measured[2]]
    assert outcome.counters == {"screen-books/too-short": 3}


def test_books_that_are_not_simple_are_rejected(books: list[Book]) -> None:
    measured = [screen_books.measure_book(book) for book in books]
    low = ("measure-books", "ratio-too-low")
    outcome = run_transform(screen_books.KeepSimple(NotSimple(min_ratio="0.7"), 5, 9), measured)
    assert [one.book.book_id for one in sorted(outcome.elements["kept"])] == [2, 3, 5]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("1", "Title 1", *low, "L/V^1.35 is 0.680781: 3 tokens, 3 different"),
        Rejected("4", "Title 4", *low, "L/V^1.35 is 0.000000: 0 tokens, 0 different"),
    ]
    assert outcome.counters == {"measure-books/ratio-too-low": 2}


def test_less_simple_books_are_counted_if_they_are_needed(books: list[Book]) -> None:
    measured = [screen_books.measure_book(book) for book in books]
    outcome = run_transform(screen_books.KeepSimple(NotSimple(), 1, 1), measured)
    assert [one.id for one in outcome.elements["rejected"]] == ["4"]
    assert outcome.elements["facts"] == []
    outcome = run_transform(screen_books.KeepSimple(NotSimple(), 2, 5), measured)
    assert outcome.elements["rejected"] == []
    figures = {"as_simple_as_the_paper": 4, "needed": 5}
    assert outcome.elements["facts"] == [("less_simple_books", figures)]


RAIN = "He walked on through the rain, and no lamp was lit in any house.\n" * 40
START = "*** START OF THE PROJECT GUTENBERG EBOOK THE LANTERN ***\n"
BROKEN = "The lan-\ntern was no lantern of the par-\nish.\n"
END = "*** END OF THE PROJECT GUTENBERG EBOOK THE LANTERN ***\n"
CREDIT = "Produced by Jo Marsh and the Distributed Proofreading Team\n\n"
FURNITURE = "CONTENTS\n\nI. The Lamp    1\n\nII. The Wick    9\n\n\n\n\n[Illustration: A lamp]\n\n"
FILES = {
    7: START + CREDIT + FURNITURE + BROKEN + RAIN + END,
    8: START + RAIN,
    9: START + "[Illustration: A lamp]\n" + END,
}


def book_of(folder: Path, book_id: int) -> Book:
    said = {"title": "The Lantern", "subjects": ("Lamps",), "bookshelves": ("Light",)}
    return make_book(book_id, FILES[book_id], folder, **said)


@pytest.mark.parametrize(
    ("furniture", "text", "words"),
    [
        (False, FURNITURE + BROKEN + RAIN, ()),
        (True, BROKEN.replace("-\ntern ", "tern\n") + RAIN, ("joined", "unjoined")),
    ],
    ids=["pg19", "simplebooks"],
)
def test_books_are_stripped_and_files_that_cannot_be_are_rejected(
    tmp_path: Path, furniture: bool, text: str, words: tuple[str, ...]
) -> None:
    books = [book_of(tmp_path, book_id) for book_id in FILES]
    outcome = run_transform(screen_books.StripBooks(str(tmp_path), furniture), books)
    (kept,) = outcome.elements["kept"]
    assert fetch_text(kept.packed_text) == text
    assert kept == books[0]._replace(characters=len(text), packed_text=kept.packed_text)
    too_little = "23 characters"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("8", "The Lantern", "strip-books", "no-end", START.strip()),
        Rejected("9", "The Lantern", "strip-books", "kept-too-little", too_little),
    ]
    assert outcome.counters == {
        f"strip-books/{what}": 1
        for what in ("stripped", "no-end", "kept-too-little", *(f"{one}_words" for one in words))
    }
    assert list((tmp_path / SCRATCH).iterdir())


def test_too_little_may_be_left_when_the_furniture_is_gone() -> None:
    picture = "[Illustration: A lamp, and the clerk who lit it on the stairs]\n\n"
    text = START + picture * 20 + "He slept.\n" + END
    assert screen_books.strip_text(text, furniture=False) == picture * 20 + "He slept.\n"
    assert screen_books.strip_text(text, furniture=True) == Reason(
        "kept-too-little", "10 characters"
    )


OLD = PublicationDate(1897, "imprint", "exact", "1897")
NEW = PublicationDate(1919, "copyright", "exact", "Copyright, 1919, by A. Nobody")
LATE = PublicationDate(1930, "author-death", "bound", "Nobody, A., -1930")
EARLY = PublicationDate(1850, "author-death", "bound", "Nobody, A., -1850")
RELEASED = PublicationDate(1891, "released", "exact", "metadata.csv")


def books_in(folder: Path) -> list[Book]:
    def book(book_id: int, text: str, death_year: int, released_year: int = 0) -> Book:
        authors = (Author("Nobody, A.", 0, death_year),)
        return make_book(book_id, text, folder, authors=authors, released_year=released_year)

    return [
        book(1, "LONDON\nNOBODY & CO.\n1897\n", 0),
        book(2, "Copyright, 1919, by A. Nobody\n", 0),
        book(3, "Once there was.\n", 0),
        book(4, "Once there was.\n", 1930),
        book(5, "Once there was.\n", 1850),
        book(6, "LONDON\nNOBODY & CO.\n1897\n", 0, 1891),
    ]


EVIDENCE = {1: (OLD,), 2: (NEW,), 3: (), 4: (LATE,), 5: (EARLY,), 6: (RELEASED, OLD)}


def date(folder: Path, before: int = 1919, workers: int = 0) -> Outcome:
    return run_transform(screen_books.DateBooks(before), books_in(folder), workers)


def test_books_are_kept_by_their_dates(tmp_path: Path) -> None:
    outcome = date(tmp_path)
    kept = sorted(outcome.elements["kept"])
    assert [(one.book.book_id, one.date) for one in kept] == [(1, OLD), (5, EARLY), (6, RELEASED)]
    assert all(isinstance(one, DatedBook) for one in kept)
    assert all(one.evidence == EVIDENCE[one.book.book_id] for one in kept)
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Tale 2", "date-books", "too-new", "1919 (copyright)"),
        Rejected("3", "Tale 3", "date-books", "undated", ""),
        Rejected("4", "Tale 4", "date-books", "undated", "1930 (author-death)"),
    ]
    assert outcome.counters == {
        "date-books/imprint": 1,
        "date-books/author-death": 1,
        "date-books/released": 1,
        "date-books/too-new": 1,
        "date-books/undated": 2,
    }


def test_the_evidence_is_told_of_every_book(tmp_path: Path) -> None:
    assert sorted(date(tmp_path).elements["evidence"]) == [
        BookEvidence(book_id, f"Tale {book_id}", 1891 if book_id == 6 else 0, evidence)
        for book_id, evidence in EVIDENCE.items()
    ]


def test_the_year_can_be_chosen(tmp_path: Path) -> None:
    outcome = date(tmp_path, before=1897)
    assert sorted(one.book.book_id for one in outcome.elements["kept"]) == [5, 6]
    assert [one.reason for one in sorted(outcome.elements["rejected"])] == [
        *("too-new", "too-new", "undated", "undated")
    ]


def test_books_travel_between_workers(tmp_path: Path) -> None:
    """Through the coders of the runner, and the elements are what they were."""
    one, two = (sorted(date(tmp_path, workers=workers).elements["kept"]) for workers in (0, 2))
    unpacked = [[dated.book._replace(packed_text=b"") for dated in kept] for kept in (one, two)]
    assert unpacked[0] == unpacked[1] != []
    assert [dated[1:] for dated in one] == [dated[1:] for dated in two]
    assert {type(dated) for dated in two} == {DatedBook}


LISTED = [
    BookEvidence(
        90_010, "Hen\tand\nDuck", 0, (PublicationDate(1905, "copyright", "exact", "(c) 1905"),)
    ),
    BookEvidence(90_009, "Duck", 1899, ()),
    BookEvidence(90_011, "Goose", 0, (PublicationDate(1898, "author-death", "bound"),)),
]


def test_books_are_listed_by_their_numbers_and_counted(tmp_path: Path) -> None:
    listed = run_transform(screen_books.ListDates(str(tmp_path)), LISTED).elements
    (file,) = listed["files"]
    assert (tmp_path / file.name).read_text("utf-8").splitlines() == [
        "book_id\ttitle\tyear\tlatest_year\tsource\tconfidence\treleased_year\tevidence\tline",
        "90009\tDuck\t\t\t\t\t1899\t\t",
        "90010\tHen and Duck\t1905\t\tcopyright\texact\t\tcopyright 1905 exact\t(c) 1905",
        "90011\tGoose\t\t1898\tauthor-death\tbound\t\tauthor-death 1898 bound\t",
    ]
    assert listed["facts"] == [
        (
            "dates",
            {
                "dated_by": {"copyright": 1, "nothing": 1},
                "latest_year_by": {"author-death": 1},
                "without_released_years": {"undated": 1},
            },
        )
    ]


def test_words_are_masked_and_counted(tmp_path: Path) -> None:
    books = [
        make_dated(book_id=1, folder=tmp_path, text="Grumble, grumble."),
        make_dated(book_id=2, folder=tmp_path, text="All is well."),
    ]
    outcome = run_transform(screen_books.MaskWords(str(tmp_path), ["grumble"]), books)
    found = {dated.book.book_id: dated for dated in outcome.elements["books"]}
    assert fetch_text(found[1].book.packed_text) == "<DW>, <DW>."
    assert found[1].book.characters == 11
    assert found[1].date == books[0].date
    assert found[2] == books[1]
    assert outcome.elements["facts"] == [("masked_words", 2)]
    assert outcome.counters == {"mask-words/words": 2}


def test_without_a_list_books_stay_as_they_are(tmp_path: Path) -> None:
    books = [make_dated(book_id=1)]
    outcome = run_transform(screen_books.MaskWords(str(tmp_path), []), books)
    assert outcome.elements == {"books": books, "facts": []}


def test_a_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffwug\r\nold  Grumble\r\n\r\n".encode())
    assert screen_books.read_word_list(str(path)) == ("old grumble", "wug")
    for content in (b"", b"--\n", b"\xff\n", b"a" * ((1 << 20) + 1)):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"words\.txt: not a list of words"):
            screen_books.read_word_list(str(path))


PAGE = " ".join(f'"Do number {n}, don\'t!" she said--_twice_.\n' for n in range(60))
CURLY = PAGE.replace('"Do', "“Do").replace('!"', "!”").replace("'", "’").replace("--", "—")
OTHER = " ".join(f"He wrote {n} letters." for n in range(900, 990))


def drop(folder: Path, books: list[Book], threshold: str = "0.8") -> Outcome:
    of_book = screen_books.describe_book, screen_books.text_of_book
    return run_transform(DropDuplicates(str(folder), *of_book, threshold), books)


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
