"""Flex templates of Dataflow: forms, and the commands that they stand for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines import sample_builds as demo
from corpusmill.pipelines.cli import make_parser
from corpusmill.transforms.files.errors import BuildError

pytest.importorskip("google.cloud.dataflow", reason='it comes with the extra "gcp"')

from corpusmill.pipelines import dataflow_template
from corpusmill.pipelines.dataflow_template import (
    command_line,
    commands,
    main,
    metadata_of,
    run_command,
)

TEMPLATES = Path(__file__).parents[2] / "deploy" / "dataflow" / "templates"
JOB = ["--project=p-1", "--region=r", "--temp_location=gs://b/t", "--job_name=j"]


def test_every_command_that_builds_on_buckets_has_a_form() -> None:
    assert sorted(path.stem for path in TEMPLATES.iterdir()) == sorted(commands())


@pytest.mark.parametrize("command", commands())
def test_a_form_has_the_flags_of_its_command(command: str) -> None:
    found = json.loads((TEMPLATES / f"{command}.json").read_text("utf-8"))
    assert found == metadata_of(command), "run python deploy/dataflow/write_metadata.py"


@pytest.mark.parametrize("command", commands())
def test_a_form_is_one_as_dataflow_knows_it(command: str) -> None:
    from google.cloud import dataflow
    from google.protobuf import json_format

    text = (TEMPLATES / f"{command}.json").read_text("utf-8")
    form = json_format.Parse(text, dataflow.TemplateMetadata.pb()())  # refuses unknown fields
    names = [parameter.name for parameter in form.parameters]
    assert len(names) == len(set(names)) > 6
    for parameter in form.parameters:
        assert re.fullmatch("[a-zA-Z][a-zA-Z0-9_]*", parameter.name)
        assert parameter.label
        assert parameter.help_text
        for pattern in parameter.regexes:
            re.compile(pattern)


def values(**given: str) -> dict[str, str | None]:
    return dict(given)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            values(
                command="lm1b", input="gs://b/x* 'gs://b/a b.gz'", output="gs://b/c", shards="5"
            ),
            "lm1b --output gs://b/c --input gs://b/x* gs://b/a b.gz --shards 5",
        ),
        (
            values(command="wiki40b", language="uk", no_wiki_templates="true", replace="false"),
            "wiki40b --language uk --no-wiki-templates",
        ),
        (values(command="entities", dump="", output="gs://b/c"), "entities --output gs://b/c"),
    ],
)
def test_the_command_that_a_form_stands_for(given: Any, line: str) -> None:
    command = command_line({**given, "jobs_runner": "in-process"}, JOB)
    own = " ".join(command).removesuffix(" --runner in-process")
    assert sorted(own.split()) == sorted(line.split())
    assert own.startswith(given["command"])


def test_the_jobs_of_a_build_have_much_of_that_of_the_template() -> None:
    given = values(
        command="lm1b", input="gs://b/x", output="gs://b/c", jobs_flags="--num_workers=3"
    )
    flags = [*JOB, "--template_location=gs://b/o", "--sdk_container_image=i:1", "--num_workers=1"]
    assert command_line(given, flags)[-6:] == [
        "DataflowRunner",
        "--project=p-1",
        "--region=r",
        "--temp_location=gs://b/t",
        "--sdk_container_image=i:1",
        "--num_workers=3",
    ]


def test_a_command_that_is_wrong_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataflow_template.beam, "Pipeline", None)
    with pytest.raises(SystemExit):
        main(["--command=lm1b", "--input=gs://b/x", "--output=gs://b/c", "--shards=many", *JOB])
    with pytest.raises(SystemExit):
        main(["--command=lm1b", "--output=gs://b/c", *JOB])


def test_the_job_of_a_template_builds(tmp_path: Path) -> None:
    """The one step is run by the in-process runner, and so is the build."""
    main(
        [
            "--command=entities",
            f"--dump={demo.sample_entities()}",
            f"--output={tmp_path}",
            "--workers=1",
            "--jobs_runner=in-process",
            "--runner=FnApiRunner",
        ]
    )
    (mark,) = tmp_path.rglob("COMPLETED")
    assert mark.with_name("manifest.json").exists()


def test_a_command_that_fails_says_why() -> None:
    message = r"(?s)^corpusmill entities ended with exit status 1: .*no such file"
    with pytest.raises(BuildError, match=message):
        run_command(["entities", "--dump", "/no/such-file", "--output", "/no"])


@pytest.mark.parametrize("command", commands())
def test_what_a_form_asks_for_is_what_the_command_needs(command: str) -> None:
    needed = [one["name"] for one in metadata_of(command)["parameters"] if not one["isOptional"]]
    given = dict.fromkeys(needed, "x") | {"command": command}
    line = command_line({**given, "jobs_runner": "in-process"}, [])
    assert make_parser().parse_known_args(line)[1] == []
