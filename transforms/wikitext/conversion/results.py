"""Rounds and formats the results of `{{convert}}`.

Unless options say otherwise, a result is about as precise as the input, but has at least two significant
figures. Very large and very small results are written with powers of ten.
"""

import math
from typing import NamedTuple

from corpusmill.transforms.wikitext.conversion.measures import Value
from corpusmill.transforms.wikitext.conversion.spelling import spell_number
from corpusmill.transforms.wikitext.conversion.style import Style
from corpusmill.transforms.wikitext.conversion.units import Unit
from corpusmill.transforms.wikitext.templates.rendering import format_number, superscript

_FUDGE = 1e-14  # corrects logarithms and halves that miss a whole number by a rounding error
_MAX_DECIMALS = 12
_SCIENTIFIC_FROM = 1e9
_SCIENTIFIC_BELOW = 1e-4
_PLAIN_POWER = 4  # largest power of ten in plain notation if the input is written "1.5e9"


class Shown(NamedTuple):
    """A number formatted as text."""

    text: str
    is_one: bool


def default_decimals(value: Value, source: Unit, target: Unit, out: float, parts: int) -> int:
    """Returns the number of decimals with which the result of a conversion is written.

    A negative number requests rounding to tens (-1), hundreds (-2) etc.

    Args:
      value: the input.
      source: the unit of the input.
      target: the unit of the result.
      out: the result, not rounded.
      parts: the number of units of the input, such as 2 for "5 ft 11 in".
    """
    if value.denominator:
        decimals = max(math.log10(value.denominator), 1)
    else:
        significand, _, power = value.digits.lower().partition("e")
        whole, point, fraction = significand.partition(".")
        zeros = 0 if parts > 1 else len(whole) - len(whole.rstrip("0"))
        decimals = len(fraction) if point else -zeros
        decimals -= int(power.replace("−", "-")) if power else 0
    if source.kind == "temperature":
        kelvin = abs(source.to_base(value.value))
        least = 2 - math.floor(math.log10(kelvin) + _FUDGE) if kelvin > 1e-8 else 2
        return max(math.floor(decimals), least)
    if value.value == 0 or out == 0:
        return 0
    if target.precise and value.value == math.floor(value.value):
        adjustment = -math.log10(target.factor)
    elif parts > 1 and source.symbol == "in":
        adjustment = math.log10(target.factor) + 2
    else:
        adjustment = math.log10(abs(value.value / out))
    two_figures = 1 - math.floor(math.log10(abs(out)) + _FUDGE)
    return max(math.floor(decimals + adjustment + math.log10(2)), two_figures)


def converted(value: Value, source: Unit, target: Unit) -> float:
    """Returns a value converted from one unit to another."""
    if source.kind == "temperature" and value.is_change:
        return value.value * source.factor / target.factor
    if value.value == 0 and (source.inverse or target.inverse):
        return 0.0
    return target.from_base(source.to_base(value.value))


def round_digits(out: float, decimals: int, style: Style) -> str:
    """Rounds a result and returns its digits, without exponent or grouping.

    The result must not be negative.
    """
    if style.multiple:
        halves = style.multiple == 0.5
        rounded = math.floor(out / style.multiple + 0.5) * style.multiple
        return f"{rounded:.1f}".removesuffix(".0") if halves else f"{rounded:.0f}"
    decimals = max(min(decimals, _MAX_DECIMALS), -_MAX_DECIMALS)
    if decimals >= 0:
        return f"{out + 2 * _FUDGE if decimals <= 8 else out:.{decimals}f}"
    digits = f"{out / 10**-decimals:.0f}"
    return digits + "0" * -decimals if digits != "0" else digits


def _significant_decimals(out: float, figures: int) -> int:
    if not out:
        return figures - 1
    decimals = figures - 1 - math.floor(math.log10(out) + _FUDGE)
    # 9.99 rounds to 10.0, which has one figure too many
    bounded = max(min(decimals, _MAX_DECIMALS), -_MAX_DECIMALS)
    rounded = round(out, bounded)
    if rounded and math.floor(math.log10(rounded) + _FUDGE) > math.floor(math.log10(out) + _FUDGE):
        decimals -= 1
    return decimals


def shown_result(out: float, decimals: int, style: Style) -> Shown:
    """Returns a result as text, formatted by the options of the style."""
    size = abs(out)
    if style.denominator and size < 1e8:
        return _shown_fraction(size, out < 0, style)
    if style.significant and style.decimals is None:
        decimals = _significant_decimals(size, style.significant)
    digits = round_digits(size, decimals, style)
    rounded = float(digits)
    sign = "−" if out < 0 and rounded else ""
    least, most = (1e-2, 10.0**_PLAIN_POWER) if style.scientific else (
        _SCIENTIFIC_BELOW, _SCIENTIFIC_FROM
    )  # fmt: skip
    if rounded and (rounded < least or rounded > most):
        power = math.floor(math.log10(rounded) + _FUDGE)
        figures = max(power + decimals, 0) if not style.multiple else 0
        significand = f"{rounded / 10.0**power:.{min(figures, _MAX_DECIMALS)}f}"
        number = format_number(significand, style.numbers)
        return Shown(f"{sign}{number}×10{superscript(str(power))}", is_one=False)
    text = format_number(digits, style.numbers)
    if "out" in style.spell_out:
        text = spell_number(digits) or text
    return Shown(sign + text, is_one=rounded == 1)


def _shown_fraction(size: float, negative: bool, style: Style) -> Shown:
    parts = math.floor(size * style.denominator + 0.5 + 2 * _FUDGE)
    whole, top = divmod(parts, style.denominator)
    sign = "−" if negative and parts else ""
    number = format_number(str(whole), style.numbers)
    if not top:
        return Shown(sign + number, is_one=whole == 1)
    divisor = math.gcd(top, style.denominator)
    fraction = f"{top // divisor}⁄{style.denominator // divisor}"
    return Shown(f"{sign}{number + ' ' if whole else ''}{fraction}", is_one=size <= 1)


def is_hand(unit: Unit) -> bool:
    """Returns True if a unit is the hand, which is used for the height of horses.

    A hand has four inches. The number after the point is in inches: 15.2 is 15 hands and 2 inches.
    """
    return unit.name == "hand"


def in_inches(hand: Unit, values: tuple[Value, ...]) -> tuple[Unit, tuple[Value, ...]]:
    """Converts values in hands to inches. Returns the unit inch and the converted values."""
    inch = hand._replace(symbol="in", name="inch", plural="inches", factor=hand.factor / 4)
    inches = []
    for value in values:
        whole = math.floor(abs(value.value))
        count = 4 * whole + 10 * (abs(value.value) - whole)
        inches.append(value._replace(value=count, digits=f"{count:.0f}"))
    return inch, tuple(inches)


def shown_hands(out: float) -> Shown:
    """Returns a height in hands as text: the full hands, a point, and the remaining inches."""
    hands, inches = divmod(math.floor(out * 4 + 0.5), 4)
    return Shown(f"{hands}.{inches}", is_one=False)
