"""The miniature Project Gutenberg: what its sources say is in it, is in it, and is as it should be."""

import csv
import gzip
import io
import re
import tarfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from corpusmill.transforms.duplicates.minhash import hash_ngrams, to_plain_words
from tests.makers import book_samples
from tests.makers.book_files import zip_members
from tests.makers.book_samples import ExpectedFile, SampleBook
from tests.tools.pack_samples import SAMPLES
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import read_table

FOLDER = SAMPLES / "gutenberg"
LIBRARY = FOLDER / "library"
BOOKS = {book.number: book for book in book_samples.load_books(FOLDER)}
EXPECTED = book_samples.load_expected(FOLDER)
FILES = book_samples.library_files(FOLDER)
PASSED_OVER = {"old-releases.zip/90023-h.htm"}
CASES = read_table("samples")
MIN_RATIO = 0.24
NGRAM_WORDS = 8


def stored_files() -> Iterator[tuple[str, bytes]]:
    """Yields the files in the library, by path, and those inside archives too."""
    for path in filter(Path.is_file, LIBRARY.rglob("*")):
        name, contents = path.relative_to(LIBRARY).as_posix(), path.read_bytes()
        if path.suffix == ".gz":
            yield name, gzip.decompress(contents)
        elif path.name == "txt-files.tar.zip":
            (tar,) = zip_members(contents).values()
            with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
                for member in archive:
                    text = archive.extractfile(member)
                    assert text is not None
                    yield f"{name}/{member.name}", text.read()
        elif path.suffix == ".zip":
            for member_name, packed in zip_members(contents).items():
                yield f"{name}/{member_name}", packed
        else:
            yield name, contents


def expected_of(number: int) -> ExpectedFile:
    """Returns the expected result for the first file of a book."""
    path = BOOKS[number].table["file"][0]["path"]
    (expected,) = (file for file in EXPECTED if file.path == path)
    return expected


def measured(book: SampleBook) -> bool:
    """Returns True if a book is expected to reach the counting of its words."""
    stage = expected_of(book.number).simplebooks.split("/")[0]
    return stage in {"kept", "measure-books", "select-books"}


def ngrams_of(text: str) -> set[tuple[str, ...]]:
    words = to_plain_words(text).split()
    return {tuple(words[at : at + NGRAM_WORDS]) for at in range(len(words) - NGRAM_WORDS + 1)}


def test_the_library_holds_what_the_sources_give() -> None:
    assert dict(stored_files()) == FILES


def test_each_text_is_of_one_book() -> None:
    numbers = {number for number in BOOKS if "version_of" not in BOOKS[number].table}
    names = [path.stem.partition(" ") for path in (FOLDER / "texts").glob("*.txt")]
    assert {int(number) if number.isdigit() else 0 for number, _, _ in names} == numbers
    assert len(names) == len(numbers) == len(BOOKS) - 1
    for number, _, title in names:
        said = BOOKS[int(number) if number.isdigit() else 0].title
        assert said.casefold().startswith(title.casefold())


def test_numbers_are_none_of_gutenbergs() -> None:
    assert all(number > 90000 for number in BOOKS.keys() - {0})
    assert list(BOOKS)[:-1] == sorted(BOOKS.keys() - {0})


def test_something_is_expected_of_every_file() -> None:
    paths = [file.path for file in EXPECTED]
    assert len(paths) == len(set(paths))
    assert set(paths) == FILES.keys() - PASSED_OVER


def test_everything_that_may_happen_to_a_book_happens() -> None:
    for corpus in ("pg19", "simplebooks"):
        found = Counter(getattr(file, corpus) for file in EXPECTED)
        assert found == CASES["both"] | CASES[corpus]


def test_dates_come_from_many_sources() -> None:
    dated = Counter(file.source for file in EXPECTED if file.source)
    assert sorted(dated) == CASES["sources"]
    for file in EXPECTED:
        assert bool(file.year) == bool(file.source)
        if file.pg19 == "kept":
            assert 1450 < file.year < 1919
    for number, book in BOOKS.items():
        if number and (expected := expected_of(number)).source:
            assert (expected.source == "released") == ("year" in book.table), number
            assert book.table.get("year", expected.year) == expected.year


def test_only_one_book_has_too_many_words_for_its_length() -> None:
    for number, book in BOOKS.items():
        if measured(book):
            words = book.text.split()
            ratio = len(words) / len(set(words)) ** 1.35
            is_expected = expected_of(number).simplebooks == "measure-books/ratio-too-low"
            assert (ratio < MIN_RATIO) == is_expected, number
            assert not MIN_RATIO / 2 < ratio < MIN_RATIO * 1.25, "too near to be sure"


def test_the_choice_by_overlap_is_the_expected_one() -> None:
    """Goes by the rule as the paper tells it: from the largest to the smallest."""
    simple = [
        book
        for number, book in BOOKS.items()
        if measured(book) and "ratio" not in expected_of(number).simplebooks
    ]
    kept: set[tuple[str, ...]] = set()
    for book in sorted(simple, key=lambda book: (-len(book.text.split()), book.number)):
        ngrams = ngrams_of(book.text)
        share = len(ngrams & kept) / len(ngrams)
        verdict = expected_of(book.number).simplebooks
        assert verdict == ("select-books/overlaps" if share >= 0.5 else "kept"), book.number
        if share < 0.5:
            kept |= ngrams
        if book.number == 90016:
            assert 0.35 < share < 0.45
        else:
            assert share < 0.05 or share > 0.9


