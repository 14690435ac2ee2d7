"""Expands the parser function `#time`, which writes a date in a given format.

The codes of the format are explained on https://www.mediawiki.org/wiki/Help:Extension:ParserFunctions. The
names of months and weekdays are MediaWiki's own.

The result is a hole (the mark for missing text) if the date is relative, such as "+1 day", or the format has
codes that are not supported. These are the codes of the Hebrew calendar, of Hebrew numerals and of time
zones. A year alone (`{{#time:Y|2004}}`) has no month and no day.
"""

import dataclasses
import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...files.markup import read_toml
from ..language import NumberFormat
from ..magic_words import languages_of_wiki
from ..marks import HOLE
from ..wikis import mediawiki_table
from .patterns import Arguments, Page, in_own_digits

_TIME = (
    r"(?:(?:[T ] *|, *)(?P<H>\d{1,2}):(?P<i>\d\d)(?::(?P<s>\d\d)(?:\.\d+)?)?(?: ?(?:Z|UTC|GMT))?)?"
)
_MONTH = r"(?P<month>[A-Za-z]{3,9})"
_FORMS = (
    r"(?P<Y>\d{4})-(?P<m>\d{1,2})(?:-(?P<d>\d{1,2}))?" + _TIME,
    r"(?P<Y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})" + _TIME,
    r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<Y>\d{4})" + _TIME,
    r"(?P<d>\d{1,2})(?P<mark>[.-])(?P<m>\d{1,2})(?P=mark)(?P<Y>\d{4})" + _TIME,
    rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[ .-]?{_MONTH},?[ .-]?(?P<Y>\d{{4}})" + _TIME,
    rf"{_MONTH}[ .]{{1,2}}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:, ?| )(?P<Y>\d{{4}})" + _TIME,
    rf"{_MONTH}[ .-]?(?P<Y>\d{{4}})" + _TIME,
    r"(?P<Y>\d{4})(?P<m>\d\d)(?P<d>\d\d)" + _TIME,
    r"(?P<Y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?P<H>\d\d)(?P<i>\d\d)(?P<s>\d\d)",
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH_NUMBERS = {
    name: number
    for number, month in enumerate(_MONTHS, start=1)
    for name in (month, month[:3], month[:4] if month == "september" else month)
}
_MAX_LENGTH = 100  # characters of a date
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|(x[ijkmot].|x.|.)', re.DOTALL)
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
    (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_ERAS = (
    (datetime.date(2019, 5, 1), 2019, "令和"),
    (datetime.date(1989, 1, 8), 1989, "平成"),
    (datetime.date(1926, 12, 25), 1926, "昭和"),
    (datetime.date(1912, 7, 30), 1912, "大正"),
    (datetime.date(1873, 1, 1), 1868, "明治"),
)
_FIRST_GREGORIAN = datetime.date(1582, 10, 15)
_FIRST_IRANIAN = datetime.date(1600, 3, 20)


class _UnknownError(ValueError):
    """Raised if the text of a code cannot be known."""


class _Date(NamedTuple):
    """A date in a calendar other than the Gregorian."""

    year: int
    month: int
    day: int
    day_of_year: int = 0  # 0 for the first


def _iranian(date: datetime.date) -> _Date:
    """Converts a date to the Iranian calendar, with a leap-year cycle of 33 years as in MediaWiki."""
    if date < _FIRST_IRANIAN:
        raise _UnknownError
    cycles, days = divmod((date - _FIRST_IRANIAN).days, 33 * 365 + 8)
    years, days = 4 * (days // 1461), days % 1461
    if days >= 366:
        more, days = divmod(days - 1, 365)
        years += more
    month, day = divmod(days, 31) if days < 186 else divmod(days - 186, 30)
    return _Date(979 + 33 * cycles + years, month + (1 if days < 186 else 7), day + 1, days)


def _islamic(date: datetime.date) -> _Date:
    """Converts a date to the tabular Islamic calendar, with 11 leap years in 30 years."""
    if date < _FIRST_GREGORIAN:
        raise _UnknownError
    days = date.toordinal() - 227015  # since the first day of the calendar
    year = (30 * days + 10646) // 10631
    day_of_year = days - 354 * (year - 1) - (3 + 11 * year) // 30
    month = min(12, 2 * day_of_year // 59 + 1)
    return _Date(year, month, day_of_year - (59 * (month - 1) + 1) // 2 + 1)


def _thai_year(date: datetime.date) -> int:
    is_before_april = 1912 <= date.year <= 1940 and date.month <= 3
    return date.year + 543 - is_before_april


def _japanese_year(date: datetime.date) -> str:
    for start, first, name in _ERAS:
        if date >= start:
            return f"{name}{'元' if date.year == first else date.year - first + 1}"
    return f"西暦{date.year}"


def roman(number: int) -> str:
    """Returns a number from 1 to 9999 in Roman numerals."""
    shown = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        shown += letters * count
    return shown


def _days_in_month(date: datetime.date) -> int:
    return (date.replace(day=28) + datetime.timedelta(days=4)).replace(day=1).toordinal() - (
        date.replace(day=1).toordinal()
    )


_YEARS: Mapping[str, Callable[[datetime.datetime], object]] = {
    "Y": lambda at: f"{at.year:04}",
    "y": lambda at: f"{at.year % 100:02}",
    "L": lambda at: int(at.year % 4 == 0 and (at.year % 100 != 0 or at.year % 400 == 0)),
    "xoY": lambda at: at.year - 1911,
}
_DATES: Mapping[str, Callable[[datetime.datetime], object]] = {
    "d": lambda at: f"{at.day:02}",
    "j": lambda at: at.day,
    "m": lambda at: f"{at.month:02}",
    "n": lambda at: at.month,
    "t": _days_in_month,
    "w": lambda at: at.isoweekday() % 7,
    "N": lambda at: at.isoweekday(),
    "z": lambda at: at.timetuple().tm_yday - 1,
    "W": lambda at: f"{at.isocalendar().week:02}",
    "o": lambda at: at.isocalendar().year,
    "xij": lambda at: _iranian(at.date()).day,
    "xin": lambda at: _iranian(at.date()).month,
    "xiY": lambda at: _iranian(at.date()).year,
    "xiy": lambda at: str(_iranian(at.date()).year)[-2:],
    "xiz": lambda at: _iranian(at.date()).day_of_year,
    "xmj": lambda at: _islamic(at.date()).day,
    "xmn": lambda at: _islamic(at.date()).month,
    "xmY": lambda at: _islamic(at.date()).year,
    "xkY": lambda at: _thai_year(at.date()),
    "xtY": lambda at: _japanese_year(at.date()),
}
_TIMES: Mapping[str, Callable[[datetime.datetime], object]] = {
    "a": lambda at: "am" if at.hour < 12 else "pm",
    "A": lambda at: "AM" if at.hour < 12 else "PM",
    "g": lambda at: at.hour % 12 or 12,
    "G": lambda at: at.hour,
    "h": lambda at: f"{at.hour % 12 or 12:02}",
    "H": lambda at: f"{at.hour:02}",
    "i": lambda at: f"{at.minute:02}",
    "s": lambda at: f"{at.second:02}",
    "U": lambda at: int(at.replace(tzinfo=datetime.UTC).timestamp()),
}
# Code → list of names in calendar.toml, and the index of the name
_NAMES: Mapping[str, tuple[str, Callable[[datetime.datetime], int]]] = {
    "F": ("months", lambda at: at.month - 1),
    "xg": ("months_genitive", lambda at: at.month - 1),
    "M": ("months_short", lambda at: at.month - 1),
    "l": ("weekdays", lambda at: at.isoweekday() % 7),
    "D": ("weekdays_short", lambda at: at.isoweekday() % 7),
    "xiF": ("months_iranian", lambda at: _iranian(at.date()).month - 1),
    "xmF": ("months_hijri", lambda at: _islamic(at.date()).month - 1),
}


def _names(languages: Sequence[str], kind: str) -> Sequence[str]:
    tables = read_toml(__package__.rpartition(".")[0], "languages/calendar.toml")["names"]
    found = (tables.get(language, {}).get(kind) for language in languages)
    names: Sequence[str] = next(filter(None, found))
    return names


def read_time(text: str) -> datetime.datetime | None:
    """Returns the date and time that a text such as "6 May 2004 14:30" names, or None if it names none.

    Months are in English, as in PHP. Without a day, the result is the first day of the month.
    """
    matches = (
        (re.fullmatch(form, text, re.ASCII) for form in _FORMS) if len(text) <= _MAX_LENGTH else ()
    )
    match = next(filter(None, matches), None)
    if not match:
        return None
    parts = match.groupdict()
    month = parts.get("m") or _MONTH_NUMBERS.get((parts.get("month") or "").lower(), 0)
    try:
        date = datetime.date(int(parts["Y"]), int(month), int(parts.get("d") or 1))
        hour, minute, second = (int(parts.get(name) or 0) for name in "His")
        return datetime.datetime.combine(date, datetime.time(hour, minute, second))
    except ValueError:
        return None


def time(arguments: Arguments, page: Page) -> str:
    """Expands `{{#time:j F Y|2004-05-06}}` to a date in the requested format: "6 May 2004"."""
    return _time(arguments, page, is_local=bool(arguments.get("4")))


def local_time(arguments: Arguments, page: Page) -> str:
    """Expands `{{#timel:j F Y|2004-05-06}}` like `#time`. Hours in the wiki's time zone are unknown."""
    return _time(arguments, page, is_local=True)


def _time(arguments: Arguments, page: Page, *, is_local: bool) -> str:
    text, language = arguments.get("2", "").strip(), arguments.get("3") or page.language.code
    is_year = len(text) == 4 and text.isascii() and text.isdecimal()
    at = read_time(f"{text}-01-01" if is_year else text)
    codes = {**_YEARS, **({} if is_year else _DATES), **({} if is_year or is_local else _TIMES)}
    numbers = page.language.numbers
    try:
        languages = languages_of_wiki(language)
        if language != page.language.code:
            digits = mediawiki_table(language).get("numbers", {}).get("digits", "0123456789")
            numbers = dataclasses.replace(numbers, digits=digits)
        return _written(arguments.get("1", ""), at, codes, languages, numbers) if at else HOLE
    except ValueError:  # an unknown language, or an unknown code
        return HOLE


def _written(
    form: str,
    at: datetime.datetime,
    codes: Mapping[str, Callable[[datetime.datetime], object]],
    languages: Sequence[str],
    numbers: NumberFormat,
) -> str:
    """Returns a date in a format.

    Raises:
        ValueError: a code is not among `codes`, or asks for a date before the calendar begins.
    """
    shown: list[str] = []
    is_raw = is_plain = is_roman = False
    for quoted, escaped, code in _TOKEN.findall(form):
        if code == "xn":
            is_raw = True
        elif code == "xN":
            is_plain = not is_plain
        elif code == "xr":
            is_roman = True
        elif code in codes:
            value = str(codes[code](at))
            if is_roman and not (is_raw or is_plain):
                value = roman(int(value))
            elif not (is_raw or is_plain):
                value = in_own_digits(value, numbers)
            is_raw = is_roman = False
            shown.append(value)
        elif code in _NAMES and codes.keys() >= {"d"}:
            kind, index = _NAMES[code]
            shown.append(_names(languages, kind)[index(at)])
        elif code == "xx":
            shown.append("x")
        elif code.isascii() and code[:1].isalpha():
            raise _UnknownError(code)
        else:
            shown.append(quoted or escaped or code)
    return "".join(shown)
