"""Expands templates for quantities in one unit: numbers with units, heights, angles.

Expands templates that compute or reword numbers: values, fractions, money, ordinals, heights.
"""

import math
import re

from ..conversion.convert import convert, convert_short
from ..conversion.units import find_unit, spell_number, spell_ordinal
from . import patterns
from .patterns import Arguments, Page, Show, first_of, format_number, in_roman, positional

_UNIT_PRODUCT = re.compile(r"(?<=[A-Za-zμΩ])[.*](?=[A-Za-zμΩ])")
_CLINGING_UNITS = frozenset({"%", "°", "′", "″", "'", '"', "deg", "arcmin", "arcsec"})
_UNIT_SIGNS = {"deg": "°", "arcmin": "′", "arcsec": "″", "percent": "%", "degC": "°C", "ohm": "Ω"}
_WHOLE = re.compile(r"[-−]?\d{1,15}")
# ISO 4217 code → sign before an amount. Most of these have a template of their own.
_CURRENCIES = {
    "USD": "US$", "US": "US$", "US$": "US$", "$": "US$", "AUD": "A$", "A$": "A$", "CAD": "C$",
    "C$": "C$", "NZD": "NZ$", "HKD": "HK$", "TWD": "NT$", "SGD": "S$", "BRL": "R$", "MXN": "MX$",
    "EUR": "€", "€": "€", "GBP": "£", "£": "£", "JPY": "¥", "¥": "¥", "CNY": "CN¥", "RMB": "CN¥",
    "INR": "₹", "KRW": "₩", "RUB": "₽", "PHP": "₱", "ILS": "₪", "NIS": "₪", "UAH": "₴", "VND": "₫",
    "NGN": "₦", "TRY": "₺", "ZAR": "R", "PKR": "Rs.", "LKR": "Rs.", "BDT": "৳", "MYR": "RM",
    "IDR": "Rp", "THB": "฿", "CHF": "CHF ", "ARS": "AR$", "CLP": "CL$", "COP": "COL$",
}  # fmt: skip
_INDIAN_UNITS = {
    "k": " thousand", "m": " million", "b": " billion", "t": " trillion", "l": " lakh",
    "c": " crore", "lc": " lakh crore", "": "",
}  # fmt: skip
# Gauges defined in millimetres → feet and inches, as written; then gauges defined in feet and inches
# (Module:RailGauge/data).
_METRIC_GAUGES = {
    "500": "19 3⁄4 in", "600": "1 ft 11 5⁄8 in", "750": "2 ft 5 1⁄2 in", "760": "2 ft 5 15⁄16 in",
    "785": "2 ft 6 29⁄32 in", "800": "2 ft 7 1⁄2 in", "891": "2 ft 11 3⁄32 in",
    "900": "2 ft 11 7⁄16 in", "950": "3 ft 1 3⁄8 in", "1000": "3 ft 3 3⁄8 in",
    "1050": "3 ft 5 11⁄32 in", "1435": "4 ft 8 1⁄2 in", "1445": "4 ft 8 7⁄8 in",
    "1520": "4 ft 11 27⁄32 in", "1665": "5 ft 5 9⁄16 in", "1668": "5 ft 5 21⁄32 in",
}  # fmt: skip
_IMPERIAL_GAUGES = {
    "15in": ("15 in", "381"), "18in": ("18 in", "457"), "2ft": ("2 ft", "610"),
    "1ft11.5in": ("1 ft 11 1⁄2 in", "597"), "2ft3in": ("2 ft 3 in", "686"),
    "2ft6in": ("2 ft 6 in", "762"), "3ft": ("3 ft", "914"), "3ft6in": ("3 ft 6 in", "1067"),
    "4ft": ("4 ft", "1219"), "4ft6in": ("4 ft 6 in", "1372"),
    "4ft8.5in": ("4 ft 8 1⁄2 in", "1435"), "sg": ("4 ft 8 1⁄2 in", "1435"),
    "5ft": ("5 ft", "1524"), "5ft3in": ("5 ft 3 in", "1600"), "5ft6in": ("5 ft 6 in", "1676"),
    "7ft": ("7 ft", "2134"), "7ft0.25in": ("7 ft 1⁄4 in", "2140"),
}  # fmt: skip
_GAUGES_BY_MM = {mm: feet for feet, mm in _IMPERIAL_GAUGES.values()}


def _value_unit(arguments: Arguments, names: tuple[str, ...]) -> str:
    unit = first_of(arguments, names)
    unit = _UNIT_SIGNS.get(unit, unit)
    return _UNIT_PRODUCT.sub("⋅", unit.replace("^", ""))


def _plain_value(number: str, page: Page, *, commas: bool) -> str:
    if commas:
        return format_number(number, page.language.numbers).replace("-", "−")
    if number.startswith("-"):
        number = "−" + number[1:]
    decimal = page.language.numbers.decimal
    return number.replace(".", decimal) if decimal != "." and "," not in number else number


