"""What the functions behind templates share: the page they stand on, and how numbers are written."""

import re
from typing import NamedTuple

from transforms.text.wikimedia.language import Language, NumberFormat


class Page(NamedTuple):
    """The page a template stands on."""

    title: str
    language: Language


_NUMBER = re.compile(r"([-−+]?)(\d[\d,]*)(?:\.(\d+))?")


def format_number(number: str, form: NumberFormat) -> str:
    """Return a number, written with a decimal point, as the wiki writes it: "3003" → "3,003".

    Anything else than a number comes back as it is.
    """
    match = _NUMBER.fullmatch(number.strip())
    if not match:
        return number
    sign, whole, fraction = match.groups()
    whole = whole.replace(",", "")
    if form.group and len(whole) >= form.min_grouped_digits:
        whole = _group_digits(whole, form.group)
    return sign + whole + (form.decimal + fraction if fraction else "")


def _group_digits(digits: str, separator: str) -> str:
    head = len(digits) % 3
    groups = [digits[i : i + 3] for i in range(head, len(digits), 3)]
    return separator.join(filter(None, [digits[:head], *groups]))
