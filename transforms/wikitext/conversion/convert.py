"""Expands `{{convert|2|in|mm}}` to a measure, followed by its value in other units: "2 inches (51 mm)".

Options, rounding and wording follow the documentation of the English Wikipedia's Module:Convert. In other
wikis, units are written with their names from CLDR or with their symbols. The units are data: `units.toml`.

Renders `{{convert}}` in wikis that write units in their own language: "3,776米（12,388英尺）".
"""

import dataclasses
import functools
import re

from ..templates import patterns
from ..templates.patterns import Arguments, Page, format_number, positional
from ..wikis import unit_pattern
from . import measures
from .units import Output, Side, Style, Unit, find_outputs, ratio, read_style

_LAST_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\Z")
_INTEGER = re.compile(r"[-−+]?\d{1,3}")
_AMERICAN = (
    ("metre", "meter"), ("litre", "liter"), ("deca", "deka"), ("tonne", "metric ton"),
    ("US ", "U.S. "),
)  # fmt: skip

# Signs between two values, for languages other than English that have no phrase for them.
_WORDLESS = {"to": "–", "and": ", ", "or": " / ", "by": " × "}
_DISPLAYS = {
    "or": (" or ", "", " or "),
    "comma": (", ", "", ", "),
    "semicolon": ("; ", "", "; "),
    "sqbr": (" [", "]", "; "),
    "(or)": (" (", ")", " or "),
    "slash": (" / ", "", " / "),
    "br": (" ", "", "; "),
    "br()": (" (", ")", "; "),
}


def _unit_text(unit: Unit, side: Side, style: Style, *, is_one: bool) -> str:
    if style.names(unit, side):
        text = unit.name if style.is_adjective or (is_one and not unit.exponent) else unit.plural
        if style.american:
            for british, american in _AMERICAN:
                text = text.replace(british, american)
        return text
    symbol = unit.symbol.replace("US ", "U.S. ") if style.american else unit.symbol
    return style.page.language.phrases.get(f"unit {symbol}", symbol) if style.is_local else symbol


def _local_name(number: str, unit: Unit, side: Side, style: Style) -> str:
    """Returns a number with the name of its unit in the wiki's language.

    Returns "" if CLDR has no name of the unit in this language, or if another form, such as the symbol, must
    be written. `side` is "in" for the input of the conversion and "out" for the output.
    """
    if not style.is_local or style.is_short(unit, side) or unit.exponent or any(style.before_unit):
        return ""
    form = style.numbers
    own = str.maketrans(form.digits, "0123456789")
    plain = number.translate(own).replace(form.group, "").replace(form.decimal, ".")
    last = _LAST_NUMBER.search(plain)
    pattern = unit_pattern(style.page.language.code, unit.symbol, last[1]) if last else ""
    return pattern.format(number=number)


def _decorated(number: str, unit: Unit, side: Side, style: Style) -> str:
    """Returns a number with the power of ten that is part of its unit: "3 million" or "3×10⁶".

    The name of the unit is not added. If the unit has no power of ten, the number is returned unchanged.
    """
    if not unit.exponent:
        return number
    if style.abbreviation in ("on", side) or not style.english:
        return f"{number}×10{patterns.superscript(str(unit.exponent))}"
    return f"{number}{'-' if style.is_adjective else ' '}{unit.number_word}"


def _with_unit(number: str, unit: Unit, side: Side, style: Style, *, is_one: bool) -> str:
    number = _decorated(number, unit, side, style)
    if style.abbreviation == "values":
        return number
    named = _local_name(number, unit, side, style)
    if named:
        return named
    text = _unit_text(unit, side, style, is_one=is_one)
    between = style.before_unit[0 if side == "in" else 1]
    middle = style.middle if (side == "in") != style.flip else ""
    if style.is_adjective and style.names(unit, side):
        return f"{number}-{text.replace(' ', '-')}{middle}"
    if between:
        return f"{number}{between} {text}{middle}"
    return f"{number}{'' if text.startswith('/') else ' '}{text}{middle}".rstrip()


