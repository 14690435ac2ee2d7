"""The stages of a build: one pipeline each, connected by files."""

from collections.abc import Callable
from typing import NamedTuple

import apache_beam as beam


class Place(NamedTuple):
    """The folders of a stage."""

    folder: str  # of the build under construction; only the last stage writes outputs there
    scratch: (
        str  # of this stage: its intermediate files, which are kept until the build is finished
    )
    stripes: int  # number of parts in which the workers read a file


class Stage(NamedTuple):
    """One pipeline of a build.

    The outcome of a stage is written to files, which later stages read. A finished stage is not run again by
    a build with the same settings, code and inputs, so a killed build resumes after it.
    """

    name: str  # one word, "clean"; part of names of folders
    build: Callable[..., tuple[beam.PCollection | None, ...] | None]
    """Function (root, place, *outcomes of the stages before, in order) → outcome of the stage.

    An outcome is a NamedTuple of PCollections, with None for fields that are not made. It is None for the
    last stage
    and for a stage without outputs. A field of an earlier outcome is read from files when it is first
    accessed.
    """
