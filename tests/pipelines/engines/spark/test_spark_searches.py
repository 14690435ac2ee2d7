"""Searches and new editions on Spark: the same bytes as on the in-process runner."""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.pipelines.engines.spark.spark_cluster import missing

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is all"),
]

GOLDEN = Path(__file__).parents[3] / "golden"


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
    found = {}
    for runner in ("in-process", "SparkRunner"):
        output = tmp_path / runner
        arguments = [one.format(build=build, items=tmp_path / "items") for one in given]
        command = [sys.executable, "-m", "pipelines", *arguments, "--runner", runner]
        folders = ["--output", str(output / "found"), "--editions", str(output / "new")]
        ended = subprocess.run(
            [*command, *folders, "--workers", "2"],
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
        assert ended.returncode == (given[0] == "contamination")  # 1: an item is in the build
        found[runner] = files_below(output)
    assert found["in-process"] == found["SparkRunner"]
    assert [name for name in found["in-process"] if name.startswith("new/") and "removed-" in name]
