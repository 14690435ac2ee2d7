"""The comparison of texts, paragraph by paragraph: of two documents, and by `corpusmill compare`."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.inspect.compare import compare_builds
from corpusmill.pipelines.inspect.text_changes import (
    EQUAL,
    BucketTexts,
    Document,
    Method,
    TextChanges,
    add_text_changes,
    keys_of,
    match_paragraphs,
)
from tests.makers.edition_builds import article, make_edition
from tests.makers.wiki_builds import Command
from tests.tools.case_tables import read_cases, read_tables

CASES, RELEASED = "pipelines/text_changes", {"source": "released"}
LINES = Method("text", "lines", False, 1.0)
texts = st.lists(st.sampled_from(["a", "b", "A", "a 1", "b  ", "1", "c"]), max_size=8)


def document(parts: list[str]) -> Document:
    keys = [key for part in parts for key in keys_of(part)]
    return Document(keys, [len(part.split()) for part in parts], "\n".join(parts))


@pytest.mark.parametrize("case", read_cases(CASES, "match"), ids=lambda case: case["rule"])
def test_matches_of_paragraphs(case: dict[str, Any]) -> None:
    found = match_paragraphs(document(case["old"].split("|")), document(case["new"].split("|")))
    lines = (f"{kind} {old} {new}".replace("None", "-") for kind, old, new in found)
    assert sorted(lines) == sorted(case["matches"])


@pytest.mark.parametrize("case", read_cases(CASES, "split"), ids=lambda case: case["rule"])
def test_paragraphs_of_a_text(case: dict[str, Any]) -> None:
    method = Method("text", case["format"], False, 0.0)
    assert method.split(case["text"]) == case["paragraphs"]


@given(texts, texts)
def test_each_paragraph_is_matched_once_and_in_both_directions(
    old: list[str], new: list[str]
) -> None:
    matches = match_paragraphs(document(old), document(new))
    for side, parts in enumerate((old, new), 1):
        places = [match[side] for match in matches if match[side] is not None]
        assert sorted(places) == list(range(len(parts)))  # type: ignore[type-var]
    back = match_paragraphs(document(new), document(old))
    assert sorted(kind for kind, *_ in matches) == sorted(kind for kind, *_ in back)


@given(st.lists(st.tuples(texts, texts), max_size=6), st.randoms(use_true_random=False))
def test_parts_may_be_added_up_in_any_order(
    pairs: list[tuple[list[str], list[str]]], order: random.Random
) -> None:
    def compared(number: int) -> TextChanges:
        bucket = BucketTexts(LINES)
        bucket.compare(f"Q{number}", "", *map(document, pairs[number]))
        return add_text_changes(bucket.found)

    parts = [compared(number) for number in range(len(pairs))]
    turned = order.sample(parts, len(parts))
    whole = add_text_changes([add_text_changes(turned[:2]), add_text_changes(turned[2:])])
    assert add_text_changes(parts) == whole


def test_a_build_is_compared_with_the_released_texts(tmp_path: Path, run: Command) -> None:
    case = read_tables(CASES)["command"]
    old, new = (
        make_edition(
            tmp_path, {"train": [[article(*one) for one in case[side]]]}, edition=side, **of
        )
        for side, of in (("old", {"settings": RELEASED}), ("new", {}))
    )
    report = tmp_path / "changes.tsv"
    shown = run("compare", old, new, "--workers", "1", "--report", str(report)).out
    assert shown.partition("not the same")[2].splitlines()[2:-2] == case["shown"].splitlines()
    assert report.read_text("utf-8") == case["report"]
    found = json.loads(Path(f"{report}.json").read_text("utf-8"))
    assert found["texts"]["kinds"][EQUAL] == case["equal"]
    assert found["differences"] == []


def test_rows_without_common_ids_are_compared_by_paragraph(tmp_path: Path) -> None:
    released = {"test": [[{"text": one} for one in ("a b", "a b", "D 'c", "e")]]}
    lines = {"book_id": 1, "book_title": "A", "text": "a b\nD 'C\nf\n", "raw_text": "…\n"}
    named = {"corpus": "simplebooks", "language": "en"}
    old = make_edition(tmp_path, released, edition="old", settings=RELEASED, **named)
    new = make_edition(tmp_path, {"test": [[lines]]}, edition="new", **named)
    changes = compare_builds(str(old), str(new), workers=1)
    assert (changes.unit, changes.total[:2], changes.repeated) == ("paragraphs", (4, 3), 0)
    assert changes.texts
    kinds = {
        kind: (of["old_words"], of["new_words"]) for kind, of in changes.texts["kinds"].items()
    }
    assert kinds == {"equal": (2, 2), "case and punctuation only": (2, 2), "only in one": (3, 1)}


def test_texts_are_compared_if_asked_for_and_if_there_are_any(tmp_path: Path, run: Command) -> None:
    old = make_edition(tmp_path, {"train": [[article("Q1")]]}, edition="old")
    assert compare_builds(str(old), str(old), workers=1).texts is None
    assert (
        "  equal but for white space      100.00%"
        in run("compare", old, old, "--text", "--workers", "1").out
    )
    items = make_edition(tmp_path, {"": [[{"numeric_id": 9}]]}, corpus="entities", language="any")
    message = f"{items} and {items} have no column of texts in common"
    assert run("compare", items, items, "--text", status=2).err == f"corpusmill: error: {message}\n"


@pytest.mark.slow
def test_texts_are_compared_in_the_same_way_in_any_order(tmp_path: Path) -> None:
    rows = [article(f"Q{n}", f"Text {n}._NEWLINE_{'Equal' * (n % 3)}") for n in range(60)]
    other = [article(f"Q{n}", f"Text {n % 7}._NEWLINE_{'Equal' * (n % 2)}") for n in range(60)]
    old = make_edition(tmp_path, {"train": [rows]}, edition="old", settings=RELEASED)
    reports = []
    for name, files, workers in (("a", [other], 1), ("b", [other[30:], other[:30][::-1]], 2)):
        new = make_edition(tmp_path / name, {"train": files})
        reports.append(tmp_path / f"{name}.tsv")
        compare_builds(str(old), str(new), workers=workers, report=str(reports[-1]))
    assert reports[0].read_bytes() == reports[1].read_bytes()
    assert Path(f"{reports[0]}.json").read_bytes() == Path(f"{reports[1]}.json").read_bytes()


def test_examples_come_from_the_sample_of_documents() -> None:
    bucket = BucketTexts(LINES)
    old, new = document(["a"]), document(["b"])
    bucket.compare("Q1", "Title", old._replace(text=""), new._replace(text=""))
    assert add_text_changes(bucket.found).examples == ()
    for number in range(9):
        bucket.compare(f"Q{number}", "Title", old, new)
    found = add_text_changes(bucket.found)
    assert len(found.examples) == 3
    assert found.examples[0].text == "paragraph 1: “a” in old, “b” in new"
