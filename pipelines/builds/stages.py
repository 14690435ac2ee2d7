"""The stages of a build. Each is one pipeline; files connect them."""

from collections.abc import Callable
from typing import NamedTuple

import apache_beam as beam


class Place(NamedTuple):
    """The folders that a stage uses, and how it divides its input."""

    folder: str  # in which the build is made; only the last stage writes into it
    scratch: (
        str  # of this stage: its intermediate files, which are kept until the build is finished
    )
    stripes: int  # number of parts in which the workers read a file


class Stage(NamedTuple):
    """One pipeline of a build.

    The outcome of a stage is written to files, which later stages read. A build with the same settings, code
    and inputs does not run a finished stage again, so a killed build resumes after its last finished stage.
    """

    name: str  # one word, "clean"; part of names of folders
    build: Callable[..., tuple[beam.PCollection | None, ...] | None]
    """Function (root, place, *outcomes of the earlier stages, in order) → outcome of the stage.

    An outcome is a NamedTuple of PCollections; a field may be None. The last stage, and any stage without
    outputs, returns None. A field of an earlier outcome is read from files when it is first accessed.
    """
