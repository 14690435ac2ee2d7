"""The parser functions and variables of MediaWiki that can be shown without a wiki.

Arguments are positional: "1" follows the colon, the others follow bars. What changes from day to
day, such as `{{CURRENTYEAR}}`, shows nothing.
"""

import re
from collections.abc import Callable, Mapping

from transforms.text.wikimedia.wikitext.templates.expressions import evaluate, written
from transforms.text.wikimedia.wikitext.templates.patterns import Arguments, positional
from transforms.text.wikimedia.wikitext.templates.rendering import (
    Page,
    first_lower,
    first_upper,
    format_number,
)

_MAX_PADDING = 500  # characters, as in MediaWiki
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})(?:-(\d{1,2}))?")
_TIME_FORMAT = re.compile(r'"([^"]*)"|xg|x.|.', re.DOTALL)

_Show = Callable[[Arguments, Page], str]


def _if(arguments: Arguments, page: Page) -> str:
    return arguments.get("2" if arguments.get("1") else "3", "")


def _ifeq(arguments: Arguments, page: Page) -> str:
    return arguments.get("3" if arguments.get("1") == arguments.get("2") else "4", "")


def _expr(arguments: Arguments, page: Page) -> str:
    value = evaluate(arguments.get("1", ""))
    return "" if value is None else written(value)


def _ifexpr(arguments: Arguments, page: Page) -> str:
    return arguments.get("2" if evaluate(arguments.get("1", "")) else "3", "")


def _iferror(arguments: Arguments, page: Page) -> str:
    return arguments.get("3") or arguments.get("1", "")


def _switch(arguments: Arguments, page: Page) -> str:
    """Cases in a row share what the next one with a value shows; the last without one is default."""
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
    """`{{#time:j F Y|2004-05-06}}`: a date that is given, in parts; today's date shows nothing."""
    match = _DATE.fullmatch(arguments.get("2", ""))
    if not match or not 1 <= int(match[2]) <= 12:
        return ""
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
            return ""  # weekdays, hours, and the like
        shown.append(text)
    return "".join(shown)


def _language(arguments: Arguments, page: Page) -> str:
    code = arguments.get("1", "").lower()
    return page.language.language_names.get(code, arguments.get("1", ""))


def _else(arguments: Arguments, page: Page) -> str:
    return arguments.get("3", "")


def _formatnum(arguments: Arguments, page: Page) -> str:
    number = arguments.get("1", "")
    if arguments.get("2", "").upper() in ("R", "NOSEP"):
        return number
    return format_number(number, page.language.numbers)


PARSER_FUNCTIONS: Mapping[str, _Show] = {
    "#if": _if,
    "#ifeq": _ifeq,
    "#expr": _expr,
    "#ifexpr": _ifexpr,
    "#iferror": _iferror,
    "#switch": _switch,
    "#time": _time,
    "#timel": _time,
    "#language": _language,
    "#dateformat": lambda arguments, page: arguments.get("1", ""),
    "#formatdate": lambda arguments, page: arguments.get("1", ""),
    "#ifexist": _else,  # without the wiki nothing exists
    "formatnum": _formatnum,
    "lc": lambda arguments, page: arguments.get("1", "").lower(),
    "uc": lambda arguments, page: arguments.get("1", "").upper(),
    "lcfirst": lambda arguments, page: first_lower(arguments.get("1", "")),
    "ucfirst": lambda arguments, page: first_upper(arguments.get("1", "")),
    "padleft": lambda arguments, page: _padded(arguments, left=True),
    "padright": lambda arguments, page: _padded(arguments, left=False),
    "grammar": lambda arguments, page: arguments.get("2", ""),
    "gender": lambda arguments, page: arguments.get("2", ""),
    "urlencode": lambda arguments, page: "",
    "fullurl": lambda arguments, page: "",
    "localurl": lambda arguments, page: "",
    "filepath": lambda arguments, page: "",
    "#statements": lambda arguments, page: "",
    "#property": lambda arguments, page: "",
    "#lst": lambda arguments, page: "",
    "#tag": lambda arguments, page: "" if arguments.get("1") == "ref" else arguments.get("2", ""),
    "plural": lambda arguments, page: arguments.get("3", arguments.get("2", "")),
}

_DAILY = (
    "year", "month", "month1", "month2", "monthname", "monthnamegen", "monthabbrev", "day", "day2",
    "dow", "dayname", "time", "hour", "week", "timestamp",
)  # fmt: skip
_OF_THE_WIKI = (
    "numberofarticles", "numberofpages", "numberofusers", "numberofactiveusers", "numberofedits",
    "numberoffiles", "numberofadmins", "revisionid", "revisionday", "revisionmonth",
    "revisionyear", "revisiontimestamp", "revisionuser", "namespace", "talkpagename", "server",
)  # fmt: skip
VARIABLES: Mapping[str, _Show] = {
    **{
        f"{zone}{name}": lambda arguments, page: ""
        for zone in ("current", "local")
        for name in _DAILY
    },
    **dict.fromkeys(_OF_THE_WIKI, lambda arguments, page: ""),
    "sitename": lambda arguments, page: "Wikipedia",
    "pagename": lambda arguments, page: page.title,
    "fullpagename": lambda arguments, page: page.title,
    "basepagename": lambda arguments, page: page.title,
    "subpagename": lambda arguments, page: page.title,
    "!": lambda arguments, page: "|",
    "=": lambda arguments, page: "=",
    "(": lambda arguments, page: "{",
    ")": lambda arguments, page: "}",
}