def val(arguments: Arguments, page: Page) -> str:
    """Expands `{{val|1.5|0.2|e=3|u=m}}` to "(1.5±0.2)×10³ m".

    With two errors, `{{val|1.5|0.2|0.1}}` expands to "1.5+0.2−0.1".
    """
    number, *errors = [*positional(arguments), ""]
    commas = arguments.get("fmt") == "commas"
    shown = arguments.get("p", "") + _plain_value(number, page, commas=commas)
    error = next(filter(None, errors), "")
    if error.startswith("("):
        shown += error
    elif error in ("-", "–", "−", "to") and errors[1:] and errors[1]:
        shown += f"–{_plain_value(errors[1], page, commas=commas)}"
    elif len(errors) > 1 and errors[1]:
        shown += f"+{errors[0].lstrip('+')}−{errors[1].lstrip('-−')}"
    elif error:
        shown += f"±{error}"
    power = arguments.get("e", "")
    if power:
        if error and not error.startswith("("):
            shown = f"({shown})"
        power = f"10{patterns.superscript(power)}"
        shown = f"{shown}×{power}" if number else power
    shown += arguments.get("s", "") + arguments.get("end", "")
    unit = _value_unit(arguments, ("ul", "u"))
    if unit:
        per = _value_unit(arguments, ("upl", "up"))
        shown += ("" if unit in _CLINGING_UNITS else " ") + unit + (f"/{per}" if per else "")
    return shown


def _fraction_with(sign: str) -> Show:
    def show(arguments: Arguments, page: Page) -> str:
        values = [value for value in positional(arguments) if value][:3]
        if not values:
            return ""
        *whole, top, bottom = values if values[1:] else ("1", *values)
        return " ".join((*whole, f"{top}{sign}{bottom}"))

    return show


