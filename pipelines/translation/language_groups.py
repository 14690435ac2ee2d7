"""Groups languages by family and by resource level, so that average scores can be computed for each group.

The groups are from Tables 1, 6 and 7 of Goyal et al. 2022.
"""

from collections.abc import Mapping
from typing import Any

from corpusmill.transforms.files.toml_tables import read_table

RESOURCE_LEVELS = {"very low": 100_000, "low": 1_000_000, "medium": 100_000_000, "high": None}
"""Level → exclusive upper bound of its number of bitext sentences with English (Table 7 of the paper).

The bound of the highest level is None.
"""


def _table(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_table(__package__, "language_groups.toml")[name]
    return table


def family_of(code: str) -> str | None:
    """Returns the family of a language in Table 6 of Goyal et al. 2022, or None if it is not in the table."""
    return _table("subgroupings").get(code)


def resource_level_of(code: str) -> str | None:
    """Returns a language's resource level as in Table 7 of Goyal et al. 2022, or None if it is unknown.

    The level depends on the number of sentence pairs with English, which is given in Table 1.
    """
    sentences = _table("bitext").get(code)
    if sentences is None:
        return None
    ends = RESOURCE_LEVELS.items()
    return next(level for level, end in ends if end is None or sentences < end)
