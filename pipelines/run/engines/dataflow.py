"""Runs builds on Google Cloud Dataflow: checks its flags, packs the package for workers, and describes
failures.

There is one job per pipeline. The launcher starts each job and waits for
its end.

Workers cannot read files on this machine. So inputs and outputs must be in buckets, and the package
`corpusmill` is uploaded or is part of the workers' container image.
"""

import contextlib
import importlib.metadata
import logging
import os
import pathlib
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    SetupOptions,
    StandardOptions,
    WorkerOptions,
)
from apache_beam.runners.dataflow.dataflow_runner import DataflowRunner, DataflowRuntimeException

from corpusmill.transforms.files.errors import DATAFLOW, BuildError, find_worker_error
from corpusmill.transforms.files.stores import refusal_of

from ..extras import libraries_of_workers
from .beam_patches import Options, active_job
from .engine import Engine, PlannedBuild, Started

_PROJECT = re.compile(r"[a-z][-a-z0-9:.]+[a-z0-9]")
_FOLDER = re.compile("gs://[^/]+/.")
_NEEDED = {
    "project": "the id of a Google Cloud project",
    "region": "the region of the workers, such as us-central1",
    "temp_location": "a folder in a bucket (gs://bucket/folder)",
}


def check_flags(options: PipelineOptions) -> None:
    """Raises ValueError if a required flag is missing, or if a flag is not suitable for a batch job."""
    cloud = options.view_as(GoogleCloudOptions)
    for flag, what in _NEEDED.items():
        if not (region_of(cloud) if flag == "region" else getattr(cloud, flag)):
            raise ValueError(f"DataflowRunner needs --{flag}, {what}")
    if not _PROJECT.fullmatch(cloud.project):
        raise ValueError(f"--project must be a valid project id, got {cloud.project!r}")
    for flag in ("temp_location", "staging_location"):
        if (place := getattr(cloud, flag)) and not _FOLDER.match(place):
            raise ValueError(
                f"--{flag} must be a folder in a bucket (gs://bucket/folder), got {place!r}"
            )
    if cloud.update or cloud.transform_name_mapping:
        raise ValueError(
            "Dataflow updates only streaming jobs, but builds are batch jobs: cancel the job and start it"
            " again; finished stages are kept"
        )
    if cloud.template_location:
        raise ValueError(
            "--template_location writes a template of one job, but a build runs several jobs;"
            " use the templates of deploy/dataflow, whose launcher runs the whole build"
        )
    if options.view_as(StandardOptions).streaming:
        raise ValueError("builds are batch jobs: remove --streaming")


def region_of(cloud: Any) -> str:
    """Returns the region of the workers: --region or, without this flag, the environment variable
    CLOUDSDK_COMPUTE_REGION.
    """
    return cloud.region or os.environ.get("CLOUDSDK_COMPUTE_REGION", "")


_UPLOAD_ERROR = "Could not upload to GCS path"  # the beginning of Beam's error message


def explain(text: str) -> str:
    """Returns one line about a failed job: the error of a worker, or else the last line of `text`.

    Args:
      text: The error message of Dataflow, which may contain the traceback of a worker.
    """
    if found := find_worker_error(text):
        return found
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Beam's message if a job failed before Beam first queried its state
    says_why = lines and lines[-1] != "None"
    return lines[-1] if says_why else "the job has failed without a message; see its log"


@contextlib.contextmanager
def readable_errors() -> Iterator[None]:
    """Replaces errors of Dataflow and its jobs in the `with` block by a BuildError of one line."""
    from apache_beam.runners.dataflow.internal import apiclient
    from google.api_core.exceptions import GoogleAPIError  # type: ignore[import-untyped]
    from google.auth.exceptions import GoogleAuthError  # type: ignore[import-untyped]

    try:
        yield
    except DataflowRuntimeException as error:
        raise BuildError(explain(str(error))) from None
    except apiclient.DataflowJobAlreadyExistsError as error:
        raise BuildError(str(error)) from None
    except (GoogleAPIError, GoogleAuthError) as error:
        raise BuildError(f"Google Cloud refused the request: {_in_one_line(error)}") from None
    except OSError as error:
        if not str(error).startswith(_UPLOAD_ERROR):
            raise
        raise BuildError(_in_one_line(error)) from None


