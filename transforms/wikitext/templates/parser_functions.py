"""Expands those parser functions and variables of MediaWiki that need no data from the wiki's database.

All arguments are positional. In `{{#if:x|y}}`, argument "1" is x, and argument "2" is y. Values that change
daily, such as `{{CURRENTYEAR}}`, expand to a hole (the mark for missing text). So does a choice that depends
on an unknown value.

The tables have English names. The class `MagicWords` finds the functions by their names in other languages.

Evaluates the arithmetic expressions of `{{#expr:…}}`: https://www.mediawiki.org/wiki/Help:Calculation.

An expression has no value if it is too long or too deeply nested, or if its result is not a finite number.
"""

import math
import operator
import re
import urllib.parse
from collections.abc import Callable, Mapping

from ..marks import HOLE, UNKNOWN
from ..tags import decode_entities
from ..wikis import (
    default_cases,
    is_inflected,
    languages_of,
    languages_of_wiki,
    plural_form,
)
from .dates import time
from .functions import unknown
from .patterns import (
    Arguments,
    Page,
    Show,
    first_lower,
    first_upper,
    format_number,
    in_own_digits,
    plain_number,
    positional,
)

_MAX_LENGTH = 500  # characters
_MAX_DEPTH = 40
_MAX_POWER = 300  # decimal digits of the result of a power
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|(<=|>=|<>|!=|[-+*/^()<>=−×÷]|[a-z]+))")
_SIGNS = {"−": "-", "×": "*", "÷": "/", "div": "/", "<>": "!="}

Binary = Callable[[float, float], float]


def _power(base: float, exponent: float) -> float:
    if base and abs(exponent) * math.log10(abs(base) + 1) > _MAX_POWER:
        raise ValueError("the expression has no value")
    if base < 0 and exponent != int(exponent):
        raise ValueError("the expression has no value")
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
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    text = text.lower().strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise ValueError("the expression has no value")
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
            raise ValueError("the expression has no value")
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
            raise ValueError("the expression has no value")
        if token == "(":
            result = self._level(0)
            if self._tokens.pop() != ")":
                raise ValueError("the expression has no value")
        elif token in _UNARY:
            result = _UNARY[token](self._operand())
        elif token in _CONSTANTS:
            result = _CONSTANTS[token]
        elif token[0].isdecimal() or token[0] == ".":
            result = float(token)
        else:
            raise ValueError("the expression has no value")
        while token not in _UNARY and self._tokens[-1] == "e":  # 1.5e3
            self._tokens.pop()
            result *= _power(10, self._operand())
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
    """Formats a number like MediaWiki: with 14 significant digits, without zeros at the end.

    Very large and very small numbers are written with an exponent: "1.0E+15".
    """
    mantissa, is_scaled, exponent = f"{number or 0:.14g}".partition("e")
    if not is_scaled:
        return mantissa
    return f"{mantissa}{'' if '.' in mantissa else '.0'}E{int(exponent):+d}"


_MAX_PADDING = 500  # characters, as in MediaWiki
# A text that PHP compares as a number, and the numbers in an argument of formatnum
_NUMERIC = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NUMBERS = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
_EXPLICIT_FORM = re.compile(r"([0-9]+)=(.*)", re.DOTALL)
_MAX_EXACT = 2**53  # larger integers are not exact in floating point
_MAX_DIGITS = 30
# Languages in which the capital of "i" is "İ". MediaWiki's uc and lc do not know this.
_WITH_DOTLESS_I = frozenset({"az", "kaa", "tr"})


def comparable(text: str) -> str:
    """Returns a text in the form in which `#ifeq` and `#switch` compare it: "01" and "1.0" become "1"."""
    text = decode_entities(text).strip()
    if len(text) > _MAX_DIGITS or not _NUMERIC.fullmatch(text):
        return text
    if text.lstrip("+-").isdecimal():
        return str(int(text))
    number = float(text)
    is_whole = abs(number) < _MAX_EXACT and number == int(number)
    return str(int(number)) if is_whole else repr(number)


def is_default(case: str) -> bool:
    """Returns True if the name of a case of `#switch` is `#default`, in any language."""
    return case.strip().casefold() in default_cases()


def _expr(arguments: Arguments, page: Page) -> str:
    expression = arguments.get("1", "")
    value = evaluate(expression)
    return HOLE if UNKNOWN in expression else "" if value is None else written(value)


def is_unknown(condition: str) -> bool:
    """Returns True if it is not known whether a condition is empty."""
    return UNKNOWN in condition and not condition.replace(UNKNOWN, "").replace(HOLE, "").strip()


def _iferror(arguments: Arguments, page: Page) -> str:
    """Expands `{{#iferror:{{#expr:1/0}}|bad|good}}` to "bad". The text of an error is empty here."""
    value = arguments.get("1", "")
    if UNKNOWN in value:
        return HOLE
    return arguments.get("3", value) if value else arguments.get("2", "")


