"""Expands templates for dates, in several forms and calendars, and for centuries.

Expands the parser function `#time`, which writes a date in a given format.

The codes of the format are explained on https://www.mediawiki.org/wiki/Help:Extension:ParserFunctions. The
names of months and weekdays are MediaWiki's own. The result is a hole (the mark for missing text) if the date
is relative, such as "+1 day", or the format has codes that are not supported. These are the codes of the
Hebrew calendar, of Hebrew numerals and of time zones. A year alone (`{{#time:Y|2004}}`) has no month and day.
"""

import calendar
import dataclasses
import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...files.markup import read_toml
from ..language import NumberFormat
from ..marks import HOLE
from ..wikis import languages_of_wiki, mediawiki_table
from . import patterns
from .patterns import (
    ENGLISH_MONTHS,
    Arguments,
    Page,
    Show,
    in_own_digits,
    in_roman,
    month_name,
    positional,
)

_DAYS = frozenset(f"{day:02}" for day in range(1, 32))
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_BARE_NUMBER = re.compile(r"[IVXLCDM]+|[0-9]+")


def _format_date(year: str, month: str, day: str, page: Page, *, month_first: bool) -> str:
    month = month_name(month, page.language)
    if not month or month.isdecimal():
        shown = year
    elif not day:
        shown = page.language.phrases["month_year"].format(month=month, year=year)
    else:
        form = "{month} {day}, {year}" if month_first else page.language.date
        shown = form.format(day=day.lstrip("0") or day, month=month, year=year)
    return shown if page.language.is_complete else in_own_digits(shown, page.language.numbers)


def date(arguments: Arguments, page: Page) -> str:
    """Expands templates with the arguments year, month, day to a date.

    Some of these templates also show an age. The age changes daily and is left out.
    """
    values = positional(arguments)[:3] or [
        arguments[name] for name in ("year", "month", "day") if name in arguments
    ]
    if not values or not values[0].isdecimal():
        return values[0] if values else ""
    year, month, day = [*values, "", ""][:3]
    day_first = arguments.get("df", "").lower() in ("y", "yes", "true", "1")
    month_first = page.language.is_english and not day_first
    return _format_date(year, month, day, page, month_first=month_first)


def date_of_text(arguments: Arguments, page: Page) -> str:
    """Expands `{{date|2006-08-04|MDY}}` to a date in the requested form. A date in words is unchanged."""
    text, form = arguments.get("1", ""), arguments.get("2", "").upper()
    match = _ISO_DATE.fullmatch(text)
    if not match:
        return date(arguments, page) if text.isdecimal() and form else text
    if form == "ISO":
        return text
    year, month, day = match.groups()
    return _format_date(year, month, day, page, month_first=form in ("MDY", "US"))


def date_day_first(arguments: Arguments, page: Page) -> str:
    """Expands templates with the arguments day, month, year to a date. The year may also be first."""
    values = positional(arguments)[:3]
    if len(values) < 3:
        return " ".join(values)
    day, month, year = values
    if len(day) > 2 and day.isdecimal():
        day, year = year, day
    return _format_date(year, month, day, page, month_first=False)


def as_of(arguments: Arguments, page: Page) -> str:
    """Expands `{{as of|2015|6|30|lc=y}}` to "as of 30 June 2015". The argument `alt` replaces the text."""
    year, month, day = (*positional(arguments)[:3], "", "", "")[:3]
    after = arguments.get("post", "")
    if arguments.get("alt"):
        return arguments["alt"] + after
    if not year:
        return ""
    month_first = arguments.get("df", "").upper() in ("US", "MDY")
    date = _format_date(year, month, day, page, month_first=month_first)
    if arguments.get("pre"):
        date = f"{arguments['pre']} {date}"
    since = page.language.phrases.get("since")
    wanted = since if arguments.get("since") and since else page.language.phrases["as_of"]
    phrase = wanted.format(date=date)
    if arguments.get("lc") or arguments.get("bare"):
        phrase = date if arguments.get("bare") else patterns.first_lower(phrase)
    return phrase + after


