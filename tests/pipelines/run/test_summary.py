"""The summary of a build at its end."""

import json
import re
from typing import Any

import pytest

from corpusmill.pipelines.run.launch import print_json, print_summary

LOST = {
    "name": "a.xml.bz2",
    "start": 10,
    "end": 20,
    "pages_lost": 100,
    "message": "bz2: Invalid [data]",
    "last_page": "1 A",
}


def manifest(**counts: int) -> dict[str, Any]:
    return {
        "signature": "wiki40b|lang:uk|dump:20260101|v:1.0.0",
        "caveats": ["No entity dump was given."],
        "counts": {
            "pages_read": 1234,
            "rejected": {"screen-pages/redirect": 1200, "total": 1200},
            "class_unknown": 0,
        }
        | counts,
        "lost": [LOST, LOST | {"pages_lost": -1}],
        "outputs": [{"name": "unrendered-templates.tsv", "records": counts.get("unrendered", 0)}],
    }


STATS = {
    split: {"articles": articles, "characters": 1_000_000}
    for split, articles in (("train", 30), ("validation", 0), ("test", 4), ("total", 34))
}


def test_the_summary_tells_what_was_kept_what_was_not_and_where_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_summary("/data/[x]/uk", manifest(class_unknown=5000, unrendered=1200), STATS, 3.21)
    out = capsys.readouterr().out
    assert "wiki40b|lang:uk|dump:20260101|v:1.0.0" in out
    for text in ("train", "validation", "1,000,000", "screen-pages/redirect", "1,200"):
        assert text in out
    assert out.splitlines()[-7:] == [
        "1,234 pages read in 3.2 s",
        "note: No entity dump was given.",
        "note: 5,000 of the articles were kept although the class of their entity is unknown",
        "note: templates in running text that no table defines: 1,200, listed in unrendered-templates.tsv;"
        " define their text with --templates",
        "note: lost: a.xml.bz2, bytes 10 to 20, 100 pages: bz2: Invalid [data]",
        "note: lost: a.xml.bz2, bytes 10 to 20, an unknown number of pages: bz2: Invalid [data]",
        "the build: /data/[x]/uk",
    ]


SORTED_OUT = {"lines_read": 20, "rejected": {"read-lines/too-long": 2, "total": 2}}


