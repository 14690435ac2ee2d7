"""Expands templates for the time between two dates.

With only one date, such a template shows the time up to today, which changes daily. In this case, the
template is replaced by a hole (the mark for missing text).
"""

import datetime

from corpusmill.transforms.wikitext.marks import HOLE
from corpusmill.transforms.wikitext.templates.patterns import Arguments, Show, positional
from corpusmill.transforms.wikitext.templates.rendering import Page, format_number


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
    years = end.year - start.year - ((end.month, end.day) < (start.month, start.day))
    return str(years)


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
    return format_number(str(abs((dates[1] - dates[0]).days)), page.language.numbers)


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