def _join_text(join: measures.Join, unit: Unit, side: Side, style: Style) -> str:
    if not style.english:
        word = join.abbreviated.strip()
        phrase = style.page.language.phrases.get(f"range_{word}", _WORDLESS.get(word, ""))
        return phrase or join.abbreviated
    named = style.names(unit, side)
    text = join.spelled if named else join.abbreviated
    return text.replace(" ", "-") if style.is_adjective and named and text.isascii() else text


def _joined(
    numbers: list[measures.Shown],
    joins: tuple[measures.Join, ...],
    unit: Unit,
    side: Side,
    style: Style,
) -> str:
    """Returns a value or a range of values as text, with its unit: "5 km", "5 to 10 km".

    `numbers` are the values, and `joins` the words between them. `side` is "in" for the input of the
    conversion and "out" for the output.
    """
    each = any(join.each for join in joins) and not style.names(unit, side)
    shown = ""
    for i, number in enumerate(numbers):
        text = number.text
        if i:
            join = _join_text(joins[i - 1], unit, side, style)
            shown += " – " if join == "–" and text.startswith("−") else join
        if each and i < len(numbers) - 1:
            text = _with_unit(text, unit, side, style, is_one=number.is_one)
        shown += text
    return _with_unit(shown, unit, side, style, is_one=numbers[-1].is_one)


def _input(measure: measures.Measure, style: Style) -> str:
    shown = [measures.Shown(value.shown, value.is_one) for value in measure.values]
    if style.capital and not style.flip:
        shown[0] = shown[0]._replace(text=patterns.first_upper(shown[0].text))
    if len(measure.units) == 1:
        return _joined(shown, measure.joins, measure.unit, "in", style)
    bare = dataclasses.replace(style, middle="")
    parts = [
        _with_unit(number.text, unit, "in", bare, is_one=number.is_one)
        for number, unit in zip(shown, measure.units, strict=True)
    ]
    hyphen = style.is_adjective and style.names(measure.unit, "in")
    return ("-" if hyphen else " ").join(parts) + (style.middle if not style.flip else "")


def _output(measure: measures.Measure, output: Output, style: Style, side: Side = "out") -> str:
    """Returns the text of a measure converted to one output unit or combination of units.

    `side` is "out" by default, and "in" if the text is displayed where the input usually is.
    """
    source, target, quantities = measure.unit, output[-1], measure.quantities
    if source.name == "hand":
        source, quantities = measures.in_inches(source, quantities)
    outs = [measures.converted(value, source, target) for value in quantities]
    decimals = style.decimals
    if decimals is None:
        decimals = max(
            measures.default_decimals(value, source, target, out, len(measure.units))
            for value, out in zip(quantities, outs, strict=True)
        )
        decimals = max(decimals, 0) if measure.unit.name == "hand" else decimals
    if len(output) > 1:
        joined = _in_parts(outs[0], decimals, output, style, side)
        for join, out in zip(measure.joins, outs[1:], strict=True):
            joined += _join_text(join, target, side, style)
            joined += _in_parts(out, decimals, output, style, side)
        return joined
    if target.name == "hand":
        shown = [measures.shown_hands(out) for out in outs]
    else:
        shown = [measures.shown_result(out, decimals, style) for out in outs]
    if style.capital and style.flip:
        shown[0] = shown[0]._replace(text=patterns.first_upper(shown[0].text))
    return _joined(shown, measure.joins, target, side, style)


