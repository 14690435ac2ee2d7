import logging
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.builds import progress
from pipelines.builds.progress import Tally, print_summary, shown
from transforms.files import counters

COUNTS = {
    "read-dump/dump_bytes": 500,
    "read-dump/xml_bytes": 6_000_000,
    "read-dump/pages": 1100,
    "read-dump/malformed-xml": 1,
    "read-dump/damages": 2,
    "screen-pages/redirect": 70,
    "screen-pages/deleted": 5,
    "clean-wikitext/cleaned": 1024,
    "clean-wikitext/too-deep": 1,
    "join-wikidata/linked": 1000,
    "join-wikidata/no-entity": 20,
    "join-wikidata/repeated-page": 3,
    "identify-by-page/linked": 9,
    "identify-by-page/deleted": 0,
    "read-entities/entities": 10_000,
    "read-entities/not-json": 4,
    "read-sql-dump/page_props": 20_000,
    "write-corpus/articles": 40,
}


def test_a_tally_knows_pages_from_lines_and_rejections_from_the_rest() -> None:
    tally = Tally(COUNTS, seconds=2.0)
    assert tally.dump_bytes == 500
    assert tally.rejected == 1 + 70 + 5 + 1 + 20 + 3
    assert tally.megabytes_per_second == 3.0


ENTITIES = {
    "read-entities/dump_bytes": 500,
    "read-entities/json_bytes": 6_000_000,
    "read-entities/entities": 1100,
    "read-entities/not-json": 3,
    "read-entities/bad-claims": 1,
    "read-entities/damages": 7,
    "write-entity-table/rows": 40,
}


LINES = {
    "read-lines/dump_bytes": 700,
    "read-lines/text_bytes": 8_000_000,
    "read-lines/lines": 5000,
    "read-lines/malformed-utf-8": 3,
}


BOOKS = {
    "read-books/dump_bytes": 700,
    "read-books/text_bytes": 8_000_000,
    "read-books/books": 5000,
    "read-books/html-page": 3,
}


SOURCES = {
    "read-dump/dump_bytes": 500,
    "read-dump/xml_bytes": 6_000_000,
    "read-dump/pages": 1100,
    "screen-pages/unpublished": 70,
    "find-passages/no-passage": 30,
    "find-passages/candidates": 1000,
}
HELD = COUNTS | {"hold-pages/pages": 1000, "hold-pages/cleaned": 250}
PIECES = {"count-subwords/articles": 1200, "count-subwords/text_bytes": 6_000_000}
CHECKSUMS = {"check-checksums/text_bytes": 6_000_000, "check-checksums/files": 7}
SUBWORDS = {
    "read-sentences/dump_bytes": 500,
    "read-sentences/text_bytes": 6_000_000,
    "read-sentences/sentences": 90_000,
}
BEGUN = {"read-dump/dump_bytes": 500, "train-subwords/begun": 1200}
TOKENIZED = {"tokenize-lines/lines": 4000}
WRITTEN = {"write-shards/sentences": 1200}
NEAR = {"drop-near-duplicates/near-duplicate": 700}
PIECES_BEGUN = {"train-pieces/begun": 7_000}
PIECES_LEARNED = {"train-pieces/words": 7_000, "count-pieces/sentences": 1_012}


@pytest.mark.parametrize(
    ("counts", "total", "shown_line"),
    [
        ({}, 1, "starting workers"),
        (COUNTS, 1000, "1,100 pages: 1,000 kept 100 rejected 3.0 MB/s"),
        (COUNTS, 500, "joining, writing: 40 of 1,000 articles"),
        (
            COUNTS | {"drop-duplicates/near-duplicate": 300},
            500,
            "joining, writing: 40 of 700 articles",
        ),
        (HELD, 1000, "1,100 pages: 250 of 1,000 cleaned 3.0 MB/s"),
        (HELD | {"hold-pages/cleaned": 1000}, 1000, "joining, writing: 40 of 1,000 articles"),
        (BEGUN, 500, "learning a vocabulary from 1,200 articles"),
        (BEGUN | {"train-subwords/articles": 1200}, 500, "joining, writing: 0 of 0 articles"),
        (PIECES, 12_000_000, "1,200 articles in pieces 3.0 MB/s"),
        (ENTITIES, 1000, "1,100 entities 4 lines rejected 3.0 MB/s"),
        (ENTITIES, 500, "sorting, writing: 40 of 1,100 entities"),
        (LINES, 1000, "sorting: 5,000 lines 4.0 MB/s"),
        (
            LINES | {"tokenize-lines/lines": 900},
            1000,
            "tokenising: 900 different ones of 5,000 lines",
        ),
        (LINES | TOKENIZED | WRITTEN, 1000, "writing: 1,200 of 4,000 sentences"),
        (LINES | TOKENIZED | WRITTEN | NEAR, 1000, "writing: 1,200 of 3,300 sentences"),
        (LINES | WRITTEN, 1000, "writing: 1,200 sentences"),
        (CHECKSUMS, 9_000_000, "7 files compared 3.0 MB/s"),
        (BOOKS, 1000, "reading: 5,000 books 4.0 MB/s"),
        (BOOKS | {"strip-books/stripped": 900}, 1000, "stripping, screening: 900 of 5,000 books"),
        (
            BOOKS | {"strip-books/stripped": 9, "tokenize-books/books": 30},
            1000,
            "tokenising: 30 books",
        ),
        (
            BOOKS | {"tokenize-books/books": 60, "write-books/books": 1200},
            1000,
            "writing: 1,200 books",
        ),
        (SOURCES, 1000, "1,100 pages: 1,000 kept 100 rejected 3.0 MB/s"),
        (
            SOURCES | {"drop-older-pages/in-older-dump": 300},
            1000,
            "1,100 pages: 700 kept 400 rejected 3.0 MB/s",
        ),
        (SOURCES, 500, "choosing sentences of 1,000 articles"),
        (SUBWORDS, 1000, "90,000 sentences 3.0 MB/s"),
        (SUBWORDS, 500, "sampling: 90,000 sentences"),
        (SUBWORDS | PIECES_BEGUN, 500, "learning pieces from 7,000 different words"),
        (SUBWORDS | PIECES_BEGUN | PIECES_LEARNED, 500, "1,012 held-out sentences in pieces"),
    ],
)
def test_what_is_shown_while_a_stage_works(
    counts: dict[str, int], total: int, shown_line: str
) -> None:
    assert Tally(counts, seconds=2.0 if counts else 0.0).describe(total) == shown_line


