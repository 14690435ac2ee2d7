"""What every build from dumps asks of its settings."""

import re
from collections.abc import Sequence

from transforms.read_dumps import ON_CORRUPT

# It is a part of the name of a folder; "" is taken from the name of the dump.
_DATE_NAME = re.compile(r"(\w[\w.-]*)?")


def check_dump_settings(dump: Sequence[str], dump_date: str, on_corrupt: str) -> None:
    """Raises ValueError for no dump, a date that would lead elsewhere, and an unknown way with damage."""
    if not dump:
        raise ValueError("no dump is named")
    if not _DATE_NAME.fullmatch(dump_date):
        raise ValueError(f"dump_date is {dump_date!r}, and must be letters, digits, . and -")
    if on_corrupt not in ON_CORRUPT:
        raise ValueError(f"on_corrupt is one of {ON_CORRUPT}, not {on_corrupt!r}")
