"""Answers of the report with pictures."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.inspect.build_facts import (
    Facts,
    choose_documents,
    choose_rejected,
    read_facts,
    sample_columns,
    share,
)
from corpusmill.pipelines.inspect.compare import compare_builds
from corpusmill.pipelines.inspect.html_report.answers import Answer, line_of_choice
from corpusmill.pipelines.inspect.html_report.changes import overview, what_changed
from corpusmill.pipelines.inspect.html_report.lengths_and_holes import (
    LengthClass,
    lengths,
    middle_of,
    where_it_has_holes,
)
from corpusmill.pipelines.inspect.html_report.make_report import answers_of, with_older
from corpusmill.pipelines.inspect.html_report.subjects import (
    does_the_vocabulary_fit,
    what_it_is_about,
)
from corpusmill.pipelines.run.corpora import rows
from corpusmill.transforms.books.simplicity import NEUTRAL, most_different_words
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.text import SPLITS
from tests.makers.edition_builds import make_edition
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import GOLDEN

EVERYTHING = {*range(1, 11)}


def golden(corpus: str) -> Facts:
    """The facts of a golden build, "wiki40b/uk"."""
    folder = next(path.parent for path in sorted((GOLDEN / corpus).rglob("COMPLETED")))
    return read_facts(open_build(str(folder)))


def drawn(answer: Answer | None, title: str) -> list[dict[str, Any]]:
    """The values of the figure whose title begins so."""
    assert answer
    spec = next(one.spec for one in answer.figures if one.title.startswith(title))
    return values_of(spec)


def values_of(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of the first layer of a chart."""
    first = spec.get("layer", [spec])[0].get("data") or spec["data"]
    values: list[dict[str, Any]] = first["values"]
    return values


# Which questions a build answers: those that it does not are about documents or words that it has not.
@pytest.mark.parametrize(
    ("corpus", "left_open"),
    [
        ("wiki40b/uk", set()),
        ("lm1b", set()),
        ("pg19", set()),
        ("simplebooks", set()),
        ("flores101", set()),
        ("entities", EVERYTHING - {1, 7}),
        ("subwords/multilingual-3-8000", EVERYTHING - {1, 9}),
        ("subwords/multilingual-3-64000-articles-10000", EVERYTHING - {1, 9}),
        ("tokens", EVERYTHING - {1}),
        ("ngrams", EVERYTHING - {1}),
    ],
)
def test_a_build_answers_the_questions(corpus: str, left_open: set[int]) -> None:
    facts = golden(corpus)
    row = rows().get(facts.build.corpus)
    documents = choose_documents(facts, row.shape) if row and row.shape else []
    answers = answers_of(facts, None, documents, choose_rejected(facts))
    assert {answer.number for answer in answers} == EVERYTHING - left_open
    assert all(answer.sentence.endswith(".") for answer in answers)


def test_rare_reasons_leave_their_share_of_the_page_to_others() -> None:
    facts = golden("wiki40b/en")
    total = facts.counts["rejected"]["total"]
    assert len(choose_rejected(facts, total)) == total


@pytest.mark.parametrize("corpus", ["wiki40b/en", "pg19", "simplebooks"])
def test_columns_of_lengths_hold_every_document_once(corpus: str) -> None:
    facts = golden(corpus)
    values = drawn(lengths(facts), facts.unit.capitalize())
    assert sum(one["high"] - one["low"] for one in values) == facts.total
    tops: dict[float, float] = {}
    for one in values:
        assert one["low"] == tops.get(one["start"], 0)  # stacked
        tops[one["start"]] = one["high"]


