"""Temperature sampling: computes the number of sentences of each language, raising that of small languages.

Arivazhagan et al. 2019, and Goyal et al. 2022 (FLORES-101), section 5.2: the share of a language with n
sentences in the sample is proportional to (n / Σn)^(1/T). T = 1 keeps the proportions, a large T makes all
languages equal; FLORES-101 has T = 5.
"""

import decimal
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

# Decimal roots are the same on every machine. At this precision rounding does not change any count.
_CONTEXT = decimal.Context(prec=50)


class Share(NamedTuple):
    """The share of a language in the sample."""

    sentences: int  # n: available sentences
    probability: float  # p: share of the language in the sample
    wanted: int  # k: sampled sentences

    @property
    def times(self) -> int:
        """Returns how often every sentence is taken; `once_more` of them are taken one more time."""
        return self.wanted // self.sentences if self.sentences else 0

    @property
    def once_more(self) -> int:
        """Returns the number of sentences that are taken once more than the others."""
        return self.wanted % self.sentences if self.sentences else 0


def share_out(counts: Mapping[str, int], temperature: str, total: int) -> dict[str, Share]:
    """Returns language → share, sorted by language, for a sample of `total` sentences.

    Shares are rounded by the largest remainder method; of equal remainders, the first language gets more. The
    share of a language without sentences is 0.

    Args:
      counts: language → available sentences.
      temperature: T, as a decimal number.
      total: number of sentences of the sample.

    Raises ValueError for a temperature that is not a positive number, and if no language has a sentence.
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
    """Parses a temperature. Raises ValueError for a text that is not a positive number."""
    try:
        number = Decimal(temperature)
    except decimal.InvalidOperation:
        raise ValueError(f"temperature must be a positive number, not {temperature!r}") from None
    if not number.is_finite() or number <= 0:
        raise ValueError(f"temperature must be a positive number, not {temperature!r}")
    return number
