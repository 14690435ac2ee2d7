"""Parses the input of `{{convert}}`: a number or range with its unit, or a quantity in several units.

Rounds and formats the results of `{{convert}}`.

Unless options say otherwise, a result is about as precise as the input, but has at least two significant
figures. Very large and very small results are written with powers of ten.
"""

import math
import re
from typing import NamedTuple

from ..language import NumberFormat
from ..templates.patterns import format_number, superscript
from .units import Style, Unit, find_unit, ratio, spell_fraction, spell_number

_TOO_LARGE = 1e30  # conversions of larger numbers would overflow
_MAX_VALUES = 8

_SIGN = re.compile(r"[-−–+]|&minus;|&ndash;")
_NUMBER = re.compile(r"(?:\d{1,30}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE]([-−+]?\d{1,2}))?")
_FRACTION = re.compile(r"(?:(\d{1,9})[ +-])?(\d{1,9})(?://?|⁄)(\d{1,9})")
_UNPACKED = re.compile(
    r"(\S+?)\s*(–|—|&ndash;|±|\+/-|×|x|(?<=\s)(?:to|and|or|by)(?=\s)|(?<!^)-)\s*(\S+)"
)
_BLANK_GROUPS = re.compile(r"[ \u00a0\u2009\u202f'٬]|&nbsp;|&thinsp;")
_POINT_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")


class Join(NamedTuple):
    """A word or sign that joins two values ("5 to 10 km"), in its spelled-out and abbreviated form."""

    spelled: str  # before the name of a unit
    abbreviated: str  # before its symbol
    each: bool = False  # the symbol follows every value: "2 m × 5 m"
    change: bool = False  # the second value is a difference: "20 ± 5 °C"


_JOINS = {
    **{
        word: Join(f" {word} ", f" {word} ")
        for word in ("to", "and", "or", "to about", "and/or", "by", "+", "/")
    },
    **{word: Join(f"{word} ", f"{word} ") for word in (",", ", and", ", or")},
    "-": Join("–", "–"),
    "to(-)": Join(" to ", "–"),
    "and(-)": Join(" and ", "–"),
    "by(x)": Join(" by ", " × "),
    "x": Join(" by ", " × ", each=True),
    "xx": Join(" × ", " × "),
    "*": Join("×", "×"),
    "+/-": Join(" ± ", " ± ", change=True),
}
_JOIN_ALIASES = {
    "–": "-", "—": "-", "&ndash;": "-", "×": "x", "&times;": "x", "±": "+/-", "&plusmn;": "+/-",
}  # fmt: skip


def find_join(word: str) -> Join | None:
    """Returns the Join for a word between two numbers, or None if the word cannot join two values."""
    return _JOINS.get(_JOIN_ALIASES.get(word, word))


class Value(NamedTuple):
    """A number, and the form in which it was written in the template."""

    value: float
    digits: str  # without sign and groups, with a decimal point; "" for a fraction
    shown: str
    denominator: int = 0  # of a fraction
    is_one: bool = False  # its unit is in the singular
    is_change: bool = False  # a difference, such as 5 in "20 ± 5 °C"
    is_scientific: bool = False


def _without_groups(text: str, form: NumberFormat) -> str:
    """Removes the grouping of digits from a number, and writes a decimal point: "1.234,5" → "1234.5".

    `form` is the number format of the wiki.
    """
    if form.decimal == ",":
        text = _BLANK_GROUPS.sub("", text)
        if "," in text:
            return text.replace(".", "").replace(",", ".") if text.count(",") == 1 else text
        is_grouped = form.group == "." and _POINT_GROUPS.fullmatch(text)
        return text.replace(".", "") if is_grouped else text
    return _BLANK_GROUPS.sub("", text).replace(",", "").replace("٫", ".")