@pytest.mark.parametrize("color", ["1", ""])  # a terminal; a pipe
@pytest.mark.parametrize("split", ["test", "before_deduplication"])
@pytest.mark.parametrize("count", [12_345_678, 4_123_456_789])
def test_the_summary_fits_the_columns(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    color: str,
    split: str,
    count: int,
) -> None:
    for name, value in (("FORCE_COLOR", color), ("COLUMNS", "80"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
    counts = dict.fromkeys(
        ("articles", "sections", "paragraphs", "words", "characters", "pieces"), count
    )
    stats = dict.fromkeys(("train", "validation", split, "paper_test", "total"), counts)
    print_summary("/data/uk", manifest(), stats, 3.21)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert out.count(f"{count:,}") == len(stats) * len(counts)
    assert not [line for line in out.splitlines() if len(line) > 80 or "…" in line]


@pytest.mark.parametrize(
    ("counts", "rows"),
    [
        (SORTED_OUT, ["read-lines/too-long 2", "total 2"]),
        (
            SORTED_OUT | {"duplicates": 5, "near_duplicates": 0, "kept": {"total": 13}},
            ["read-lines/too-long 2", "repeated 5", "total 7"],
        ),
        (
            SORTED_OUT | {"duplicates": 5, "near_duplicates": 3, "kept": {"total": 10}},
            ["read-lines/too-long 2", "repeated 5", "near-duplicates 3", "total 10"],
        ),
        (
            {"pages_read": 5, "kept": {"total": 9}, "rejected": {"total": 0}, "not_drawn": 1234},
            ["not drawn 1,234", "total 1,234"],
        ),
    ],
)
def test_all_that_is_not_kept_is_in_the_total(
    capsys: pytest.CaptureFixture[str], counts: dict[str, Any], rows: list[str]
) -> None:
    print_summary("folder", manifest() | {"counts": counts}, {}, 1.0)
    assert not_kept_rows(capsys.readouterr().out) == rows


def table_rows(printed: str) -> list[list[str]]:
    """The cells of the tables, row by row."""
    rows = (re.split(r" {2,}", line.strip()) for line in printed.splitlines() if "  " in line)
    return [row for row in rows if row[-1][0].isdigit()]


def not_kept_rows(printed: str) -> list[str]:
    """ "<reason> <count>" of the table of what was not kept, which is the last one."""
    return [" ".join(cells) for cells in table_rows(printed.rpartition("not kept")[2])]


def test_what_there_is_nothing_to_say_of_is_not_said(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary("/data/uk", manifest() | {"caveats": [], "lost": []}, STATS, 1.0)
    assert "note" not in capsys.readouterr().out


LEARNED = {"vocabulary_size": 32_000, "sampled_articles": 30, "sample_sha256": "ab", "reason": ""}
IN_PIECES = {
    split: counts | {"pieces": 250_000, "unknown_characters": 0, "byte_characters": 500}
    for split, counts in STATS.items()
}


def test_the_summary_tells_how_the_vocabulary_fits(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary("/data/uk", manifest() | {"sentencepiece": LEARNED}, IN_PIECES, 1.0)
    shown = capsys.readouterr().out
    assert (
        "SentencePiece: 32,000 pieces, learned from 30 articles of train\n"
        "  validation: 4.000 characters per piece; coverage 100.000%,"
        " without characters spelled in bytes 99.950%\n"
        "  test: 4.000 characters per piece; coverage 100.000%,"
        " without characters spelled in bytes 99.950%\n"
    ) in shown
    assert "unknown" not in shown.splitlines()[2]


def test_a_build_without_a_vocabulary_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    learned = LEARNED | {"vocabulary_size": 0, "reason": "there is no text to learn from"}
    print_summary("/data/uk", manifest() | {"sentencepiece": learned}, STATS, 1.0)
    shown = capsys.readouterr().out
    assert "SentencePiece: no vocabulary: there is no text to learn from\n" in shown
    assert "per piece" not in shown


def test_the_summary_of_several_vocabularies(capsys: pytest.CaptureFixture[str]) -> None:
    learned = {"sentencepiece": {"64k": LEARNED | {"vocabulary_size": 64_000}, "128k": LEARNED}}
    empty: dict[str, Any] = {"counts": {}, "lost": [], "outputs": [], "caveats": []}
    print_summary("/data/m", manifest() | empty | learned, {"64k": {}, "128k": {}}, 3.21)
    assert capsys.readouterr().out.splitlines() == [
        "wiki40b|lang:uk|dump:20260101|v:1.0.0",
        "64k: 64,000 pieces, learned from 30 articles of train",
        "128k: 32,000 pieces, learned from 30 articles of train",
        "built in 3.2 s",
        "the build: /data/m",
    ]


ENTITY_MANIFEST = {
    "signature": "entities|lang:wikidata|dump:20260101|v:1.0.0",
    "caveats": [],
    "counts": {
        "lines_read": 1234,
        "rows": 1200,
        "repeated": 20,
        "without_item": 10,
        "rejected": {"read-entities/not-json": 4, "total": 4},
    },
    "lost": [LOST | {"pages_lost": -1}],
    "outputs": [],
}
ENTITY_STATS = {
    "total": {
        "items": 1200,
        "internal_classes": {"list": 1100, "template": 70},
        "sitelinks": {f"{number}wiki": 1000 + number for number in range(9)},
    }
}


def test_the_summary_of_a_build_without_splits(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary("/data/e", ENTITY_MANIFEST, ENTITY_STATS, 3.21)
    out = capsys.readouterr().out
    assert {(label, count) for label, count in table_rows(out)} == {
        ("items", "1,200"),
        ("internal classes: list", "1,100"),
        ("internal classes: template", "70"),
        ("sitelinks (sum of 9)", "9,036"),
        ("read-entities/not-json", "4"),
        ("repeated", "20"),
        ("without item", "10"),
        ("total", "34"),
    }
    assert re.search(r"not kept +lines", out)
    assert out.splitlines()[-4:] == [
        "1,234 lines read in 3.2 s",
        "note: lines dropped, because another line has more facts about the item: 20",
        "note: lost: a.xml.bz2, bytes 10 to 20, an unknown number of lines: bz2: Invalid [data]",
        "the build: /data/e",
    ]


def test_the_summary_of_a_build_that_reads_and_rejects_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_summary("/data/m", ENTITY_MANIFEST | {"counts": {}, "lost": []}, {"64k": {}}, 3.21)
    assert capsys.readouterr().out.splitlines()[-2:] == ["built in 3.2 s", "the build: /data/m"]


def test_the_summary_of_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    split = {"sentences": 12_345, "words": 99, "sentences_by_words": {"1": 3}}
    covered = {"sentences": 2, "predicted_words_with_end": 200, "out_of_vocabulary": 3}
    stats = {
        "input_lines": 5,
        "heldout_shard_0": covered,
        "heldout": covered | {"out_of_vocabulary": 9},
        "vocabulary_with_S_slashS_UNK": 4567,
        "train": split,
        "paper_test": split | {"sentences": 17},
        "total": split,
    }
    counts = {"lines_read": 5, "rejected": {"total": 0}}
    print_summary("folder", ENTITY_MANIFEST | {"counts": counts, "lost": []}, stats, 1.0)
    printed = capsys.readouterr().out
    rows = table_rows(printed)
    assert ["train", "12,345", "99"] in rows
    assert ["paper test", "17", "99"] in rows
    assert ["total", "12,345", "99"] in rows
    assert "vocabulary: 4,567 words; out of it:" in printed
    assert "heldout shard 0: 3 of 200 words (1.50%)" in printed
    assert "heldout: 9 of 200 words (4.50%)" in printed


def test_the_summary_of_books(capsys: pytest.CaptureFixture[str]) -> None:
    split = {"books": 1234, "words": 99}
    figures = {
        "splits": {"train": {"tokens": 92_000_000}},
        "vocabulary_words": 98_304,
        "tokens_per_vocabulary_word": 935.87,
    }
    stats = {
        "train": split,
        "train_2": split | {"books": 30},
        "total": split,
        "simplebooks-92": figures,
        "dates": {
            "dated_by": {"released": 1000, "imprint": 7},
            "latest_year_by": {"author-death": 84},
            "without_released_years": {"undated": 2},
        },
    }
    counts = {"files_read": 2345, "rejected": {"screen-books/poems": 1111, "total": 1111}}
    print_summary("folder", ENTITY_MANIFEST | {"counts": counts, "lost": [LOST]}, stats, 1.0)
    printed = capsys.readouterr().out
    rows = table_rows(printed)
    assert rows[:3] == [["train", "1,234", "99"], ["train 2", "30", "99"], ["total", "1,234", "99"]]
    assert ["screen-books/poems", "1,111"] in rows
    assert re.search(r"not kept +files", printed)
    assert (
        "simplebooks-92: 92,000,000 tokens of training, a vocabulary of 98,304, FREQ 935.87\n"
        "dated by released 1,000, imprint 7\n"
        "no date, but a latest year by author-death 84\n"
    ) in printed
    assert "\n2,345 files read in 1.0 s\n" in printed
    assert "100 files: bz2" in printed


def test_programs_get_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    given = manifest() | {"settings": {"language": "uk"}}
    print_json("/data/uk", given, STATS, 3.21)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert json.loads(printed) == {
        "target": "/data/uk",
        "seconds": 3.2,
        **{name: given[name] for name in ("signature", "settings", "counts", "caveats", "lost")},
        "stats": STATS,
    }
