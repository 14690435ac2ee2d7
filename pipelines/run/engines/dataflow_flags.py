"""Checks the flags that Dataflow requires or does not allow. Each check raises ValueError."""

import os
import re
from typing import Any

from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    SetupOptions,
    StandardOptions,
    WorkerOptions,
)

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
        place = getattr(cloud, flag)
        if place and not _FOLDER.match(place):
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


def brings_package(options: PipelineOptions) -> bool:
    """Returns True if flags determine how workers get the package `corpusmill`, so that it need not be
    uploaded.
    """
    setup = options.view_as(SetupOptions)
    packages = setup.setup_file, setup.extra_packages, setup.requirements_file
    return bool(any(packages) or options.view_as(WorkerOptions).sdk_container_image)
