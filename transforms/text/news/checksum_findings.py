"""Findings of a comparison of a build of One Billion Word with a list of MD5 sums."""

import enum
from typing import NamedTuple


class Status(enum.StrEnum):
    """Result for an artefact of the list, or for a file that the list does not name."""

    DIFFERENT = "different"  # from the list, and as the build wrote it
    DAMAGED = "damaged"  # different, and not as the build wrote it
    MISSING = "missing"
    NOT_COMPARED = "not compared"  # a build need not have it
    NOT_IN_LIST = "not in the list"
    EQUAL = "equal"


FAULTS = (Status.DIFFERENT, Status.DAMAGED, Status.MISSING)


class Finding(NamedTuple):
    """One artefact."""

    status: Status
    name: str  # as the list says, or below the build
    detail: str  # where it is EQUAL, its MD5
