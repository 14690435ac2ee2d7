"""`corpusmill compare`: two editions, and what became of their documents."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.inspect.compare import EditionChanges, compare_builds
from corpusmill.pipelines.inspect.edition_changes import MOVED, Change, SplitChanges
from corpusmill.transforms.files.errors import BuildError
from tests.makers.edition_builds import Rows, article, make_edition
from tests.makers.finished_builds import manifest_of, seal
from tests.makers.sentence_builds import make_sentence_build
from tests.makers.wiki_builds import Command

OLD: Mapping[str, Sequence[Rows]] = {
    "train": [[article("Q1"), article("Q2"), article("Q3")], [article("Q4")]],
    "validation": [[article("Q5")]],
    "test": [[article("Q6")]],
}
NEW: Mapping[str, Sequence[Rows]] = {
    "train": [[article("Q10"), article("Q1"), article("Q2", "Довше."), article("Q3")], []],
    "validation": [[article("Q5")]],
    "test": [[]],
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return make_edition(tmp_path, OLD, date="20260101")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return make_edition(tmp_path, NEW, date="20260201")


def squeezed(shown: str) -> str:
    """Without the blanks and lines that make tables."""
    lines = [line for line in shown.splitlines(keepends=True) if "──" not in line]
    rows = (line if ":" in line else line.removeprefix("  ") for line in lines)
    return "".join(re.sub(r"(?<=\S) +", " ", line) for line in rows)


def compare(old: Path, new: Path, **how: Any) -> EditionChanges:
    return compare_builds(str(old), str(new), workers=1, **how)


def test_what_came_went_and_changed(old: Path, new: Path, tmp_path: Path, run: Command) -> None:
    report = tmp_path / "changes.tsv"
    command = ["compare", str(old), str(new), "--workers", "1", "--report", str(report)]
    assert squeezed(run(*command).out) == (
        "old: wiki40b|lang:uk|dump:20260101|v:1.0.0\n"
        "new: wiki40b|lang:uk|dump:20260201|v:1.0.0\n"
        "articles old new added removed changed unchanged moved out moved in\n"
        "train 4 4 1 1 1 2 0 0\n"
        "validation 1 1 0 0 0 1 0 0\n"
        "test 1 0 0 1 0 0 0 0\n"
        "total 6 5 1 2 1 3 0 0\n"
        "not the same in both: 57.14%\n"
        "moved between splits: none\n"
    )
    assert report.read_text("utf-8") == (
        "id\ttitle\tfate\told_split\tnew_split\told_bytes\tnew_bytes\n"
        "Q2\tq2\tchanged\ttrain\ttrain\t43\t49\n"
        "Q4\tq4\tremoved\ttrain\t\t43\t\n"
        "Q6\tq6\tremoved\ttest\t\t43\t\n"
        "Q10\tq10\tadded\t\ttrain\t\t44\n"
    )
    summary = json.loads((tmp_path / "changes.tsv.json").read_text("utf-8"))
    assert summary["total"]["added"] == 1
    assert summary["share"] == pytest.approx(4 / 7)


def test_what_moved_ends_with_status_1(old: Path, tmp_path: Path, run: Command) -> None:
    many = [article(f"Q{number}") for number in range(100, 130)]
    old = make_edition(tmp_path / "a", {"train": [many], "validation": [[]], "test": [[]]})
    moved = make_edition(tmp_path / "b", {"train": [[]], "validation": [[]], "test": [many]})
    lines = run("compare", old, moved, "--workers", "1", status=1).out.splitlines()
    assert lines[-23:-19] == [
        "moved between splits: 30",
        "  train → test: 30",
        "  Q100 q100: train → test",
        "  Q101 q101: train → test",
    ]
    assert lines[-1] == "  … and 10 more; --report FILE lists all"


def test_the_changes_as_a_value(old: Path, new: Path, tmp_path: Path) -> None:
    leaking = {**NEW, "train": NEW["train"][:1], "test": [[article("Q4", "Інше.")]]}
    moved = make_edition(
        tmp_path / "b", leaking, date="20260201", version="1.1.0", settings={"shards": 2}
    )
    changes = compare(old, moved)
    assert changes == EditionChanges(
        old="wiki40b|lang:uk|dump:20260101|v:1.0.0",
        new="wiki40b|lang:uk|dump:20260201|v:1.0.0",
        unit="articles",
        splits={
            "train": SplitChanges(old=4, new=4, added=1, changed=1, unchanged=2, moved_out=1),
            "validation": SplitChanges(old=1, new=1, unchanged=1),
            "test": SplitChanges(old=1, new=1, removed=1, moved_in=1),
        },
        moved=[{"old_split": "train", "new_split": "test", "articles": 1}],
        first_moved=[
            Change("Q4", "q4", MOVED, "train", "test", 43, 47)._asdict() | {"paragraphs": []}
        ],
        first_changed=[],
        repeated=0,
        why_moves="",
        differences=["version: 1.0.0 → 1.1.0", "settings shards: none → 2"],
    )
    assert not changes.is_sound
    assert changes.total == SplitChanges(6, 6, 1, 1, 1, 3, 1, 1)
    assert compare(old, old).share == 0


@pytest.mark.slow
def test_the_report_is_the_same_whatever_the_workers_and_the_files(
    old: Path, new: Path, tmp_path: Path
) -> None:
    turned = {split: [rows[::-1] for rows in files][::-1] for split, files in NEW.items()}
    other = make_edition(tmp_path / "b", turned, date="20260201")
    reports = [tmp_path / f"{number}.tsv" for number in range(2)]
    compare_builds(str(old), str(new), workers=2, report=str(reports[0]))
    compare_builds(str(old), str(other), workers=1, report=str(reports[1]))
    assert reports[0].read_bytes() == reports[1].read_bytes()
    summaries = [Path(f"{report}.json").read_bytes() for report in reports]
    assert summaries[0] == summaries[1]


def test_an_id_that_stands_twice_is_told(tmp_path: Path, run: Command) -> None:
    twice = {"train": [[article("Q1"), article("Q1", "Інше.")]]}
    old = make_edition(tmp_path / "a", twice)
    new = make_edition(tmp_path / "b", {"train": [[article("Q1", "Інше.")]]})
    shown = run("compare", old, new, "--workers", "1").out
    assert "ids in several rows of an edition: 1\n" in shown
    total = compare(old, new).total
    assert (total.removed, total.changed, total.unchanged) == (1, 0, 1)


def test_sentences_come_go_and_may_move(tmp_path: Path, run: Command) -> None:
    shards = (b"Held .\n", b"One .\nTwo .\nTwo .\n")
    old = make_sentence_build(tmp_path / "a", shards, [b"Held .\n"])
    turned = (b"One .\n", b"Held .\nTwo .\nThree .\n")
    new = make_sentence_build(tmp_path / "b", turned, [b"One .\n"])
    assert squeezed(run("compare", old, new, "--workers", "1").out).endswith(
        "total 4 4 1 1 0 1 2 2\n"
        "not the same in both: 80.00%\n"
        "moved between splits: 2\n"
        "  test → train: 1\n"
        "  train → test: 1\n"
        "  moves are allowed: where the shuffle puts a sentence depends on all sentences\n"
    )


def test_items_have_no_splits(tmp_path: Path, run: Command) -> None:
    def make(name: str, title: str) -> Path:
        rows = [{"numeric_id": 9, "instance_of": [5], "ukwiki": title}]
        return make_edition(tmp_path / name, {"": [rows]}, corpus="entities", language="wikidata")

    assert squeezed(run("compare", make("a", "A"), make("b", "B"), "--workers", "1").out).endswith(
        "total 1 1 0 0 1 0 0 0\nnot the same in both: 100.00%\n"
    )


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"corpus": "pg19"},
            "cannot compare builds of different corpora: wiki40b in {old}, pg19 in {new}",
        ),
        (
            {"language": "el"},
            "cannot compare builds of different languages: uk in {old}, el in {new}",
        ),
    ],
)
def test_what_is_no_edition_of_the_other_is_refused(
    old: Path,
    tmp_path: Path,
    run: Command,
    other: dict[str, str],
    message: str,
) -> None:
    new = make_edition(tmp_path / "b", {}, **other)
    told = message.format(old=old, new=new)
    assert run("compare", old, new, status=2).err == f"corpusmill: error: {told}\n"


def test_another_edition_in_the_same_language_is_compared(old: Path, tmp_path: Path) -> None:
    variant = make_edition(
        tmp_path, OLD, edition="uk-near-duplicates-0.8", settings={"near_duplicates": 0.8}
    )
    changes = compare(old, variant)
    assert (changes.share, changes.differences) == (0, ["settings near_duplicates: none → 0.8"])


def test_rows_that_are_not_those_that_were_built(old: Path, new: Path) -> None:
    manifest = manifest_of(new)
    manifest["outputs"][0]["records"] += 1
    seal(new, manifest)
    with pytest.raises(BuildError, match="has 5 articles, but 6 in the manifest"):
        compare(old, new)