def parse_value(written: str, style: Style) -> Value | None:
    """Parses a written number. Returns None if the text is not a number."""
    if len(written) > 60:
        return None
    text = written.strip()
    sign = _SIGN.match(text)
    negative = bool(sign) and sign[0] != "+"  # type: ignore[index]
    shown_sign = "−" if negative else sign[0] if sign else ""
    text = text[sign.end() :].strip() if sign else text
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        return _parse_fraction(fraction, shown_sign, style)
    digits = _without_groups(text, style.page.language.numbers)
    match = _NUMBER.fullmatch(digits)
    if not match:
        return None
    value = float(digits.replace("−", "-"))
    if value >= _TOO_LARGE:
        return None
    plain = digits.rstrip(".")
    if match[1]:
        power = superscript(str(int(match[1].replace("−", "-"))))
        significand = format_number(re.split("[eE]", digits)[0], style.numbers)
        shown = f"{significand}×10{power}"
    else:
        spelled = spell_number(plain) if "in" in style.spell_out else ""
        shown = spelled or format_number(plain, style.numbers)
    return Value(
        -value if negative else value,
        digits,
        shown_sign + shown,
        is_one=value == 1,
        is_scientific=bool(match[1]),
    )


def _parse_fraction(fraction: re.Match[str], sign: str, style: Style) -> Value | None:
    whole, top, bottom = fraction.groups()
    if int(bottom) == 0:
        return None
    value = int(whole or 0) + int(top) / int(bottom)
    shown = f"{whole + ' ' if whole else ''}{top}⁄{bottom}"
    if "in" in style.spell_out:
        shown = spell_fraction(int(whole or 0), int(top), int(bottom)) or shown
    return Value(-value if sign == "−" else value, "", sign + shown, int(bottom), is_one=value <= 1)


class Measure(NamedTuple):
    """The input of a conversion: a value ("5 km"), a range ("5 to 10 km"), or a quantity in several units."""

    values: tuple[Value, ...]
    joins: tuple[Join, ...]  # between the values of a range
    units: tuple[Unit, ...]  # more than one in "6 feet 2 inches"
    rest: tuple[str, ...]  # the arguments after the last unit

    @property
    def unit(self) -> Unit:
        """The unit of all `quantities`."""
        return self.units[-1]

    @property
    def quantities(self) -> tuple[Value, ...]:
        """The values to convert, all in `unit`. The parts of a quantity in several units are added up."""
        if len(self.units) == 1:
            return self.values
        total = 0.0
        for i, value in enumerate(self.values):
            total = total * (ratio(self.units[i - 1], self.units[i]) if i else 1) + value.value
        return (self.values[-1]._replace(value=total),)


def unpack(values: list[str], style: Style) -> list[str]:
    """Splits the first argument of `{{convert}}` if it contains a range: "5-10" becomes "5", "-", "10".

    `values` are the positional arguments. Returns all positional arguments after the split.
    """
    if not values or parse_value(values[0], style) is not None:
        return values
    match = _UNPACKED.fullmatch(values[0][:60])
    if match and all(parse_value(match[i], style) is not None for i in (1, 3)):
        return [match[1], match[2], match[3], *values[1:]]
    return values


def parse_measure(values: list[str], style: Style) -> Measure | None:
    """Parses the positional arguments of `{{convert}}`. Returns None if they do not begin with a measure."""
    numbers: list[Value] = []
    joins: list[Join] = []
    rest = list(values)
    while rest and len(numbers) < _MAX_VALUES and (number := parse_value(rest[0], style)):
        numbers.append(number._replace(is_change=bool(joins) and joins[-1].change))
        del rest[0]
        join = find_join(rest[0]) if rest else None
        if join is None:
            break
        joins.append(join)
        del rest[0]
    unit = find_unit(rest.pop(0)) if rest else None
    if unit is None or len(joins) != len(numbers) - 1:
        return None
    units = [unit]
    while not joins and len(rest) > 1 and len(numbers) < _MAX_VALUES:
        number, smaller = parse_value(rest[0], style), find_unit(rest[1])
        if smaller is None or number is None or ratio(units[-1], smaller) < 2:
            break
        numbers.append(number)
        units.append(smaller)
        del rest[:2]
    return Measure(tuple(numbers), tuple(joins), tuple(units), tuple(rest))


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
    spelled = spell_number(digits) if "out" in style.spell_out else ""
    return Shown(sign + (spelled or format_number(digits, style.numbers)), is_one=rounded == 1)


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


def in_inches(hand: Unit, values: tuple[Value, ...]) -> tuple[Unit, tuple[Value, ...]]:
    """Converts values in hands to inches. Returns the unit inch and the converted values.

    Hands are used for the height of horses. A hand has four inches. The number after the point is in inches:
    15.2 is 15 hands and 2 inches.
    """
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
