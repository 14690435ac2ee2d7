"""Compiles display patterns. A display pattern defines the text to which a template expands.

The elements of a pattern:
    "{1}"               the value of the first positional argument
    "{text|1}"          the value of the argument "text", or of the first argument if "text" is empty
    "{2, 3}"            the values of the arguments 2 and 3, joined by ", "; empty values are omitted
    "{*}"               the values of all positional arguments, concatenated; "{* }" joins them by a space
    "{2:number}"        the value, changed by a formatter: number, formatnum (as MediaWiki's function of this
                        name writes it), lower, upper, first_upper, superscript, subscript, month, verbatim
                        (markup in the value is written as plain text), no_aside (the text from the first " ("
                        on is removed), or hebrew_number
    "{@as_of}"          the phrase with this name in the tables of the language
    "[ ({2})]"          omitted if none of the arguments in the brackets has content; may be nested
    "\\["               a backslash makes the character after it plain text

A template expands to nothing if none of the arguments in its pattern has content. Phrases do not count as
content. A pattern without arguments is always written.

In the tables, a pattern that begins with "=" is instead the name of a function in this folder, such as
"=convert". The function "=unknown" is for templates whose value is not in the dump, such as a current
population: the sentence with the template is dropped.

A pattern that begins with "?" applies only where the template is in the place of words: at the beginning of
a line, or after a space or an opening bracket. Elsewhere the template is a mark, and shows nothing.

Defines the formatters of display patterns (see `patterns`), such as `number` in `{1:number}`.

A formatter is a function that is applied to the value of a template's argument.

The functions that expand templates share the page, number formats and month names below.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..language import Language, NumberFormat
from ..marks import protect


class Page(NamedTuple):
    """The page on which a template is used, with the tables of its language."""

    title: str
    language: Language


_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip

_MONTHS = frozenset(f"{month:02}" for month in range(1, 13))
_DIGITS = "0123456789"
_MAX_NUMBER = 100  # characters
_SUPERSCRIPTS = str.maketrans("0123456789+-−–()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾")
_SUBSCRIPTS = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")
_NUMBER = re.compile(r"([-−+]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?=\s|$)")
_NUMBER_WITH_COMMA = re.compile(r"([-−+]?)(\d+)(?:[.,](\d+))?(?=\s|$)")


def first_upper(text: str) -> str:
    """Returns a text with its first letter in upper case; the other letters are unchanged."""
    return text[:1].upper() + text[1:]


def first_lower(text: str) -> str:
    """Returns a text with its first letter in lower case; the other letters are unchanged."""
    return text[:1].lower() + text[1:]


def month_name(month: str, language: Language) -> str:
    """Returns the name of a month in the form used in dates.

    If `month` is not a month, it is returned unchanged.
    """
    months = language.months
    if month.lower() in ENGLISH_MONTHS:  # in pages translated from English
        return months[ENGLISH_MONTHS.index(month.lower())] if months else ""
    return months[int(month) - 1] if months and month.zfill(2) in _MONTHS else month


def superscript(text: str) -> str:
    """Returns a text with superscript digits and signs: "10-3" → "¹⁰⁻³"."""
    return text.translate(_SUPERSCRIPTS)


def format_number(number: str, form: NumberFormat) -> str:
    """Returns a number, and any text after it, in the format of the wiki: "3003 m" → "3,003 m".

    The decimal mark of `number` is a point. In wikis that use a decimal comma, it may also be a comma. A text
    that does not begin with a number is returned unchanged.
    """
    text = number.strip()
    if len(text) > _MAX_NUMBER:
        return number
    match = (_NUMBER_WITH_COMMA if form.decimal == "," else _NUMBER).match(text)
    if not match:
        return number
    sign, whole, fraction = match.groups()
    whole = whole.replace(",", "")
    if form.group and len(whole) >= form.min_grouped_digits:
        rest, last = whole[:-3], whole[-3:]
        head = len(rest) % form.group_size
        groups = [rest[i : i + form.group_size] for i in range(head, len(rest), form.group_size)]
        whole = form.group.join(filter(None, [rest[:head], *groups, last]))
    shown = sign + whole + (form.decimal + fraction if fraction else "")
    return in_own_digits(shown, form) + text[match.end() :]


def plain_number(text: str, form: NumberFormat) -> str:
    """Returns a number in the format of the wiki as a plain number: "1.234,5" → "1234.5" in German."""
    plain = {ord(digit): str(value) for value, digit in enumerate(form.digits)}
    groups = {form.group: "", ",": "", **({" ": "", "\u00a0": ""} if form.group.isspace() else {})}
    signs = {**groups, form.decimal: ".", "−": "-"}
    return text.translate({**plain, **{ord(sign): one for sign, one in signs.items() if sign}})


def in_roman(number: int) -> str:
    """Returns a number in Roman numerals; "" for 0."""
    shown = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        shown += letters * count
    return shown


def in_own_digits(text: str, form: NumberFormat) -> str:
    """Replaces the digits 0 to 9 in a text by the digits that the wiki uses (`form.digits`)."""
    return text if form.digits == _DIGITS else text.translate(str.maketrans(_DIGITS, form.digits))


def _hebrew_number(text: str, _: Language) -> str:
    """Marks Hebrew letters as a number: א → א', י"א → י"א, יא → י"א. Other text is returned unchanged."""
    if not text or not all("א" <= letter <= "ת" for letter in text):
        return text
    return f"{text}'" if len(text) == 1 else f'{text[:-1]}"{text[-1]}'


