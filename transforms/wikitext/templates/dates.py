"""Expands templates for dates, in several forms and calendars, and for centuries.

Expands templates for the time between two dates.

With only one date, such a template shows the time up to today, which changes daily. In this case, the
template is replaced by a hole (the mark for missing text).
"""

import datetime
import re

from ..marks import HOLE
from . import patterns
from .patterns import Arguments, Page, Show, in_own_digits, month_name, positional

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
_ERAS = ((2019, "令和"), (1989, "平成"), (1926, "昭和"), (1912, "大正"), (1868, "明治"))


def japanese_era(arguments: Arguments, page: Page) -> str:
    """Expands `{{和暦|2000}}` to the year in an emperor's era: "平成12年".

    Years before 1868 are written as plain years.
    """
    written = arguments.get("1", "")
    year = int(written) if written.isdecimal() and len(written) < 5 else 0
    for first, name in _ERAS:
        if year >= first:
            return f"{name}{'元' if year == first else year - first + 1}年"
    return f"{written}年" if written else ""


def _dates(arguments: Arguments) -> tuple[datetime.date, datetime.date] | None:
    """Parses two dates from six arguments: year, month, day of each. Returns None if they are not dates."""
    try:
        numbers = [int(value) for value in positional(arguments)[:6]]
        if len(numbers) < 6:
            return None
        return datetime.date(*numbers[:3]), datetime.date(*numbers[3:])
    except (ValueError, OverflowError):
        return None


def age(arguments: Arguments, page: Page) -> str:
    """Expands `{{age|1989|7|23|2003|7|14}}` to the number of full years: "13"."""
    dates = _dates(arguments)
    if not dates:
        return HOLE
    start, end = dates
    return str(end.year - start.year - ((end.month, end.day) < (start.month, start.day)))


def age_at_death(arguments: Arguments, page: Page) -> str:
    """Expands `{{没年齢|1935|9|14|2008|8|2}}` to the age at death in the wiki's own words: "（72歳没）"."""
    years = age(arguments, page)
    phrase = page.language.phrases.get("age_at_death", "{age}")
    return HOLE if years == HOLE else phrase.format(age=years)


def age_in_days(arguments: Arguments, page: Page) -> str:
    """Expands `{{age in days|1989|7|23|2003|7|14}}` to the number of days between two dates."""
    dates = _dates(arguments)
    if not dates:
        return HOLE
    return patterns.format_number(str(abs((dates[1] - dates[0]).days)), page.language.numbers)


def _parts(start: datetime.date, end: datetime.date) -> tuple[int, int, int, int]:
    """Splits the time between two dates into years, months and days.

    Returns the full years, the full months after them, the days after these months, and the days after the
    full years.
    """
    months = 12 * (end.year - start.year) + end.month - start.month - (end.day < start.day)
    years, rest = divmod(months, 12)
    return years, rest, (end - _moved(start, months)).days, (end - _moved(start, 12 * years)).days


def _moved(date: datetime.date, months: int) -> datetime.date:
    year, month = divmod(date.month - 1 + months, 12)
    first = datetime.date(date.year + year, month + 1, 1)
    following = (first + datetime.timedelta(days=32)).replace(day=1)
    return first.replace(day=min(date.day, (following - first).days))


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _age_in_words(units: str) -> Show:
    """Returns a function that writes an age in English words, such as "14 years, 1 day".

    `units` are the initials of the units that are written: "ymd" (years, months, days), "yd" or "ym".
    """

    def show(arguments: Arguments, page: Page) -> str:
        dates = _dates(arguments)
        if not dates or dates[1] < dates[0] or dates[1].year > 9000:
            return HOLE
        years, months, days, days_of_year = _parts(*dates)
        values = {"y": (years, "year"), "m": (months, "month"), "d": (days, "day")}
        if "m" not in units:
            values["d"] = (days_of_year, "day")
        shown = [_counted(*values[unit]) for unit in units if values[unit][0]]
        if units == "yd" and len(shown) == 1 and years:
            shown.append(_counted(0, "day"))
        if units == "ymd" and len(shown) > 1:
            return f"{', '.join(shown[:-1])} and {shown[-1]}"
        return ", ".join(shown) or _counted(0, values[units[-1]][1])

    return show


age_in_years_and_days = _age_in_words("yd")
age_in_years_and_months = _age_in_words("ym")
age_in_years_months_and_days = _age_in_words("ymd")