def test_the_omnibus_holds_its_three_tales() -> None:
    omnibus = ngrams_of(BOOKS[90011].text)
    assert "{" not in BOOKS[90011].text
    for number in (90005, 90008, 90010):
        ngrams = ngrams_of(BOOKS[number].text)
        assert len(ngrams & omnibus) > 0.95 * len(ngrams)
        assert len(ngrams) < len(omnibus)


def test_encodings() -> None:
    assert FILES["90001-0.txt"].startswith(b"\xef\xbb\xbfThe Project Gutenberg eBook")
    assert "Zoë".encode() in FILES["90004-0.txt"]
    assert "Zoë".encode("latin-1") in FILES["90004-8.txt"]
    assert FILES["90004.txt"].isascii()
    assert FILES["90004.txt"].count(b"Zoe") == FILES["90004-8.txt"].count("Zoë".encode("latin-1"))
    assert "“Get up, bear!”".encode("cp1252") in FILES["old-releases.zip/90018-8.txt"]
    assert b"encoding: ISO-8859-1" in FILES["90007-0.txt"]
    assert "“It is cold".encode() in FILES["90007-0.txt"]
    for path, contents in FILES.items():
        if path in {"90003.txt", "90032.txt", *PASSED_OVER}:
            assert b"\r" not in contents
        else:
            assert contents.count(b"\r\n") == contents.count(b"\n") == contents.count(b"\r"), path


@pytest.mark.parametrize(("path", "words"), CASES["words"])
def test_what_files_are_there_for(path: str, words: str) -> None:
    assert FILES[path].decode().count(words) == 1


def test_the_number_of_the_old_file_is_in_its_text_only() -> None:
    assert not re.search(r"\d{5}", "old/flbell10.txt")
    assert b"[Etext #90005]" in FILES["old/flbell10.txt"]
    assert not re.search(rb"#\d", FILES["fable.txt"])


def test_each_offensive_word_is_in_one_book() -> None:
    words = (FOLDER / "offensive-words.txt").read_text("utf-8").split("\n")
    assert words == ["fuddlewick", "snorpish", ""]
    found = {word: [n for n, book in BOOKS.items() if word in book.text] for word in words[:2]}
    assert found == {"fuddlewick": [90006], "snorpish": [90012]}


def test_the_catalogues() -> None:
    table = (FOLDER / "pg_catalog.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert len(rows) == 29
    assert {int(row["Text#"]) for row in rows} < BOOKS.keys()
    assert [row["Text#"] for row in rows if "\n" in row["Title"]] == [
        "90014",
        "90022",
        "90025",
        "90027",
    ]
    assert [row["Text#"] for row in rows if row["Type"] != "Text"] == ["90035"]
    with tarfile.open(FOLDER / "rdf-files.tar.bz2") as archive:
        members = {member.name: archive.extractfile(member) for member in archive}
    assert list(members) == [
        f"cache/epub/{number}/pg{number}.rdf" for number in (90001, 90009, 90020)
    ]
    with tarfile.open(FOLDER / "rdf-files.tar.bz2") as archive:
        file = archive.extractfile("cache/epub/90020/pg90020.rdf")
        assert file is not None
        root = ElementTree.fromstring(file.read())
    assert [year.text for year in root.iter() if year.tag.endswith("}deathdate")] == ["1901"]


def test_released_metadata() -> None:
    rows = [line.split(",") for line in (FOLDER / "metadata.csv").read_text("utf-8").splitlines()]
    assert {len(row) for row in rows} == {4}
    assert rows[0] == [
        "90001",
        "The Little Red Boat by Edith Marrow",
        "1904",
        "http://www.gutenberg.org/ebooks/90001",
    ]
    released = {int(number): int(year) for number, _, year, _ in rows}
    assert released.pop(90099) == 1900
    assert len(released) == 15
    assert released == {
        number: book.table["year"] for number, book in BOOKS.items() if "year" in book.table
    }


def test_a_change_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "gutenberg"
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "1 A.txt").write_text("one one\n", "utf-8")
    (folder / "books.toml").write_text(
        '[[book]]\nid = 2\ntitle = "A"\nauthor = ""\nversion_of = 1\nchanges = [["one", "two"]]\n',
        "utf-8",
    )
    with pytest.raises(ValueError, match="'one' is 2 times in it"):
        book_samples.load_books(folder)


@needs_real_data
def test_no_ten_words_are_those_of_a_real_book() -> None:
    """Of eight words in a row a few are anybody's: "on the other side of the river, and"."""
    texts = [re.sub(r"(?: \.){3,}", "", book.text) for book in BOOKS.values()]  # dots of contents
    ours = numpy.unique(numpy.concatenate([hash_ngrams(text, 10) for text in texts]))
    assert len(ours) > 20_000
    for path in sorted(DATA.glob("gutenberg/books/*.txt.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        shared = numpy.intersect1d(ours, hash_ngrams(text, 10), assume_unique=True)
        assert not len(shared), path.name
