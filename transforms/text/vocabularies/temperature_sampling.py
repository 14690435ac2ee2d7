"""Computes the number of sentences of each language if small languages are to count for more than their
size.

Arivazhagan et al. 2019, and Goyal et al. 2022 (FLORES-101), section 5.2: of a total N, the share of a
language with n sentences is proportional to (n / Σn)^(1/T). T = 1 keeps the proportions, a large T makes
all equal; FLORES-101 has T = 5.
"""

import decimal
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

# Roots are rounded as decimals, the same on every machine; two of them this near differ in no count.
_CONTEXT = decimal.Context(prec=50)


class Share(NamedTuple):
    """The sentences that a language gives."""

    sentences: int  # n: that it has
    probability: float  # p: its share of the total
    wanted: int  # k: that are learned from

    @property
    def times(self) -> int:
        """The number of times that each of its sentences is learned from, without `once_more`."""
        return self.wanted // self.sentences if self.sentences else 0

    @property
    def once_more(self) -> int:
        """The number of its sentences that are learned from once more than the others."""
        return self.wanted % self.sentences if self.sentences else 0


def share_out(counts: Mapping[str, int], temperature: str, total: int) -> dict[str, Share]:
    """Language → its share, by language; together they want `total` sentences.

    What is left when all shares are rounded down goes to the largest remainders, among equal ones to the
    first by name. A language without a sentence gets nothing.

    Args:
      counts: language → sentences that it has.
      temperature: T, in decimal digits.

    Raises ValueError for a temperature that is not a positive number, and where no language has a sentence.
    """
    power = _CONTEXT.divide(Decimal(1), check_temperature(temperature))
    weights = {
        name: Fraction(_CONTEXT.power(Decimal(n), power)) if n else Fraction(0)
        for name, n in sorted(counts.items())
    }
    whole = sum(weights.values())
    if not whole:
        raise ValueError("there is no sentence to learn from")
    exact = {name: weight / whole * total for name, weight in weights.items()}
    wanted = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (wanted[name] - exact[name], name))
    for name in by_remainder[: total - sum(wanted.values())]:
        wanted[name] += 1
    return {
        name: Share(counts[name], float(weights[name] / whole), wanted[name]) for name in weights
    }


def check_temperature(temperature: str) -> Decimal:
    """The number. Raises ValueError for what is not a positive one."""
    try:
        number = Decimal(temperature)
    except decimal.InvalidOperation:
        raise ValueError(f"temperature is {temperature!r}, and no number") from None
    if not number.is_finite() or number <= 0:
        raise ValueError(f"temperature is {temperature}, and must be positive")
    return number
