"""Every sample build on a real cluster of two nodes: the bytes of the in-process runner.

`corpusmill demo` makes the golden tree on one machine (tests/pipelines/test_golden.py); here it runs on
the cluster.
"""

import bz2
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.sample_builds import sample_dump, sample_entities
from tests.pipelines.run.engines.spark.spark_cluster import (
    Cluster,
    missing,
    run_script,
    spark_cluster,
)
from tests.tools.golden_tree import GOLDEN, check_golden, tree_of

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is all"),
]


QUICK = (
    "-Dbeam.spark.test.reuseSparkContext=true",  # executors stay for the next job
    "-Dspark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1",  # they do too little for more
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("spark")
    with spark_cluster(folder, JOB_SERVER_FLAGS=" ".join(QUICK)) as cluster:
        yield cluster


def test_a_build_with_a_job_server_and_workers_of_its_own(cluster: Cluster, tmp_path: Path) -> None:
    """As a user starts it; here it comes first, before the other job server's executors keep all cores."""
    command = {"command": str(cluster.state / "corpusmill-worker")}
    flags = [
        "--runner=SparkRunner",
        f"--spark_master_url={cluster.master_url}",
        f"--job_server_jvm_properties={QUICK[1]}",
        "--environment_type=PROCESS",
        f"--environment_config={json.dumps(command)}",
    ]
    build = ["entities", "--dump", sample_entities(), "--output", str(tmp_path)]
    assert main([*build, *flags]) == 0
    check_golden(tree_of(tmp_path / "entities"), "entities")


@pytest.fixture(scope="module")
def built(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `corpusmill demo` has built on the cluster."""
    output = tmp_path_factory.mktemp("demo-on-spark")
    assert main(["demo", "--output", str(output), "--workers", "2", *cluster.flags]) == 0
    return output


def test_both_nodes_have_worked(cluster: Cluster, built: Path) -> None:
    assert built.is_dir()
    for node in ("work-1", "work-2"):
        logs = [path.read_text("utf-8") for path in (cluster.state / node).rglob("stderr")]
        assert any("Finished task" in log for log in logs)


def test_the_files_of_the_golden_tree(built: Path) -> None:
    check_golden(tree_of(built))


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (
            "contamination --remove passages --train {build} --eval {items}",
            1,
        ),  # 1: an item is there
        ("overlap {build} --with {items} --similarity 0.1 --drop-from first", 0),
    ],
)
def test_a_search_and_its_new_edition_have_the_bytes_of_the_in_process_runner(
    cluster: Cluster, tmp_path: Path, given: str, status: int
) -> None:
    (build,) = (mark.parent for mark in GOLDEN.glob("wiki40b/uk/*/COMPLETED"))
    table = pq.read_table(next(build.glob("train-*.parquet")))
    pq.write_table(table.slice(2, 4).select(["text"]), tmp_path / "items")
    command = given.format(build=build, items=tmp_path / "items").split()
    trees = []
    for name, flags in (
        ("spark", ["--workers", "2", *cluster.flags]),
        ("here", ["--workers", "1"]),
    ):
        folders = ["--output", str(tmp_path / name), "--editions", str(tmp_path / name / "new")]
        assert main([*command, *folders, *flags]) == status
        trees.append(tree_of(tmp_path / name))
    assert trees[0] == trees[1]
    assert [name for name in trees[0] if name.startswith("new/") and "removed-" in name]


@pytest.mark.parametrize("flags", ["flags", "process_flags"])
def test_bad_input_is_one_line_that_names_the_place(
    cluster: Cluster, flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = tmp_path / "ukwiki-20260101-pages-articles.xml.bz2"
    whole = bz2.decompress(Path(sample_dump("wikipedia", "ukwiki")).read_bytes())
    dump.write_bytes(bz2.compress(whole[: len(whole) // 2]))
    output = tmp_path / "output"
    build = ["wiki40b", "--language", "uk", "--dump", str(dump), "--output", str(output)]
    assert main([*build, *getattr(cluster, flags)]) == 1
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith(f"corpusmill: error: {dump}")
    assert not list(output.rglob("COMPLETED"))


def test_a_second_cluster_in_the_same_place_is_refused(cluster: Cluster) -> None:
    environment = {"STATE": str(cluster.state), "PATH": "/usr/bin:/bin"}
    assert run_script("start.sh", environment, subprocess.DEVNULL) == 1
    assert (cluster.state / "master.pid").exists()


def test_the_folder_of_somebody_else_stays(tmp_path: Path) -> None:
    environment = {"STATE": str(tmp_path), "PATH": "/usr/bin:/bin"}
    (tmp_path / "a file").touch()
    for script in ("start.sh", "stop.sh"):
        assert run_script(script, environment, subprocess.DEVNULL) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]
