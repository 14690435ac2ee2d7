"""Expands those parser functions and variables of MediaWiki that need no data from the wiki's database.

All arguments are positional. In `{{#if:x|y}}`, argument "1" is x, and argument "2" is y. Values that change
daily, such as `{{CURRENTYEAR}}`, expand to a hole (the mark for missing text).

Evaluates the arithmetic expressions of `{{#expr:…}}`: https://www.mediawiki.org/wiki/Help:Calculation.

An expression has no value if it is too long or too deeply nested, or if its result is not a finite number.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping

from ..marks import HOLE
from ..wikis import languages_of
from .patterns import Arguments, Page, Show, first_lower, first_upper, format_number, positional

_MAX_LENGTH = 500  # characters
_MAX_DEPTH = 40
_MAX_POWER = 300  # decimal digits of the result of a power
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|(<=|>=|<>|!=|[-+*/^()<>=−×÷]|[a-z]+))")
_SIGNS = {"−": "-", "×": "*", "÷": "/", "div": "/", "<>": "!="}

Binary = Callable[[float, float], float]


class _ExpressionError(ValueError):
    """Raised if an expression has no value."""


def _power(base: float, exponent: float) -> float:
    if base and abs(exponent) * math.log10(abs(base) + 1) > _MAX_POWER:
        raise _ExpressionError
    if base < 0 and exponent != int(exponent):
        raise _ExpressionError
    return float(base**exponent)


def _round(number: float, decimals: float) -> float:
    places = max(min(int(decimals), 15), -300)
    scale = 10.0 ** abs(places)
    scaled = number * scale if places >= 0 else number / scale
    rounded = math.floor(abs(scaled) + 0.5) * (1 if scaled >= 0 else -1)
    return rounded / scale if places >= 0 else rounded * scale


# Sorted by precedence, the lowest first.
_LEVELS: tuple[dict[str, Binary], ...] = (
    {"or": lambda a, b: float(bool(a) or bool(b))},
    {"and": lambda a, b: float(bool(a) and bool(b))},
    {
        "=": lambda a, b: float(a == b),
        "!=": lambda a, b: float(a != b),
        "<": lambda a, b: float(a < b),
        ">": lambda a, b: float(a > b),
        "<=": lambda a, b: float(a <= b),
        ">=": lambda a, b: float(a >= b),
    },
    {"round": _round},
    {"+": operator.add, "-": operator.sub},
    {
        "*": operator.mul,
        "/": operator.truediv,
        "mod": lambda a, b: math.fmod(int(a), int(b)),
        "fmod": math.fmod,
    },
    {"^": _power},
)
_UNARY: dict[str, Callable[[float], float]] = {
    "-": operator.neg,
    "+": operator.pos,
    "not": lambda a: float(not a),
    "abs": abs,
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
    "trunc": lambda a: float(math.trunc(a)),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "ln": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    text = text.lower().strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise _ExpressionError
        token = match[1] or match[2]
        tokens.append(_SIGNS.get(token, token))
        position = match.end()
    return tokens


class _Parser:
    """Parses and evaluates the tokens of an expression, by levels of operator precedence."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = ["", *reversed(tokens)]  # the next token is last; "" marks the end
        self._depth = 0

    def value(self) -> float:
        result = self._level(0)
        if self._tokens[-1]:
            raise _ExpressionError
        return result

    def _level(self, number: int) -> float:
        if number == len(_LEVELS):
            return self._operand()
        result = self._level(number + 1)
        while self._tokens[-1] in _LEVELS[number]:
            operation = _LEVELS[number][self._tokens.pop()]
            result = operation(result, self._level(number + 1))
        return result

    def _operand(self) -> float:
        token = self._tokens.pop()
        self._depth += 1
        if self._depth > _MAX_DEPTH or not token:
            raise _ExpressionError
        if token == "(":
            result = self._level(0)
            if self._tokens.pop() != ")":
                raise _ExpressionError
        elif token in _UNARY:
            result = _UNARY[token](self._operand())
        elif token in _CONSTANTS:
            result = _CONSTANTS[token]
        elif token[0].isdecimal() or token[0] == ".":
            result = float(token)
        else:
            raise _ExpressionError
        self._depth -= 1
        return result


