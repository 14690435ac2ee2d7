"""Converts dates of inputs between the forms 20261101 and 2026-11-01. Builds write the first form."""

import datetime
import re

_PLAIN = re.compile(r"(\d{4})(\d\d)(\d\d)")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def plain_date(text: str) -> str:
    """Returns a date without hyphens: "20261101". Other texts, such as "latest", are returned unchanged."""
    return text.replace("-", "") if _ISO.fullmatch(text) else text


def iso_date(text: str) -> str:
    """Returns a date with hyphens: "2026-11-01". Other texts are returned unchanged."""
    found = _PLAIN.fullmatch(text)
    return "-".join(found.groups()) if found else text


def checked_date(text: str) -> str:
    """Returns a date without hyphens, or "" if it is not a valid date."""
    try:
        return datetime.date.fromisoformat(text).strftime("%Y%m%d") if "W" not in text else ""
    except ValueError:
        return ""


def days_between(first: str, second: str) -> int:
    """Returns the number of days from the date `first` to the date `second`; 0 if one of them is "".

    A date may be "20261101" or "2026-11-01".
    """
    if not first or not second:
        return 0
    return (datetime.date.fromisoformat(second) - datetime.date.fromisoformat(first)).days
