"""`{{convert|2|in|mm}}` → "2 inches (51 mm)": a measure and what it is in other units.

Numbers are rounded as Module:Convert does: to a precision comparable with that of the input, but to
at least two significant figures. Units are data: `units.toml`.
"""

import functools
import math
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

from transforms.text.wikimedia.wikitext.patterns import Arguments, positional
from transforms.text.wikimedia.wikitext.rendering import Page, format_number


class Unit(NamedTuple):
    """A unit of measure."""

    symbol: str
    name: str  # of one
    plural: str  # of several
    kind: str  # "length", "mass"…: units of one kind can be converted
    factor: float  # how many base units of its kind one is
    offset: float  # added to get base units (temperatures)
    to: str  # code of the unit it is converted to by default


_NUMBER = re.compile(r"[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|[-−+]?\.\d+")
_TOO_LARGE = 1e30  # beyond it a conversion would overflow, and nobody asks for one
_DIGITS = re.compile(r"[-−]?\d")
_FRACTION = re.compile(r"([-−]?)(?:(\d{1,9})\+)?(\d{1,9})/(\d{1,9})")
_RANGES = {
    "-": "–", "–": "–", "&ndash;": "–", "to": " to ", "to(-)": " to ", "and": " and ",
    "and(-)": " and ", "or": " or ", "by": " by ", "x": " × ", "×": " × ", "*": " × ", "xx": " × ",
    "+/-": " ± ", "±": " ± ", "to about": " to about ", "and/or": " and/or ", ",": ", ",
}  # fmt: skip
_AMERICAN = (("metre", "meter"), ("litre", "liter"))


@functools.cache
def _tables() -> tuple[Mapping[str, Unit], Mapping[str, str], Mapping[str, Mapping[str, object]]]:
    text = (resources.files(__package__) / "units.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    units = {
        code: Unit(
            row["symbol"],
            row["name"],
            row.get("plural", row["name"] + "s"),
            row["kind"],
            row["factor"],
            row.get("offset", 0.0),
            row["to"],
        )
        for code, row in tables["units"].items()
    }
    return units, tables["aliases"], tables["multiples"]


@functools.lru_cache(maxsize=1024)
def find_unit(code: str) -> Unit | None:
    """Return the unit of a code such as "km" or "e6acre", None where it is unknown."""
    units, aliases, multiples = _tables()
    code = aliases.get(code, code)
    if code in units:
        return units[code]
    for prefix, multiple in multiples.items():
        unit = find_unit(code.removeprefix(prefix)) if code.startswith(prefix) else None
        if unit:
            symbol, name = str(multiple["symbol"]), str(multiple["name"])
            factor = unit.factor * float(str(multiple["factor"]))
            plural = name + unit.plural
            return unit._replace(
                symbol=symbol + unit.symbol, name=name + unit.name, plural=plural, factor=factor
            )
    return None


def _parse_number(text: str) -> float | None:
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        sign, whole, top, bottom = fraction.groups()
        if int(bottom) == 0:
            return None
        value = int(whole or 0) + int(top) / int(bottom)
        return -value if sign else value
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace(",", "").replace("−", "-"))
    return value if abs(value) < _TOO_LARGE else None


def _decimals_of(text: str) -> int:
    """Return the decimals of a number as written, negative for zeros before the point."""
    if "/" in text or "e" in text:
        return 1
    digits = text.replace(",", "")
    if "." in digits:
        return len(digits) - digits.index(".") - 1
    return len(digits.rstrip("0")) - len(digits) if digits.strip("0-−+") else 0


def _default_decimals(written: str, source: Unit, target: Unit, out: float) -> int:
    if source.kind == "temperature":
        decimals = max(_decimals_of(written), 0)
    else:
        ratio = source.factor / target.factor
        decimals = _decimals_of(written) - math.floor(math.log10(ratio) + 0.5 - 1e-9)
    two_figures = 1 - math.floor(math.log10(abs(out))) if out else 0
    if source.kind == "temperature":
        return max(decimals, min(two_figures, 0))
    return max(decimals, two_figures)


def _format(value: float, decimals: int, page: Page) -> str:
    decimals = max(min(decimals, 12), -12)
    rounded = round(value, decimals)
    text = f"{abs(rounded):.{max(decimals, 0)}f}"
    sign = "−" if rounded < 0 else ""
    return sign + format_number(text, page.language.numbers)


def _shown_number(written: str, page: Page) -> str:
    fraction = _FRACTION.fullmatch(written)
    if fraction:
        sign, whole, top, bottom = fraction.groups()
        return f"{sign}{whole + ' ' if whole else ''}{top}⁄{bottom}"
    return format_number(written.replace("-", "−"), page.language.numbers)


def _with_unit(number: str, unit: Unit, *, spelled: bool, one: bool, american: bool) -> str:
    name = (unit.name if one else unit.plural) if spelled else unit.symbol
    if american and spelled:
        for british, us in _AMERICAN:
            name = name.replace(british, us)
    if not spelled and name.startswith("/"):
        return number + name
    return f"{number} {name}"


