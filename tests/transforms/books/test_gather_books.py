import bz2
import gzip
import itertools
import lzma
import pathlib
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from corpusmill.transforms.books import gather_books as checked
from corpusmill.transforms.books.gather_books import (
    GatherBooks,
    JoinCatalog,
    check_books,
    choose_entry,
    choose_released,
    join_book,
    match_books,
)
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import (
    Author,
    Book,
    BookFile,
    BookHeader,
    CatalogEntry,
    Rejected,
    ReleasedBook,
)
from corpusmill.transforms.files.scratch import fetch_text
from tests.makers import made_books
from tests.makers.book_files import CatalogRow, catalog_csv, make_book, tar_bz2_file
from tests.makers.made_books import book
from tests.makers.tar_files import pack_tar
from tests.makers.zip_files import pack_zip
from tests.tools.real_data import DATA, needs_real_data
from tests.tools.run_pipeline import Outcome, run_inputs, run_pipeline
from tests.transforms.books.test_read_books import GOOD, PACK, write_file
from tests.transforms.books.test_read_books import book as book_file
from tests.transforms.books.test_read_catalog import ENTRIES, document_of


@pytest.mark.parametrize("name", PACK)
def test_whole_archives_are_fine(tmp_path: pathlib.Path, name: str) -> None:
    check_books([write_file(tmp_path, name, PACK[name](GOOD))])


def test_texts_are_fine(tmp_path: pathlib.Path) -> None:
    empty = write_file(tmp_path, "empty.txt", b"")
    for name in ("84.txt", "84"):
        for pack in (bytes, gzip.compress, bz2.compress, lzma.compress):
            check_books([write_file(tmp_path, name, pack(book_file(84))), empty])


ENDS_INSIDE = r"84\.txt\.(bz2|xz), byte [0-9]+: the file ends inside"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", b"", "a.zip: the file is empty"),
        ("a.tgz", b"", "a.tgz: the file is empty"),
        ("a.zip", pack_zip(GOOD)[:-9], "a.zip, byte [0-9]+: the directory at the end"),
        ("a.tar", pack_tar(GOOD)[:1800], "a.tar, byte 1800: the archive is truncated"),
        ("84.txt.bz2", bz2.compress(book_file(84))[:-9], ENDS_INSIDE),
        ("84.txt.xz", lzma.compress(book_file(84))[:-9], ENDS_INSIDE),
        (
            "84.txt.gz",
            gzip.compress(book_file(84), mtime=0)[:9],
            "84.txt.gz, byte 0: cannot be decompressed",
        ),
    ],
)
def test_what_is_cut_off(tmp_path: pathlib.Path, name: str, content: bytes, message: str) -> None:
    path = write_file(tmp_path, name, content)
    other = write_file(tmp_path, "85.txt", book_file(85))
    with pytest.raises(InputError, match=message):
        check_books([path, other])
    if content:
        check_books([path, other], whole=False)
    with pytest.raises(InputError, match="no such file"):
        check_books([str(tmp_path / "missing.txt")])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", pack_zip([("84.htm", b"x")])),
        ("a.tar", pack_tar([("84-readme.txt", b"x")])),
        ("84.txt", b"<!doctype html><title>404</title>"),
        ("84.txt", b"\x89PNG" + bytes(range(256))),
        ("84.txt", b" \r\n"),
    ],
)
def test_no_book_anywhere(tmp_path: pathlib.Path, name: str, content: bytes) -> None:
    path = write_file(tmp_path, name, content)
    message = (
        "none of these files is a text, or an archive that contains texts, so none can be a book"
    )
    with pytest.raises(InputError, match=message):
        check_books([path])
    small = write_file(tmp_path, "1.txt", b"A")
    with mock.patch.object(checked, "LOOKED_INTO", 1):
        check_books([path, small])  # not all of them were looked into


