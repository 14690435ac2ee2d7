"""Damaged input: an error that names the place, or lost bytes, which are counted and logged."""

import logging
from typing import NamedTuple

import apache_beam as beam

from transforms.files import counters
from transforms.files.open_input import InputError

ON_CORRUPT = ("fail", "keep-good")
"""The ways to treat damaged input: end with an error, or keep what is whole."""


def check_on_corrupt(on_corrupt: str) -> None:
    """Raises ValueError for what is none of ON_CORRUPT."""
    if on_corrupt not in ON_CORRUPT:
        raise ValueError(f"on_corrupt is one of {ON_CORRUPT}, not {on_corrupt!r}")


def damage_error(path: str, start: int, end: int, message: str, note: str = "") -> InputError:
    """The error of bytes `start` to `end`, which are not whole; the note is at its end."""
    where = f", nothing is whole up to byte {end}" if end > start else ""
    return InputError(path, f"{message}{where}{note}", start)


class LostBytes(NamedTuple):
    """A part of a dump that could not be read, in a build that keeps what is good."""

    name: str  # of the file
    start: int  # byte of the stored file; of the XML where that cannot be entered in the middle
    end: int
    message: str
    pages_lost: int = -1  # by the multistream index; -1 where it does not say
    last_page: str = ""  # the last whole page in front of it: "12 Anarchism"
    unit: str = ""  # of what is lost; "" is what the build reads


def tell_lost(stage: str, lost: LostBytes) -> beam.pvalue.TaggedOutput:
    """Lost bytes on the output "lost", counted under `<stage>/damages` and logged."""
    counters.count(stage, "damages")
    logging.getLogger(__name__).warning("lost: %s", lost)
    return beam.pvalue.TaggedOutput("lost", lost)
