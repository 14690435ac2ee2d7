"""Computes the number of sentences to sample from each language, with a larger share for small languages.

The method is temperature sampling (Arivazhagan et al. 2019; Goyal et al. 2022, FLORES-101, section 5.2). If a
language has n sentences, its share of the sample is proportional to (n / Σn)^(1/T). T = 1 keeps the
proportions, and a large T makes the shares nearly equal. FLORES-101 uses T = 5.
"""

import decimal
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

# Decimal roots are the same on every machine. At this precision rounding does not change any count.
_CONTEXT = decimal.Context(prec=50)


class Share(NamedTuple):
    """The number of sentences of a language, and its share in a sample of the sentences of many languages."""

    sentences: int  # n: number of available sentences
    probability: float  # p: share of the language in the sample
    wanted: int  # k: number of sampled sentences

    @property
    def times(self) -> int:
        """The number of times that every sentence of the language is used; some are used one more time."""
        return self.wanted // self.sentences if self.sentences else 0

    @property
    def once_more(self) -> int:
        """The number of sentences of the language that are used one more time than the others."""
        return self.wanted % self.sentences if self.sentences else 0


def share_out(counts: Mapping[str, int], temperature: str, total: int) -> dict[str, Share]:
    """Divides a sample of `total` sentences among languages.

    Returns language → its share, sorted by language.

    Shares are rounded by the largest remainder method. If remainders are equal, the first language gets more.
    The share of a language without sentences is 0.

    Args:
      counts: language → number of available sentences.
      temperature: T, written as a decimal number.
      total: the number of sentences in the sample.

    Raises ValueError if the temperature is not a positive number, or if no language has a sentence.
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
    """Parses a temperature. Raises ValueError if it is not a positive number."""
    try:
        number = Decimal(temperature)
    except decimal.InvalidOperation:
        raise ValueError(f"temperature must be a positive number, not {temperature!r}") from None
    if not number.is_finite() or number <= 0:
        raise ValueError(f"temperature must be a positive number, not {temperature!r}")
    return number
