"""The settings that every build from dumps has."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from transforms.files.damage import check_on_corrupt

# It is a part of the name of a folder; "" is taken from the name of the dump.
_DATE_NAME = re.compile(r"(\w[\w.-]*)?")


def check_dump_settings(dump: Sequence[str], dump_date: str, on_corrupt: str) -> None:
    """Raises ValueError for no dump, a date that would lead elsewhere, and an unknown way with damage."""
    if not dump:
        raise ValueError("no dump is named")
    if not _DATE_NAME.fullmatch(dump_date):
        raise ValueError(f"dump_date is {dump_date!r}, and must be letters, digits, . and -")
    check_on_corrupt(on_corrupt)


def limit_setting(limit: int) -> dict[str, int]:
    """The setting of a build of the first documents alone, which is a corpus of its own; nothing without one.

    Raises ValueError.
    """
    if limit < 0:
        raise ValueError(f"limit is {limit}, and must not be negative")
    return {"limit": limit} if limit else {}


def limit_caveat(limit: int, unit: str) -> tuple[str, ...]:
    """The caveat in the manifest and the card of a build with a limit."""
    if not limit:
        return ()
    return (f"Only the first {limit:,} {unit} of the input were read: a first look, no corpus.",)


def name_edition(language: str, variant: Mapping[str, Any], original: Mapping[str, Any]) -> str:
    """The language, and what differs from the original: "en", "en-shards-10"; a part of a folder's name.

    Args:
      variant: setting → its value, of the settings that make another corpus of the same input.
      original: the same, as they are by default.
    """
    differing = [
        name.replace("_", "-") if value is True else f"{name.replace('_', '-')}-{value}"
        for name, value in variant.items()
        if value != original.get(name)
    ]
    return "-".join([language, *differing])


def name_variant(variant: Mapping[str, Any]) -> dict[str, str]:
    """The settings as they are in a signature."""
    return {name.replace("_", "-"): _in_signature(value) for name, value in variant.items()}


def _in_signature(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value or "no")