def test_folders(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "mirror [1]"
    wanted = [write_file(root, name, b"x") for name in ("8/84-0.txt", "8/old/84.zip", "85.txt.gz")]
    for name in ("8/84.htm", "readme.txt", "x.jpg"):
        write_file(root, name, b"x")
    assert match_books([str(root)]) == match_books([f"{root}/", wanted[0]]) == sorted(wanted)
    picture = f"{root}/x.jpg"
    assert match_books([picture]) == [picture]
    (tmp_path / "empty").mkdir()
    for pattern in (tmp_path / "empty", tmp_path / "none-*"):
        with pytest.raises(InputError):
            match_books([str(pattern)])


@needs_real_data
def test_real_files() -> None:
    paths = match_books([str(DATA / "gutenberg/books"), str(DATA / "gutenberg/oddities")])
    assert len(paths) == 330
    check_books(paths)


ANN, JOHN = Author("Roe, Ann", 1797, 1851), Author("Doe, John", role="Translator")


def file_of(book_id: int, name: str = "", header: BookHeader | None = None) -> BookFile:
    known = header or BookHeader(book_id, "Head Title", ("Ann Roe", "John Doe"), ("fr",))
    packed_text = f"@{name or book_id}".encode()
    return BookFile(book_id, name or f"{book_id}.txt", "utf-8", known, 1000 + book_id, packed_text)


def entry_of(book_id: int, kind: str = "Text", title: str = "Title") -> CatalogEntry:
    return CatalogEntry(book_id, kind, title, (ANN, JOHN), ("en",), ("Ice",), ("Shelf",))


def released_of(book_id: int, year: int = 1823) -> ReleasedBook:
    return ReleasedBook(book_id, "Title by Ann Roe", year, f"http://x/{book_id}")


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
        file_of(6),
    ],
    "catalog": [
        entry_of(1),
        entry_of(1)._replace(rights="Public domain in the USA.", imprint="$c1822.", year=1821),
        entry_of(3, title=""),
        entry_of(3, title="Other")._replace(authors=(), subjects=()),
        entry_of(4, "Sound"),
        entry_of(6),
        entry_of(6, title="")._replace(rights="Copyrighted. Read the notice."),
        CatalogEntry(5, "", "", (), (), (), ()),
    ],
    "released": [released_of(1), released_of(1), released_of(2, 1900), released_of(7)],
}
BOOKS = [
    WHOLE._replace(catalog_imprint="$c1822.", catalog_year=1821),
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
    Rejected("3", "", "choose-file", "other-file-of-book", "a.txt has the same date and length"),
    Rejected("3", "", "choose-file", "other-file-of-book", "a.txt has the same date and length"),
    Rejected("4", "Title", "choose-file", "not-text", "Sound"),
    Rejected(
        "4", "Title", "choose-file", "other-file-of-book", "4-0.txt has the same date and length"
    ),
    Rejected("6", "Title", "choose-file", "copyrighted", "Copyrighted. Read the notice."),
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
        "choose-file/copyrighted": 1,
        "join-catalog/books": 4,
        "join-catalog/in-catalog": 3,
        "join-catalog/released": 2,
    }


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


STORY = "The hen sat on the wall.\n\nShe sat there all day.\n"
CATALOG = catalog_csv(
    [
        CatalogRow(90_001, "Text", "2004-05-10", "The Hen", "en", "Wren, Ada, 1850-1910", "Hens"),
        CatalogRow(90_002, "Sound", "2004-05-10", "The Owl, Read Aloud"),
        CatalogRow(90_009, "Text", "2004-05-10", "Nowhere"),
    ]
)


def gather(folder: Path, *, catalog: bytes = CATALOG, metadata: str = "") -> Outcome:
    """Gathers four files: two of one book, one of sounds, one that is no book."""
    files = {
        "90001-0.txt": make_book(f"Café. {STORY}", 90_001, "Head", "A. Wren"),
        "90001.txt": make_book(STORY, 90_001, "Head", "A. Wren", encoding="ascii"),
        "90002.txt": make_book(STORY, 90_002, "The Owl", "A. Wren"),
        "page.txt": b"<!DOCTYPE html><title>404</title>",
        "catalog.csv": catalog,
        "metadata.csv": metadata.encode(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    books = [str(folder / name) for name in files if name.endswith(".txt")]
    tables = [[str(folder / f"{name}.csv")] for name in ("catalog", "metadata")]
    used = tables[0] * bool(catalog), tables[1] * bool(metadata)
    return run_pipeline(lambda root: root | GatherBooks(str(folder), books, *used, 1, "fail"))


def test_books_are_gathered_with_all_that_is_known_of_them(tmp_path: Path) -> None:
    outcome = gather(
        tmp_path, metadata="90001,The Hen by Ada Wren,1899,u/90001\n90008,X,1850,u/90008\n"
    )
    (book,) = outcome.elements["books"]
    text = fetch_text(book.packed_text)
    known = made_books.make_book(90_001, text, title="The Hen", subjects=("Hens",))
    assert book == known._replace(released_year=1899, packed_text=book.packed_text)
    assert f"Café. {STORY}" in text
    detail = "90001-0.txt is Unicode, this is ASCII"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("90001", "The Hen", "choose-file", "other-file-of-book", detail),
        Rejected("90002", "The Owl, Read Aloud", "choose-file", "not-text", "Sound"),
        Rejected("page.txt", "", "read-books", "html-page", "404"),
    ]
    assert sum(outcome.elements["files"]) == 4
    assert outcome.elements["lost"] == outcome.elements["catalog_rejected"] == []


def test_without_tables_the_files_tell(tmp_path: Path) -> None:
    outcome = gather(tmp_path, catalog=b"")
    books = {book.book_id: book for book in outcome.elements["books"]}
    assert books.keys() == {90_001, 90_002}
    assert books[90_001].title == "Head"
    assert not books[90_001].is_in_catalog
    assert len(outcome.elements["rejected"]) == 2


def test_records_of_the_catalogue_that_cannot_be_read_are_no_files_of_books(tmp_path: Path) -> None:
    documents = {"cache/epub/90001/pg90001.rdf": b"<rdf:RDF>", "5.rdf": document_of(ENTRIES[4])}
    broken = tar_bz2_file(documents)
    outcome = gather(tmp_path, catalog=broken)
    (rejected,) = outcome.elements["catalog_rejected"]
    assert rejected.stage == "read-catalog"
    assert len(outcome.elements["rejected"]) == 2
    assert sum(outcome.elements["files"]) == 4


def test_a_damaged_list_of_released_books_is_an_error(tmp_path: Path) -> None:
    with pytest.raises((InputError, RuntimeError), match=r"metadata\.csv.*line 1"):
        gather(tmp_path, metadata="ninety,The Hen,1899,u\n")
