"""Jobs of Dataflow: what would be sent is sent to a server of this machine, by the real clients."""

import io
import logging
import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from apache_beam.portability.api import beam_runner_api_pb2

from corpusmill.pipelines import sample_builds as demo
from corpusmill.pipelines.lm1b_settings import VERSION
from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.pipelines.run.engines.dataflow import explain
from corpusmill.pipelines.run.engines.engine import PlannedBuild
from corpusmill.pipelines.run.engines.run_pipeline import run_pipeline
from corpusmill.transforms.files import stage_files
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.stage_files import StageOutcome
from tests.pipelines.run.engines.dataflow_service import (
    PROJECT,
    REGION,
    DataflowService,
    failing_after_the_start,
    flags_for,
)
from tests.storage.stores import Store, is_read_by_builds, names_below, read, upload
from tests.tools.golden_tree import GOLDEN

pytest.importorskip("google.cloud.dataflow", reason='it comes with the extra "gcp"')

from corpusmill.pipelines.run.engines.dataflow import Dataflow, job_name, labels
from tests.tools.case_tables import read_cases

ROOT = Path(__file__).parents[5]
WORKER_FLAGS = [
    "--worker_machine_type=n2-highmem-4",
    "--disk_size_gb=50",
    "--num_workers=3",
    "--max_num_workers=40",
]
IMAGE = "us-central1-docker.pkg.dev/corpora-project/corpusmill/worker:1"
PATH = ("lm1b", "en", "x")
PACKED = ("lm1b", "simplebooks")  # corpora whose jobs bring the package
GRAPH_BYTES = 2_000_000
"""Dataflow refuses graphs above 10 MB. Ours do not grow with the input, but for the names of its files."""


class Submitted(NamedTuple):
    """A job that was started."""

    corpus: str
    request: dict[str, Any]
    graph: beam_runner_api_pb2.Pipeline
    graph_bytes: bytes
    staged: Sequence[str]  # paths of what lies in the bucket for it


def planned(path: Sequence[str], output: str = "gs://b/out", *inputs: str) -> PlannedBuild:
    return PlannedBuild(path, output, inputs)


@pytest.fixture(scope="module")
def submitted(service: DataflowService, bucket: Store, checkout: Path) -> dict[str, Submitted]:
    """Corpus and number of the stage → the job of that stage, started on Dataflow, which does nothing."""
    upload(demo.SAMPLES, bucket.path("samples"), is_read_by_builds)
    upload(GOLDEN, bucket.path("golden"), is_read_by_builds)
    jobs: dict[str, Submitted] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "SAMPLES", _BucketPath(bucket.path("samples")))
        for corpus in demo.sample_builds(bucket.path("golden")):
            if corpus.path[:2] in (("wiki40b", "ja"), ("wiki40b", "uk")):
                continue  # other words, the same jobs
            # To pack what workers install takes a second.
            image = [] if corpus.path[0] in PACKED else [f"--sdk_container_image={IMAGE}"]
            engine = Dataflow(flags_for(service, bucket.bucket, *WORKER_FLAGS, *image))
            places = [path for paths in corpus.inputs().values() for path in paths]
            engine.prepare(planned(corpus.path, bucket.bucket, *places))
            for number in _submit_stages(corpus, engine, bucket.path("out", *corpus.path)):
                jobs[f"{type(corpus).__name__}-{number}"] = _find(service, corpus.path[0])
    return jobs


class _BucketPath(PurePosixPath):
    """gs://bucket/name, with the slashes that a path would lose."""

    def __str__(self) -> str:
        return super().__str__().replace("gs:/", "gs://", 1)


def _submit_stages(corpus: CorpusBuild, engine: Dataflow, folder: str) -> Iterator[int]:
    """Starts one stage after the other; of those before, each finds empty collections of the right types."""
    before: dict[str, str] = {}
    for number, stage in enumerate(corpus.stages(), 1):
        place = Place(folder, f"{folder}.stages/{stage.name}", 2)
        types: dict[str, str] = {}

        def build(
            root: beam.Pipeline, stage: Stage = stage, place: Place = place, types: Any = types
        ) -> None:
            outcomes = [StageOutcome(root, *one) for one in before.items()]
            outcome: Any = stage.build(root, place, *outcomes)
            if outcome:
                given = {name: one for name, one in outcome._asdict().items() if one is not None}
                _ = given | "WriteStage" >> stage_files.WriteStage(place.scratch)
                for name, collection in given.items():
                    types[name] = stage_files.pack_type(collection.element_type)

        run_pipeline(build, engine)
        stage_files.write_list(place.scratch, types, ())
        before[stage.name] = place.scratch
        yield number


def _find(service: DataflowService, corpus: str) -> Submitted:
    request = service.jobs[-1]
    folder = request["environment"]["tempStoragePrefix"].replace("storage.googleapis.com/", "gs://")
    staged = [f"{folder}/{name}" for name in names_below(folder)]
    graph_bytes = read(f"{folder}/pipeline.pb")
    graph = beam_runner_api_pb2.Pipeline.FromString(graph_bytes)
    return Submitted(corpus, request, graph, graph_bytes, staged)