Formatter = Callable[[str, Language], str]

FORMATTERS: Mapping[str, Formatter] = {
    "number": lambda text, language: format_number(text, language.numbers),
    "formatnum": lambda text, language: format_number(text, language.formatnum),
    "lower": lambda text, _: text.lower(),
    "upper": lambda text, _: text.upper(),
    "first_upper": lambda text, _: first_upper(text),
    "superscript": lambda text, _: superscript(text),
    "subscript": lambda text, _: text.translate(_SUBSCRIPTS),
    "month": month_name,
    "verbatim": lambda text, _: protect(text),
    "no_aside": lambda text, _: text.partition(" (")[0],
    "hebrew_number": _hebrew_number,
}

Arguments = Mapping[str, str]
Show = Callable[[Arguments, Page], str]
# (text, True if it has an argument with content, True if the pattern has any argument)
_Shown = tuple[str, bool, bool]
_Part = Callable[[Arguments, Page], _Shown]

_TOKEN = re.compile(r"\\(.)|\{([^{}]*)\}|(\[)|(\])|([^\\{}\[\]]+)", re.DOTALL)


def positional(arguments: Arguments) -> list[str]:
    """Returns the values of the positional arguments, up to the first missing one."""
    values: list[str] = []
    while (value := arguments.get(str(len(values) + 1))) is not None:
        values.append(value)
    return values


def first_of(arguments: Arguments, names: Sequence[str]) -> str:
    """Returns the first non-empty value among the arguments in `names`, or "" if all are empty."""
    return next((value for name in names if (value := arguments.get(name))), "")


def _literal(text: str) -> _Part:
    text = text.replace("'", "&#39;")  # next to an argument in italics, "'" would be markup
    return lambda arguments, page: (text, False, False)


def _phrase(name: str) -> _Part:
    return lambda arguments, page: (page.language.phrases.get(name, ""), False, False)


def _field(expression: str, pattern: str) -> _Part:
    if expression.startswith("@"):
        return _phrase(expression[1:])
    is_all = expression.startswith("*")
    names, colon, formatter = ("", "", "") if is_all else expression.partition(":")
    if colon and formatter not in FORMATTERS:
        known = ", ".join(FORMATTERS)
        raise ValueError(
            f"unknown formatter {formatter!r} in display pattern {pattern!r}; expected one of {known}"
        )
    alternatives = [name.strip().split("|") for name in names.split(",")]

    def show(arguments: Arguments, page: Page) -> _Shown:
        named = (first_of(arguments, names) for names in alternatives)
        values = positional(arguments) if is_all else [*named]
        if formatter:
            form = FORMATTERS[formatter]
            values = [form(value, page.language) if value else "" for value in values]
        text = (expression[1:] if is_all else ", ").join(filter(None, values))
        return text, bool(text), True

    return show


def _sequence(parts: Sequence[_Part], *, optional: bool) -> _Part:
    def show(arguments: Arguments, page: Page) -> _Shown:
        shown = [part(arguments, page) for part in parts]
        filled = any(part[1] for part in shown)
        asked = any(part[2] for part in shown)
        if asked and not filled:
            return "", False, not optional
        return "".join(part[0] for part in shown), filled, asked

    return show


@functools.cache
def compile_pattern(pattern: str) -> Show:
    """Compiles a display pattern to a function that writes the arguments of a template as text.

    Raises:
        ValueError: a bracket or brace of the pattern has no partner, or a formatter is unknown.
    """
    stack: list[list[_Part]] = [[]]
    position = 0
    for token in _TOKEN.finditer(pattern):
        if token.start() != position:
            break
        position = token.end()
        if token[3]:
            stack.append([])
        elif token[4]:
            if len(stack) == 1:
                raise ValueError(f"']' without '[' in display pattern {pattern!r}")
            parts = stack.pop()
            stack[-1].append(_sequence(parts, optional=True))
        elif token[2] is not None:
            stack[-1].append(_field(token[2], pattern))
        else:
            stack[-1].append(_literal(token[1] or token[5]))
    if position != len(pattern) or len(stack) != 1:
        raise ValueError(f"unbalanced brackets or braces in display pattern {pattern!r}")
    whole = _sequence(stack[0], optional=False)
    return lambda arguments, page: whole(arguments, page)[0]
