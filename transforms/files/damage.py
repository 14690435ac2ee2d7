"""Handles damaged input: raises errors that name the position, or counts and logs the skipped bytes."""

import logging
from typing import NamedTuple

import apache_beam as beam

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.open_input import InputError


def damage_error(path: str, start: int, end: int, message: str, note: str = "") -> InputError:
    """Returns an error for the damaged bytes from `start` to `end` of a file.

    `note` is appended to the message.
    """
    where = f"; the data are damaged up to byte {end}" if end > start else ""
    return InputError(path, f"{message}{where}{note}", start)


class LostBytes(NamedTuple):
    """A part of a dump that was skipped because it is damaged (on_corrupt="keep-good")."""

    name: str  # name of the file
    start: int  # offset in the stored file, or in the XML if the compression has no entry points
    end: int
    message: str
    pages_lost: int = -1  # from the multistream index; -1 if unknown
    last_page: str = ""  # the last undamaged page before the part: "12 Anarchism"
    unit: str = ""  # unit of `pages_lost`, such as "pages"; "" for the unit that the build reads


def tell_lost(stage: str, lost: LostBytes) -> beam.pvalue.TaggedOutput:
    """Converts lost bytes to an element of the output "lost".

    Counts them under `<stage>/damages`, and logs them.
    """
    counters.count(stage, "damages")
    logging.getLogger(__name__).warning("lost: %s", lost)
    return beam.pvalue.TaggedOutput("lost", lost)
