"""Builds of anybody: what their manifests say leads no command to other files."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.makers.finished_builds import manifest_of, seal
from tests.makers.wiki_builds import run_cli
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
    "multilingual": ["multilingual", "--corpora", "BUILD", "--output", "out"],
    "contamination": [
        *("contamination", "--train", "BUILD", "--eval", "items.txt", "--output", "out/found"),
        *("--remove", "documents", "--editions", "out"),
    ],
    "overlap": [
        *("overlap", "BUILD", "--output", "out/found", "--drop-from", "first", "--editions", "out")
    ],
    "harness": ["harness", "BUILD", "--output", "out"],
    "croissant": ["croissant", "BUILD"],
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