class _Measure(NamedTuple):
    """The first part of a conversion: one number, or several joined by words."""

    numbers: tuple[str, ...]  # as written
    joins: tuple[str, ...]  # between them, as shown
    unit: Unit
    rest: tuple[str, ...]  # the arguments after the unit


def _parse_measure(values: list[str]) -> _Measure | None:
    numbers: list[str] = []
    joins: list[str] = []
    position = 0
    while position < len(values) and _parse_number(values[position]) is not None:
        numbers.append(values[position])
        position += 1
        if position + 1 < len(values) and values[position] in _RANGES:
            joins.append(_RANGES[values[position]])
            position += 1
        else:
            break
    if not numbers or len(joins) != len(numbers) - 1 or position >= len(values):
        return None
    unit = find_unit(values[position])
    return (
        _Measure(tuple(numbers), tuple(joins), unit, tuple(values[position + 1 :]))
        if unit
        else None
    )


def _joined(numbers: list[str], joins: tuple[str, ...]) -> str:
    shown = numbers[0]
    for join, number in zip(joins, numbers[1:], strict=True):
        shown += join + number
    return shown


def _decimals(written: str, out: float, measure: _Measure, target: Unit, sigfig: str) -> int:
    asked = next((text for text in measure.rest if _DIGITS.fullmatch(text)), "")
    if asked:
        return int(asked.replace("−", "-"))
    if _DIGITS.fullmatch(sigfig) and out:
        return int(sigfig) - 1 - math.floor(math.log10(abs(out)))
    return _default_decimals(written, measure.unit, target, out)


def _converted(measure: _Measure, target: Unit, arguments: Arguments, page: Page) -> str:
    """Return the numbers of a measure in another unit, without that unit."""
    outs = []
    for written in measure.numbers:
        base = (_parse_number(written) or 0.0) * measure.unit.factor + measure.unit.offset
        outs.append((base - target.offset) / target.factor)
    sigfig = arguments.get("sigfig", "")
    decimals = max(
        _decimals(written, out, measure, target, sigfig)
        for written, out in zip(measure.numbers, outs, strict=True)
    )
    shown = [_format(out, decimals, page) for out in outs]
    return shown[0] if len(set(shown)) == 1 else _joined(shown, measure.joins)


def _fallback(values: list[str]) -> str:
    """Return what can be said of a conversion that is not understood: number and unit."""
    if len(values) >= 2 and _parse_number(values[0]) is not None:
        return f"{values[0]} {values[1]}"
    return values[0] if values else ""


def _convert(arguments: Arguments, page: Page, *, short: bool) -> str:
    values = positional(arguments)
    measure = _parse_measure(values)
    if measure is None:
        return _fallback(values)
    english = page.language.code == "en"
    abbreviation = arguments.get("abbr", "on" if short else "")
    american = arguments.get("sp") == "us"
    spelled_in = english and abbreviation not in ("on", "in", "values")
    spelled_out = english and abbreviation in ("off", "in")
    is_adjective = arguments.get("adj") in ("on", "mid") or arguments.get("sing") == "on"
    one = is_adjective or all(abs(_parse_number(n) or 0) in (1.0,) for n in measure.numbers)
    number = _joined([_shown_number(text, page) for text in measure.numbers], measure.joins)
    first = _with_unit(number, measure.unit, spelled=spelled_in, one=one, american=american)
    if is_adjective and spelled_in and not measure.unit.symbol.startswith(("°", "/")):
        first = first.replace(" ", "-")
    codes = [text for text in measure.rest if not re.fullmatch(r"[-−]?\d+", text)]
    codes = codes[0].split() if codes else [measure.unit.to]
    outputs = []
    for code in codes:
        target = find_unit(code)
        if target is None or target.kind != measure.unit.kind:
            continue
        out = _converted(measure, target, arguments, page)
        one_out = is_adjective or out == "1"
        outputs.append(_with_unit(out, target, spelled=spelled_out, one=one_out, american=american))
    return _arranged(first, outputs, arguments)


def _arranged(first: str, outputs: list[str], arguments: Arguments) -> str:
    if not outputs:
        return first
    display = arguments.get("disp", "")
    if arguments.get("order") == "flip" or display == "flip":
        return f"{outputs[0]} ({first})"
    if display == "or":
        return f"{first} or {outputs[0]}"
    if display in ("output only", "out"):
        return outputs[0]
    if display in ("output number only", "number"):
        return outputs[0].split(" ")[0]
    if display in ("sqbr", "br", "x"):
        return f"{first} ({'; '.join(outputs)})"
    return f"{first} ({'; '.join(outputs)})"


def convert(arguments: Arguments, page: Page) -> str:
    """Show a measure with its unit spelled out, as `{{convert}}` does."""
    return _convert(arguments, page, short=False)


def convert_short(arguments: Arguments, page: Page) -> str:
    """Show a measure with the symbol of its unit, as `{{cvt}}` does."""
    return _convert(arguments, page, short=True)
