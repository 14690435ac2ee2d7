"""Estimates from the beginnings of files."""

import random
from pathlib import Path

import pytest

from corpusmill.transforms.files.read_files import (
    FILES,
    TEXT_BYTES,
    codec_at,
    read_beginning,
    sample_texts,
)
from tests.makers.compressed import COMPRESS

WORDS = random.Random(0).choices(["corpus", "mill", "text", "sample", "gram"], k=200_000)
TEXT = " ".join(WORDS).encode()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_expansion_is_that_of_the_file(suffix: str, tmp_path: Path) -> None:
    packed = COMPRESS[suffix](TEXT)
    path = tmp_path / "misnamed.txt"
    path.write_bytes(packed)
    assert codec_at(str(path)) == suffix.removeprefix(".")
    found = sample_texts([str(path)])
    assert found.expansion == pytest.approx(len(TEXT) / len(packed), rel=0.02)
    assert (found.articles_share, found.article_bytes) == (1.0, 0.0)


def test_a_large_file_is_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(bytes(3 * TEXT_BYTES))
    stored, text = read_beginning(str(path))
    assert len(text) == TEXT_BYTES
    assert TEXT_BYTES <= stored < 2 * TEXT_BYTES


def test_of_damaged_and_empty_files_what_is_whole_counts(tmp_path: Path) -> None:
    packed = COMPRESS[".bz2"](TEXT)
    cut, empty = tmp_path / "cut.bz2", tmp_path / "empty.bz2"
    cut.write_bytes(packed[:-100] + b"?")
    empty.touch()
    assert sample_texts([str(cut)]).expansion > 0
    assert sample_texts([str(empty)]).expansion == 1.0


def test_articles_are_told_from_other_pages(tmp_path: Path) -> None:
    """In each of the files, of which some are read: the last ones hold longer articles."""
    paths = []
    for number in range(2 * FILES):
        text = "x" * (100 if number < FILES else 300)
        pages = f"<page><ns>0</ns>{text}</page>\n<page><ns>1</ns>{text}</page>\n<page>cut"
        path = tmp_path / f"wiki-p{number:02}.xml"
        path.write_text(f"<mediawiki>{pages}", "utf-8")
        paths.append(str(path))
    found = sample_texts(paths)
    assert found.articles_share == 0.5
    assert found.article_bytes == 200 + len("<page><ns>0</ns></page>")
