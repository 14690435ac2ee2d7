"""Helpers for the functions that expand templates: the page, number formats and month names."""

import re
from typing import NamedTuple

from ..language import Language, NumberFormat


class Page(NamedTuple):
    """The page on which a template is used, with the tables of its language."""

    title: str
    language: Language


_ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTHS = frozenset(f"{month:02}" for month in range(1, 13))
_DIGITS = "0123456789"
_MAX_NUMBER = 100  # characters
_SUPERSCRIPTS = str.maketrans("0123456789+-−–()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾")
_SUBSCRIPTS = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")
_NUMBER = re.compile(r"([-−+]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?=\s|$)")
_NUMBER_WITH_COMMA = re.compile(r"([-−+]?)(\d+)(?:[.,](\d+))?(?=\s|$)")


def first_upper(text: str) -> str:
    """Returns a text with its first letter in upper case; the other letters are unchanged."""
    return text[:1].upper() + text[1:]


def first_lower(text: str) -> str:
    """Returns a text with its first letter in lower case; the other letters are unchanged."""
    return text[:1].lower() + text[1:]


def month_name(month: str, language: Language) -> str:
    """Returns the name of a month in the form used in dates.

    If `month` is not a month, it is returned unchanged.
    """
    months = language.months
    if month.lower() in _ENGLISH_MONTHS:  # in pages translated from English
        return months[_ENGLISH_MONTHS.index(month.lower())] if months else ""
    return months[int(month) - 1] if months and month.zfill(2) in _MONTHS else month


def superscript(text: str) -> str:
    """Returns a text with superscript digits and signs: "10-3" → "¹⁰⁻³"."""
    return text.translate(_SUPERSCRIPTS)


def subscript(text: str) -> str:
    """Returns a text with subscript digits and signs."""
    return text.translate(_SUBSCRIPTS)


def format_number(number: str, form: NumberFormat) -> str:
    """Returns a number, and any text after it, in the format of the wiki: "3003 m" → "3,003 m".

    The decimal mark of `number` is a point. In wikis that use a decimal comma, it may also be a comma. A text
    that does not begin with a number is returned unchanged.
    """
    text = number.strip()
    if len(text) > _MAX_NUMBER:
        return number
    match = (_NUMBER_WITH_COMMA if form.decimal == "," else _NUMBER).match(text)
    if not match:
        return number
    sign, whole, fraction = match.groups()
    whole = whole.replace(",", "")
    if form.group and len(whole) >= form.min_grouped_digits:
        whole = _group_digits(whole, form)
    shown = sign + whole + (form.decimal + fraction if fraction else "")
    return in_own_digits(shown, form) + text[match.end() :]


def in_own_digits(text: str, form: NumberFormat) -> str:
    """Replaces the digits 0 to 9 in a text by the digits that the wiki uses (`form.digits`)."""
    return text if form.digits == _DIGITS else text.translate(str.maketrans(_DIGITS, form.digits))


def _group_digits(digits: str, form: NumberFormat) -> str:
    rest, last = digits[:-3], digits[-3:]
    head = len(rest) % form.group_size
    groups = [rest[i : i + form.group_size] for i in range(head, len(rest), form.group_size)]
    return form.group.join(filter(None, [rest[:head], *groups, last]))
