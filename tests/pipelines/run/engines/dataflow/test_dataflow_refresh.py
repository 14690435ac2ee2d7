"""A refresh on Dataflow: it downloads into the bucket, and starts the job of a build on what is there."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from apache_beam.runners.dataflow import dataflow_runner

from corpusmill.pipelines.run.engines.engine import PlannedBuild
from tests.makers.wiki_builds import Command, run_cli
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.refresh.wiki_site import OLD, VERSION, dump_path, put_dump
from tests.pipelines.run.engines.dataflow_service import (
    PROJECT,
    REGION,
    DataflowService,
    failing_after_the_start,
    flags_for,
)
from tests.storage.stores import Store, names_below

pytest.importorskip("google.cloud.dataflow", reason='it comes with the extra "gcp"')

from corpusmill.pipelines.run.engines.dataflow import Dataflow

FAILURE = "corpusmill.transforms.files.read_files.InputError: gs://b/x.bz2: cut off [while running 'Read-7']"


def configure(path: Path, output: str, flags: list[str], site: DumpServer) -> Path:
    path.write_text(
        f'[refresh]\noutput = "{output}"\ncontact = "tests@example.org"\n'
        f'mirrors = ["{site.url}"]\nrunner = "DataflowRunner"\nbeam_flags = {flags}\n'
        f'[[corpus]]\nkind = "wiki40b"\nlanguage = "uk"\nmin_documents = 1\n',
        "utf-8",
    )
    return path


def test_the_job_of_a_refresh_reads_its_downloads_in_the_bucket(
    service: DataflowService,
    bucket: Store,
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hurried = SimpleNamespace(sleep=lambda _: None, time=time.time)
    monkeypatch.setattr(dataflow_runner, "time", hurried)
    monkeypatch.setattr(service, "state", "JOB_STATE_RUNNING")
    monkeypatch.setattr(service, "answer", failing_after_the_start(service))
    message = {"time": "2026-11-22T00:00:00Z", "messageText": FAILURE, "id": "1"}
    monkeypatch.setattr(
        service, "messages", [{**message, "messageImportance": "JOB_MESSAGE_ERROR"}]
    )
    builds: list[PlannedBuild] = []
    prepare = Dataflow.prepare

    def note(engine: Dataflow, build: PlannedBuild) -> None:
        builds.append(build)
        prepare(engine, build)

    monkeypatch.setattr(Dataflow, "prepare", note)
    output = bucket.path("refreshed")
    with DumpServer() as site:
        put_dump(site, OLD)
        flags = flags_for(service, bucket.bucket)
        config = configure(tmp_path / "refresh.toml", output, flags, site)
        refresh = Command(capsys, "refresh", "--config", config)
        printed = refresh(status=1).out
        job = service.jobs[-1]
        url = f"{REGION}/job-{len(service.jobs)}?project={PROJECT}"
        assert "failed gs://b/x.bz2: cut off; the job: https://" in " ".join(printed.split())
        assert url in printed

        assert job["name"] == f"wiki40b-uk-{OLD}-{VERSION}".replace(".", "-")
        (dump,) = [name for name in names_below(output) if name.endswith(".xml.bz2")]
        assert dump == f".downloads{dump_path(OLD)}"
        assert f"{output}/{dump}" in builds[-1].inputs
        assert all(path.startswith(f"{output}/.downloads/") for path in builds[-1].inputs)

        # The next run: the job is active by now, and what was downloaded is still there.
        active = {"id": "job-9", "name": job["name"], "currentState": "JOB_STATE_RUNNING"}
        monkeypatch.setattr(service, "active", [active])
        printed = " ".join(refresh(status=1).out.split())
        assert "failed a job of this build is active: https://" in printed
        assert len(site.asked_for(dump_path(OLD))) == 1
    assert "CURRENT" not in "".join(names_below(output))


@pytest.mark.parametrize("left_out", ["--project", "--region", "--temp_location"])
def test_flags_that_are_missing_are_told_before_anything_is_done(
    service: DataflowService,
    left_out: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = [flag for flag in flags_for(service, "gs://b") if not flag.startswith(left_out)]
    with DumpServer() as site:
        config = configure(tmp_path / "refresh.toml", "gs://b/corpora", flags, site)
        assert run_cli("refresh", "--config", config, "--check") == 2
    wrong = f"[refresh]: runner: DataflowRunner needs {left_out}"
    assert wrong in capsys.readouterr().err
