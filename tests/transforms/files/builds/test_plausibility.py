"""Doubts about finished builds, and remarks on small ones."""

from typing import Any

import pytest

from corpusmill.pipelines.run.corpora import rows
from corpusmill.transforms.files.builds.ledger import (
    DOUBTS,
    EMPTY_TRAIN,
    FEW_LINKS,
    NOT_LINKED,
    find_doubts,
    find_small,
)


def manifest(
    train: int, others: int = 0, *, by_item: bool = True, **rejected: int
) -> dict[str, Any]:
    """Of a build; reasons of its rejected pages have _ for -, and __ for /."""
    reasons = {name.replace("__", "/").replace("_", "-"): n for name, n in rejected.items()}
    return {
        "settings": {"identity": "wikidata item" if by_item else "page id"},
        "counts": {
            "kept": {"train": train, "test": others, "total": train + others},
            "rejected": reasons | {"total": sum(reasons.values())},
        },
    }


LINKED = {  # name of the case → manifest, doubts
    "1 of 400 has an item": (manifest(1, 0, join_wikidata__no_entity=399), [FEW_LINKS]),
    "of another wiki: none has": (
        manifest(0, 0, join_wikidata__no_entity=400),
        [FEW_LINKS, EMPTY_TRAIN],
    ),
    "1 of 100 has": (manifest(1, 0, join_wikidata__no_entity=99), []),
    "11 of 520 have, as in a table by hand": (
        manifest(9, 2, join_wikidata__no_entity=509),
        [],
    ),
    "items of lists are items": (
        manifest(1, 0, join_wikidata__no_entity=399, join_wikidata__list=9),
        [],
    ),
    "few pages say little": (manifest(1, 0, join_wikidata__no_entity=48), []),
    "pages that the table of pages lacks were not looked up": (
        manifest(1, 0, join_wikidata__no_entity=30, join_wikidata__deleted=400),
        [],
    ),
    "no table was given": (manifest(1, 0, by_item=False, join_wikidata__no_entity=399), []),
    "one article, in test": (manifest(0, 1), [EMPTY_TRAIN]),
    "one article, in train": (manifest(1, 0), []),
    "nothing was kept": (manifest(0, 0, screen_pages__redirect=3), [EMPTY_TRAIN]),
}


@pytest.mark.parametrize("name", LINKED)
def test_doubts(name: str) -> None:
    built, expected = LINKED[name]
    assert [doubt.name for doubt in find_doubts(built)] == expected
    assert set(expected) <= set(DOUBTS)


def test_builds_without_splits_have_no_doubts() -> None:
    entities = {"settings": {}, "counts": {"rows": 0, "rejected": {"total": 0}}}
    flores = {"settings": {}, "counts": {"kept": {"dev": 0, "total": 0}, "rejected": {}}}
    subwords = {"settings": {}, "counts": {"sentences": 3}}
    assert not [doubt for one in (entities, flores, subwords) for doubt in find_doubts(one)]


def test_the_message_says_what_was_rejected() -> None:
    (doubt,) = find_doubts(manifest(0, 1, join_wikidata__no_entity=9, screen_pages__redirect=2))
    assert doubt.message == (
        "the split train is empty; the other splits have 1 documents; the most frequent reason for"
        f" rejection is {NOT_LINKED} (9 times)"
    )


SMALL = {  # name of the case → corpus, manifest, how each remark begins
    "99 articles": (
        "wiki40b",
        manifest(90, 9),
        ["there are only 99 articles, expected at least 100"],
    ),
    "100 articles": ("wiki40b", manifest(90, 10), []),
    "more than half without an item": (
        "wiki40b",
        manifest(100, 0, join_wikidata__no_entity=101),
        [f"101 of 201 articles are lost to {NOT_LINKED}"],
    ),
    "half without an item": ("wiki40b", manifest(100, 0, join_wikidata__no_entity=100), []),
    "reasons that are usual": (
        "wiki40b",
        manifest(100, 0, screen_pages__redirect=900, screen_pages__other_namespace=9000),
        [],
    ),
    "books without a date": (
        "pg19",
        manifest(100, 0, date_books__undated=101),
        ["101 of 201 books are lost to date-books/undated"],
    ),
    "books that are too new": ("pg19", manifest(100, 0, date_books__too_new=900), []),
}


@pytest.mark.parametrize("name", SMALL)
def test_what_is_small(name: str) -> None:
    corpus, built, expected = SMALL[name]
    row = rows()[corpus]
    remarks = list(find_small(built, row.unit, row.usual))
    assert len(remarks) == len(expected)
    assert all(one.startswith(begin) for one, begin in zip(remarks, expected, strict=True))


def test_lines_that_are_repeated_are_no_reason_but_a_count() -> None:
    built = manifest(10_000)
    usual = rows()["lm1b"].usual
    built["counts"]["duplicates"] = 190_000
    assert not list(find_small(built, "sentences", usual))
    built["counts"]["duplicates"] = 190_001
    (remark,) = find_small(built, "sentences", usual)
    assert remark.startswith("190,001 of 200,001 sentences are lost to duplicates")
