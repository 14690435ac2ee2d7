"""Finds units of measure by the codes that `{{convert}}` uses: "km", "e6acre", "kg/m3", "ft in", "ftin".

Units are defined in `units.toml`. Units with prefixes, multiples and quotients are derived from this table by
the rules of the English Wikipedia's Module:Convert.

Spells numbers in English words, like the English Wikipedia's Module:ConvertNumeric.

Reads the options of `{{convert}}`. For example, an option decides which units are written as names.
"""

import dataclasses
import functools
import math
import re
from typing import Any, Literal, NamedTuple

from ...files.markup import read_toml
from ..language import NumberFormat
from ..templates.patterns import Arguments, Page

_MAX_CODE = 40  # characters; the longest codes in real pages have half as many
_MAX_OUTPUTS = 4

_SI = {
    "y": ("yocto", -24), "z": ("zepto", -21), "a": ("atto", -18), "f": ("femto", -15),
    "p": ("pico", -12), "n": ("nano", -9), "μ": ("micro", -6), "µ": ("micro", -6),
    "u": ("micro", -6), "m": ("milli", -3), "c": ("centi", -2), "d": ("deci", -1),
    "da": ("deca", 1), "h": ("hecto", 2), "k": ("kilo", 3), "M": ("mega", 6), "G": ("giga", 9),
    "T": ("tera", 12), "P": ("peta", 15), "E": ("exa", 18), "Z": ("zetta", 21), "Y": ("yotta", 24),
}  # fmt: skip
_POWERS_OF_TEN = {
    "e3": (3, "thousand"), "e6": (6, "million"), "e9": (9, "billion"), "e12": (12, "trillion"),
    "e15": (15, "quadrillion"),
}  # fmt: skip
_POWER_WORDS = ("square ", "cubic ")
_YEARS = {"a": "year", "yr": "year", "y": "year"}  # after "/" an "a" is a year, not an are
_ALIKE = frozenset({"energy", "torque"})  # both have the base unit newton times metre


class Unit(NamedTuple):
    """A unit of measure."""

    symbol: str
    name: str  # singular
    plural: str
    kind: str  # "length", "mass"…: units of the same kind can be converted
    factor: float  # number of base units of the kind in one unit
    to: str  # code of the default output; "" for none
    offset: float = 0.0  # added to convert to base units (temperatures)
    inverse: bool = False  # the value in base units is inversely proportional
    prefixes: int = 0  # power to which SI prefixes are raised; 0: no prefixes
    below: float = 0.0  # values below it are converted to `to_below` by default
    to_below: str = ""
    spelled: bool = False  # always shown by its name: no symbol is in use
    abbreviated: bool = False  # shown by its symbol unless the name is requested
    precise: bool = False  # whole numbers are converted to this unit with more precision
    exponent: int = 0  # exponent of the power of ten before the unit: 6 for "million acres"
    number_word: str = ""  # this power of ten in words

    def default_output(self, value: float) -> str:
        """Returns the code of the unit to which a value in this unit is converted by default; "" for none."""
        return self.to_below if self.to_below and abs(value) < self.below else self.to

    def to_base(self, value: float) -> float:
        """Converts a value in this unit to the base unit of its kind.

        The value must not be 0 for an inverse unit, such as miles per gallon.
        """
        return 1 / (value * self.factor) if self.inverse else value * self.factor + self.offset

    def from_base(self, value: float) -> float:
        """Converts a value in the base unit to this unit.

        The value must not be 0 for an inverse unit, such as miles per gallon.
        """
        return 1 / (value * self.factor) if self.inverse else (value - self.offset) / self.factor

    def is_convertible_to(self, other: "Unit") -> bool:
        """Returns True if both units measure the same kind of quantity."""
        return self.kind == other.kind or {self.kind, other.kind} == _ALIKE


# The units of one output: one unit, or several for one quantity ("5 ft 11 in"), the largest first.
Output = tuple[Unit, ...]


