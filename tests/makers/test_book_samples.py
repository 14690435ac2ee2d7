"""The miniature Project Gutenberg: what its sources say is in it, is in it, and is as it should be."""

import gzip
import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy

from corpusmill.transforms.duplicates.minhash import hash_ngrams
from tests.makers import book_samples
from tests.makers.book_files import zip_members
from tests.tools.pack_samples import SAMPLES
from tests.tools.real_data import DATA, needs_real_data

FOLDER = SAMPLES / "gutenberg"
LIBRARY = FOLDER / "library"
BOOKS = {book.number: book for book in book_samples.load_books(FOLDER)}
EXPECTED = book_samples.load_expected(FOLDER)
FILES = book_samples.library_files(FOLDER)
PASSED_OVER = {"old-releases.zip/90023-h.htm"}


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


def test_the_library_holds_what_the_sources_give() -> None:
    assert dict(stored_files()) == FILES


def test_something_is_expected_of_every_file() -> None:
    paths = [file.path for file in EXPECTED]
    assert len(paths) == len(set(paths))
    assert set(paths) == FILES.keys() - PASSED_OVER


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
