"""Expands templates for quantities in one unit: numbers with units, heights, angles."""

import math
import re

from corpusmill.transforms.wikitext.conversion.convert import convert
from corpusmill.transforms.wikitext.conversion.units import find_unit
from corpusmill.transforms.wikitext.templates.patterns import Arguments, positional
from corpusmill.transforms.wikitext.templates.rendering import Page, format_number

_JOINS = frozenset(("à", "et", "ou", "par", "-", "–", "/", "x", "×", "±"))
_MAX_JOINED = 20
_LOOSE_EXPONENT = re.compile(r"(?<=m) (?=[23]$)")  # of "hab./km 2"


def coordinate(arguments: Arguments, page: Page) -> str:
    """Expands `{{Coordinate|text=DMS|NS=52/30/10.4/N|EW=13/24/15/E}}` to degrees, minutes and seconds.

    In German, the result is "52° 30′ 10,4″ N, 13° 24′ 15″ O". Without `text=DMS`, it is "".
    """
    if arguments.get("text") != "DMS":
        return ""
    return ", ".join(filter(None, (_angle(arguments.get(name, ""), page) for name in ("NS", "EW"))))


def _angle(written: str, page: Page) -> str:
    """Formats an angle: in a wiki with a decimal comma, "52/30/10.4/N" becomes "52° 30′ 10,4″ N"."""
    *numbers, side = written.split("/")
    shown = [
        number.replace(".", page.language.numbers.decimal) + sign
        for number, sign in zip(numbers, "°′″", strict=False)
        if number
    ]
    if not shown:
        return ""
    return " ".join([*shown, page.language.phrases.get("east", side) if side == "E" else side])


_SIDES = frozenset("NSEW")
_ANGLES = re.compile(r"[-−+]?\d{1,3}(?:\.\d{1,9})?")


def coordinates(arguments: Arguments, page: Page) -> str:
    """Expands `{{coord|28|N|55|W}}` to "28°N 55°W", and decimal degrees without letters to "28.5°N 55°W".

    With `display=title` the result is empty, because the page shows the coordinates above the text.
    """
    display = arguments.get("display", "inline")
    if "inline" not in display and display not in ("i", "it", "ti"):
        return ""
    sides: list[tuple[list[str], str]] = []
    numbers: list[str] = []
    for value in positional(arguments):
        side = value.upper() if value.upper() in _SIDES else ""
        if _ANGLES.fullmatch(value):
            numbers.append(value)
        elif side and 1 <= len(numbers) <= 3:
            sides.append((numbers, side))
            numbers = []
        else:
            break
        if len(sides) == 2:
            break
    if not sides and len(numbers) == 2:  # two numbers only: {{coord|28.5|-55|type:city}}
        degrees = [number.replace("−", "-") for number in numbers]
        for number, pair in zip(degrees, ("NS", "EW"), strict=True):
            sides.append(([number.lstrip("+-")], pair[number.startswith("-")]))
    if len(sides) != 2 or sides[0][1] not in "NS" or sides[1][1] not in "EW":
        return ""
    phrases = page.language.phrases
    return phrases.get("coordinates", "{0} {1}").format(
        *(_degrees(numbers, side, page) for numbers, side in sides)
    )


def _degrees(numbers: list[str], side: str, page: Page) -> str:
    phrases = page.language.phrases
    signs = phrases.get("coordinate_signs", "°′″")
    decimal = page.language.numbers.decimal
    shown = (
        number.replace(".", decimal) + sign for number, sign in zip(numbers, signs, strict=False)
    )
    return phrases.get(f"coordinate_{side.lower()}", f"{{angle}}{side}").format(
        angle="".join(shown)
    )


def quantity(arguments: Arguments, page: Page) -> str:
    """Expands `{{unité|9.81|m||s|-2}}` to "9,81 m⋅s-2".

    The first argument is the number. The other arguments are units, each followed by its exponent. Several
    numbers may be joined by words: `{{unité|5|à|10|km}}`. The argument `e` is the exponent of a power of ten
    that follows the number.
    """
    number, *rest = [*positional(arguments), ""]
    shown = format_number(_LOOSE_EXPONENT.sub("", number), page.language.numbers)
    for join, other in zip(rest[:_MAX_JOINED:2], rest[1:_MAX_JOINED:2], strict=False):
        if join not in _JOINS:
            break
        shown += f" {join} {format_number(other, page.language.numbers)}"
        rest = rest[2:]
    if arguments.get("e"):
        shown += f" × 10{arguments['e']}"
    units = [
        unit + exponent
        for unit, exponent in zip(rest[0::2], [*rest[1::2], ""], strict=False)
        if unit
    ]
    return f"{shown} {'⋅'.join(units)}".strip()


def height(arguments: Arguments, page: Page) -> str:
    """Expands `{{Höhe|114|DE-NHN}}` to a height in metres above a datum: "114 m ü. NHN".

    The names of the datums are in the phrases of the language.
    """
    number = format_number(arguments.get("1", ""), page.language.numbers)
    datum = page.language.phrases.get("height_" + arguments.get("2", "").lower(), "")
    return f"{number} m {datum}".strip() if number else ""


def density(arguments: Arguments, page: Page) -> str:
    """Expands `{{pop density|3645257|640082|km2|sqmi|prec=1}}` to "5.7/km2 (14.7/sq mi)".

    The arguments are the number of people, the area, its unit, and a second unit for the result. `prec` is
    the number of decimals.
    """
    try:
        people, area = (float(arguments.get(name, "").replace(",", "")) for name in ("1", "2"))
        decimals = max(0, min(int(arguments.get("prec") or 0), 9))
        density = people / area
    except (ValueError, ZeroDivisionError):
        return ""
    if not math.isfinite(density):
        return ""
    unit, other = arguments.get("3", "km2"), arguments.get("4", "sqmi")
    if not (find_unit(unit) and find_unit(other)):
        return ""
    exact = {
        "1": f"{density:.9f}",
        "2": f"/{unit}",
        "3": f"/{other}",
        "4": str(decimals),
        "abbr": "on",
    }
    rounded = {**exact, "1": f"{density:.{decimals}f}"}
    return (
        f"{convert(rounded, page).partition(' (')[0]} ({convert({**exact, 'disp': 'out'}, page)})"
    )
