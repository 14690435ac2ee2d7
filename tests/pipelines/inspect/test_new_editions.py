"""New editions of finished builds, without near-duplicates or without items of evaluation sets."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.inspect import contamination
from corpusmill.pipelines.inspect.cleaned_build import CleanedBuild, CleanedConfig
from corpusmill.pipelines.inspect.edit_files import cut, has_words
from corpusmill.pipelines.inspect.verify import verify
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.tokens import Tokens, TokensConfig
from corpusmill.transforms.files.builds.finished_builds import open_build
from tests.makers.wiki_builds import Command
from tests.tools.case_tables import read_cases

GOLDEN = Path(__file__).parents[2] / "golden"


def golden(corpus: str, edition: str = "*") -> Path:
    """A build of the golden trees."""
    (folder,) = (mark.parent for mark in (GOLDEN / corpus).glob(f"{edition}/*/COMPLETED"))
    return folder


def rows_of(build: Path, split: str = "train") -> list[dict[str, Any]]:
    """The rows of a split, in order."""
    paths = sorted(build.glob(f"{split}-*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def only_edition(folder: Path) -> Path:
    """The one new build."""
    (mark,) = folder.rglob("COMPLETED")
    return mark.parent


def changed_files(build: Path, edition: Path) -> set[str]:
    """The data files that are not the same, byte for byte."""
    names = [path.name for path in build.iterdir() if "-of-" in path.name]
    data = [name for name in names if (edition / name).exists()]
    assert len(data) >= 6
    return {name for name in data if (build / name).read_bytes() != (edition / name).read_bytes()}


def remove(run: Command, build: Path, text: str, folder: Path, *more: object) -> Path:
    """The new edition of a build without a text."""
    items = folder / "items.txt"
    items.write_text(f"{text}\n", "utf-8")
    given = ["--train", build, "--eval", items, "--output", folder / "found", *more]
    run("contamination", *given, "--editions", folder / "new", status=1)
    return only_edition(folder / "new")


@pytest.mark.parametrize("how", ["documents", "passages"])
def test_items_that_are_too_short_remove_nothing(
    how: str,
    tmp_path: Path,
    run: Command,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = golden("wiki40b", "uk")
    absent = "The quick brown fox jumps over the lazy dog."
    (tmp_path / "items.txt").write_text(f"Вулик\nСтаре місто\nСвітло\n{absent}\n", "utf-8")
    found, new = tmp_path / "found", tmp_path / "new"
    given = ["--train", build, "--eval", tmp_path / "items.txt", "--output", found]
    for _ in range(2):  # the second time by the finished search
        run("contamination", *given, "--remove", how, "--editions", new, "--workers", 1)
        assert f"{build}: nothing to remove, so there is no new edition" in caplog.text
    assert f"{found} has the results of this search" in caplog.text
    assert not (found / "found.jsonl").read_text("utf-8")
    newer = contamination.RELEASE._replace(version="9.0.0")
    monkeypatch.setattr(contamination, "RELEASE", newer)
    error = run("contamination", *given, "--workers", 1, status=1).err
    assert "is not empty: use another --output" in error


def in_article(article: int, words: int = 20) -> str:
    """The first words of an article of the Ukrainian build."""
    text: str = rows_of(golden("wiki40b", "uk"))[article]["text"]
    return " ".join(text[text.index("_START_PARAGRAPH_") + 18 :].split(" ")[:words])


@pytest.mark.slow
def test_passages_of_articles(tmp_path: Path, run: Command) -> None:
    build = golden("wiki40b", "uk")
    before = rows_of(build)
    text = before[3]["text"]
    edition = remove(run, build, in_article(3), tmp_path, "--remove", "passages", "--workers", 2)
    after = rows_of(edition)
    assert after[:3] + after[4:] == before[:3] + before[4:]
    (row,) = pq.read_table(edition / "removed-00000-of-00001.parquet").to_pylist()
    assert text[row["start"] : row["end"]] == row["text"]
    assert after[3]["text"] == text[: row["start"]] + text[row["end"] :]
    assert (row["id"], row["item"]) == (before[3]["wikidata_id"], "items.txt items 1")
    assert changed_files(build, edition) == {
        "train-00000-of-00001.parquet", "wiki40b-train.tfrecord-00000-of-00001"
    }  # fmt: skip
    assert verify([str(tmp_path / "new")], workers=1).is_sound
    Tokens(TokensConfig(str(edition)))  # by the model of the build, which is there
    old, new = open_build(str(build)), open_build(str(edition))
    assert new.manifest["counts"] == {
        "articles_read": 16, "kept": old.manifest["counts"]["kept"], "changed": 1,
        "rejected": {"total": 0},
    }  # fmt: skip
    stats, stats_before = new.manifest["stats"], old.manifest["stats"]
    assert stats["test"] == stats_before["test"]
    assert 0 < stats["train"]["pieces"] < stats_before["train"]["pieces"]
    assert new.manifest["made_of"]["build_sha256"] == old.sha256
    config = CleanedConfig(str(build), str(tmp_path / "found"), passages=True)
    launch(CleanedBuild(config), str(tmp_path / "again"), workers=1)
    again = only_edition(tmp_path / "again")
    files = [path.relative_to(edition) for path in edition.rglob("*") if path.is_file()]
    assert [(again / name).read_bytes() for name in files] == [
        (edition / name).read_bytes() for name in files
    ]


def test_sentences_go_by_their_places(tmp_path: Path, run: Command) -> None:
    build = golden("lm1b")
    before = rows_of(build)
    text = next(row["text"] for row in before if len(row["text"].split()) > 20)
    edition = remove(run, build, text, tmp_path, "--remove", "documents", "--workers", 1)
    gone = pq.read_table(edition / "removed-00000-of-00001.parquet").to_pylist()
    after = rows_of(edition)
    places = [
        (path.name, row)
        for path in sorted(build.glob("train-*.parquet"))
        for row in range(pq.read_metadata(path).num_rows)
    ]
    listed = {row["id"] for row in gone}
    kept = [
        row
        for row, place in zip(before, places, strict=True)
        if f"{place[0]}:{place[1]}" not in listed
    ]
    assert kept == after
    assert {"text": text} not in after
    touched = {row["id"].partition(":")[0] for row in gone}
    assert {name for name in changed_files(build, edition) if name.endswith("t")} == touched
    assert verify([str(edition)], workers=1).is_sound
    given = ["--train", edition, "--eval", tmp_path / "items.txt", "--workers", "1"]
    run("contamination", *given, status=0)


@pytest.mark.slow
def test_a_book_goes_from_all_splits_that_have_it(tmp_path: Path, run: Command) -> None:
    build = golden("simplebooks")
    book = rows_of(build, "train_2")[0]
    passage = " ".join(book["raw_text"].split()[20:50])
    edition = remove(run, build, passage, tmp_path, "--remove", "documents", "--workers", 1)
    for split in ("train", "train_2"):
        assert book["book_id"] not in [row["book_id"] for row in rows_of(edition, split)]
    (rejected,) = pq.read_table(edition / "rejected/rejected-00000-of-00001.parquet").to_pylist()
    assert (rejected["id"], rejected["reason"]) == (str(book["book_id"]), "in-evaluation-set")
    assert verify([str(edition)], workers=1).is_sound


def overlap(run: Command, *given: object, status: int = 0) -> Any:
    return run("overlap", *given, "--workers", 1, status=status)


@pytest.mark.slow
def test_near_duplicates_of_another_data_set(
    tmp_path: Path, run: Command, caplog: pytest.LogCaptureFixture
) -> None:
    build = golden("wiki40b", "uk")
    ids = [row["wikidata_id"] for row in rows_of(build)]
    copies = [json.dumps({"id": row["wikidata_id"], "text": row["text"]}) for row in rows_of(build)]
    (tmp_path / "web.jsonl").write_text("\n".join(copies[2:4]), "utf-8")
    given = tmp_path / "web.jsonl", "--with", build, "--drop-from", "second"
    new = tmp_path / "new"
    overlap(run, *given, "--output", tmp_path / "found", "--editions", new)
    edition = only_edition(new)
    assert [row["wikidata_id"] for row in rows_of(edition)] == ids[:2] + ids[4:]
    assert verify([str(edition)], workers=1).is_sound
    overlap(run, *given, "--output", tmp_path / "found", "--editions", new)
    assert f"{tmp_path / 'found'} has the results of this search" in caplog.text
    assert f"{build}: the new edition is finished already" in caplog.text
    with (tmp_path / "web.jsonl").open("a") as lines:
        lines.write(f"\n{copies[4]}")
    told = overlap(run, *given, "--output", tmp_path / "found", "--editions", new, status=1).err
    assert "is not empty: use another --output" in told


@pytest.mark.slow
def test_of_a_cluster_one_document_stays(tmp_path: Path, run: Command) -> None:
    build = golden("pg19")
    given = build, "--similarity", "0.5", "--drop-from", "first", "--output", tmp_path / "found"
    overlap(run, *given, "--editions", tmp_path / "new")
    (pair,) = map(json.loads, (tmp_path / "found/pairs-00000-of-00001.jsonl").open())
    edition = only_edition(tmp_path / "new")
    splits = ("train", "validation", "test")
    before, after = (
        [row["book_id"] for split in splits for row in rows_of(one, split)]
        for one in (build, edition)
    )
    (gone,) = set(before) - set(after)
    assert str(gone) in (pair["first_id"], pair["second_id"])
    assert len(before) == len(after) + 1


@pytest.mark.parametrize(
    ("command", "given", "message"),
    [
        ("overlap", ["web.jsonl", "--drop-from", "first"], "--editions needs --drop-from"),
        ("overlap", ["web.jsonl", "--drop-from", "second", "--editions", "new"], "needs --with"),
        ("contamination", ["--remove", "passages", "--editions", "new"], "has each text in two"),
        ("contamination", ["--remove", "documents"], "--editions needs --remove"),
    ],
)
def test_what_cannot_be_removed_is_said_before_anything_is_searched(
    command: str, given: Sequence[str], message: str, tmp_path: Path, run: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.jsonl").write_text('{"id": "1", "text": "a"}\n')
    sets = ["--train", golden("simplebooks"), "--eval", "web.jsonl"]
    more = sets if command == "contamination" else []
    assert message in run(command, *more, *given, "--output", "found", status=2).err
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("spans", "left"), read_cases("pipelines/new_editions", "a_cut_leaves_the_layout")
)
def test_a_cut_leaves_the_layout(spans: list[tuple[int, int]], left: str) -> None:
    assert cut("a a b_NEWLINE_c d", spans) == left


def test_an_article_without_words_beside_its_title_has_none() -> None:
    text = "\n_START_ARTICLE_\n1812\n_START_PARAGRAPH_\n. _NEWLINE_)"
    assert not has_words(text, is_article=True)
    assert has_words(text, is_article=False)
    assert has_words(f"{text} x", is_article=True)
