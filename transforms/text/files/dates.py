"""Dates of inputs, as text: 20261101 and 2026-11-01 are one date, and the former is how builds write it."""

import datetime
import re

_PLAIN = re.compile(r"(\d{4})(\d\d)(\d\d)")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def plain_date(text: str) -> str:
    """The date without hyphens: "20261101". Any other text, such as "latest" or "2007-2011", is unchanged."""
    return text.replace("-", "") if _ISO.fullmatch(text) else text


def iso_date(text: str) -> str:
    """The date with hyphens: "2026-11-01". Any other text is unchanged."""
    found = _PLAIN.fullmatch(text)
    return "-".join(found.groups()) if found else text


def checked_date(text: str) -> str:
    """The date without hyphens; "" for all that is not a day of the calendar."""
    try:
        return datetime.date.fromisoformat(text).strftime("%Y%m%d") if "W" not in text else ""
    except ValueError:
        return ""


def days_between(first: str, second: str) -> int:
    """Days from the first date to the second; 0 where one is not known."""
    if not first or not second:
        return 0
    return (datetime.date.fromisoformat(second) - datetime.date.fromisoformat(first)).days
