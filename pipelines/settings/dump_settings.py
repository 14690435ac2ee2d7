"""Settings that all builds from dumps have in common."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from transforms.files.damage import check_on_corrupt

# Used in the name of a folder; "" takes the date from the name of the dump.
_DATE_NAME = re.compile(r"(\w[\w.-]*)?")


def check_dump_settings(dump: Sequence[str], dump_date: str, on_corrupt: str) -> None:
    """Raises ValueError if there is no dump, or if dump_date or on_corrupt is invalid."""
    if not dump:
        raise ValueError("no dump is named")
    if not _DATE_NAME.fullmatch(dump_date):
        raise ValueError(
            f"dump_date is {dump_date!r}; use letters, digits, . and -, beginning with a letter or digit"
        )
    check_on_corrupt(on_corrupt)


def limit_setting(limit: int) -> dict[str, int]:
    """Returns the setting that limits the documents to read, as {"limit": limit}; empty if the limit is 0.

    Raises ValueError if the limit is negative.
    """
    if limit < 0:
        raise ValueError(f"limit must be 0 or more, not {limit}")
    return {"limit": limit} if limit else {}


def limit_caveat(limit: int, unit: str) -> tuple[str, ...]:
    """Returns the caveat that a limit adds to the manifest and the card of a build; empty if the limit is
    0.
    """
    if not limit:
        return ()
    return (f"Only the first {limit:,} {unit} of the input were read: a first look, no corpus.",)


def name_edition(language: str, variant: Mapping[str, Any], original: Mapping[str, Any]) -> str:
    """Returns the name of an edition: the language and the settings that differ from the defaults.

    Examples: "en", "en-shards-10". The name is used as a folder.

    Args:
      variant: Setting → value, for the settings that change the corpus made from the same input.
      original: Setting → default value.
    """
    differing = [
        name.replace("_", "-") if value is True else f"{name.replace('_', '-')}-{value}"
        for name, value in variant.items()
        if value != original.get(name)
    ]
    return "-".join([language, *differing])


def name_variant(variant: Mapping[str, Any]) -> dict[str, str]:
    """Returns the settings, formatted for a signature."""
    return {name.replace("_", "-"): _in_signature(value) for name, value in variant.items()}


def _in_signature(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value or "no")
