"""Source sentences and packages of translations as datasets and lm-evaluation-harness see them."""

from pathlib import Path

import pytest

from corpusmill.pipelines.inspect.share_builds import write_tasks
from corpusmill.pipelines.translation.package import PLUS, Packaged, package
from corpusmill.pipelines.translation.project import open_project
from corpusmill.pipelines.translation.score_translations import score_translations
from corpusmill.transforms.translation.source_table import read_source
from tests.makers.spm_models import small_model
from tests.pipelines.translation.small_projects import (
    IDS,
    TEXTS,
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


def make_package(folder: Path, **given: str) -> Packaged:
    with pytest.MonkeyPatch.context() as patch:
        use_checks(patch, find_bad)
        small_project(folder / "project")
        project = open_project(str(folder / "project"))
        translate(project, folder / "fra", "fra")
        return package(project, str(folder / "out"), without_review=True, **given)


def test_a_package(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    made = make_package(tmp_path)
    loaded = datasets.load_dataset(str(made.folder), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["dev", "devtest"]
    for split, rows in loaded.items():
        assert list(rows["id"]) == [name for name in IDS if name.startswith(f"{split}-")]
        assert list(rows["sentence_fra"]) == list(TRICKY[split])
        english = [one.text for one in small_sentences() if one.split == split]
        assert list(rows["sentence_eng"]) == english


def test_a_package_in_the_layout_of_flores_plus(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = make_package(tmp_path, layout=PLUS).folder
    french = datasets.load_dataset(folder, "fra_Latn", cache_dir=str(tmp_path / "cache"))
    both = datasets.load_dataset(folder, cache_dir=str(tmp_path / "cache"))
    assert list(french) == list(both) == ["dev", "devtest"]
    for split, rows in french.items():
        assert list(rows["id"]) == [0, 1, 2]
        assert list(rows["text"]) == list(TRICKY[split])
        assert [one for one in both[split] if one["iso_639_3"] == "fra"] == list(rows)
        assert len(both[split]) == 6


def test_the_harness_runs_translation_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its dummy model always says "lol"."""
    lm_eval = pytest.importorskip("lm_eval")
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "spm.model").write_bytes(small_model())
    folder = make_package(tmp_path, layout=PLUS).folder
    given = "devtest", "", str(tmp_path / "spm.model")
    tasks = list(write_tasks([folder], str(tmp_path / "tasks"), *given))
    found = lm_eval.simple_evaluate(
        model="dummy",
        tasks=tasks,
        num_fewshot=1,
        task_manager=lm_eval.tasks.TaskManager(include_path=str(tmp_path / "tasks")),
    )
    assert len(tasks) == 2
    for name, metadata in zip(tasks, ("fra", "eng"), strict=True):
        texts = TRICKY["devtest"] if metadata == "fra" else TEXTS["devtest"]
        (tmp_path / "said.txt").write_text("lol\n" * 3)
        (tmp_path / "reference.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
        scored = score_translations(
            str(tmp_path / "reference.txt"), [str(tmp_path / "said.txt")], model=given[2]
        )
        expected = scored.scored[0].scores.groups[0].scores
        of_task = {key.split(",")[0]: value for key, value in found["results"][name].items()}
        assert {metric: of_task[metric] for metric in expected} == pytest.approx(dict(expected))
