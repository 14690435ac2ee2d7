"""Options that Beam's file systems need before a pipeline exists."""

from collections.abc import Sequence

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions


def set_file_options(beam_flags: Sequence[str]) -> None:
    """Passes the flags, such as those of S3, to all file systems of this process.

    A pipeline does the same when it is made, and in its workers. But inputs are looked up before a pipeline
    is made.
    """
    FileSystems.set_options(PipelineOptions(list(beam_flags)))
