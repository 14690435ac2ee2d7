import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest

from corpusmill.transforms.duplicates.similar_documents import (
    ComparedPair,
    DropDuplicates,
    Sketch,
    is_near,
)
from corpusmill.transforms.files.counters import Screened
from corpusmill.transforms.files.records import Rejected
from tests.makers.made_documents import Document, describe, text_of, words
from tests.tools.case_tables import read_cases
from tests.tools.run_pipeline import Outcome, run_pipeline, run_transform

CHAIN = [Document(30 + step, words(1000 + 5 * step)) for step in range(4)]  # 88 of 98 8-grams
DOCUMENTS = [
    Document(1, words(0)),
    Document(2, words(200)),
    Document(5, words(200, 99)),
    Document(3, words(200, 98), rank=1),
    Document(10, words(400)),
    Document(11, words(400)),
    *CHAIN,
    Document(50, ""),
    Document(51, ""),
    Document(60, "few words"),
    Document(61, "few words"),
    Document(62, "words few"),
]


def rejected(key: int | str, similarity: str) -> Rejected:
    detail = f"8-gram similarity {similarity}, which stays"
    return Rejected(str(key), f"Title {key}", "drop-duplicates", "near-duplicate", detail)


REJECTED = [
    rejected(11, "1.000 to 10"),
    rejected(2, "0.978 to 3"),
    rejected(31, "0.898 to 30"),
    rejected(32, "0.806 to 30"),
    rejected(33, "0.722 to 30"),  # less than the threshold, but like 32
    rejected(5, "0.989 to 3"),
    rejected(61, "1.000 to 60"),
]
KEPT = [one for one in DOCUMENTS if str(one.key) not in {out.id for out in REJECTED}]


def drop_from(folder: Path, threshold: Any = "0.8") -> DropDuplicates:
    return DropDuplicates(str(folder), describe, text_of, threshold)


def drop(folder: Path, documents: list[Document], threshold: Any = "0.8") -> Outcome:
    return run_transform(drop_from(folder, threshold), documents)


def kept_of(outcome: Outcome) -> list[int | str]:
    return sorted(document.key for document in outcome.elements["kept"])


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_of_alike_documents_one_stays_whatever_the_order(tmp_path: Path, workers: int) -> None:
    shuffled = random.Random(workers).sample(DOCUMENTS, len(DOCUMENTS))
    outcome = run_transform(drop_from(tmp_path), shuffled, workers)
    assert sorted(outcome.elements["kept"]) == sorted(KEPT)
    assert sorted(outcome.elements["rejected"]) == REJECTED
    assert outcome.counters == {"drop-duplicates/near-duplicate": len(REJECTED)}


def is_short(document: Document, _: int) -> int:
    return int(len(document.text) < 20)


def is_after(document: Document, count: int) -> bool:
    return int(document.key) < 30 and count > 3


def test_it_stands_between_other_screenings(tmp_path: Path) -> None:
    """The in-process runner can be brought to wait forever by what shares inputs and outputs."""

    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        read = root | beam.Create(DOCUMENTS)
        long, short = read | "ScreenBefore" >> beam.Partition(is_short, 2)
        screened: Screened = long | drop_from(tmp_path)
        count = screened.kept | beam.combiners.Count.Globally()
        after = screened.kept | "ScreenAfter" >> beam.Filter(
            is_after, beam.pvalue.AsSingleton(count)
        )
        left = (short | beam.Map(describe), screened.rejected) | beam.Flatten()
        return {"kept": after, "left": left, "read": long}

    outcome = run_pipeline(build)
    assert sorted(document.key for document in outcome.elements["kept"]) == [1, 3, 10]
    assert len(outcome.elements["left"]) == 5 + len(REJECTED) - 1
    assert len(outcome.elements["read"]) == len(DOCUMENTS) - 5


@pytest.mark.parametrize(("threshold", "dropped"), [(0.9, {2, 5, 11, 61}), ("0.99", {11, 61})])
def test_the_threshold_decides(tmp_path: Path, threshold: Any, dropped: set[int]) -> None:
    outcome = drop(tmp_path, DOCUMENTS, threshold=threshold)
    assert {int(one.id) for one in outcome.elements["rejected"]} == dropped


def test_the_threshold_is_compared_exactly(tmp_path: Path) -> None:
    one = Sketch(1, describe(DOCUMENTS[0]), b"")
    pair = ComparedPair(one, one, Fraction(9, 10))
    assert is_near(pair, drop_from(tmp_path, 0.9).threshold)
    assert not is_near(pair, drop_from(tmp_path, "0.900001").threshold)


def test_keys_may_be_names(tmp_path: Path) -> None:
    documents = [Document("Київ", words(0)), Document("b", words(0), rank=7), Document("c", "d")]
    outcome = drop(tmp_path, documents)
    assert kept_of(outcome) == ["b", "c"]
    assert outcome.elements["rejected"] == [rejected("Київ", "1.000 to b")]
    assert outcome.counters == {"drop-duplicates/near-duplicate": 1}


def test_nothing_to_drop(tmp_path: Path) -> None:
    outcome = drop(tmp_path, [])
    assert outcome.elements == {"kept": [], "rejected": []}
    assert outcome.counters == {}


def test_near_duplicates_have_different_keys(tmp_path: Path) -> None:
    documents = [Document(7, words(0)), Document(7, words(0, 99)), Document(8, "x")]
    with pytest.raises(Exception, match="Title 7: several documents have this id"):
        drop(tmp_path, documents)


@pytest.mark.parametrize(
    ("threshold", "message"),
    read_cases("duplicates/drop_duplicates", "thresholds_that_make_no_sense"),
)
def test_thresholds_that_make_no_sense(threshold: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DropDuplicates("", describe, text_of, threshold)
