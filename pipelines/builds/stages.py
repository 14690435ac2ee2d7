"""The stages of a build: one pipeline each, connected by files."""

from collections.abc import Callable
from typing import NamedTuple

import apache_beam as beam


class Place(NamedTuple):
    """The folders of a stage."""

    folder: str  # of the build under construction; only the last stage writes outputs there
    scratch: str  # of this stage: what waits in files goes below it, and stays until the build is finished
    stripes: int  # how many workers share the reading of a file


class Stage(NamedTuple):
    """One pipeline of a build.

    What it gives is written to files, where later stages find it. A finished stage is not run again by a
    build with the same settings, code and inputs, so a build that was killed goes on where it was.
    """

    name: str  # one word, "clean"; part of names of folders
    build: Callable[..., tuple[beam.PCollection | None, ...] | None]
    """(root, place, *outcomes of the stages before, in order) → its own outcome, a NamedTuple of
    PCollections, and of None for what is not made; None of the last stage, and of one that hands nothing on.

    An outcome of a stage before is read, field by field, when the field is first asked for.
    """
