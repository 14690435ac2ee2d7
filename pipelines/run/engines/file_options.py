"""Sets the options of Beam's file systems before a pipeline exists."""

from collections.abc import Sequence

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions


def set_file_options(beam_flags: Sequence[str]) -> None:
    """Passes flags, such as those of S3, to all of Beam's file systems in this process.

    Beam does the same when it makes a pipeline, and in its workers. But inputs are read earlier, while the
    build is planned.
    """
    FileSystems.set_options(PipelineOptions(list(beam_flags)))