def date_old_style(arguments: Arguments, page: Page) -> str:
    """Expands `{{ДН|26|5|1912|13}}` to the old-style day before the new-style date: "13 (26) травня 1912".

    The fifth and sixth arguments are the old-style month and year, if they differ from the new style.
    """
    day, month, year, old_day, old_month, old_year = (*positional(arguments)[:6], *[""] * 6)[:6]
    month, old_month = month_name(month, page.language), month_name(old_month, page.language)
    if not (day and month and old_day):
        return _format_date(year, month, day, page, month_first=False).strip()
    if not old_month and month in page.language.months and _is_later(old_day, day):
        old_month = page.language.months[page.language.months.index(month) - 1]
    day, old_day = day.lstrip("0"), old_day.lstrip("0")
    if old_month in ("", month):
        return _format_date(year, month, f"{old_day} ({day})", page, month_first=False).strip()
    if old_year not in ("", year) or old_month in page.language.months[-1:]:
        return f"{old_day} {old_month} {old_year}".strip() + f" ({day} {month} {year})"
    return f"{old_day} {old_month} ({day} {month}) {year}".strip()


def _is_later(day: str, other: str) -> bool:
    day, other = day.zfill(2), other.zfill(2)
    return day in _DAYS and other in _DAYS and day > other


def date_in_words(arguments: Arguments, page: Page) -> str:
    """Expands `{{date|1|7|1867}}` or `{{date|1 juillet 1867|en histoire}}` to the date in words.

    The topic ("en histoire") is left out.
    """
    values = [*positional(arguments), ""]
    words = values[0].split()
    if len(words) < 2:
        words = values[: 4 if values[0].isalpha() and len(values) > 4 else 3]
    if match := _ISO_DATE.fullmatch(values[0]):
        words = list(reversed(match.groups()))
    position = next((i for i, word in enumerate(words) if word.isdecimal()), 0)
    if len(words) > position + 1:  # a day and a month
        day = words[position].lstrip("0")
        words[position] = page.language.phrases.get("first_day", day) if day == "1" else day
        words[position + 1] = month_name(words[position + 1], page.language)
    if len(words) > 2 and words[-1].startswith("-") and "year_bc" in page.language.phrases:
        words[-1] = page.language.phrases["year_bc"].format(year=words[-1][1:])
    return " ".join(filter(None, words))


def date_julian_and_gregorian(arguments: Arguments, page: Page) -> str:
    """Expands `{{JULGREGDATUM|22|4|1870}}`, a Gregorian date, to "10.jul. / 22. April 1870greg."."""
    values = positional(arguments)[:3]
    months = page.language.months
    try:
        day, month, year = map(int, values)
        old_year, old_month, old_day = _julian(datetime.date(year, month, day))
        shown = f"{old_day}."
        if old_month != month:
            shown += f" {months[old_month - 1]}"
        if old_year != year:
            shown += f" {old_year}"
        return f"{shown}jul. / {day}. {months[month - 1]} {year}greg."
    except (ValueError, OverflowError, IndexError):
        return " ".join(values)


def _julian(date: datetime.date) -> tuple[int, int, int]:
    """Converts a Gregorian date to the Julian calendar. Returns year, month and day.

    Source: E. G. Richards, in the Explanatory Supplement to the Astronomical Almanac, 2013, section 15.11.
    """
    days = date.toordinal() + 1721425 + 32082  # since the first of March of the year -4800
    years = (4 * days + 3) // 1461
    day_of_year = days - 1461 * years // 4
    month = (5 * day_of_year + 2) // 153  # from March on
    day = day_of_year - (153 * month + 2) // 5 + 1
    return years - 4800 + month // 10, month + 3 - 12 * (month // 10), day


