"""Runs builds on Google Cloud Dataflow, with one job per pipeline. The launcher starts each job and waits for
its end.

Workers cannot read files on this machine. So inputs and outputs must be in buckets, and the package
`corpusmill` is uploaded or is part of the workers' container image.
"""

import contextlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions
from apache_beam.runners.dataflow.dataflow_runner import DataflowRunner

from corpusmill.pipelines.run.engines.beam_patches import Options, active_job
from corpusmill.pipelines.run.engines.dataflow_errors import readable_errors
from corpusmill.pipelines.run.engines.dataflow_flags import brings_package, check_flags, region_of
from corpusmill.pipelines.run.engines.dataflow_package import worker_package
from corpusmill.pipelines.run.engines.engine import PlannedBuild, Started
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.runners import DATAFLOW
from corpusmill.transforms.files.stores import refusal_of

DEFAULTS = (
    # A worker has one process per core, and by default many threads in each. The work is done in
    # Python: more threads are not faster and hold more data in memory.
    "--number_of_worker_harness_threads=1",
    "--no_save_main_session",  # nothing that workers need is defined in __main__
)
_LABEL_CHARACTERS = 63
_MONITORING = "https://console.cloud.google.com/dataflow/jobs"


class Dataflow:
    """The engine for Dataflow. It runs the jobs of one build.

    Raises ValueError if no job can be started with the flags.
    """

    def __init__(self, beam_flags: Sequence[str]):
        _check_client()
        self._flags = [*DEFAULTS, *beam_flags, f"--runner={DATAFLOW}"]
        self._names: list[str] = []
        self._corpus = ""
        options = PipelineOptions(self._flags)
        check_flags(options)
        self._flags.append(f"--region={region_of(options.view_as(GoogleCloudOptions))}")
        self._cloud: Any = PipelineOptions(self._flags).view_as(GoogleCloudOptions)
        self._has_package = brings_package(options)

    is_local = False

    def prepare(self, build: PlannedBuild) -> None:
        """Chooses the name of the build's jobs, and checks that they can run.

        All jobs of a build have the same name, because they run in order. Dataflow does not allow two active
        jobs with one name, so a launcher that lost its connection cannot start a job twice.

        Raises ValueError for paths that workers cannot read. Raises BuildError if a job of the build is
        active, or if a bucket cannot be used (Beam itself would retry for seven minutes).
        """
        for place in (build.output, *build.inputs):
            if FileSystems.get_scheme(place) is None:
                raise ValueError(
                    f"{place} is on this machine, where Dataflow workers cannot read it; use a path in a"
                    " bucket (gs://)"
                )
        self._corpus = build.path[0]
        name = self._cloud.job_name or job_name(build.path)
        self._names = [
            f"--job_name={name}",
            *(f"--label={k}={v}" for k, v in labels(build.path).items()),
        ]
        with readable_errors():
            active = active_job(self._cloud, name)
            for flag in ("temp_location", "staging_location"):
                self._check_bucket(flag)
        if active:
            raise BuildError(
                f"a job of this build is active: {_url(self._cloud, active)}; wait until it ends, or cancel"
                " it, then start the build again (finished stages are kept). If it is another build, use"
                " another --job_name"
            )

    @contextlib.contextmanager
    def started(self, folder: str = "") -> Iterator[Started]:
        """Starts the engine (see Engine). All jobs of a build use the same package for the workers."""
        package = contextlib.nullcontext(()) if self._has_package else worker_package(self._corpus)
        with package as of_package, _job_messages():
            yield Started(lambda: self._pipeline([*self._flags, *self._names, *of_package]))

    @contextlib.contextmanager
    def _pipeline(self, flags: Sequence[str]) -> Iterator[beam.Pipeline]:
        """Yields a new pipeline, which runs as a Dataflow job at the end of the `with` block.

        If this process is stopped, the job continues, and the address of the job is logged.

        Args:
          flags: The Beam flags of the job.
        """
        runner = _Runner()
        try:
            with readable_errors():
                yield beam.Pipeline(runner=runner, options=Options(flags))
        except (KeyboardInterrupt, SystemExit):
            if runner.job_id:
                _log(f"the job continues: {_url(self._cloud, runner.job_id)}")
            raise
        except BuildError as error:
            if not runner.job_id:
                raise
            raise BuildError(f"{error}; the job: {_url(self._cloud, runner.job_id)}") from None

    def _check_bucket(self, flag: str) -> None:
        """Raises BuildError if a bucket cannot be used. Beam makes the same check before an upload.

        Args:
          flag: The flag that names a folder in the bucket: "temp_location" or "staging_location".
        """
        from apache_beam.io.gcp.gcsio import create_storage_client
        from google.api_core.exceptions import GoogleAPIError  # type: ignore[import-untyped]

        place = getattr(self._cloud, flag)
        if place:
            try:
                client = create_storage_client(self._cloud, not self._cloud.no_auth)
                client.get_bucket(place.split("/")[2])
            except GoogleAPIError as error:
                raise BuildError(f"--{flag}: {place}: {refusal_of(error)}") from error


class _Runner(DataflowRunner):
    """Beam's DataflowRunner, with the patch that it stores the id of its job."""

    def __init__(self) -> None:
        super().__init__()
        self.job_id = ""

    def run_pipeline(self, pipeline: Any, options: Any, pipeline_proto: Any = None) -> Any:
        result = super().run_pipeline(pipeline, options, pipeline_proto)
        if getattr(result, "has_job", False):
            self.job_id = result.job_id()
            cloud = options.view_as(GoogleCloudOptions)
            _log(f"job {cloud.job_name}: {_url(cloud, self.job_id)}")
        return result


# Beam finds the runners that need a bucket by the names of their classes.
_Runner.__name__ = DATAFLOW


def job_name(path: Sequence[str]) -> str:
    """Returns the name of the jobs of a build: letters, digits and dashes, beginning with a letter.

    For example, the path "wiki40b", "uk", "20261101-1.3.0" gives "wiki40b-uk-20261101-1-3-0".
    """
    name = re.sub("[^a-z0-9]+", "-", "-".join(path).lower()).strip("-")
    return name if name[:1].isalpha() else f"corpusmill-{name}"


def labels(path: Sequence[str]) -> Mapping[str, str]:
    """Returns name → value of the labels of a build's jobs. Bills and job lists can be grouped by labels."""
    names = ("corpus", "edition", "build")
    values = (re.sub("[^-_a-z0-9]+", "-", part.lower())[:_LABEL_CHARACTERS] for part in path)
    return dict(zip(names, values, strict=False))


def _check_client() -> None:
    try:
        from apache_beam.runners.dataflow.internal import apiclient  # noqa: F401
    except ImportError as error:
        raise ValueError(
            f"DataflowRunner needs the libraries of Google Cloud: pip install 'corpusmill[gcp]' ({error})"
        ) from None


@contextlib.contextmanager
def _job_messages() -> Iterator[None]:
    """Makes Beam log the states and messages of the job during the `with` block."""
    messages = logging.getLogger("apache_beam.runners.dataflow.dataflow_runner")
    before = messages.level
    messages.setLevel(logging.INFO)
    try:
        yield
    finally:
        messages.setLevel(before)


def _url(cloud: Any, job_id: str) -> str:
    return f"{_MONITORING}/{cloud.region}/{job_id}?project={cloud.project}"


def _log(text: str) -> None:
    logging.getLogger(__name__).info("%s", text)
