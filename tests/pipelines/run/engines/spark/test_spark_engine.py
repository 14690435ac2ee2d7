"""Flags of the engine. Runs on real clusters are in tests/engines."""

import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.transforms.environments import ExternalEnvironment, ProcessEnvironment

from corpusmill.pipelines.run.engines import spark, worker
from corpusmill.pipelines.run.engines.run_pipeline import run_pipeline
from corpusmill.pipelines.run.engines.spark import Spark
from corpusmill.pipelines.run.engines.spark_job_server import JobServerFiles
from corpusmill.pipelines.run.engines.worker_pool import PARAMETER
from corpusmill.pipelines.run.engines.worker_processes import VARIABLE
from corpusmill.transforms.files.errors import BuildError
from tests.tools.case_tables import read_cases

ENDPOINT = "--job_endpoint=localhost:1"
OWN_COMMAND = ["--environment_type=PROCESS", '--environment_config={"command": "/opt/worker"}']


@pytest.fixture(autouse=True)
def files(monkeypatch: pytest.MonkeyPatch) -> JobServerFiles:
    """A machine that has all."""
    files = JobServerFiles("java", "a.jar", ("a.jar",))
    monkeypatch.setattr(spark, "find_job_server_files", lambda *_: files)
    monkeypatch.setattr(spark, "find_job_server", lambda *_: files.jar)
    return files


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The command of an installed corpusmill."""
    command = tmp_path / "corpusmill-worker"
    command.touch()
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    return str(command)


def options_of(flags: list[str]) -> dict[str, Any]:
    with Spark(3, [*flags, ENDPOINT]).started() as started, started.pipeline() as pipeline:
        options: dict[str, Any] = pipeline.options.get_all_options(drop_default=True)
    return options


def environment_of(flags: list[str]) -> Any:
    with Spark(3, [*flags, ENDPOINT]).started() as started, started.pipeline() as pipeline:
        assert isinstance(pipeline, beam.Pipeline)
        return pipeline.runner.default_environment(pipeline.options)


@pytest.mark.parametrize(
    ("flags", "is_local"), read_cases("pipelines/spark_engine", "where_workers_run")
)
def test_where_workers_run(flags: list[str], is_local: bool) -> None:
    assert Spark(3, flags).is_local is is_local


def test_options_of_a_job() -> None:
    options = options_of([*OWN_COMMAND, "--job_name=x", "--experiments=y"])
    assert options["job_name"] == "x"
    assert options["job_endpoint"] == "localhost:1"
    assert {"pre_optimize=all", "y"} <= set(options["experiments"])
    assert int(options["sdk_worker_parallelism"]) == 0


def test_what_the_user_says_wins() -> None:
    flags = [*OWN_COMMAND, "--sdk_worker_parallelism=5", "--environment_cache_millis=9"]
    options = options_of(flags)
    assert int(options["sdk_worker_parallelism"]) == 5
    assert int(options["environment_cache_millis"]) == 9


def test_the_worker_command_is_the_installed_one(installed: str) -> None:
    environment = environment_of([])
    assert isinstance(environment, ProcessEnvironment)
    assert environment.command == installed
    assert environment.env == {worker.WORKING_FOLDER: str(Path.cwd())}


def test_a_cluster_without_the_command_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(ValueError, match=r".*/corpusmill-worker is missing: install corpusmill at"):
        Spark(3, ["--spark_master_url=spark://host:7077"])


@pytest.mark.parametrize(
    "flags",
    [
        OWN_COMMAND,
        ["--environment_type=PROCESS", "--environment_option=process_command=/opt/worker"],
    ],
)
def test_the_worker_command_of_the_flags(flags: list[str]) -> None:
    environment = environment_of(flags)
    assert environment.command == "/opt/worker"
    assert not environment.artifacts()


def test_a_pool_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "of the environment")
    environment = environment_of(["--environment_type=EXTERNAL", "--environment_config=node:50000"])
    assert isinstance(environment, ExternalEnvironment)
    assert environment.url == "node:50000"
    assert environment.params == {PARAMETER: "of the environment"}


@pytest.mark.parametrize(
    "flag", ["--setup_file=setup.py", "--requirements_file=x.txt", "--extra_package=x.tar.gz"]
)
def test_packages_that_nobody_would_install(flag: str) -> None:
    with pytest.raises(ValueError, match="workers use the packages of their nodes"):
        Spark(3, [flag])
    Spark(3, [flag, "--environment_type=DOCKER"])


def test_a_configuration_that_is_no_json_is_wrong() -> None:
    with pytest.raises(json.JSONDecodeError):  # a ValueError
        Spark(3, [ENDPOINT, "--environment_type=PROCESS", "--environment_config=/opt/worker"])


def test_a_job_server_that_is_not_there() -> None:
    engine = Spark(1, [*OWN_COMMAND, ENDPOINT, "--job_server_timeout=1"])
    with pytest.raises(BuildError, match=r"^the job server at localhost:1 does not respond: "):
        run_pipeline(lambda root: root | beam.Create([1]) and None, engine)
