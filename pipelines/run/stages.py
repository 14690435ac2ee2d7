"""Defines the stages of a build. Each stage is one pipeline, and writes files that later stages read."""

from collections.abc import Callable
from typing import NamedTuple

import apache_beam as beam


class Place(NamedTuple):
    """The folders that a stage may write to, and the number of parts into which it divides its input."""

    folder: str  # the folder of the build; only the last stage writes into it
    scratch: (
        str  # the folder for intermediate files of this stage; kept until the build is finished
    )
    stripes: int  # number of parts into which workers divide a file


class Stage(NamedTuple):
    """One pipeline of a build.

    The outcome of a stage is written to files, which later stages read. A build with the same settings, code
    and inputs does not run a finished stage again, so a killed build is resumed after its last finished
    stage.
    """

    name: str  # one word, "clean"; part of names of folders
    build: Callable[..., tuple[beam.PCollection | None, ...] | None]
    """Function (root, place, *outcomes of the earlier stages, in order) → outcome of the stage.

    An outcome is a NamedTuple of PCollections; a field may be None. The last stage, and any stage without
    outputs, returns None. A field of an earlier outcome is read from files when it is first accessed.
    """