def test_shares_of_sentences_add_up_to_all() -> None:
    values = drawn(lengths(golden("lm1b")), "Sentences")
    by_group: Counter[str] = Counter()
    for one in values:
        width = 1 if one["words"] <= 20 else 5
        by_group[one["when"]] += one["share of sentences"] * width
    assert by_group == pytest.approx(
        {"before deduplication": 1, "after deduplication": 1}, abs=1e-3
    )  # but for the longest


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([("1", 1, 1, 1), ("2", 2, 2, 1)], "1"),
        ([("1", 1, 1, 1), ("2", 2, 2, 2)], "2"),
        ([("4-5", 4, 5, 3), (">5", 6, None, 1)], "4 to 5"),
        ([("4-5", 4, 5, 0), (">5", 6, None, 1)], "more than 5"),
    ],
)
def test_the_class_of_the_median(classes: list[Any], expected: str) -> None:
    assert middle_of([LengthClass(*one) for one in classes]) == expected


def test_books_by_decade_are_those_with_a_date() -> None:
    facts = golden("pg19")
    values = drawn(what_it_is_about(facts), "Books by decade")
    dated = Counter(facts.stats["dates"]["dated_by"])
    undated, bounded = dated.pop("nothing", 0), sum(facts.stats["dates"]["latest_year_by"].values())
    by_source = Counter({one["group"]: 0 for one in values})
    for one in values:
        by_source[one["group"]] += one["high"] - one["low"]
    assert by_source.total() == dated.total()
    told = f"{bounded:,} have only a latest possible year, {undated:,} are not dated"
    assert bounded > 0
    assert told in (what_it_is_about(facts) or Answer(0, "")).sentence


def test_the_line_of_choice_separates_books() -> None:
    figure = line_of_choice(golden("simplebooks"))
    assert figure
    line = figure.spec["layer"][1]["data"]["values"]
    assert len(line) == 2
    seen = set()
    for book in values_of(figure.spec):
        most = most_different_words(book["words"], NEUTRAL, 0.308)
        if book["book is"] in ("kept", "ratio too low"):
            assert (book["different words"] <= most) == (book["book is"] == "kept"), book["title"]
            seen.add(book["book is"])
    assert len(seen) == 2
    assert "the ratio is 0.308215, the lowest ratio of a kept book" in figure.note


def test_other_tables_beside_the_rejected_records_are_not_read() -> None:
    facts = golden("lm1b")
    names = facts.rejected_names()
    other = {"name": "rejected/near-duplicates-00000-of-00001.parquet"}
    manifest = {
        **facts.build.manifest,
        "outputs": [*facts.build.manifest["outputs"], other],
    }
    more = facts._replace(build=facts.build._replace(manifest=manifest))
    assert more.rejected_names() == names != []


def test_templates_add_up_to_all_uses() -> None:
    answer = where_it_has_holes(golden("wiki40b/en"))
    rows = drawn(answer, "Uses of unknown templates")
    assert [row["end"] for row in rows] == sorted((row["end"] for row in rows), reverse=True)
    assert rows[-1]["text"].endswith(f"together {share(1, 1)}")


def test_ranks_rise_and_frequencies_fall() -> None:
    points = drawn(does_the_vocabulary_fit(golden("lm1b")), "Rank and frequency")
    assert [one["rank"] for one in points[:3]] == [1, 2, 3]
    frequencies = [one["frequency"] for one in points]
    assert frequencies == sorted(frequencies, reverse=True)


def test_a_sample_has_the_columns_that_there_are() -> None:
    facts, shape = golden("wiki40b/en"), rows()["wiki40b"].shape
    assert shape
    sample = sample_columns(facts, shape, ("text", "revision_date"))
    assert sample.column_names == ["text"]
    assert sample.num_rows == facts.total


@pytest.mark.parametrize(
    ("part", "whole", "expected"), read_cases("pipelines/html_answers", "shares")
)
def test_shares(part: int, whole: int, expected: str) -> None:
    assert share(part, whole).replace("\u00a0", " ") == f"{expected} %"


# Two editions.