def test_every_stage_of_every_corpus_is_a_job(submitted: dict[str, Submitted]) -> None:
    corpora = {name.partition("-")[0] for name in submitted}
    assert corpora == {type(corpus).__name__ for corpus in demo.sample_builds(str(GOLDEN))}
    assert {"Lm1b-1", "Lm1b-2", "Wiki40b-1", "Wiki40b-2"} <= submitted.keys()


def test_a_job_has_the_name_and_the_labels_of_its_build(submitted: dict[str, Submitted]) -> None:
    for job in submitted.values():
        assert job.request["name"].startswith(f"{job.corpus}-")
        assert job.request["labels"]["corpus"] == job.corpus
    first, second = submitted["Lm1b-1"].request, submitted["Lm1b-2"].request
    version = VERSION.replace(".", "-")
    name = f"lm1b-en-shards-10-heldout-shards-5-2007-2011-{version}"
    assert first["name"] == second["name"] == name
    assert first["labels"] == {
        "corpus": "lm1b",
        "edition": "en-shards-10-heldout-shards-5",
        "build": f"2007-2011-{version}",
    }


def test_a_job_has_the_workers_that_were_asked_for(submitted: dict[str, Submitted]) -> None:
    for job in submitted.values():
        (pool,) = job.request["environment"]["workerPools"]
        assert pool["machineType"] == "n2-highmem-4"
        assert pool["diskSizeGb"] == 50
        assert pool["numWorkers"] == 3
        assert pool["autoscalingSettings"]["maxNumWorkers"] == 40
        assert pool["numThreadsPerWorker"] == 1
        (image,) = pool["sdkHarnessContainerImages"]
        given = "/beam_python3.11_sdk:2.77.0" if job.corpus in PACKED else IMAGE
        assert image["containerImage"].endswith(given)
        assert image["useSingleCorePerContainer"]


def test_a_job_is_started_in_its_project_and_region(
    submitted: dict[str, Submitted], service: DataflowService, bucket: Store
) -> None:
    assert submitted
    starts = [path for method, path, _ in service.requests if method == "POST"]
    assert set(starts) == {f"/sandbox/v1b3/projects/{PROJECT}/locations/{REGION}/jobs"}
    for job in submitted.values():
        temp = job.request["environment"]["tempStoragePrefix"]
        assert temp.startswith(
            f"storage.googleapis.com/{bucket.bucket[5:]}/temp/{job.request['name']}."
        )


def test_the_package_that_workers_install_is_whole(
    submitted: dict[str, Submitted], checkout: Path
) -> None:
    (path,) = (path for path in submitted["Lm1b-1"].staged if path.endswith("/workflow.tar.gz"))
    with tarfile.open(fileobj=io.BytesIO(read(path))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        f".package/corpusmill/{path.relative_to(checkout).as_posix()}"
        for top in ("pipelines", "transforms")
        for path in (checkout / top).rglob("*")
        if path.is_file() and path.suffix != ".md"
    }
    assert len(wanted) > 300
    assert wanted <= packed
    assert not any(name.startswith("tests") for name in packed)


def test_workers_install_the_libraries_of_their_corpus(submitted: dict[str, Submitted]) -> None:
    lists = {
        name: read(path).decode()
        for name, job in submitted.items()
        for path in job.staged
        if path.endswith("/requirements.txt")
    }
    assert lists["SimpleBooks-1"] == "spacy>=3.8,<3.9\n"
    assert not [name for name in lists if not name.startswith("SimpleBooks")]


def test_nothing_of_this_session_is_sent_along(submitted: dict[str, Submitted]) -> None:
    for job in submitted.values():
        assert not any(path.endswith("pickled_main_session") for path in job.staged)


def test_a_graph_names_no_file_of_this_machine(
    submitted: dict[str, Submitted], checkout: Path
) -> None:
    for name, job in submitted.items():
        for local in (ROOT, checkout, checkout.parent, Path.home()):
            assert str(local).encode() + b"/" not in job.graph_bytes, name


def test_the_steps_of_a_graph_have_names_of_their_own(submitted: dict[str, Submitted]) -> None:
    for name, job in submitted.items():
        names = names_of(job)
        assert len(names) == len(set(names)) > 5, name
        # Of the steps inside of them Beam has named some itself.
        for step in {step.partition("/")[0] for step in names} - {""}:
            assert re.fullmatch(r"[\w ]+", step), (name, step)


def names_of(job: Submitted) -> list[str]:
    return [transform.unique_name for transform in job.graph.components.transforms.values()]


def test_a_graph_is_far_below_what_dataflow_takes(submitted: dict[str, Submitted]) -> None:
    sizes = {name: len(job.graph_bytes) for name, job in submitted.items()}
    assert max(sizes.values()) < GRAPH_BYTES, sizes


# Flags


