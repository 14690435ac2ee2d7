"""Parses the input of `{{convert}}`: a number or range with its unit, or a quantity in several units."""

import re
from typing import NamedTuple

from corpusmill.transforms.wikitext.conversion.spelling import spell_fraction, spell_number
from corpusmill.transforms.wikitext.conversion.style import Style
from corpusmill.transforms.wikitext.conversion.units import Unit, find_unit, ratio
from corpusmill.transforms.wikitext.language import NumberFormat
from corpusmill.transforms.wikitext.templates.rendering import format_number, superscript

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
        return (
            text.replace(".", "") if form.group == "." and _POINT_GROUPS.fullmatch(text) else text
        )
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
    elif "in" in style.spell_out:
        shown = spell_number(plain) or format_number(plain, style.numbers)
    else:
        shown = format_number(plain, style.numbers)
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
        change = bool(joins) and joins[-1].change
        numbers.append(number._replace(is_change=change))
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
