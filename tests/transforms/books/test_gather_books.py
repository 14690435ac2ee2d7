from pathlib import Path

import pytest

from corpusmill.transforms.books.gather_books import GatherBooks
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.scratch import fetch_text
from tests.makers import made_books
from tests.makers.book_files import CatalogRow, catalog_csv, make_book, tar_bz2_file
from tests.tools.run_pipeline import Outcome, run_pipeline
from tests.transforms.books.test_read_catalog import ENTRIES, document_of

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
