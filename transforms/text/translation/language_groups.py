"""Groups of languages by which the paper averages scores: Tables 1, 6 and 7 of Goyal et al. 2022."""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

_TABLE = "language_groups.toml"

RESOURCE_LEVELS = {"very low": 100_000, "low": 1_000_000, "medium": 100_000_000, "high": None}
"""Level → sentences of bitext with English that it ends below; Table 7 of the paper. None for no end."""


@functools.cache
def _read_table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(resources.files(__package__).joinpath(_TABLE).read_text("utf-8"))


def family_of(code: str) -> str | None:
    """The group of languages that Table 6 of the paper puts a language in; None for one of no group."""
    return _read_table()["subgroupings"].get(code)


def resource_level_of(code: str) -> str | None:
    """The level of Table 7 by the sentences of bitext with English; None where Table 1 has no number."""
    sentences = _read_table()["bitext"].get(code)
    if sentences is None:
        return None
    ends = RESOURCE_LEVELS.items()
    return next(level for level, end in ends if end is None or sentences < end)
