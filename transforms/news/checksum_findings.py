"""Defines the results of comparing a build of One Billion Word with a list of MD5 checksums."""

import enum
from typing import NamedTuple


class Status(enum.StrEnum):
    """The result of the comparison for a file of the list, or for a file of the build that is not in the
    list.
    """

    DIFFERENT = "different"  # not as in the list, but as the build wrote it
    DAMAGED = "damaged"  # neither as in the list nor as the build wrote it
    MISSING = "missing"
    NOT_COMPARED = "not compared"  # the build does not have this file, and need not have it
    NOT_IN_LIST = "not in the list"
    EQUAL = "equal"


FAULTS = (Status.DIFFERENT, Status.DAMAGED, Status.MISSING)


class Finding(NamedTuple):
    """The result of comparing the checksum of one file."""

    status: Status
    name: str  # as in the list, or relative to the folder of the build
    detail: str  # description of the result; for EQUAL, the MD5 checksum