def _in_parts(out: float, decimals: int, output: Output, style: Style, side: Side) -> str:
    """Returns the text of a quantity that is split into several units: "5 ft 11 in".

    `output` are these units, the largest first. `out` is the quantity in the last of them, which is written
    with `decimals` decimals.
    """
    digits = measures.round_digits(abs(out), max(decimals, 0), style)
    left, decimal_places = float(digits), len(digits.partition(".")[2])
    counts: list[float] = []
    for larger, smaller in zip(reversed(output[:-1]), reversed(output), strict=False):
        left, count = divmod(left, ratio(larger, smaller) or 1)
        counts.append(count)
    counts.append(left)
    parts: list[str] = []
    for unit, count in zip(output, reversed(counts), strict=True):
        if not count and not parts and unit is not output[-1]:
            continue
        places = decimal_places if unit is output[-1] else 0
        number = format_number(f"{count:.{places}f}", style.numbers)
        parts.append(_with_unit(number, unit, side, style, is_one=count == 1))
    hyphen = style.is_adjective and style.names(output[-1], side)
    return ("−" if out < 0 else "") + ("-" if hyphen else " ").join(parts)


def _spaced(text: str, *, at_start: bool) -> str:
    """Adds a space to a text that an option puts next to a number, such as "wide" in "2 m wide".

    The space is missing because the parser removes spaces around arguments. If `at_start` is True, the space
    is added at the start of the text, otherwise at its end. No space is added next to signs such as a hyphen.
    """
    if at_start:
        return text if not text or text.startswith(("-", ",", ";", ":", "+")) else f" {text}"
    return f"{text} " if text and (text[-1].isalnum() or text[-1] in ",;:/=") else text


def _take_options(measure: measures.Measure, style: Style) -> str:
    """Reads the arguments after the unit, and sets options of the style.

    Returns the code of the output unit, or "" if there is none.
    """
    rest = list(measure.rest)

    def take() -> str:
        return rest.pop(0) if rest else ""

    def take_decimals() -> None:
        if rest and style.decimals is None and _INTEGER.fullmatch(rest[0]):
            style.decimals = int(take().replace("−", "-"))

    code = ""
    take_decimals()
    if style.decimals is None:
        code = take()
        take_decimals()
    if style.adjective == "mid":
        style.middle = _spaced(take(), at_start=True)
    elif style.adjective == "pre":
        words = _spaced(take(), at_start=True)
        style.before_unit = ("", words) if style.flip else (words, "")
    if style.display == "x":
        first, last = take(), take()
        before = _spaced(_spaced(first, at_start=True), at_start=False) or " ["
        style.around = (before, last or ("" if first else "]"))
    elif style.display == "preunit":
        first, second = take(), take()
        words = _spaced(second or first, at_start=True)
        style.before_unit = (_spaced(first, at_start=True), words)
    take_decimals()
    return code


def _fallback(values: list[str]) -> str:
    """Returns the number or range and its unit as written. Used if a conversion cannot be parsed.

    `values` are the positional arguments of `{{convert}}`.
    """
    if len(values) >= 2 and values[1] == "Mach":
        return f"Mach {values[0]}"
    join = measures.find_join(values[1]) if len(values) >= 4 else None
    if join:
        return f"{values[0]}{join.spelled}{values[2]} {values[3]}"
    if len(values) >= 2 and values[0][:1].isdecimal():
        return f"{values[0]} {values[1]}"
    return values[0] if values else ""


def _convert(arguments: Arguments, page: Page, *, short: bool, local: bool = True) -> str:
    style = read_style(arguments, page, short=short)
    style.is_local = local and not style.english
    values = measures.unpack(positional(arguments), style)
    measure = measures.parse_measure(values, style)
    if measure is None:
        return _fallback(values)
    if any(value.is_scientific for value in measure.values):
        style.scientific = True
    code = _take_options(measure, style)
    outputs = [
        output
        for output in find_outputs(code or _default_code(measure))
        if measure.unit.is_convertible_to(output[-1])
    ]
    return _arranged(measure, outputs, style)


def _default_code(measure: measures.Measure) -> str:
    code = measure.units[0].default_output(measure.values[0].value)
    # A quantity in several units is converted to a metric unit: "6 ft 2 in", "11 st 4 lb".
    return code.split(" ")[-1] if len(measure.units) > 1 else code