def _in_one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


NAME = "corpusmill"
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
_INSTALLERS_OWN = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")


@contextlib.contextmanager
def worker_package(corpus: str = "") -> Iterator[Sequence[str]]:
    """Yields the Beam flags that upload this package to workers.

    The flags must be used in the `with` block, because files that they name are deleted afterwards.

    If corpusmill runs from a checkout, the package is built with setup.py. Otherwise, the installed package
    is packed as a wheel.

    Args:
      corpus: The corpus that the workers build. They also install its libraries.

    Raises ValueError if there is neither a checkout nor an installation.
    """
    setup = CHECKOUT / "setup.py"
    with tempfile.TemporaryDirectory(prefix="corpusmill-package-") as name:
        folder = pathlib.Path(name)
        flags = [f"--setup_file={setup}"]
        if not setup.exists():
            flags = [f"--extra_package={pack_installed(folder)}"]
        if libraries := libraries_of_workers(corpus):
            file = folder / "requirements.txt"
            file.write_text("".join(f"{library}\n" for library in libraries), "utf-8")
            # The workers download the libraries from the package index.
            flags += [f"--requirements_file={file}", "--requirements_cache=skip"]
        yield flags


def pack_installed(folder: pathlib.Path) -> pathlib.Path:
    """Writes the installed package as a wheel into `folder`. Returns the path of the wheel.

    Raises ValueError if corpusmill is not installed as a package.
    """
    try:
        installed = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        installed = None
    # An editable installation has its files elsewhere, next to a setup.py.
    if not installed or not installed.files:
        raise ValueError(
            f"{NAME} is not installed as a package: set --setup_file or --sdk_container_image"
        )
    wheel = folder / f"{NAME}-{installed.version}-py3-none-any.whl"
    record = f"{NAME}-{installed.version}.dist-info/RECORD"
    kept = [file for file in installed.files if _is_of_wheel(file)]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in kept:
            archive.write(str(file.locate()), file.as_posix())
        archive.writestr(
            record, "".join(f"{line}\n" for line in [*map(_record, kept), f"{record},,"])
        )
    return wheel


def _is_of_wheel(file: importlib.metadata.PackagePath) -> bool:
    is_inside = not file.is_absolute() and ".." not in file.parts
    return is_inside and file.suffix != ".pyc" and file.name not in _INSTALLERS_OWN


def _record(file: importlib.metadata.PackagePath) -> str:
    """Returns the line for a file in RECORD, the wheel's list of files: name, hash, size in bytes."""
    name = file.as_posix()
    quoted = f'"{name}"' if "," in name else name
    digest = f"{file.hash.mode}={file.hash.value}" if file.hash else ""
    return f"{quoted},{digest},{file.size or ''}"


DEFAULTS = (
    # A worker has one process per core, and by default many threads in each. The work is done in
    # Python: more threads are not faster and hold more data in memory.
    "--number_of_worker_harness_threads=1",
    "--no_save_main_session",  # nothing that workers need is defined in __main__
)
_LABEL_CHARACTERS = 63
_MONITORING = "https://console.cloud.google.com/dataflow/jobs"


class Dataflow(Engine):
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
        setup, workers = options.view_as(SetupOptions), options.view_as(WorkerOptions)
        packages = setup.setup_file, setup.extra_packages, setup.requirements_file
        # Then the package `corpusmill` need not be uploaded.
        self._has_package = any(packages) or workers.sdk_container_image

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
        from google.api_core.exceptions import GoogleAPIError

        if place := getattr(self._cloud, flag):
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