def evaluate(text: str) -> float | None:
    """Returns the value of an expression, or None if it has no value."""
    if not text.strip() or len(text) > _MAX_LENGTH:
        return None
    try:
        result = _Parser(_tokens(text)).value()
    except (ValueError, ArithmeticError):
        return None
    return result if math.isfinite(result) else None


def written(number: float) -> str:
    """Formats a number like MediaWiki: with 14 significant digits, without zeros at the end."""
    return "0" if number == 0 else f"{number:.14g}"


_MAX_PADDING = 500  # characters, as in MediaWiki
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})(?:-(\d{1,2}))?")
_TIME_FORMAT = re.compile(r'"([^"]*)"|xg|x.|.', re.DOTALL)


def _expr(arguments: Arguments, page: Page) -> str:
    value = evaluate(arguments.get("1", ""))
    return "" if value is None else written(value)


def _switch(arguments: Arguments, page: Page) -> str:
    """Expands `{{#switch:b|a=1|b=2|3}}` to the value of the case that matches argument "1": "2".

    A case without a value has the value of the next case that has one. If the last case has no value, it is
    the default: "3" in this example.
    """
    wanted = arguments.get("1", "")
    is_met = False
    default = last = ""
    for case in positional(arguments)[1:]:
        name, equals, text = (part.strip() for part in case.partition("="))
        is_met = is_met or name == wanted
        if equals and is_met:
            return text
        if equals and name == "#default":
            default = text
        last = "" if equals else name
    return last or default


def _padded(arguments: Arguments, *, left: bool) -> str:
    text, width, filler = (arguments.get(name, "") for name in ("1", "2", "3"))
    length = min(int(width), _MAX_PADDING) if width.isdecimal() and len(width) < 6 else 0
    missing = max(length - len(text), 0)
    filler = ((filler or "0")[:missing] * missing)[:missing]
    return filler + text if left else text + filler


def _time(arguments: Arguments, page: Page) -> str:
    """Expands `{{#time:j F Y|2004-05-06}}` to a date in the requested format: "6 May 2004".

    The result is a hole (the mark for missing text) if argument "2" is not a date, or if the format asks for
    the hour or weekday.
    """
    match = _DATE.fullmatch(arguments.get("2", ""))
    if not match or not 1 <= int(match[2]) <= 12:
        return HOLE
    year, month, day = match[1], int(match[2]), int(match[3] or 1)
    months = page.language.months
    name = months[month - 1] if months else str(month)
    parts = {
        "Y": year, "y": year[-2:], "n": str(month), "m": f"{month:02}", "j": str(day),
        "d": f"{day:02}", "F": name, "xg": name, "M": name[:3],
    }  # fmt: skip
    shown = []
    for token in _TIME_FORMAT.finditer(arguments.get("1", "")):
        text = token[1] if token[1] is not None else parts.get(token[0], token[0])
        if len(text) == 1 and text.isalpha() and token[1] is None and token[0] not in parts:
            return HOLE  # weekdays, hours etc.
        shown.append(text)
    return "".join(shown)


def _language(arguments: Arguments, page: Page) -> str:
    """Expands `{{#language:fr}}` to its own name, "français", and `{{#language:fr|de}}` to "Französisch"."""
    code, of = arguments.get("1", ""), arguments.get("2", "").lower()
    if of and of == page.language.code:
        return page.language.language_names.get(code.lower(), code)
    return languages_of(of or code.lower()).get(code.lower(), code)


_FULL_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DAY_AND_MONTH = {
    "dmy": "{day} {month} {year}",
    "mdy": "{month} {day}, {year}",
    "ymd": "{year} {month} {day}",
}