@functools.cache
def _tables() -> dict[str, Any]:
    tables = read_toml(__package__, "units.toml")
    units = {key: {"plural": row["name"] + "s", **row} for key, row in tables["units"].items()}
    return {**tables, "units": units}


def _clean(code: str) -> str:
    for written, meant in (("_", " "), ("&nbsp;", " "), ("²", "2"), ("³", "3")):
        code = code.replace(written, meant)
    return " ".join(code.split())


@functools.lru_cache(maxsize=4096)
def find_unit(code: str) -> Unit | None:
    """Returns the unit with a code such as "km", "e6acre" or "kg/m3", or None if the code is unknown."""
    if not code or len(code) > _MAX_CODE:
        return None
    tables = _tables()
    code = tables["aliases"].get(_clean(code), _clean(code))
    row = tables["units"].get(code)
    unit = Unit(**row) if row else _prefixed(code) or _multiplied(code) or _quotient(code)
    if unit and code in tables["defaults"]:
        unit = unit._replace(to=tables["defaults"][code], to_below="")
    return unit


def _prefixed(code: str) -> Unit | None:
    for length in (2, 1):
        prefix = _SI.get(code[:length])
        row = _tables()["units"].get(code[length:]) if prefix else None
        if prefix and row and row.get("prefixes"):
            unit = Unit(**row)
            name, exponent = prefix
            return unit._replace(
                symbol=code[:length].replace("u", "μ") + unit.symbol,
                name=_prefix_name(name, unit.name),
                plural=_prefix_name(name, unit.plural),
                factor=unit.factor * 10.0 ** (exponent * unit.prefixes),
                to_below="",
            )
    return None


def _prefix_name(prefix: str, name: str) -> str:
    for word in _POWER_WORDS:
        if name.startswith(word):
            return word + prefix + name.removeprefix(word)
    return prefix + name


def _multiplied(code: str) -> Unit | None:
    """Returns the unit with a code such as "e6acre" (million acres), or None if the code is not a
    multiple.
    """
    for prefix, (exponent, word) in _POWERS_OF_TEN.items():
        if code.startswith(prefix) and not code[len(prefix) : len(prefix) + 1].isdecimal():
            unit = find_unit(code.removeprefix(prefix))
            if unit is None or unit.offset or unit.exponent:
                return None
            factor = unit.factor * 10.0**exponent
            return unit._replace(factor=factor, exponent=exponent, number_word=word, to_below="")
    return None


def _quotient(code: str) -> Unit | None:
    """Returns the unit with a code such as "kg/m3" or "/km2", or None if the code is not a quotient."""
    top_code, line, bottom_code = code.rpartition("/")
    if not line:
        return None
    bottom = find_unit(_YEARS.get(bottom_code, bottom_code))
    top = find_unit(top_code) if top_code else Unit("", "", "", "", 1.0, "")
    if top is None or bottom is None or bottom.exponent or bottom.offset or top.offset:
        return None
    kinds = f"{top.kind}/{bottom.kind}"
    tables = _tables()
    weight = tables["quotient_factors"].get(kinds)
    per = bottom_code if bottom.kind == "time" else bottom.to.split(" ")[0]
    return top._replace(
        symbol=f"{top.symbol}/{bottom.symbol}",
        name=f"{top.name} per {bottom.name}".strip(),
        plural=f"{top.plural} per {bottom.name}".strip(),
        kind="pressure" if weight else tables["quotients"].get(kinds, kinds),
        factor=top.factor / bottom.factor * (weight or 1.0),
        to=f"{top.to.split(' ')[0]}/{per}",
        to_below="",
        prefixes=0,
        spelled=False,
        precise=False,
    )


