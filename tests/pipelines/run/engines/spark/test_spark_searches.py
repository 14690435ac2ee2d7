"""Searches and new editions on Spark: the same bytes as on the in-process runner."""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.pipelines.run.engines.spark.spark_cluster import missing

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is all"),
]

GOLDEN = Path(__file__).parents[4] / "golden"


def files_below(folder: Path) -> dict[str, bytes]:
    """Name → bytes of all files."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    "given",
    [
        ["contamination", "--remove", "passages", "--train", "{build}", "--eval", "{items}"],
        ["overlap", "{build}", "--with", "{items}", "--similarity", "0.1", "--drop-from", "first"],
    ],
)
def test_the_same_bytes_as_in_process(given: list[str], tmp_path: Path) -> None:
    (build,) = (mark.parent for mark in GOLDEN.glob("wiki40b/uk/*/COMPLETED"))
    table = pq.read_table(next(build.glob("train-*.parquet")))
    pq.write_table(table.slice(2, 4).select(["text"]), tmp_path / "items")
    given = [*given, "--output", "{output}/found", "--editions", "{output}/new"]
    status = int(given[0] == "contamination")  # 1: an item is in the build
    found = run_on_both(given, tmp_path, status, build=build, items=tmp_path / "items")
    assert [name for name in found if name.startswith("new/") and "removed-" in name]


def test_a_model_has_the_same_bytes_as_in_process(tmp_path: Path) -> None:
    (news,) = (mark.parent for mark in GOLDEN.glob("lm1b/*/*/COMPLETED"))
    given = ["ngrams", "--corpus", "{news}", "--order", "2", "--output", "{output}"]
    found = run_on_both(given, tmp_path, news=news)
    assert [name for name in found if name.endswith("/model.arpa")]


def run_on_both(given: list[str], folder: Path, status: int = 0, **names: Path) -> dict[str, bytes]:
    """The files that both runners write, each in a folder of its own."""
    found = []
    for runner in ("in-process", "SparkRunner"):
        arguments = [one.format(output=folder / runner, **names) for one in given]
        ended = subprocess.run(
            [sys.executable, "-m", "corpusmill", *arguments, "--runner", runner, "--workers", "2"],
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
        assert ended.returncode == status
        found.append(files_below(folder / runner))
    assert found[0] == found[1]
    return found[0]