@pytest.mark.parametrize(
    ("missing", "more", "said"),
    read_cases("pipelines/dataflow_engine", "flags_that_no_job_can_be_started_with"),
)
def test_flags_that_no_job_can_be_started_with(
    missing: str, more: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLOUDSDK_COMPUTE_REGION", raising=False)
    flags = {"--project": "a-project", "--region": "r", "--temp_location": "gs://b/t"}
    with pytest.raises(ValueError, match=said):
        Dataflow([*(f"{k}={v}" for k, v in flags.items() if k != missing), *more])


def test_the_region_may_be_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUDSDK_COMPUTE_REGION", "europe-west4")
    engine = Dataflow(["--project=a-project", "--temp_location=gs://b/t"])
    assert engine._cloud.region == "europe-west4"


@pytest.mark.parametrize("flag", ["--setup_file=s/setup.py", "--sdk_container_image=gcr.io/p/i"])
def test_a_package_that_was_given_is_not_made(flag: str) -> None:
    given = ["--project=a-project", "--region=r", "--temp_location=gs://b/t"]
    assert not Dataflow(given)._has_package
    assert Dataflow([*given, flag])._has_package


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (("wiki40b", "zh-tw", "20261101-1.3.0"), "wiki40b-zh-tw-20261101-1-3-0"),
        (("pg19", "en_before-1928", "x"), "pg19-en-before-1928-x"),
        (("1b", "Ä", "-"), "corpusmill-1b"),
    ],
)
def test_names_of_jobs(path: tuple[str, ...], name: str) -> None:
    assert job_name(path) == name


def test_labels_have_63_characters_at_most() -> None:
    assert labels(("wiki40b", "Uk.x" * 20, "v1")) == {
        "corpus": "wiki40b",
        "edition": ("uk-x" * 20)[:63],
        "build": "v1",
    }


# What ends a job


def test_a_place_on_this_machine_is_refused(service: DataflowService) -> None:
    engine = Dataflow(flags_for(service, "gs://b"))
    with pytest.raises(ValueError, match=r"^/data/x\.gz is on this machine"):
        engine.prepare(planned(PATH, "gs://b/out", "/data/x.gz"))


def test_a_build_whose_job_is_active_is_not_started_again(
    service: DataflowService, bucket: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"id": "job-8", "name": "lm1b-en-y", "currentState": "JOB_STATE_RUNNING"}
    monkeypatch.setattr(service, "active", [other])
    engine = Dataflow(flags_for(service, bucket.bucket))
    engine.prepare(planned(PATH))
    monkeypatch.setattr(service, "active", [other, {**other, "id": "job-9", "name": "lm1b-en-x"}])
    with pytest.raises(
        BuildError, match=rf"is active: https://.*/{REGION}/job-9\?project={PROJECT};"
    ):
        engine.prepare(planned(PATH))


FAILURE = """\
Traceback (most recent call last):
  File "apache_beam/runners/common.py", line 1498, in process
transforms.files.open_input.InputError: gs://b/x.bz2: cut off [while running 'ReadDump/Read-ptransform-7']
"""


def test_a_job_that_fails_says_why_in_one_line(
    service: DataflowService,
    bucket: Store,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from apache_beam.runners.dataflow import dataflow_runner

    hurried = SimpleNamespace(sleep=lambda _: None, time=__import__("time").time)
    monkeypatch.setattr(dataflow_runner, "time", hurried)
    monkeypatch.setattr(service, "state", "JOB_STATE_RUNNING")
    message = {"time": "2026-11-22T00:00:00Z", "messageText": FAILURE}
    monkeypatch.setattr(
        service, "messages", [{**message, "id": "1", "messageImportance": "JOB_MESSAGE_ERROR"}]
    )
    caplog.set_level(logging.INFO, "corpusmill")
    engine = Dataflow(flags_for(service, bucket.bucket))

    def build(root: beam.Pipeline) -> None:
        _ = root | beam.Create([1])
        monkeypatch.setattr(service, "answer", failing_after_the_start(service))

    with pytest.raises(BuildError) as error:
        run_pipeline(build, engine)
    number = len(service.jobs)
    url = f"https://console.cloud.google.com/dataflow/jobs/{REGION}/job-{number}?project={PROJECT}"
    assert str(error.value) == f"gs://b/x.bz2: cut off; the job: {url}"
    assert url in caplog.text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (FAILURE, "gs://b/x.bz2: cut off"),
        ("Dataflow pipeline failed. State: FAILED, Error:\nWorkflow failed.\n", "Workflow failed."),
        ("", "the job has failed without a message; see its log"),
        ("State: FAILED, Error:\nNone", "the job has failed without a message; see its log"),
    ],
)
def test_one_line_of_a_failure(text: str, line: str) -> None:
    assert explain(text) == line


def test_a_bucket_that_is_not_there_is_one_line(service: DataflowService, bucket: Store) -> None:
    engine = Dataflow(flags_for(service, "gs://no-such-bucket"))
    told = "^--temp_location: gs://no-such-bucket/temp: no such file or bucket$"
    with pytest.raises(BuildError, match=told):
        engine.prepare(planned(PATH))