def _arranged(measure: measures.Measure, outputs: list[Output], style: Style) -> str:
    display = style.display
    if display in ("unit", "unit or text"):
        return _unit_text(measure.unit, "in", style, is_one=measure.values[-1].is_one)
    if display == "unit2" and outputs:
        return _unit_text(outputs[0][-1], "out", style, is_one=False)
    if display in ("number", "output number only"):
        style.abbreviation = "values"
    if style.arguments.get("order") == "out" and outputs:
        return _ordered(measure, outputs, style)
    first = _input(measure, style)
    if "~" in (style.arguments.get("abbr"), style.adjective):
        first += f" [{measure.unit.symbol}]"
    results = [_output(measure, output, style) for output in outputs]
    if not results:
        return first
    before, after, between = _DISPLAYS.get(display, (" (", ")", "; "))
    before, after = style.around or (before, after)
    if display in ("out", "output only", "number", "output number only"):
        return between.join(results)
    if style.flip:
        return f"{between.join(results)}{before}{first}{after}"
    return f"{first}{before}{between.join(results)}{after}"


def _ordered(measure: measures.Measure, outputs: list[Output], style: Style) -> str:
    """Returns the text of a conversion with `order=out`, which shows only the outputs, in the given order.

    If an output has the unit of the input, the input is shown there unchanged.
    """
    shown = []
    for i, output in enumerate(outputs):
        side: Side = "out" if i else "in"
        if output == measure.units:
            numbers = [measures.Shown(value.shown, value.is_one) for value in measure.values]
            shown.append(_joined(numbers, measure.joins, measure.unit, side, style))
        else:
            shown.append(_output(measure, output, style, side))
    return f"{shown[0]} ({'; '.join(shown[1:])})" if len(shown) > 1 else shown[0]


def convert(arguments: Arguments, page: Page) -> str:
    """Expands `{{convert}}`: units are written with their names."""
    return _convert(arguments, page, short=False)


def convert_short(arguments: Arguments, page: Page) -> str:
    """Expands `{{cvt}}`: units are written with their symbols."""
    return _convert(arguments, page, short=True)


@functools.cache
def _symbol_pattern(symbols: tuple[str, ...], ends: str) -> re.Pattern[str]:
    longest_first = sorted(symbols, key=len, reverse=True)
    return re.compile(rf" ({'|'.join(map(re.escape, longest_first))})(?![^\s{ends}])")


def convert_to_symbols(arguments: Arguments, page: Page) -> str:
    """Expands `{{convert|3776|m|ft}}` in wikis with unit symbols of their own: "३,७७६ मी (१२,३८८ फूट)"."""
    # Not part of a quotient: "km/h" is a unit of its own
    return _with_own_units(arguments, page, " ", "();,–×±")


def convert_to_names(arguments: Arguments, page: Page) -> str:
    """Expands `{{convert|3776|m|ft}}` in wikis that use the names of units: "3,776米（12,388英尺）"."""
    shown = _with_own_units(arguments, page, "", "();,–×±/")
    return re.sub(r" ?\(", "（", shown).replace(")", "）")


def _with_own_units(arguments: Arguments, page: Page, blank: str, ends: str) -> str:
    """Returns the text of a conversion with the wiki's own symbols or names of units.

    Args:
      arguments: the arguments of the template.
      page: the page of the template.
      blank: the text between a number and its unit.
      ends: the characters that may follow the symbol of a unit.
    """
    shown = _convert(arguments, page, short=True, local=False)
    names = {
        phrase.removeprefix("unit "): name
        for phrase, name in page.language.phrases.items()
        if phrase.startswith("unit ")
    }
    if not names:
        return shown
    return _symbol_pattern(tuple(names), ends).sub(lambda match: blank + names[match[1]], shown)