_HIDDEN_LINK = re.compile(r"\[\[[^\[\]|:]+:[^\[\]]*\]\]")  # of a category, say
_LINK_TO = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_FORMATTING = re.compile(r"''+|<[^<>]*+>")


def _ifexist(arguments: Arguments, page: Page) -> str:
    """Expands `{{#ifexist:Rome|[[Rome]]|Rome}}` to the text that both branches show.

    Which pages exist is not known, so different texts are unknown.
    """
    texts = (_HIDDEN_LINK.sub("", arguments.get(key, "")) for key in ("2", "3"))
    one, other = (_FORMATTING.sub("", _LINK_TO.sub(r"\1", text)).strip() for text in texts)
    return one if one == other else HOLE


def _padded(arguments: Arguments, *, left: bool) -> str:
    text, width = arguments.get("1", ""), arguments.get("2", "")
    length = min(int(width), _MAX_PADDING) if width.isdecimal() and len(width) < 6 else 0
    missing = max(length - len(text), 0)
    filler = (arguments.get("3", "0")[:missing] * missing)[:missing]
    return filler + text if left else text + filler


def _first_letter(arguments: Arguments, page: Page, *, upper: bool) -> str:
    text = arguments.get("1", "")
    if text[:1] in ("i", "I") and not _WITH_DOTLESS_I.isdisjoint(_languages(page)):
        text = {"i": "İ" if upper else "i", "I": "I" if upper else "ı"}[text[0]] + text[1:]
    return first_upper(text) if upper else first_lower(text)


def _languages(page: Page) -> tuple[str, ...]:
    return languages_of_wiki(page.language.code)


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
    """Expands `{{formatnum:-1234.5}}` to "−1,234.5".

    With the second argument "NOSEP", the digits are not grouped. With "R", a number in the format of the wiki
    becomes a plain number.
    """
    text, suffix, form = arguments.get("1", ""), arguments.get("2", ""), page.language.formatnum
    if suffix == "R":
        return plain_number(text, form)
    if suffix.upper() == "NOSEP":
        return in_own_digits(text, form).replace("-", "−")
    return _NUMBERS.sub(lambda found: format_number(found[0], form).replace("-", "−"), text)


def _plural(arguments: Arguments, page: Page) -> str:
    """Expands `{{PLURAL:5|стол|стола|столов}}` to the form that the number requires: "столов".

    A form `5=…` is for this number only.
    """
    number = plain_number(arguments.get("1", ""), page.language.formatnum)
    forms = []
    for form in positional(arguments)[1:]:
        explicit = _EXPLICIT_FORM.fullmatch(form)
        if explicit and explicit[1] == number:
            return explicit[2]
        forms += [] if explicit else [form]
    is_number = len(number) <= _MAX_DIGITS and _NUMERIC.fullmatch(number)
    if not is_number or not math.isfinite(float(number)):
        return HOLE
    index = plural_form(page.language.code, float(number))
    return forms[min(index, len(forms) - 1)] if forms else ""


def _grammar(arguments: Arguments, page: Page) -> str:
    """Expands `{{GRAMMAR:case|word}}` to the word. It is unknown if the wiki's language inflects words."""
    return HOLE if is_inflected(page.language.code) else arguments.get("2", "")


def _gender(arguments: Arguments, page: Page) -> str:
    """Expands `{{GENDER:user|text}}` to the text. If there are several, the user's gender decides."""
    forms = {*positional(arguments)[1:]}
    return forms.pop() if len(forms) == 1 else HOLE


def _titleparts(arguments: Arguments, page: Page) -> str:
    """Expands `{{#titleparts:A/B/C|1|2}}` to one part of a title, from the second on: "B"."""
    title, count, first = (arguments.get(name, "") for name in ("1", "2", "3"))
    parts = title.split("/")
    if not all(re.fullmatch(r"(?:-?[0-9]{1,3})?", number) for number in (count, first)):
        return HOLE
    start = int(first or 0)
    parts = parts[start - 1 if start > 0 else start or None :]
    return "/".join(parts[: int(count or 0) or None])


def _name_of_page(arguments: Arguments, page: Page) -> str:
    """Expands `{{PAGENAME}}` to the title of the page, and `{{PAGENAME:title}}` to the title.

    The name of a page of another namespace is unknown.
    """
    title = arguments.get("1", "")
    return HOLE if ":" in title else first_upper(title) if title else page.title


def _encoded_name_of_page(arguments: Arguments, page: Page) -> str:
    name = _name_of_page(arguments, page).replace(" ", "_")
    return name if name == HOLE else urllib.parse.quote(name, safe=";@$!*(),/~:")


def _of_article(value: str) -> Show:
    return lambda arguments, page: HOLE if arguments.get("1") else value


def _silent(arguments: Arguments, page: Page) -> str:
    return ""


