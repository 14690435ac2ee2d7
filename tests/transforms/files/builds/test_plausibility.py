"""Doubts about finished builds, and remarks on small ones."""

from operator import itemgetter
from typing import Any

import pytest

from corpusmill.pipelines.run.corpora import rows
from corpusmill.transforms.files.builds.ledger import (
    DOUBTS,
    NOT_LINKED,
    find_doubts,
    find_small,
)
from tests.tools.case_tables import read_cases


def manifest(train: int, others: int, rejected: dict[str, int]) -> dict[str, Any]:
    """Of a build whose pages are known by their Wikidata items."""
    kept = {"train": train, "test": others, "total": train + others}
    rejected = rejected | {"total": sum(rejected.values())}
    return {
        "settings": {"identity": "wikidata item"},
        "counts": {"kept": kept, "rejected": rejected},
    }


@pytest.mark.parametrize("case", read_cases("files/plausibility", "doubts"), ids=itemgetter(0))
def test_doubts(case: list[Any]) -> None:
    _, train, others, rejected, expected = case
    assert [doubt.name for doubt in find_doubts(manifest(train, others, rejected))] == expected
    assert set(expected) <= set(DOUBTS)


def test_pages_without_a_table_of_links_have_no_doubts() -> None:
    built = manifest(1, 0, {NOT_LINKED: 399}) | {"settings": {"identity": "page id"}}
    assert not list(find_doubts(built))


def test_builds_without_splits_have_no_doubts() -> None:
    entities = {"settings": {}, "counts": {"rows": 0, "rejected": {"total": 0}}}
    flores = {"settings": {}, "counts": {"kept": {"dev": 0, "total": 0}, "rejected": {}}}
    subwords = {"settings": {}, "counts": {"sentences": 3}}
    assert not [doubt for one in (entities, flores, subwords) for doubt in find_doubts(one)]


def test_the_message_says_what_was_rejected() -> None:
    (doubt,) = find_doubts(manifest(0, 1, {NOT_LINKED: 9, "screen-pages/redirect": 2}))
    assert doubt.message == (
        "the split train is empty; the other splits have 1 documents; the most frequent reason for"
        f" rejection is {NOT_LINKED} (9 times)"
    )


@pytest.mark.parametrize("case", read_cases("files/plausibility", "small"), ids=itemgetter(0))
def test_what_is_small(case: list[Any]) -> None:
    _, corpus, train, others, rejected, expected = case
    row = rows()[corpus]
    remarks = list(find_small(manifest(train, others, rejected), row.unit, row.usual))
    assert len(remarks) == len(expected)
    assert all(one.startswith(begin) for one, begin in zip(remarks, expected, strict=True))


def test_lines_that_are_repeated_are_no_reason_but_a_count() -> None:
    built = manifest(10_000, 0, {})
    usual = rows()["lm1b"].usual
    built["counts"]["duplicates"] = 190_000
    assert not list(find_small(built, "sentences", usual))
    built["counts"]["duplicates"] = 190_001
    (remark,) = find_small(built, "sentences", usual)
    assert remark.startswith("190,001 of 200,001 sentences are lost to duplicates")
