"""Builds of anybody: they lead no command to other files, and steer no terminal."""

import contextlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpusmill.transforms.files.terminal import escape
from tests.makers.edition_builds import make_edition
from tests.makers.finished_builds import manifest_of, seal
from tests.makers.wiki_builds import run_cli
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import GOLDEN, tree_of

COMMANDS = {
    "verify": ["verify", "BUILD", "--workers", 1],
    "verify in JSON": ["verify", "BUILD", "--workers", 1, "--json"],
    "compare": ["compare", "BUILD", "GOLDEN"],
    "compare, second": ["compare", "GOLDEN", "BUILD"],
    "report": ["report", "BUILD"],
    "report, page": ["report", "BUILD", "--html", "out/page.html"],
    "inspect": ["inspect", "BUILD", "Q1"],
    "tokenize": ["tokenize", "BUILD", "--output", "out"],
    "ngrams": ["ngrams", "--corpus", "BUILD", "--output", "out"],
    "subwords": ["subwords", "--corpora", "BUILD", "--size", 100, "--output", "out"],
    "contamination": [
        *("contamination", "--train", "BUILD", "--eval", "items.txt", "--output", "out/found"),
        *("--remove", "documents", "--editions", "out"),
    ],
    "overlap": [
        *("overlap", "BUILD", "--output", "out/found", "--drop-from", "first", "--editions", "out")
    ],
    "harness": ["harness", "BUILD", "--output", "out"],
    "publish": ["publish", "hub", "me/x", "BUILD", "--dry-run"],
    "score": ["score", "perplexity", "--corpus", "BUILD", "--log-likelihood", -9],
}


def set_to(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda manifest: manifest.update({name: value})


def set_file(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda manifest: manifest["outputs"][-1].update({name: value})


FORGERIES = {
    "edition": set_to("edition", "x/../../../../ESCAPED"),
    "date": set_to("dump_date", "x/../../../../ESCAPED"),
    "file": set_file("name", "../../secret.txt"),
    "count": lambda manifest: manifest["counts"]["kept"].update(train=10**400),
}


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_forged_manifest_is_refused(
    command: str,
    forgery: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    golden = next(GOLDEN.glob("wiki40b/uk/2*"))
    build = shutil.copytree(golden, tmp_path / "builds" / "uk" / golden.name)
    manifest = manifest_of(build)
    FORGERIES[forgery](manifest)
    seal(build, manifest)
    here = tmp_path / "a" / "b" / "c" / "d"
    (here / "out").mkdir(parents=True)
    (here / "items.txt").write_text("An item of an evaluation set with words.\n")
    monkeypatch.chdir(here)
    before = tree_of(tmp_path)
    places = {"BUILD": build, "GOLDEN": golden}
    assert run_cli(*(places.get(str(one), one) for one in COMMANDS[command])) == 1
    found = capsys.readouterr()
    assert f"{build}/manifest.json" in found.out + found.err
    assert "not the manifest of a build" in found.out + found.err
    if command == "verify in JSON":
        assert json.loads(found.out)["is_sound"] is False
    assert tree_of(tmp_path) == before


STEER = "\x1b]0;x\x07\x1b[31m\x9b\u202e[red]\nOK: all is well"
ID, TITLE = f"Q1{STEER}", f"Title{STEER}"
TEXT = (
    f"\n_START_ARTICLE_\nTitle{STEER[:-16]}\n_START_PARAGRAPH_\nWords {STEER} " + "that go on " * 9
)


def steering(output: Path, split: str, identity: str, **of_manifest: Any) -> Path:
    """A build with control characters in all that may be printed."""
    row = {"wikidata_id": identity, "text": TEXT, "version_id": "7"}
    other = {"wikidata_id": "Q2", "text": TEXT.replace("Words", "Sentences"), "version_id": "8"}
    known = {
        "signature": "wiki40b|lang:uk|x\x1b[31m|v:1.0.0",
        "settings": {f"a{STEER}": f"b{STEER}"},
        "caveats": [STEER],
        "lost": [{"file": STEER, "reason": STEER}],
    }
    folder = make_edition(output, {split: [[row, other]]}, **known | of_manifest)
    sizes = {"articles": 2, "words": 60, "text_bytes": 300, "characters": 300}
    (folder / "stats.json").write_text(json.dumps({split: sizes, STEER: sizes, "total": sizes}))
    return folder


@pytest.mark.parametrize(
    "command",
    read_cases("pipelines/foreign_builds", "nothing_that_is_printed_steers_a_terminal"),
    ids=lambda command: ascii(command)[:40],
)
def test_nothing_that_is_printed_steers_a_terminal(
    command: Sequence[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Checks of entities refuse ids with control characters.
    identity = "Q1" if command[0] in ("verify", "compare") else ID
    places = {
        "FIRST": steering(tmp_path / "first", "train", identity),
        "SECOND": steering(tmp_path / "second", "test", identity, settings={}),
    }
    (places["FIRST"] / f"strange{STEER}").write_text("x")
    (tmp_path / "items.txt").write_text("that go on " * 9)
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SystemExit):
        run_cli(*(places.get(str(one), one) for one in command))
    found = capsys.readouterr()
    printed = found.out + found.err
    assert len(printed) > 10
    assert printed == escape(printed)
    if command[0] != "inspect":  # which prints the text of a document with its lines
        assert "\nOK: all is well" not in printed