@pytest.fixture
def editions(tmp_path: Path) -> tuple[Facts, Facts]:
    """Two editions, of which the newer has one article more, one less, and one with another text."""

    def edition(date: str, texts: Mapping[str, str]) -> Facts:
        rows_ = [
            {"wikidata_id": one, "text": text, "version_id": "1"} for one, text in texts.items()
        ]
        sizes = {"articles": len(texts), "sections": 3, "characters": 7, "words": 7}
        kept = {"train": len(texts), "total": len(texts)}
        counts = {"articles_read": 9, "kept": kept, "rejected": {"a/b": 9 - len(texts), "total": 9}}
        folder = make_edition(
            tmp_path, {"train": [rows_]}, date=date, counts=counts, settings={"near": date}
        )
        (folder / "stats.json").write_text(
            json.dumps(dict.fromkeys((*SPLITS, "total"), sizes)), "utf-8"
        )
        return read_facts(open_build(str(folder)))

    article = "\n_START_ARTICLE_\n{}\n_START_PARAGRAPH_\n{}".format
    old = {"Q1": article("A", "one"), "Q2": article("B", "two"), "Q3": article("C", "three")}
    new = {"Q1": article("A", "one"), "Q2": article("B", "second"), "Q4": article("D", "four")}
    return edition("20260101", old), edition("20260201", new)


@pytest.mark.slow
def test_what_changed_is_read_beside_the_edition(editions: tuple[Facts, Facts]) -> None:
    old, new = editions
    answer = what_changed(old, new)
    assert answer
    assert "compare" in answer.sentence
    assert ("articles read", "9", "9", "–") in answer.tables[0].rows
    assert [row[:3] for row in answer.tables[1].rows] == [("settings near: 20260101 → 20260201",)]
    report = Path(new.build.folder).parent / "changes-20260201-1.0.0.tsv"
    compare_builds(old.build.folder, new.build.folder, report=str(report))
    answer = what_changed(old, new)
    assert answer
    assert "New: 1, removed: 1, changed: 1." in answer.sentence
    fates = {row["label"]: row["end"] for row in drawn(answer, "Articles compared with")}
    assert fates == {"unchanged": 1, "changed": 1, "added": 1, "removed": 1}


def test_changes_of_another_pair_are_not_taken(editions: tuple[Facts, Facts]) -> None:
    old, new = editions
    report = Path(new.build.folder).parent / "changes-20260201-1.0.0.tsv.json"
    of_others = {"old": "wiki40b|lang:uk|dump:20250101|v:1.0.0", "new": new.build.signature}
    report.write_text(json.dumps(of_others), "utf-8")
    answer = what_changed(old, new)
    assert answer
    assert not answer.figures


def test_a_build_is_compared_with_that_it_was_made_of(tmp_path: Path) -> None:
    folders = []
    for date, more in (("20260101", {}), ("20260102", {"edition": "uk-without-some"})):
        text = "\n_START_ARTICLE_\nA\n_START_PARAGRAPH_\nText."
        made_of = {"build_sha256": folders[0].build.sha256} if folders else {}
        folder = make_edition(
            tmp_path,
            {"train": [[{"wikidata_id": "Q1", "text": text, "version_id": "1"}]]},
            date=date,
            settings={},
            made_of=made_of,
            counts={"kept": {"train": 1, "total": 1}},
            outputs=[],
            **more,
        )
        (folder / "stats.json").write_text("{}", "utf-8")
        build = open_build(str(folder))
        folders.append(Facts(build, "articles", {}))
    assert [before for before, _ in with_older(folders)] == [None, folders[0]]


def test_editions_are_drawn_over_time(editions: tuple[Facts, Facts]) -> None:
    answers = overview(editions, ["a", "b"])
    points = drawn(answers[-1], "Articles of wiki40b by edition")
    assert [one["edition"] for one in points] == ["20260101-1.0.0", "20260201-1.0.0"]
    assert [row[3] for row in answers[-1].tables[0].rows] == ["+0"]