def _number_in(text: str) -> float | None:
    try:
        number = float(text.replace(",", "").replace("−", "-"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def percentage(arguments: Arguments, page: Page) -> str:
    """Expands `{{percentage|1|3|1}}` to "33.3%". The third argument is the maximum number of decimals."""
    part, whole = _number_in(arguments.get("1", "")), _number_in(arguments.get("2", ""))
    decimals = arguments.get("3", "")
    if part is None or not whole:
        return ""
    share = 100 * part / whole
    if not math.isfinite(share):
        return ""
    places = min(int(decimals), 9) if decimals.isdecimal() and len(decimals) < 4 else 0
    digits = f"{share:.{places}f}"
    if "." in digits and not arguments.get("pad"):
        digits = digits.rstrip("0").rstrip(".")
    return f"{format_number(digits, page.language.numbers)}%"


def currency(arguments: Arguments, page: Page) -> str:
    """Expands `{{currency|5 million|EUR}}` to the sign of the currency and the amount: "€5 million"."""
    amount, code = arguments.get("1", ""), arguments.get("2", "USD") or "USD"
    return _CURRENCIES.get(code.upper(), code) + amount if amount else ""


def rupees(arguments: Arguments, page: Page) -> str:
    """Expands `{{INRConvert|5|c}}` to "₹5 crore". The amount in dollars changes over time and is omitted."""
    amount = format_number(arguments.get("1", ""), page.language.numbers)
    return f"₹{amount}{_INDIAN_UNITS.get(arguments.get('2', '').lower(), '')}" if amount else ""


def gauge(arguments: Arguments, page: Page) -> str:
    """Expands `{{track gauge|1435mm}}` to "1,435 mm (4 ft 8 1⁄2 in)".

    The unit in which the gauge is defined comes first.
    """
    code = arguments.get("1", "").lower().replace(" ", "").replace(",", "")
    alone = arguments.get("disp") in ("1", "or1")
    millimetres = code.removesuffix("mm")
    if code in _IMPERIAL_GAUGES:
        feet, millimetres = _IMPERIAL_GAUGES[code]
        return feet if alone else f"{feet} ({format_number(millimetres, page.language.numbers)} mm)"
    if not millimetres.isdecimal():
        return arguments.get("1", "")
    shown = f"{format_number(millimetres, page.language.numbers)} mm"
    feet = _METRIC_GAUGES.get(millimetres) or _GAUGES_BY_MM.get(millimetres, "")
    return f"{shown} ({feet})" if feet and not alone else shown


def body_height(arguments: Arguments, page: Page) -> str:
    """Expands `{{height|m=1.8}}` to "1.8 m (5 ft 11 in)" and `{{height|ft=6|in=1}}` to "6 ft 1 in
    (1.85 m)".
    """
    metres = first_of(arguments, ("m", "meters", "metres"))
    centimetres = first_of(arguments, ("cm", "centimeters", "centimetres"))
    if metres or centimetres:
        code = "m" if metres else "cm"
        return convert_short({"1": metres or centimetres, "2": code, "3": "ftin", "4": "0"}, page)
    feet, inches = first_of(arguments, ("ft", "feet")), first_of(arguments, ("in", "inches"))
    if feet:
        values = [feet, "ft", *([inches, "in"] if inches else []), "m", "2"]
        return convert_short({str(i): value for i, value in enumerate(values, start=1)}, page)
    return ""


def ordinal_number(arguments: Arguments, page: Page) -> str:
    """Expands `{{ordinal|21}}` to "21st"."""
    digits = arguments.get("1", "").strip()
    if not _WHOLE.fullmatch(digits):
        return digits
    number = int(digits.replace("−", "-")) % 100
    suffix = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return digits + suffix


def number_in_words(arguments: Arguments, page: Page) -> str:
    """Expands `{{spellnum|21}}` to "twenty-one", or with `ord=on` to "twenty-first"."""
    digits = arguments.get("1", "")
    words = spell_ordinal(digits) if arguments.get("ord") == "on" else spell_number(digits)
    return (patterns.first_upper(words) if arguments.get("case") == "U" else words) or digits


def roman_numeral(arguments: Arguments, page: Page) -> str:
    """Expands `{{roman|12}}` to "XII"."""
    digits = arguments.get("1", "")
    if not digits.isdecimal() or len(digits) > 4 or not 0 < int(digits) < 4000:
        return arguments.get("2") or digits
    return in_roman(int(digits))


def decade(arguments: Arguments, page: Page) -> str:
    """Expands `{{decade|1985}}` to "1980s"."""
    year = arguments.get("1", "")
    return f"{year[:-1]}0s" if year.isdecimal() and len(year) <= 4 else year


def season(arguments: Arguments, page: Page) -> str:
    """Expands `{{NBA Year|1999}}` to "1999–2000".

    If the second argument is "start" or "end", the result is only the first or the second year.
    """
    year, part = arguments.get("1", ""), arguments.get("2", "")
    if not (year.isdecimal() and len(year) == 4) or part in ("start", "s", "a"):
        return year
    following = str(int(year) + 1)
    if part in ("end", "e", "full"):
        return following if part != "full" else f"{year}–{following}"
    return f"{year}–{following if following.endswith('00') else following[2:]}"


def counted(arguments: Arguments, page: Page) -> str:
    """Expands `{{plural|2|page}}` to "2 pages". The third argument is the plural, if it is irregular."""
    number, one, several = (arguments.get(name, "") for name in ("1", "2", "3"))
    if not several:
        several = re.sub(r"(?<=[^aeiou])y$", "ie", one) + "s"
    return f"{number} {one if number == '1' else several}".strip()


fraction = _fraction_with("⁄")
fraction_upright = _fraction_with("/")
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
    shown = _with_signs(numbers, "°′″", page)
    if not shown:
        return ""
    return " ".join([*shown, page.language.phrases.get("east", side) if side == "E" else side])


def _with_signs(numbers: list[str], signs: str, page: Page) -> list[str]:
    decimal = page.language.numbers.decimal
    pairs = zip(numbers, signs, strict=False)
    return [number.replace(".", decimal) + sign for number, sign in pairs if number]


_SIDES = "NSEW"
_ANGLES = re.compile(r"[-−+]?\d{1,3}(?:\.\d{1,9})?")


def coordinates(arguments: Arguments, page: Page) -> str:
    """Expands `{{coord|28|N|55|W}}` to "28°N 55°W", and decimal degrees without letters to "28.5°N 55°W".

    With `display=title` the result is empty, because the page shows the coordinates above the text. In
    Norwegian, `display=inline` is `vis=tekst`, and the letters are N, S, Ø and V.
    """
    display = first_of(arguments, ("display", "vis")) or "inline"
    if not ("inline" in display or "tekst" in display or display in ("i", "it", "ti")):
        return ""
    phrases = page.language.phrases
    letters = dict(zip(phrases.get("sides", _SIDES), _SIDES, strict=True))
    sides: list[tuple[list[str], str]] = []
    numbers: list[str] = []
    for value in positional(arguments):
        letter = value.upper()
        side = letters.get(letter, letter if letter in set(_SIDES) else "")
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
        for number, pair in zip(numbers, ("NS", "EW"), strict=True):
            sides.append(([number.lstrip("+-−")], pair[number.startswith(("-", "−"))]))
    if len(sides) != 2 or sides[0][1] not in "NS" or sides[1][1] not in "EW":
        return ""
    return phrases.get("coordinates", "{0} {1}").format(
        *(_degrees(numbers, side, page) for numbers, side in sides)
    )


def _degrees(numbers: list[str], side: str, page: Page) -> str:
    phrases = page.language.phrases
    signs = phrases.get("coordinate_signs", "°′″")
    form = phrases.get(f"coordinate_{side.lower()}", f"{{angle}}{side}")
    return form.format(angle="".join(_with_signs(numbers, signs, page)))


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
    pairs = zip(rest[0::2], [*rest[1::2], ""], strict=False)
    units = "⋅".join(unit + exponent for unit, exponent in pairs if unit)
    return f"{shown} {units}".strip()


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
    shown = convert({**exact, "1": f"{density:.{decimals}f}"}, page).partition(" (")[0]
    return f"{shown} ({convert({**exact, 'disp': 'out'}, page)})"
