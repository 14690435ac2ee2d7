"""Answers of the report with pictures."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from corpusmill.pipelines.inspect.build_facts import (
    Facts,
    address_of,
    choose_rejected,
    read_facts,
    sample_columns,
    share,
)
from corpusmill.pipelines.inspect.compare import compare_builds
from corpusmill.pipelines.inspect.html_report.answers import Answer, Bar, what_was_thrown_away
from corpusmill.pipelines.inspect.html_report.changes import overview, what_changed
from corpusmill.pipelines.inspect.html_report.lengths_and_holes import (
    lengths,
    middle_of,
    read_classes,
    where_it_has_holes,
)
from corpusmill.pipelines.inspect.html_report.make_report import make_page, with_older
from corpusmill.pipelines.inspect.html_report.subjects import (
    does_the_vocabulary_fit,
    what_it_is_about,
)
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.wikipedia.article_rows import SCHEMA
from tests.makers.edition_builds import make_edition
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import GOLDEN

EVERYTHING = {*range(1, 11)}


def golden(corpus: str) -> Facts:
    """The facts of a golden build, "wiki40b/uk"."""
    folder = next(path.parent for path in sorted((GOLDEN / corpus).rglob("COMPLETED")))
    return read_facts(open_build(str(folder)))


def drawn(answer: Answer | None, title: str) -> dict[str, Bar]:
    """The bars of the figure whose title begins so, by their labels."""
    assert answer
    return next(
        {bar.label: bar for bar in one.bars}
        for one in answer.figures
        if one.title.startswith(title)
    )


def numbers(bars: Mapping[str, Bar]) -> Counter[str]:
    """The number before the first space of each bar."""
    return Counter(
        {label: int(bar.text.split()[0].replace(",", "")) for label, bar in bars.items()}
    )


# Which questions a build answers: those that it does not are about documents or words that it has not.
@pytest.mark.parametrize(
    ("corpus", "left_open"),
    [
        ("wiki40b/uk", set()),
        ("lm1b", {7}),
        ("pg19", set()),
        ("simplebooks", {7}),
        ("flores101", set()),
        ("entities", EVERYTHING - {1, 7}),
        ("subwords/multilingual-3-8000", EVERYTHING - {1, 9}),
        ("subwords/multilingual-3-64000-articles-10000", EVERYTHING - {1, 9}),
        ("tokens", EVERYTHING - {1}),
        ("ngrams", EVERYTHING - {1}),
    ],
)
def test_a_build_answers_the_questions(corpus: str, left_open: set[int]) -> None:
    answers = make_page(golden(corpus), None).answers
    assert {answer.number for answer in answers} == EVERYTHING - left_open
    assert all(answer.sentence.endswith(".") for answer in answers)


def test_rare_reasons_leave_their_share_of_the_page_to_others() -> None:
    facts = golden("wiki40b/en")
    total = facts.counts["rejected"]["total"]
    assert len(choose_rejected(facts, total)) == total


@pytest.mark.parametrize("corpus", ["wiki40b/en", "pg19", "simplebooks"])
def test_bars_of_lengths_hold_every_document_once(corpus: str) -> None:
    facts = golden(corpus)
    bars = drawn(lengths(facts), facts.unit.capitalize())
    assert numbers(bars).total() == facts.total
    splits = {split: count for split, count in facts.kept.items() if split != "train_2"}
    for split, count in splits.items():
        named = re.findall(rf"{split} (\d+)", " ".join(bar.text for bar in bars.values()))
        assert sum(map(int, named)) == count


def test_bars_of_sentences_hold_every_sentence_once() -> None:
    facts = golden("lm1b")
    for when in ("before", "after"):
        bars = drawn(lengths(facts), f"Sentences by words {when}")
        assert numbers(bars).total() == facts.stats[f"sentences_{when}_deduplication"]
        assert list(bars)[:3] == ["0", "1 to 5", "6 to 10"]


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ({"1": 1, "2": 1}, "1"),
        ({"1": 1, "2": 2}, "2"),
        ({"4-5": 3, ">5": 1}, "4 to 5"),
        ({"4-5": 0, ">5": 1}, "more than 5"),
    ],
)
def test_the_class_of_the_median(classes: dict[str, int], expected: str) -> None:
    assert middle_of(read_classes(classes)) == expected


def test_books_by_decade_are_those_with_a_date() -> None:
    facts = golden("pg19")
    answer = what_it_is_about(facts)
    dated = Counter(facts.stats["dates"]["dated_by"])
    undated, bounded = dated.pop("nothing", 0), sum(facts.stats["dates"]["latest_year_by"].values())
    assert numbers(drawn(answer, "Books by decade")).total() == dated.total()
    told = f"{bounded:,} have only a latest possible year, {undated:,} are not dated"
    assert bounded > 0
    assert answer
    assert told in answer.sentence


def test_books_are_counted_by_ratio_in_tenths_of_the_lowest_that_is_kept() -> None:
    facts = golden("simplebooks")
    answer = what_was_thrown_away(facts)
    bars = numbers(drawn(answer, "Measured books by ratio"))
    books = list(facts.read_table(facts.name_of("books-", ".tsv")))
    assert bars.total() == sum(bool(row["ratio"]) for row in books)
    assert "from 0.308 to 0.339" in bars
    below = sum(count for label, count in bars.items() if float(label.split()[1]) < 0.308)
    assert below == sum(0 < float(row["ratio"] or 0) < 0.308215 for row in books)


def test_pages_that_are_no_articles_are_no_loss() -> None:
    facts = golden("wiki40b/uk")
    answer = what_was_thrown_away(facts)
    assert answer
    told = "Of 35 pages read, 10 are redirects or no articles. Of the others, 16 (64.0 %) are kept."
    assert answer.sentence.replace("\u00a0", " ") == told
    last = answer.figures[0].bars[-1]
    assert (last.label, last.text.replace("\u00a0", " ")) == ("kept", "16 · 45.7 %")


@pytest.mark.parametrize(
    ("corpus", "identity", "title", "address"),
    [
        ("wiki40b/uk", "Q1", "Нова назва", "https://uk.wikipedia.org/wiki/%D0%9D%D0%BE%D0%B2%D0%B0_%D0%BD%D0%B0%D0%B7%D0%B2%D0%B0"),
        ("wiki40b/en", "1", 'A"><b>?', "https://en.wikipedia.org/wiki/A%22%3E%3Cb%3E%3F"),
        ("flores101", "wikibooks:1409", "A", "https://en.wikibooks.org/?curid=1409"),
        ("flores101", "elsewhere:1409", "A", ""),
        ("pg19", "90001", "A", "https://www.gutenberg.org/ebooks/90001"),
        ("pg19", "a/b.txt", "A", ""),
        ("lm1b", "news.2010.en.shuffled:29122", "", ""),
    ],
)  # fmt: skip
def test_addresses(corpus: str, identity: str, title: str, address: str) -> None:
    assert address_of(golden(corpus), identity, title) == address


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
    bars = [*drawn(answer, "Uses of unknown templates").values()]
    assert [bar.length for bar in bars] == sorted((bar.length for bar in bars), reverse=True)
    assert bars[-1].text.endswith(f"together {share(1, 1)}")


def test_ranks_rise_and_frequencies_fall() -> None:
    answer = does_the_vocabulary_fit(golden("lm1b"))
    assert answer
    ranks, _, frequencies = zip(*answer.tables[-1].rows, strict=True)
    assert ranks == ("1", "10", "100", "1,000")
    counts = [int(str(one).replace(",", "")) for one in frequencies]
    assert counts == sorted(counts, reverse=True)


def test_a_sample_has_the_columns_that_there_are() -> None:
    facts = golden("wiki40b/en")
    sample = sample_columns(facts, ("text", "revision_date"))
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

    def edition(date: str, texts: Mapping[str, str], *columns: str) -> Facts:
        rows_ = [
            {"wikidata_id": one, "text": text, "version_id": "1"} for one, text in texts.items()
        ]
        schema = pa.schema([*SCHEMA, *((name, pa.string()) for name in columns)])
        sizes = {"articles": len(texts), "sections": 3, "characters": 7, "words": 7}
        kept = {"train": len(texts), "total": len(texts)}
        counts = {"articles_read": 9, "kept": kept, "rejected": {"a/b": 9 - len(texts), "total": 9}}
        folder = make_edition(
            tmp_path,
            {"train": [rows_]},
            date=date,
            schema=schema,
            counts=counts,
            settings={"near": date},
        )
        (folder / "stats.json").write_text(
            json.dumps(dict.fromkeys((*SPLITS, "total"), sizes)), "utf-8"
        )
        return read_facts(open_build(str(folder)))

    article = "\n_START_ARTICLE_\n{}\n_START_PARAGRAPH_\n{}".format
    old = {"Q1": article("A", "one"), "Q2": article("B", "two"), "Q3": article("C", "three")}
    new = {"Q1": article("A", "one"), "Q2": article("B", "second"), "Q4": article("D", "four")}
    return edition("20260101", old), edition("20260201", new, "url")


@pytest.mark.slow
def test_what_changed_is_read_beside_the_edition(editions: tuple[Facts, Facts]) -> None:
    old, new = editions
    answer = what_changed(old, new)
    assert answer
    told = "compare uk/20260101-1.0.0 uk/20260201-1.0.0 --report uk/changes-20260201-1.0.0.tsv"
    assert told in answer.sentence
    assert ("articles read", "9", "9", "–") in answer.tables[0].rows
    differences = ["settings near: 20260101 → 20260201", "new columns: url"]
    assert [row[0] for row in answer.tables[1].rows] == differences
    report = Path(new.build.folder).parent / "changes-20260201-1.0.0.tsv"
    compare_builds(old.build.folder, new.build.folder, report=str(report))
    fates = numbers(drawn(what_changed(old, new), "Articles compared with"))
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


def test_editions_are_listed_over_time(editions: tuple[Facts, Facts]) -> None:
    table = overview(editions, ["a", "b"])[-1].tables[0]
    between = "uk/20260101-1.0.0 → uk/20260201-1.0.0"
    assert table.rows == [("wiki40b uk", between, "3", "+0")]
