"""The DAG: as any Python can read it, and as Airflow does.

Airflow wants other versions of our libraries: CORPUSMILL_AIRFLOW names the Python of an environment of its
own (pip install apache-airflow apache-airflow-providers-standard).
"""

import ast
import json
import os
import subprocess
from typing import Any

import pytest

from tests.deploy.schedulers import ANOTHER_IS_AT_WORK, COMMAND, CONFIG, DEPLOY, OK, stand_in

DAG = DEPLOY / "airflow" / "corpusmill_refresh.py"
PYTHON = os.environ.get("CORPUSMILL_AIRFLOW", "")

LOOK = """
import json, os, sys
from airflow.dag_processing.dagbag import DagBag

dags, *stand_ins = sys.argv[1:]
bag = DagBag(dags)
dag = bag.dags["corpusmill_refresh"]
states = []
for stand_in in stand_ins:
    os.environ["AIRFLOW_VAR_CORPUSMILL_COMMAND"] = stand_in
    states += [str(task.state) for task in dag.test().get_task_instances()]
facts = {
    "errors": bag.import_errors,
    "dags": list(bag.dags),
    "catchup": dag.catchup,
    "at_once": dag.max_active_runs,
    "states": states,
    "schedule": dag.timetable.expression,
}
print("FACTS", json.dumps(facts))
"""


def test_the_file_needs_airflow_and_nothing_of_ours() -> None:
    tree = ast.parse(DAG.read_text("utf-8"))
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in names} == {"airflow", "datetime"}


def test_it_has_the_exit_status_and_the_paths_of_the_others() -> None:
    text = DAG.read_text("utf-8")
    assert f"ANOTHER_IS_AT_WORK = {ANOTHER_IS_AT_WORK}\n" in text
    assert f"'corpusmill_command', '{COMMAND}'" in text
    assert f"'corpusmill_config', '{CONFIG}'" in text


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Returns the DAG as Airflow reads it, run with stand-ins for the command; and its whole output."""
    if not PYTHON:
        pytest.skip("CORPUSMILL_AIRFLOW does not name a Python with Airflow")
    home = tmp_path_factory.mktemp("airflow")
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAG.parent),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("PYTHONPATH", None)
    stand_ins = [str(stand_in(home, status)) for status in (OK, ANOTHER_IS_AT_WORK)]

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [PYTHON, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    run("-m", "airflow", "db", "migrate")
    said = run("-c", LOOK, str(DAG.parent), *stand_ins)
    (facts,) = (line for line in said.splitlines() if line.startswith("FACTS "))
    return json.loads(facts.removeprefix("FACTS ")), said


def test_airflow_loads_it(airflow: tuple[dict[str, Any], str]) -> None:
    facts, _ = airflow
    assert facts["errors"] == {}
    assert facts["dags"] == ["corpusmill_refresh"]
    assert (facts["catchup"], facts["at_once"]) == (False, 1)
    assert facts["schedule"] == "17 3 * * *"


def test_airflow_runs_it(airflow: tuple[dict[str, Any], str]) -> None:
    facts, said = airflow
    assert facts["states"] == ["success", "skipped"]
    assert said.count(f"called: refresh --config {CONFIG}") == len(facts["states"])
