"""Checks settings that several corpora have in common, and makes names of editions from settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.builds.manifest_schema import check_name
from corpusmill.transforms.files.compression import check_on_corrupt


def check_dump_settings(dump: Sequence[str], dump_date: str, on_corrupt: str) -> None:
    """Raises ValueError if there is no dump, or if `dump_date` or `on_corrupt` is invalid."""
    if not dump:
        raise ValueError("there must be at least one input file")
    check_name("dump_date", dump_date)  # "" takes the date from the name of the dump
    check_on_corrupt(on_corrupt)


def limit_setting(limit: int) -> dict[str, int]:
    """Returns the setting `limit`, the number of documents to read, as a mapping; empty if there is no limit.

    Args:
      limit: The number of documents; 0 for no limit.

    Raises ValueError if the limit is negative.
    """
    if limit < 0:
        raise ValueError(f"limit must be 0 or more, not {limit}")
    return {"limit": limit} if limit else {}


def limit_caveat(limit: int, unit: str) -> tuple[str, ...]:
    """Returns the caveat that a build reads only the first documents; empty if `limit` is 0.

    Args:
      limit: The number of documents that are read.
      unit: The name of the documents, such as "articles".
    """
    if not limit:
        return ()
    return (f"Only the first {limit:,} {unit} of the input were read: a first look, no corpus.",)


def name_edition(language: str, variant: Mapping[str, Any], original: Mapping[str, Any]) -> str:
    """Returns the name of an edition: the language, and the settings that differ from those of the original
    corpus.

    Examples are "en" and "en-shards-10". The name is also the name of a folder.

    Args:
      variant: Setting → value, for the settings that distinguish corpora made from the same input.
      original: Setting → value in the original corpus.
    """
    differing = [
        name.replace("_", "-") if value is True else f"{name.replace('_', '-')}-{value}"
        for name, value in variant.items()
        if value != original.get(name)
    ]
    return "-".join([language, *differing])


def name_variant(variant: Mapping[str, Any]) -> dict[str, str]:
    """Returns the settings in `variant` as they are written in the signature of a build.

    The signature is a line that identifies a build, such as "wiki40b|lang:uk|dump:20261101|v:1.3.0". The
    underscores in names are replaced by dashes, and the values are strings.
    """
    return {name.replace("_", "-"): _in_signature(value) for name, value in variant.items()}


def _in_signature(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value or "no")
