import itertools
from pathlib import Path

import numpy
import pytest

from corpusmill.transforms.duplicates import similar_documents
from corpusmill.transforms.duplicates.minhash import choose_bands
from corpusmill.transforms.duplicates.similar_documents import (
    FindSimilarDocuments,
    bands_for,
    number_of,
    pair_partition,
    rows_of,
)
from corpusmill.transforms.files.scratch import Scratch
from tests.makers.made_documents import Document, describe, ngrams_of, words
from tests.tools.run_pipeline import run_transform

UNLIKE = [Document(number, words(200 * number)) for number in range(9)]
ALIKE = [Document(-20 - end, words(3000, 100 - end)) for end in range(4)]
FEW = [Document(40, "one two"), Document(41, " one\ntwo "), Document(42, "two one")]
EMPTY = [Document(50, ""), Document(51, " \n")]
DOCUMENTS = [*UNLIKE[:4], *ALIKE, *FEW, *EMPTY, *UNLIKE[4:]]
PAIRS = sorted([*map(sorted, itertools.combinations([-20, -21, -22, -23], 2)), [40, 41]])


def pairs_in(folder: Path, documents: list[Document]) -> list[list[int]]:
    find = FindSimilarDocuments(str(folder), describe, ngrams_of, bands_for(0.8))
    (pairs,) = run_transform(find, documents).elements["main"]
    assert pairs.shape == (len(pairs), 2)
    found: list[list[int]] = pairs.tolist()
    return found


def test_alike_documents_are_found_once(tmp_path: Path) -> None:
    assert pairs_in(tmp_path, DOCUMENTS) == PAIRS


@pytest.mark.parametrize("limit", [1, 250])
def test_nothing_depends_on_how_many_are_signed_and_dealt_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(similar_documents, "SIGNED_HASHES", limit)
    monkeypatch.setattr(similar_documents, "GATHERED_ROWS", limit)
    assert pairs_in(tmp_path, DOCUMENTS[::-1]) == PAIRS


def test_one_that_is_there_twice_is_paired_with_itself(tmp_path: Path) -> None:
    assert pairs_in(tmp_path, [UNLIKE[3], UNLIKE[3]]) == [[3, 3]]


@pytest.mark.parametrize("documents", [[], [*UNLIKE, *EMPTY]])
def test_without_pairs_there_are_no_rows(tmp_path: Path, documents: list[Document]) -> None:
    assert pairs_in(tmp_path, documents) == []


def test_what_the_docstring_says_of_misses() -> None:
    """Of pairs at the threshold 0.4 % to 2 %, of those 0.05 above 0.1 % at most."""
    at, above = [], []
    for threshold in (0.3, 0.5, 0.7, 0.8, 0.9):
        bands, rows = choose_bands(threshold, 128, similar_documents.MISS_WEIGHT)
        at.append((1 - threshold**rows) ** bands)
        above.append((1 - (threshold + 0.05) ** rows) ** bands)
    assert 0.0035 < min(at) < max(at) < 0.02
    assert max(above) < 0.00149


def test_numbers_of_keys() -> None:
    assert number_of(-7) == -7
    # SHA-256 of "abc" begins with ba78 16bf 8f01 cfea.
    assert number_of("abc") == 0xBA7816BF8F01CFEA >> 1
    assert number_of("7") != 7


def test_rows_of_equal_buckets_are_paired(tmp_path: Path) -> None:
    rows = rows_of(numpy.array([7, 5, -3]), numpy.array([9, 1, 9], numpy.uint32))
    assert len(rows) == 3 * 12
    assert pair_partition((0x2AF, [Scratch(str(tmp_path)).put(rows)])).tolist() == [[-3, 7]]
