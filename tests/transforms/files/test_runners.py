"""Names of runners."""

import pytest
from apache_beam.options.pipeline_options import StandardOptions

from corpusmill.transforms.files.errors import IN_PROCESS, RUNNERS, find_worker_error, runner_named
from tests.tools.case_tables import read_cases


def test_every_runner_of_beam_is_known() -> None:
    of_beam = {path.rpartition(".")[2] for path in StandardOptions.ALL_KNOWN_RUNNERS}
    assert {*RUNNERS} == {IN_PROCESS, *of_beam}


@pytest.mark.parametrize(("name", "runner"), read_cases("files/runners", "names_that_are_known"))
def test_names_that_are_known(name: str, runner: str) -> None:
    assert runner_named(name) == runner


@pytest.mark.parametrize(
    ("name", "meant"), [("Spark", "SparkRunner"), ("dataflow", "DataflowRunner"), ("inprocess", "")]
)
def test_names_that_are_not_known(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"no such runner: '{name}'") as raised:
        runner_named(name)
    message = str(raised.value)
    assert "in-process, DirectRunner, SparkRunner" in message
    assert "\n" not in message
    assert f"did you mean {meant}?" in message if meant else True


def test_a_runner_that_cannot_be_downloaded_is_named_in_one_line() -> None:
    told = (
        "Unable to fetch remote prism binary at https://x.org/prism.zip: <urlopen error [Errno -2] Name or"
        " service not known>"
    )
    assert find_worker_error(told) == (
        "the runner's prism binary cannot be downloaded from https://x.org/prism.zip: urlopen error"
        " [Errno -2] Name or service not known"
    )
