"""Expands those parser functions and variables of MediaWiki that need no data from the wiki's database.

All arguments are positional. In `{{#if:x|y}}`, argument "1" is x, and argument "2" is y. Values that change
daily, such as `{{CURRENTYEAR}}`, expand to a hole (the mark for missing text).
"""

import re
from collections.abc import Mapping

from corpusmill.transforms.wikitext.cldr import languages_of
from corpusmill.transforms.wikitext.marks import HOLE
from corpusmill.transforms.wikitext.templates.expressions import evaluate, written
from corpusmill.transforms.wikitext.templates.patterns import Arguments, Show, positional
from corpusmill.transforms.wikitext.templates.rendering import (
    Page,
    first_lower,
    first_upper,
    format_number,
)

_MAX_PADDING = 500  # characters, as in MediaWiki
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})(?:-(\d{1,2}))?")
_TIME_FORMAT = re.compile(r'"([^"]*)"|xg|x.|.', re.DOTALL)


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


def _nothing(arguments: Arguments, page: Page) -> str:
    return ""


def _unknown(arguments: Arguments, page: Page) -> str:
    return HOLE


def _argument(name: str) -> Show:
    return lambda arguments, page: arguments.get(name, "")


def _title(arguments: Arguments, page: Page) -> str:
    return page.title


PARSER_FUNCTIONS: Mapping[str, Show] = {
    "#if": _if,
    "#ifeq": _ifeq,
    "#expr": _expr,
    "#ifexpr": _ifexpr,
    "#iferror": _iferror,
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
    **dict.fromkeys(("urlencode", "fullurl", "localurl", "filepath"), _nothing),
    **dict.fromkeys(("#statements", "#property"), _unknown),
    "#lst": _nothing,
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
    **dict.fromkeys(_PAGE_NAMES, _title),
    "sitename": lambda arguments, page: "Wikipedia",
    "!": lambda arguments, page: "|",
    "=": lambda arguments, page: "=",
    "(": lambda arguments, page: "{",
    ")": lambda arguments, page: "}",
}