def test_bytes_of_the_input_are_those_that_are_read_first() -> None:
    read = [Tally(one, 1.0).dump_bytes for one in (COUNTS, HELD, ENTITIES, LINES, BOOKS)]
    assert read == [500, 625, 500, 700, 700]
    assert Tally(PIECES, 1.0).dump_bytes == Tally(CHECKSUMS, 1.0).dump_bytes == 6_000_000


def count_all() -> None:
    for name, amount in COUNTS.items():
        stage, _, what = name.partition("/")
        counters.count(stage, what, amount)
    counters.flush()


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_without_a_terminal_lines_are_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.01)
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.02)
    caplog.set_level(logging.INFO, "pipelines.builds.progress")
    with shown("wiki40b uk", 1000):
        count_all()
        wait_for(lambda: "50 % of the dump" in caplog.text)
        folder = os.environ[counters.PROGRESS_DIR]
    assert not Path(folder).exists()
    assert counters.PROGRESS_DIR not in os.environ
    line = next(line for line in caplog.messages if "50 %" in line)
    assert re.match(
        r"wiki40b uk: 50 % of the dump, \d+ s, \d+ s left, 1,100 pages: 1,000 kept 100 rejected",
        line,
    )


@pytest.mark.parametrize(
    ("columns", "label", "drawn_label"),
    [
        ("150", "wiki40b uk", "wiki40b uk"),
        ("80", "wiki40b uk", "wiki40b uk"),
        ("80", f"flores101 en-domains-news-{'sentences-' * 20}", "flores101 en-domains-news…"),
    ],
)
def test_on_a_terminal_a_line_is_drawn(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: str,
    label: str,
    drawn_label: str,
) -> None:
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.01)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    drawn = ""

    def draws(text: str) -> bool:
        nonlocal drawn
        drawn += capsys.readouterr().err
        return text in drawn

    with shown(label, 500):
        wait_for(lambda: draws(drawn_label))
        count_all()
        wait_for(lambda: draws("joining, writing"))


def test_a_failure_inside_the_block_comes_through() -> None:
    with pytest.raises(RuntimeError, match="boom"), shown("x", 1):
        raise RuntimeError("boom")
    assert counters.PROGRESS_DIR not in os.environ


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
        "note: kept although the class of their entity is not known: 5,000 of the articles",
        "note: templates in running text that nothing describes: 1,200, listed in unrendered-templates.tsv;"
        " --templates tells how they show",
        "note: lost: a.xml.bz2, bytes 10 to 20, 100 pages: bz2: Invalid [data]",
        "note: lost: a.xml.bz2, bytes 10 to 20, an unknown number of pages: bz2: Invalid [data]",
        "the build: /data/[x]/uk",
    ]


SORTED_OUT = {"lines_read": 20, "rejected": {"read-lines/too-long": 2, "total": 2}}


def test_the_summary_fits_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "80"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
    counts = dict.fromkeys(
        ("articles", "sections", "paragraphs", "words", "characters", "pieces"), 12_345_678
    )
    stats = dict.fromkeys(("train", "validation", "test", "total"), counts)
    print_summary("/data/uk", manifest(), stats, 3.21)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert out.count("12,345,678") == len(stats) * len(counts)
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
    rows = (line.strip("│").split("│") for line in printed.splitlines() if line.startswith("│"))
    return [[cell.strip() for cell in row] for row in rows]


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
    empty = {"counts": {}, "lost": [], "outputs": [], "caveats": []}
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
    assert re.search(r"┃ not kept +┃ +lines ┃", out)
    assert out.splitlines()[-4:] == [
        "1,234 lines read in 3.2 s",
        "note: lines for an item that another line has, too, and tells more of: 20",
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
        "dates": {"dated_by": {"released": 1000, "imprint": 7}},
    }
    counts = {"files_read": 2345, "rejected": {"screen-books/poems": 1111, "total": 1111}}
    print_summary("folder", ENTITY_MANIFEST | {"counts": counts, "lost": [LOST]}, stats, 1.0)
    printed = capsys.readouterr().out
    rows = table_rows(printed)
    assert rows[:3] == [["train", "1,234", "99"], ["train 2", "30", "99"], ["total", "1,234", "99"]]
    assert ["screen-books/poems", "1,111"] in rows
    assert re.search(r"┃ not kept +┃ +files ┃", printed)
    assert (
        "simplebooks-92: 92,000,000 tokens of training, a vocabulary of 98,304, FREQ 935.87\n"
        "dated by released 1,000, imprint 7\n"
    ) in printed
    assert "\n2,345 files read in 1.0 s\n" in printed
    assert "100 files: bz2" in printed
