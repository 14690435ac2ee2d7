"""Source sentences and packages of translations as Hugging Face datasets sees them."""

from pathlib import Path

import pytest

from corpusmill.pipelines.translation.package import package
from corpusmill.pipelines.translation.project import open_project
from corpusmill.transforms.translation.source_table import read_source
from tests.pipelines.translation.small_projects import (
    IDS,
    find_bad,
    small_project,
    small_sentences,
    use_checks,
)
from tests.pipelines.translation.test_package import TRICKY, translate
from tests.tools.golden_tree import GOLDEN

pytestmark = pytest.mark.compat
(SOURCE,) = (GOLDEN / "flores101" / "en-sentences-150-articles-42").glob("2*")


def test_source_sentences() -> None:
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(SOURCE))
    rows = [row for split in ("dev", "devtest", "test") for row in loaded[split]]
    expected = read_source((SOURCE / "source.tsv").read_text("utf-8"))
    assert [row | {"licence": ""} for row in rows] == [one._asdict() for one in expected]


def test_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    use_checks(monkeypatch, find_bad)
    small_project(tmp_path / "project")
    project = open_project(str(tmp_path / "project"))
    translate(project, tmp_path / "fra", "fra")
    made = package(project, str(tmp_path / "out"), without_review=True)
    loaded = datasets.load_dataset(str(made.folder), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["dev", "devtest"]
    for split, rows in loaded.items():
        assert list(rows["id"]) == [name for name in IDS if name.startswith(f"{split}-")]
        assert list(rows["sentence_fra"]) == list(TRICKY[split])
        english = [one.text for one in small_sentences() if one.split == split]
        assert list(rows["sentence_eng"]) == english