_NAMES_OF_PAGE = [f"{of}PAGENAME" for of in ("", "FULL", "BASE", "SUB", "ROOT", "SUBJECT")]
# The page is an article, in the main namespace.
_OF_PAGE: Mapping[str, Show] = {
    **dict.fromkeys(_NAMES_OF_PAGE, _name_of_page),
    **dict.fromkeys((f"{name}E" for name in _NAMES_OF_PAGE), _encoded_name_of_page),
    **dict.fromkeys(("NAMESPACE", "NAMESPACEE", "SUBJECTSPACE", "SUBJECTSPACEE"), _of_article("")),
    "NAMESPACENUMBER": _of_article("0"),
    **dict.fromkeys(("TALKPAGENAME", "TALKPAGENAMEE", "TALKSPACE", "TALKSPACEE", "pageid"), unknown),
    **dict.fromkeys((f"NUMBEROF{one}" for one in (
        "ARTICLES", "PAGES", "USERS", "ACTIVEUSERS", "EDITS", "FILES", "ADMINS",
    )), unknown),
    **dict.fromkeys((f"REVISION{one}" for one in (
        "ID", "DAY", "DAY2", "MONTH", "MONTH1", "YEAR", "TIMESTAMP", "USER", "SIZE",
    )), unknown),
}  # fmt: skip

PARSER_FUNCTIONS: Mapping[str, Show] = {
    "#expr": _expr,
    "#iferror": _iferror,
    "#language": _language,
    "#ifexist": _ifexist,
    "formatnum": _formatnum,
    "lc": lambda arguments, page: arguments.get("1", "").lower(),
    "uc": lambda arguments, page: arguments.get("1", "").upper(),
    "lcfirst": lambda arguments, page: _first_letter(arguments, page, upper=False),
    "ucfirst": lambda arguments, page: _first_letter(arguments, page, upper=True),
    "padleft": lambda arguments, page: _padded(arguments, left=True),
    "padright": lambda arguments, page: _padded(arguments, left=False),
    "#tag": lambda arguments, page: "" if arguments.get("1") == "ref" else arguments.get("2", ""),
    "plural": _plural,
    "grammar": _grammar,
    "gender": _gender,
    "#time": time,
    "#timel": lambda arguments, page: time({**arguments, "4": "1"}, page),
    "#titleparts": _titleparts,
    **dict.fromkeys(("#dateformat", "#formatdate"), _formatdate),
    **dict.fromkeys((
        "urlencode", "anchorencode", "fullurl", "fullurle", "localurl", "localurle", "canonicalurl",
        "canonicalurle", "filepath", "#lst", "#lstx", "#lsth", "DEFAULTSORT", "DISPLAYTITLE", "SHORTDESC",
        "noexternallanglinks",
    ), _silent),
    **dict.fromkeys((
        "#statements", "#property", "#timef", "#timefl", "#rel2abs", "#special", "#speciale", "int",
        "ns", "nse", "bidi", "NUMBERINGROUP", "PAGESINCATEGORY", "PAGESINNAMESPACE", "PAGESIZE",
        "PROTECTIONLEVEL", "PROTECTIONEXPIRY", "CASCADINGSOURCES",
    ), unknown),
    **_OF_PAGE,
}  # fmt: skip

# Some are not of MediaWiki, but templates of many wikis.
_DAILY = (
    "YEAR", "MONTH", "MONTH1", "MONTHNAME", "MONTHNAMEGEN", "MONTHABBREV", "DAY", "DAY2", "DOW",
    "DAYNAME", "TIME", "HOUR", "MINUTE", "SECOND", "WEEK", "ISOYEAR", "TIMESTAMP",
)  # fmt: skip
_OF_THE_SITE = ("CURRENTVERSION", "articlepath", "server", "servername", "scriptpath", "stylepath")
VARIABLES: Mapping[str, Show] = {
    **{f"{zone}{name}": unknown for zone in ("CURRENT", "LOCAL") for name in _DAILY},
    **dict.fromkeys(_OF_THE_SITE, unknown),
    **_OF_PAGE,
    "SITENAME": lambda arguments, page: page.language.sitename,
    **dict.fromkeys(
        ("CONTENTLANGUAGE", "PAGELANGUAGE", "USERLANGUAGE"),
        lambda arguments, page: _languages(page)[0],
    ),
    "DIRECTIONMARK": _silent,
    "noexternallanglinks": _silent,
    "!": lambda arguments, page: "|",
    "=": lambda arguments, page: "=",
    "(": lambda arguments, page: "{",
    ")": lambda arguments, page: "}",
}
MAGIC_WORDS = frozenset({
    *PARSER_FUNCTIONS, *VARIABLES, "#if", "#ifeq", "#ifexpr", "#switch", "#default", "#invoke", "subst",
    "safesubst", "msg", "msgnw", "raw",
})  # fmt: skip
"""The keys of all variables and functions that have names in other languages (see `MagicWords`)."""