def find_outputs(code: str) -> tuple[Output, ...]:
    """Returns the outputs that a code such as "km", "km mi", "km+mi" or "ftin" requests.

    An output is one unit, or several units if the result is split into parts ("5 ft 11 in"). Returns () if
    the code is unknown.
    """
    if len(code) > _MAX_OUTPUTS * _MAX_CODE:
        return ()
    code = _tables()["combinations"].get(code, code)
    one = _find_output(_clean(code))
    if one:
        return (one,)
    # The only code with a space that occurs beside other codes: "L/100 km mpgus".
    code = code.replace("/100 km", "/100km")
    parts = code.split("+") if "+" in code else code.split()
    outputs = [_find_output(part.strip()) for part in parts[:_MAX_OUTPUTS]]
    return tuple(output for output in outputs if output) if all(outputs) else ()


def _find_output(code: str) -> Output | None:
    units = [find_unit(part) for part in _tables()["multiples"].get(code, (code,))]
    return tuple(unit for unit in units if unit) if all(units) else None


def ratio(larger: Unit, smaller: Unit) -> int:
    """Returns the number of smaller units in one larger unit, or 0 if it is not a whole number."""
    if larger.kind != smaller.kind or larger.factor <= smaller.factor:
        return 0
    count = larger.factor / smaller.factor
    return round(count) if math.isclose(count, round(count), rel_tol=1e-9) else 0


_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ("", "thousand", "million", "billion", "trillion")
_MAX_DIGITS = 15
_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 8: "eighth", 10: "tenth"}
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip


def _below_thousand(number: int, *, after_more: bool) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{_SMALL[hundreds]} hundred"] if hundreds else []
    if rest and (hundreds or after_more):
        words.append("and")
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        words.append(_TENS[tens] + (f"-{_SMALL[ones]}" if ones else ""))
    elif rest:
        words.append(_SMALL[rest])
    return " ".join(words)


def spell_number(digits: str) -> str:
    """Returns a number such as "-25" or "1.5" in words, or "" if the text is not a number or is too long."""
    sign = "minus " if digits[:1] in ("-", "−") else ""
    digits = digits.lstrip("-−+").replace(",", "")
    whole, point, fraction = digits.partition(".")
    if not (whole + fraction).isascii() or not (whole + fraction).isdecimal():
        return ""
    if len(whole) > _MAX_DIGITS or len(fraction) > _MAX_DIGITS:
        return ""
    number = int(whole or "0")
    words = []
    for power in range(len(_GROUPS) - 1, -1, -1):
        group = number // 1000**power % 1000
        if group:
            last = power == 0 and number > 1000 and group < 100
            words.append(f"{_below_thousand(group, after_more=last)} {_GROUPS[power]}".strip())
    text = " ".join(words) or "zero"
    if point and fraction:
        text += " point " + " ".join(_SMALL[int(digit)] for digit in fraction)
    return sign + text


def spell_fraction(whole: int, top: int, bottom: int) -> str:
    """Returns a fraction in words, such as "two and three quarters", or "" if it has no usual name."""
    part = _PARTS.get(bottom)
    if not part or top >= 20:
        return ""
    parts = part if top == 1 else {"half": "halves"}.get(part, part + "s")
    if not whole:
        return f"{_SMALL[top]} {parts}"
    return f"{spell_number(str(whole))} and {'a' if top == 1 else _SMALL[top]} {parts}"


def spell_ordinal(digits: str) -> str:
    """Returns the ordinal of a whole number in words: "21" → "twenty-first".

    Returns "" if the text is not a whole number.
    """
    words = spell_number(digits)
    if not words or "point" in words:
        return ""
    start = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[start:]
    regular = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return words[:start] + _ORDINALS.get(last, regular)


Side = Literal["in", "out"]

_NAMING_DISPLAYS = frozenset({"or", "slash", "br", "br()"})
_ROUNDINGS = {"0.5": 0.5, "5": 5.0, "10": 10.0, "25": 25.0, "50": 50.0}


