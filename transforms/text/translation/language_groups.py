"""Groups of languages by which the paper averages scores: Tables 1, 6 and 7 of Goyal et al. 2022."""

from collections.abc import Mapping
from typing import Any

from transforms.text.files.toml_tables import read_table

RESOURCE_LEVELS = {"very low": 100_000, "low": 1_000_000, "medium": 100_000_000, "high": None}
"""Level → sentences of bitext with English that it ends below; Table 7 of the paper. None for no end."""


def _table(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_table(__package__, "language_groups.toml")[name]
    return table


def family_of(code: str) -> str | None:
    """The group of languages that Table 6 of the paper puts a language in; None for one of no group."""
    return _table("subgroupings").get(code)


def resource_level_of(code: str) -> str | None:
    """The level of Table 7 by the sentences of bitext with English; None where Table 1 has no number."""
    sentences = _table("bitext").get(code)
    if sentences is None:
        return None
    ends = RESOURCE_LEVELS.items()
    return next(level for level, end in ends if end is None or sentences < end)
