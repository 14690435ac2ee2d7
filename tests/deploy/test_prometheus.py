"""The rules for alerts, against the metrics that there are."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from corpusmill.pipelines.refresh.refresh import write_metrics
from corpusmill.pipelines.refresh.state import CorpusState
from tests.deploy.schedulers import DEPLOY, run_tool

ALERTS = DEPLOY / "prometheus" / "alerts.yml"
CASES = Path(__file__).parent / "alerts_test.yml"


def promtool(*arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    return run_tool("promtool", "Debian: prometheus", *arguments, given=given)


@pytest.fixture
def metrics(tmp_path: Path) -> str:
    """Returns the metrics that a refresh writes."""
    path = tmp_path / "metrics.prom"
    state = CorpusState(last_run=3.0, last_success=3.0, last_failure=1.0, failures=1)
    write_metrics(str(path), (4.0, 1.0, 0), {"pg19": state})
    return path.read_text("utf-8")


def test_the_rules_ask_for_metrics_that_there_are(metrics: str) -> None:
    (group,) = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    asked = {
        name for rule in group["rules"] for name in re.findall(r"corpusmill_\w+", rule["expr"])
    }
    given = set(re.findall(r"^(corpusmill_\w+)", metrics, re.MULTILINE))
    assert len(asked) == 4
    assert asked <= given


def test_the_metrics_are_named_as_prometheus_wants(metrics: str) -> None:
    run = promtool("check", "metrics", given=metrics)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(("what", "path"), [("check", ALERTS), ("test", CASES)])
def test_the_rules_are_right_and_go_off_when_they_should(what: str, path: Path) -> None:
    run = promtool(what, "rules", path)
    assert run.returncode == 0, run.stdout + run.stderr
