"""Task files of lm-evaluation-harness, which is too large to be installed here.

With a random GPT-2 of its own `hf` model, its figures were those of `corpusmill score` in all digits.
"""

import math
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.inspect.corpusmill_task import measure, process_results
from corpusmill.pipelines.inspect.language_model_scores import bits_per_byte, read_normalisers
from corpusmill.pipelines.inspect.share_builds import write_tasks
from corpusmill.transforms.files.builds.finished_builds import read_json
from corpusmill.transforms.files.read_files import InputError
from tests.makers.finished_builds import make_build
from tests.tools.golden_tree import GOLDEN


class Loader(yaml.SafeLoader):
    """Reads functions as the harness does, and gives their names."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harness") / "tasks"
    assert main(["harness", str(GOLDEN), "--output", str(folder)]) == 0
    return folder


def read_task(path: Path) -> dict[str, Any]:
    task: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader)
    return task


@pytest.mark.parametrize(
    ("corpus", "column", "end"),
    [
        ("wiki40b_uk", "text", ""),
        ("lm1b", "text", "\n"),
        ("pg19", "book_text", ""),
        ("simplebooks", "text", ""),
    ],
)
def test_a_task_divides_by_the_counts_of_the_build(
    tasks: Path, corpus: str, column: str, end: str
) -> None:
    (path,) = tasks.glob(f"corpusmill_{corpus}*_test.yaml")
    task = read_task(path)
    given = task["dataset_kwargs"]
    build = tasks / given.pop("build")
    counts = read_normalisers({"stats": read_json(str(build), "stats.json")}, "test")
    assert given == {
        "split": "test",
        "column": column,
        "end": end,
        "words": counts.words + counts.ends,
        "text_bytes": counts.text_bytes,
    }
    assert (build / "COMPLETED").exists()
    assert (task["task"], task["output_type"]) == (path.stem, "loglikelihood_rolling")
    module = runpy.run_path(str(tasks / "corpusmill_task.py"))
    for function in (task["custom_dataset"], task["process_results"]):
        name, _, attribute = function.partition(".")
        assert name == "corpusmill_task"
        assert callable(module[attribute])


@pytest.mark.compat
@pytest.mark.parametrize("corpus", ["wiki40b_uk", "lm1b", "simplebooks"])
def test_all_documents_together_have_the_counts_of_the_build(
    tasks: Path, corpus: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    (path,) = tasks.glob(f"corpusmill_{corpus}*_test.yaml")
    task = read_task(path)
    given = task["dataset_kwargs"]
    load = runpy.run_path(str(tasks / "corpusmill_task.py"))["load"]
    (rows,) = load(**task["metadata"], **given).values()
    assert all(text.endswith(given["end"]) for text in rows["text"])
    sums = {"word_perplexity": 0.0, "bits_per_byte": 0.0}
    for row in rows:
        results = process_results(row, [-math.log(2) * row["bytes"]])
        assert results.keys() == {one["metric"] for one in task["metric_list"]}
        for name in sums:
            sums[name] += results[name][1]
    assert sums == pytest.approx(
        {"word_perplexity": given["words"], "bits_per_byte": given["text_bytes"]}
    )
    assert bits_per_byte(-math.log(2) * sums["bits_per_byte"], given["text_bytes"]) == (
        pytest.approx(1)
    )


def test_words_and_bytes_of_a_document() -> None:
    assert measure("\nЧи є  п'ять?\n") == {"text": "\nЧи є  п'ять?\n", "words": 3, "bytes": 21}


def test_a_task_of_the_hub(tmp_path: Path) -> None:
    (name,) = write_tasks(
        [str(GOLDEN / "wiki40b" / "uk")], str(tmp_path), "validation", "me/wiki40b"
    )
    assert name == "corpusmill_wiki40b_uk_validation"
    given = read_task(tmp_path / f"{name}.yaml")["dataset_kwargs"]
    assert (given["build"], given["split"]) == ("hub:me/wiki40b:uk", "validation")


def test_what_has_no_task(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InputError, match="no finished build with running text"):
        list(write_tasks([str(GOLDEN / "flores101")], str(tmp_path)))
    with pytest.raises(ValueError, match="no such split: 'dev'; there are train, "):
        list(write_tasks([str(GOLDEN / "wiki40b" / "uk")], str(tmp_path), "dev"))
    make_build(tmp_path, "uk", {})
    (make_build(tmp_path, "el", {}) / "COMPLETED").unlink()
    with pytest.raises(
        ValueError, match="the counts of the split test lack the keys characters, words"
    ):
        list(write_tasks([str(tmp_path)], str(tmp_path)))
    assert "skipped a build that is not finished" in caplog.text


@pytest.mark.parametrize(
    ("split", "wanted"),
    [
        ("dev", {"chv_Cyrl": ["dev"], "apc_Arab_nort3139": ["dev"], "apc_Arab_sout3123": ["dev"]}),
        (
            "devtest",
            {
                "yue_Hant": ["devtest"],
                "apc_Arab_nort3139": ["devtest", "dev"],
                "apc_Arab_sout3123": ["devtest", "dev"],
            },
        ),
    ],
)
def test_translations_have_tasks_for_the_languages_of_a_split(
    tmp_path: Path, split: str, wanted: dict[str, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    """Builds of translations are skipped for a split that only others have."""
    both, dev, devtest = {"dev": 6, "devtest": 6}, {"dev": 6}, {"devtest": 6}
    rows = {"eng_Latn_stan1293": both, "chv_Cyrl_chuv1255": dev, "yue_Hant_yuec1235": devtest}
    rows |= {"apc_Arab_nort3139": both, "apc_Arab_sout3123": both}
    given: Any = {"settings": {"layout": "floresplus"}, "rows_by_language": rows}
    folder = str(make_build(tmp_path, "mul", {}, corpus="flores101", **given))
    names = write_tasks([folder], str(tmp_path), split)
    tasks = [read_task(tmp_path / f"{name}.yaml")["dataset_kwargs"] for name in names]
    assert {one["target"]: one["splits"] for one in tasks if one["source"] == "eng_Latn"} == wanted
    assert {one["source"]: one["splits"] for one in tasks if one["target"] == "eng_Latn"} == wanted
    with pytest.raises(ValueError, match="no such split: 'test'; there are dev, devtest"):
        list(write_tasks([folder], str(tmp_path)))
    wiki = str(GOLDEN / "wiki40b" / "uk")
    assert [*write_tasks([folder, wiki], str(tmp_path))] == ["corpusmill_wiki40b_uk_test"]
    assert f"skipped a build without the split test: {folder}" in caplog.text
