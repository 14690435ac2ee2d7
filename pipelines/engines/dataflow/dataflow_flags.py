"""Checks the flags that Dataflow requires or forbids. Each check raises ValueError."""

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
    "region": "where its workers are, such as us-central1",
    "temp_location": "a folder in a bucket (gs://bucket/folder)",
}


def check_flags(options: PipelineOptions) -> None:
    """Checks that the required flags are set, and that all flags fit a batch job."""
    cloud = options.view_as(GoogleCloudOptions)
    for flag, what in _NEEDED.items():
        if not (region_of(cloud) if flag == "region" else getattr(cloud, flag)):
            raise ValueError(f"DataflowRunner needs --{flag}, {what}")
    if not _PROJECT.fullmatch(cloud.project):
        raise ValueError(f"--project is {cloud.project!r}, which is not a valid project id")
    for flag in ("temp_location", "staging_location"):
        place = getattr(cloud, flag)
        if place and not _FOLDER.match(place):
            raise ValueError(
                f"--{flag} is {place!r}, which is not a folder in a bucket (gs://bucket/folder)"
            )
    if cloud.update or cloud.transform_name_mapping:
        raise ValueError(
            "Dataflow updates only streaming jobs, but builds are batch jobs: cancel the job and start it"
            " again; finished stages are kept"
        )
    if cloud.template_location:
        raise ValueError(
            "a build has several jobs, but a template has one: use the templates of"
            " deploy/dataflow instead of --template_location"
        )
    if options.view_as(StandardOptions).streaming:
        raise ValueError("builds are batch jobs: remove --streaming")


def region_of(cloud: Any) -> str:
    """Returns the region of the workers: --region, otherwise the region that an environment variable sets."""
    return cloud.region or os.environ.get("CLOUDSDK_COMPUTE_REGION", "")


def brings_package(options: PipelineOptions) -> bool:
    """Returns True if the flags say how workers get the package `corpusmill`."""
    setup = options.view_as(SetupOptions)
    packages = setup.setup_file, setup.extra_packages, setup.requirements_file
    return bool(any(packages) or options.view_as(WorkerOptions).sdk_container_image)
