"""Finds units of measure by the codes that `{{convert}}` uses: "km", "e6acre", "kg/m3", "ft in", "ftin".

Units are defined in `units.toml`. Units with prefixes, multiples and quotients are derived from this table by
the rules of the English Wikipedia's Module:Convert.
"""

import functools
import math
from typing import Any, NamedTuple

from corpusmill.transforms.files.toml_tables import read_table

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
    tables = read_table(__package__, "units.toml")
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
    tables = _tables()
    code = tables["combinations"].get(code, code)
    one = _find_output(_clean(code))
    if one:
        return (one,)
    # The only code with a space that occurs beside other codes: "L/100 km mpgus".
    code = code.replace("/100 km", "/100km")
    parts = code.split("+") if "+" in code else code.split()
    outputs = [_find_output(part.strip()) for part in parts[:_MAX_OUTPUTS]]
    return tuple(output for output in outputs if output) if all(outputs) else ()


def _find_output(code: str) -> Output | None:
    codes = _tables()["multiples"].get(code, (code,))
    units = [find_unit(part) for part in codes]
    return tuple(unit for unit in units if unit) if all(units) else None


def ratio(larger: Unit, smaller: Unit) -> int:
    """Returns the number of smaller units in one larger unit, or 0 if it is not a whole number."""
    if larger.kind != smaller.kind or larger.factor <= smaller.factor:
        return 0
    count = larger.factor / smaller.factor
    return round(count) if math.isclose(count, round(count), rel_tol=1e-9) else 0
