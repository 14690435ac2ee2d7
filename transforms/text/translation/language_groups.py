"""The groups of languages for which average scores are computed, from Tables 1, 6 and 7 of Goyal
et al. 2022.
"""

from collections.abc import Mapping
from typing import Any

from transforms.text.files.toml_tables import read_table

RESOURCE_LEVELS = {"very low": 100_000, "low": 1_000_000, "medium": 100_000_000, "high": None}
"""Level → exclusive upper bound of its number of bitext sentences with English (Table 7 of the paper).

The bound of the highest level is None.
"""


def _table(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_table(__package__, "language_groups.toml")[name]
    return table


def family_of(code: str) -> str | None:
    """Returns the language's group in Table 6 of Goyal et al. 2022, or None if Table 6 lacks the language."""
    return _table("subgroupings").get(code)


def resource_level_of(code: str) -> str | None:
    """Returns a language's resource level (Table 7), based on its number of sentences in bitext with English
    (Table 1).

    Returns None if Table 1 has no such number.
    """
    sentences = _table("bitext").get(code)
    if sentences is None:
        return None
    ends = RESOURCE_LEVELS.items()
    return next(level for level, end in ends if end is None or sentences < end)