def _centuries(era: str = "", *, short: bool = False) -> Show:
    """Returns a function that expands French templates for centuries.

    `{{s|XII|e}}` becomes "XIIe siècle", and `{{sp|XI|e|au|XII|e|s}}` becomes "XIe au XIIe siècles".

    Args:
      era: a text to add at the end, such as " av. J.-C.".
      short: True to write only the number, without "siècle" and the era.
    """

    def show(arguments: Arguments, page: Page) -> str:
        words = [value for value in positional(arguments) if value not in ("", "e", "er", "ème")]
        is_plural = "s" in words
        numbered = [_ordinal(word) for word in words if word != "s"]
        if len(numbered) == 2:
            numbered.insert(1, "et")
            is_plural = True
        if short or not numbered:
            return " ".join(numbered)
        return f"{' '.join(numbered)} {'siècles' if is_plural else 'siècle'}{era}"

    return show


def _ordinal(number: str) -> str:
    if not _BARE_NUMBER.fullmatch(number):
        return number
    return number + ("er" if number in ("1", "I") else "e")


def julian_date(arguments: Arguments, page: Page) -> str:
    """Expands `{{СС3|8.4.1765}}` to a Julian date, followed by the Gregorian date in brackets."""
    written = arguments.get("1", "")
    try:
        day, month, year = map(int, written.split("."))
        old = datetime.date(year, month, day)
        last_year = year - (month <= 2)  # leap days are after the second month
        new = old + datetime.timedelta(days=last_year // 100 - last_year // 400 - 2)
    except (ValueError, OverflowError):  # words, or a 29 February that only the Julian calendar has
        return written
    values = (new.day, new.month, new.year, day, month, year)
    return date_old_style({str(i): str(value) for i, value in enumerate(values, start=1)}, page)


def century(arguments: Arguments, page: Page) -> str:
    """Expands `{{siglo|V|a|s}}` to "siglo V a. C.".

    The second argument, "a" or "d", adds the era; the third, "s" or "S", adds the word for century.
    """
    number, era, style = (arguments.get(name, "") for name in ("1", "2", "3"))
    phrases = page.language.phrases
    word = phrases.get("century", "") if style in ("s", "S") else ""
    word = word.capitalize() if style == "S" else word
    suffix = phrases.get({"a": "before_christ", "d": "after_christ"}.get(era.lower(), ""), "")
    return " ".join(filter(None, [word, number, suffix])) if number else ""


centuries = _centuries()
centuries_bc = _centuries(" av. J.-C.")
centuries_ad = _centuries(" apr. J.-C.")
centuries_short = _centuries(short=True)
_ERAS = (
    (datetime.date(2019, 5, 1), "令和"),
    (datetime.date(1989, 1, 8), "平成"),
    (datetime.date(1926, 12, 25), "昭和"),
    (datetime.date(1912, 7, 30), "大正"),
    (datetime.date(1868, 1, 1), "明治"),
)
_GREGORIAN_IN_JAPAN = datetime.date(1873, 1, 1)


def _year_of_era(year: int, first: int, name: str) -> str:
    return f"{name}{'元' if year == first else year - first + 1}"


def japanese_era(arguments: Arguments, page: Page) -> str:
    """Expands `{{和暦|2000}}` to the year in an emperor's era: "平成12年".

    Years before 1868 are written as plain years.
    """
    written = arguments.get("1", "")
    year = int(written) if written.isdecimal() and len(written) < 5 else 0
    for start, name in _ERAS:
        if year >= start.year:
            return f"{_year_of_era(year, start.year, name)}年"
    return f"{written}年" if written else ""


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
_MONTH_NUMBERS = {
    name: number
    for number, month in enumerate(ENGLISH_MONTHS, start=1)
    for name in (month, month[:3], month[:4] if month == "september" else month)
}
_MAX_LENGTH = 100  # characters of a date
_MAX_FORMAT = 6_000  # characters, as in MediaWiki
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|(x[ijkmot].|x.|.)', re.DOTALL)
_FIRST_GREGORIAN = datetime.date(1582, 10, 15)
_FIRST_IRANIAN = datetime.date(1600, 3, 20)


class _Date(NamedTuple):
    """A date in a calendar other than the Gregorian."""

    year: int
    month: int
    day: int
    day_of_year: int = 0  # 0 for the first


def _iranian(date: datetime.date) -> _Date:
    """Converts a date to the Iranian calendar, with a leap-year cycle of 33 years as in MediaWiki."""
    if date < _FIRST_IRANIAN:
        raise ValueError(date)
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
        raise ValueError(date)
    days = date.toordinal() - 227015  # since the first day of the calendar
    year = (30 * days + 10646) // 10631
    day_of_year = days - 354 * (year - 1) - (3 + 11 * year) // 30
    month = min(12, 2 * day_of_year // 59 + 1)
    return _Date(year, month, day_of_year - (59 * (month - 1) + 1) // 2 + 1)


def _japanese_year(date: datetime.date) -> str:
    if date < _GREGORIAN_IN_JAPAN:
        return f"西暦{date.year}"
    return next(_year_of_era(date.year, start.year, name) for start, name in _ERAS if date >= start)


_YEARS: Mapping[str, Callable[[datetime.datetime], object]] = {
    "Y": lambda at: f"{at.year:04}",
    "y": lambda at: f"{at.year % 100:02}",
    "L": lambda at: int(calendar.isleap(at.year)),
    "xoY": lambda at: at.year - 1911,
}
_DATES: Mapping[str, Callable[[datetime.datetime], object]] = {
    "d": lambda at: f"{at.day:02}",
    "j": lambda at: at.day,
    "m": lambda at: f"{at.month:02}",
    "n": lambda at: at.month,
    "t": lambda at: calendar.monthrange(at.year, at.month)[1],
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
    # Until 1940, the Thai year began in April.
    "xkY": lambda at: at.year + 543 - (1912 <= at.year <= 1940 and at.month <= 3),
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


def _calendar() -> Mapping[str, Any]:
    """Returns code of a language → kind → names."""
    names: Mapping[str, Any] = read_toml(__package__.rpartition(".")[0], "languages/calendar.toml")[
        "names"
    ]
    return names


def _names(languages: Sequence[str], kind: str) -> Sequence[str]:
    tables = _calendar()
    found = (tables.get(language, {}).get(kind) for language in languages)
    names: Sequence[str] = next(filter(None, found))
    return names


def _read_time(text: str) -> datetime.datetime | None:
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
    """Expands `{{#time:j F Y|2004-05-06}}` to a date in the requested format: "6 May 2004".

    With a fourth argument, the time is that of the wiki's time zone, in which hours are unknown.
    """
    is_local = bool(arguments.get("4"))
    text, language = arguments.get("2", "").strip(), arguments.get("3") or page.language.code
    is_year = len(text) == 4 and text.isascii() and text.isdecimal()
    at = _read_time(f"{text}-01-01" if is_year else text)
    codes = {**_YEARS, **({} if is_year else _DATES), **({} if is_year or is_local else _TIMES)}
    numbers = page.language.numbers
    form = arguments.get("1", "")
    if not at or len(form) > _MAX_FORMAT:
        return HOLE
    languages = languages_of_wiki(page.language.code)
    if language != page.language.code:
        if language not in _calendar():
            return HOLE
        languages = (language, "en")
        digits = mediawiki_table(language).get("numbers", {}).get("digits", "0123456789")
        numbers = dataclasses.replace(numbers, digits=digits)
    try:
        return _written(form, at, codes, languages, numbers)
    except ValueError:  # an unknown code
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
                value = in_roman(int(value)) or value
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
            raise ValueError(code)
        else:
            shown.append(quoted or escaped or code)
    return "".join(shown)
