"""Options that Beam's file systems need before there is a pipeline."""

from collections.abc import Sequence

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions


def set_file_options(beam_flags: Sequence[str]) -> None:
    """Lets all file systems of this process know the flags, those of S3 for example.

    A pipeline does so by itself when it is made, and in its workers; inputs are looked for before that.
    """
    FileSystems.set_options(PipelineOptions(list(beam_flags)))