@dataclasses.dataclass
class Style:
    """The options of one conversion, and settings that are derived from them."""

    arguments: Arguments
    page: Page
    numbers: NumberFormat
    abbreviation: str  # "in", "out", "on", "off"; "values": no units at all
    abbreviation_given: bool
    is_adjective: bool
    american: bool
    flip: bool
    spell_out: frozenset[str] = frozenset()  # "in", "out": where numbers are spelled out
    capital: bool = False
    middle: str = ""  # text after the input: " wide"
    before_unit: tuple[str, str] = ("", "")  # texts between number and unit: " new "
    around: tuple[str, str] | None = None  # texts before and after the output
    decimals: int | None = None
    significant: int | None = None
    multiple: float = 0.0  # outputs are rounded to a multiple of this; 0: no rounding
    denominator: int = 0  # outputs are fractions with this denominator; 0: decimals
    scientific: bool = False
    names_both: bool = False
    adjective: str = ""  # of the arguments: "adj"
    display: str = ""  # "disp"
    english: bool = False
    is_local: bool = False  # units have the names and symbols of the language

    def names(self, unit: Unit, side: Side) -> bool:
        """Returns True if a unit is written with its English name on one side of a conversion.

        `side` is "in" for the input or "out" for the output.
        """
        return self.english and (unit.spelled or not self.is_short(unit, side))

    def is_short(self, unit: Unit, side: Side) -> bool:
        """Returns True if a unit is written with its symbol, if it has one, on one side of a conversion.

        `side` is "in" for the input or "out" for the output.
        """
        if not self.abbreviation_given:
            if unit.abbreviated:
                return True
            if self.names_both or unit.name == "hand":
                return False
        return self.abbreviation in ("on", side)


def read_style(arguments: Arguments, page: Page, *, short: bool) -> Style:
    """Reads the style from the arguments of a template call.

    If `short` is True, units are written with their symbols by default, as in `{{cvt}}`.
    """
    abbreviation = arguments.get("abbr", "")
    given = abbreviation in ("on", "off", "in", "out", "none", "values", "unit", "h", "hh")
    if not given:
        abbreviation = "on" if short else "out"
    synonyms = {"none": "off", "unit": "on", "h": "on", "hh": "on"}
    abbreviation = synonyms.get(abbreviation, abbreviation)
    adjective, display = arguments.get("adj", ""), arguments.get("disp", "")
    flip = arguments.get("order") == "flip" or "flip" in (display, adjective)
    spelling = arguments.get("spell", "") if page.language.is_english else ""
    spelled = {"in": {"in"}, "on": {"in", "out"}}.get(spelling.lower(), set())
    if spelled == {"in", "out"} and not given:
        abbreviation = "off"
    if flip:
        abbreviation = {"in": "out", "out": "in"}.get(abbreviation, abbreviation)
        spelled = {"out"} if spelled == {"in"} else spelled
    numbers = page.language.numbers
    if arguments.get("comma") == "off":
        numbers = dataclasses.replace(numbers, group="")
    elif arguments.get("comma") == "5":
        numbers = dataclasses.replace(numbers, min_grouped_digits=5)
    elif arguments.get("comma", "").startswith("gaps"):
        numbers = dataclasses.replace(numbers, group=" ")
    significant, denominator = arguments.get("sigfig", ""), arguments.get("frac", "").lstrip("-")
    return Style(
        arguments,
        page,
        numbers,
        abbreviation,
        given or short,
        (adjective or arguments.get("sing")) in ("on", "mid"),
        arguments.get("sp") == "us" or spelling == "us",
        flip,
        frozenset(spelled),
        spelling[:1].isupper(),
        multiple=_ROUNDINGS.get(arguments.get("round", ""), 5.0 if display == "5" else 0.0),
        significant=int(significant) if re.fullmatch(r"[1-9]\d?", significant) else None,
        denominator=int(denominator) if re.fullmatch(r"\d{1,4}", denominator) else 0,
        names_both=display in _NAMING_DISPLAYS,
        adjective=adjective,
        display=display,
        english=page.language.is_english,
    )
