"""Builds and the files of refresh that an earlier version wrote are used as they are.

Of the golden builds, that version wrote the same bytes but for the manifests, which did not list the small
files (README.md, stats.json, dataset_info.json, features.json). It wrote no cards above its builds.
"""

import json
import shutil
from pathlib import Path

import pytest

from corpusmill.pipelines.lm1b import Lm1b
from corpusmill.pipelines.run.corpora import shapes
from corpusmill.pipelines.run.editions import read_current
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.sample_builds import sample_news
from tests.makers.finished_builds import manifest_of, seal
from tests.makers.wiki_builds import DATE, run_cli
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.refresh.wiki_site import NEW, VERSION, dump_of, tree
from tests.tools.golden_tree import GOLDEN

WITH_DOCUMENTS = sorted(shapes())
CURRENT = f"{DATE}-{VERSION}"

CONFIG = """
[refresh]
output = "corpora"
downloads = "downloads"
state = "state"
metrics = "metrics.prom"
contact = "tests@example.org"
keep = 2
keep_downloads = true
connections = 1
min_free_bytes = 1
max_removed_share = 0.5
verify = true
runner = "in-process"
workers = 1
ignore_memory = true
beam_flags = []
mirrors = ["{url}"]
gutenberg_mirrors = ["{url}/feeds"]
news_mirrors = ["{url}/news-crawl"]

[[corpus]]
kind = "wiki40b"
language = "uk"
min_documents = 1
entities = "none"
page_table = false
allow_moves = false
build = {{ vocabulary_size = 0, wiki_templates = false }}
"""

STATE = """{
 "compared": "20260101-1.3.0",
 "compared_with": "20251201-1.3.0",
 "current": "20260101-1.3.0",
 "documents": {
  "added": 1,
  "changed": 1,
  "moved": 0,
  "removed": 1,
  "unchanged": 14
 },
 "downloaded_bytes": 16045,
 "edition_folder": "wiki40b/uk",
 "error": "the corpus failed",
 "failures": 2,
 "last_failure": 1795413439.36,
 "last_published": 1795413369.2471416,
 "last_run": 1795413439.36,
 "last_success": 1795413369.2474735,
 "rejected": {
  "20261101-1.3.0": "1 of 16 articles are gone, and max_removed_share is 0.001"
 },
 "seconds": {
  "build": 3.144,
  "download": 0.039,
  "plan": 0.065,
  "verify": 0.34
 },
 "settings": {
  "vocabulary_size": 0,
  "wiki_templates": false
 },
 "signature": "wiki40b|lang:uk|dump:20260101|v:1.3.0"
}
""".replace("1.3.0", VERSION)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """The golden builds as that version wrote them."""
    output = tmp_path / "corpora"
    for mark in GOLDEN.rglob("COMPLETED"):
        folder = shutil.copytree(mark.parent, output / mark.parent.relative_to(GOLDEN))
        manifest = manifest_of(folder)
        listed = [one for one in manifest["outputs"] if one["format"] not in ("card", "json")]
        seal(folder, manifest | {"outputs": listed})
    return output


def test_they_are_verified_and_reported(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(corpora)
    assert run_cli("verify", corpora, "--workers", 1) == 0
    shown = capsys.readouterr().out
    assert "checked: 12 builds, 136 files, 51 rows\n" in shown
    assert "12 of the builds are of an earlier version: README.md, stats.json,\n" in shown
    assert run_cli("report", corpora) == 0
    assert "  uk         20260101         16         35" in capsys.readouterr().out
    assert tree(corpora) == before


@pytest.mark.parametrize("corpus", WITH_DOCUMENTS)
def test_they_are_compared(corpora: Path, corpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    build = next((corpora / corpus).rglob("COMPLETED")).parent
    other = shutil.copytree(build, corpora / "other")
    assert run_cli("compare", build, other, "--workers", 1) == 0
    assert "not the same in both: 0.00%" in capsys.readouterr().out


def test_they_are_left_as_they_are(corpora: Path) -> None:
    before = tree(corpora)
    with pytest.raises(TargetError, match="contains a finished build"):
        launch(Lm1b(sample_news()), str(corpora), workers=1)
    assert tree(corpora) == before


@pytest.mark.slow
def test_refresh_goes_on(corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    editions, state = corpora / "wiki40b" / "uk", tmp_path / "state" / "wiki40b-uk.json"
    (editions / "CURRENT").write_text(f"{CURRENT}\n")
    state.parent.mkdir()
    state.write_text(STATE)
    config = tmp_path / "refresh.toml"
    before = tree(editions / CURRENT)
    with DumpServer() as site:
        config.write_text(CONFIG.format(url=site.url))
        of_current = {name.replace(NEW, DATE): data for name, data in dump_of(NEW).items()}
        site.add_wiki("ukwiki", DATE, of_current)
        assert run_cli("refresh", "--config", config) == 0
        assert "wiki40b-uk  up to date" in capsys.readouterr().out
        known, now = json.loads(STATE), json.loads(state.read_text())
        assert now["last_success"] > known["last_success"]
        same = known.keys() - {"error", "last_run", "last_success", "seconds"}
        assert {name: now[name] for name in same} == {name: known[name] for name in same}
        site.add_wiki("ukwiki", NEW, dump_of(NEW))
        assert run_cli("refresh", "--config", config) == 0
    assert read_current(str(editions)) == f"{NEW}-{VERSION}"
    assert tree(editions / CURRENT) == before
    now = json.loads(state.read_text())
    assert (now["current"], now["compared_with"]) == (f"{NEW}-{VERSION}", CURRENT)
    assert (now["documents"]["removed"], now["rejected"], now["failures"]) == (1, {}, 2)
    assert now["downloaded_bytes"] > known["downloaded_bytes"]