def _formatdate(arguments: Arguments, page: Page) -> str:
    """Expands `{{#formatdate:2009-03-24|mdy}}` to "March 24, 2009". A date in words is unchanged."""
    written, form = arguments.get("1", ""), arguments.get("2", "").lower()
    match = _FULL_DATE.fullmatch(written)
    months = page.language.months
    if not match or form not in _DAY_AND_MONTH or not months or not 1 <= int(match[2]) <= 12:
        return written
    month = months[int(match[2]) - 1]
    return _DAY_AND_MONTH[form].format(day=int(match[3]), month=month, year=match[1])


def _formatnum(arguments: Arguments, page: Page) -> str:
    number = arguments.get("1", "")
    if arguments.get("2", "").upper() in ("R", "NOSEP"):
        return number
    return format_number(number, page.language.numbers)


def _unknown(arguments: Arguments, page: Page) -> str:
    return HOLE


def _argument(name: str) -> Show:
    return lambda arguments, page: arguments.get(name, "")


PARSER_FUNCTIONS: Mapping[str, Show] = {
    "#if": lambda arguments, page: arguments.get("2" if arguments.get("1") else "3", ""),
    "#ifeq": lambda arguments, page: arguments.get(
        "3" if arguments.get("1") == arguments.get("2") else "4", ""
    ),
    "#expr": _expr,
    "#ifexpr": lambda arguments, page: arguments.get(
        "2" if evaluate(arguments.get("1", "")) else "3", ""
    ),
    "#iferror": lambda arguments, page: arguments.get("3") or arguments.get("1", ""),
    "#switch": _switch,
    "#language": _language,
    "#ifexist": _argument("3"),  # pages are treated as missing
    "formatnum": _formatnum,
    "lc": lambda arguments, page: arguments.get("1", "").lower(),
    "uc": lambda arguments, page: arguments.get("1", "").upper(),
    "lcfirst": lambda arguments, page: first_lower(arguments.get("1", "")),
    "ucfirst": lambda arguments, page: first_upper(arguments.get("1", "")),
    "padleft": lambda arguments, page: _padded(arguments, left=True),
    "padright": lambda arguments, page: _padded(arguments, left=False),
    "#tag": lambda arguments, page: "" if arguments.get("1") == "ref" else arguments.get("2", ""),
    "plural": lambda arguments, page: arguments.get("3", arguments.get("2", "")),
    **dict.fromkeys(("#time", "#timel"), _time),
    **dict.fromkeys(("#dateformat", "#formatdate"), _formatdate),
    **dict.fromkeys(("grammar", "gender"), _argument("2")),
    **dict.fromkeys(("urlencode", "fullurl", "localurl", "filepath", "#lst"), lambda *_: ""),
    **dict.fromkeys(("#statements", "#property"), _unknown),
}

_DAILY = (
    "year", "month", "month1", "month2", "monthname", "monthnamegen", "monthabbrev", "day", "day2",
    "dow", "dayname", "time", "hour", "minute", "second", "week", "isoyear", "timestamp", "version",
)  # fmt: skip
_OF_THE_WIKI = (
    "numberofarticles", "numberofpages", "numberofusers", "numberofactiveusers", "numberofedits",
    "numberoffiles", "numberofadmins", "revisionid", "revisionday", "revisionmonth",
    "revisionyear", "revisiontimestamp", "revisionuser", "namespace", "talkpagename", "server",
)  # fmt: skip
# The local names are those of languages/messages/Messages*.php of MediaWiki.
_PAGE_NAMES = (
    "pagename", "fullpagename", "basepagename", "subpagename", "लेखनाव", "название страницы",
    "sayfaadi", "namalaman", "页名", "页面名", "页面名称", "頁面名稱",
)  # fmt: skip
VARIABLES: Mapping[str, Show] = {
    **{f"{zone}{name}": _unknown for zone in ("current", "local") for name in _DAILY},
    **dict.fromkeys(_OF_THE_WIKI, _unknown),
    **dict.fromkeys(_PAGE_NAMES, lambda arguments, page: page.title),
    "sitename": lambda arguments, page: "Wikipedia",
    "!": lambda arguments, page: "|",
    "=": lambda arguments, page: "=",
    "(": lambda arguments, page: "{",
    ")": lambda arguments, page: "}",
}
