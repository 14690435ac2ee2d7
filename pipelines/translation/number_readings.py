"""Finds the numbers of a text in any script, with all their possible values.

"1.234" may be 1234 or a decimal number, "10 30" may be one number or two, and "1万5千" is 15000. A check only
needs to know whether a given number is one of the possible values.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# Between digits of one number: points, commas, spaces, apostrophes, the Arabic separators, colons of clocks.
_SEPARATOR = r"[.,:'’٫٬،·\u00a0\u202f\u2009 ]"
_TOKEN = re.compile(rf"[0-9]+(?:{_SEPARATOR}[0-9]+)*")
_MAX_JOINED_PARTS = 6  # "1,234,567,890,123" has 5 parts; with more than 6, it is a list
_SCALE_FOLLOWS = re.compile(r"[\s\-\u00a0\u202f]?[^\W\d_]")  # "33万", "2,3 Millionen"

_HAN_DIGITS = {
    **{char: value for value, char in enumerate("〇一二三四五六七八九")},
    **{"零": 0, "两": 2, "兩": 2},
}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000, "십": 10, "백": 100, "천": 1000}
_HAN_MYRIADS = {
    char: 10**zeros
    for zeros, chars in ((4, "万萬만"), (8, "亿億억"), (12, "兆조"))
    for char in chars
}
_HAN_NUMBER = re.compile(
    "(?:[0-9]+(?:[.,][0-9]+)*|[" + "".join([*_HAN_DIGITS, *_HAN_TENS, *_HAN_MYRIADS]) + "])+"
)
_HAN_PART = re.compile(r"[0-9]+(?:[.,][0-9]+)*|.")

# Small Roman numerals, as of centuries and kings, also with the Cyrillic letters Х and І, which look the
# same. An ending may follow: "XVe".
_ROMAN = re.compile(r"(?<![^\W_])[IVXІХ]{1,7}(?![A-ZА-Я0-9])")
_ROMAN_VALUES = {"I": 1, "І": 1, "V": 5, "X": 10, "Х": 10}
_MAX_ROMAN = 39


class Readings(NamedTuple):
    """The possible values of the numbers in a text.

    `whole` has the possible whole numbers, and `scaled` the numbers before a word such as 万 or million. Both
    consist of digits without separators or leading zeros.
    """

    whole: frozenset[str]  # "1234", "1", "234" for "1,234"; "15000" for "1万5千"; "15" for "XV"
    scaled: frozenset[str]  # numbers before a word: "33" for "33万"
    values: tuple[float, ...]  # possible quantities: 1234.0 and 1.234 for "1,234"
    tokens: tuple[str, ...]  # as written, with ASCII digits: "1,234"


def read_numbers(text: str) -> Readings:
    """Returns all possible values of all numbers in a text."""
    text = with_ascii_digits(text)
    whole: set[str] = set()
    scaled: set[str] = set()
    values: list[float] = []
    tokens = []
    for match in _TOKEN.finditer(text):
        joined = list(_joined_parts(re.findall(r"[0-9]+", match[0])))
        whole.update(joined)
        if _SCALE_FOLLOWS.match(text, match.end()):
            scaled.update(joined)
        values.extend(quantities(match[0]))
        tokens.append(match[0])
    composed = {str(number) for number in (*_han_numbers(text), *_roman_numbers(text))}
    return Readings(frozenset(whole | composed), frozenset(scaled), tuple(values), tuple(tokens))


def with_ascii_digits(text: str) -> str:
    """Replaces the decimal digits of all scripts by 0-9: "४" becomes "4"."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(char)) if char.isdecimal() and not char.isascii() else char
        for char in text
    )


def parts_of(token: str) -> list[str]:
    """Returns the runs of digits in a number, each without leading zeros: ["10", "5"] for "10:05"."""
    return [plain(part) for part in re.findall(r"[0-9]+", token)]


def plain(digits: str) -> str:
    """Returns the digits without leading zeros, or "0" if all are zeros."""
    return digits.lstrip("0") or "0"


def significant(digits: str) -> str:
    """Returns the digits without leading and trailing zeros ("33" for "0330"), or "0" if all are zeros."""
    return digits.strip("0") or "0"


def quantities(token: str) -> Iterator[float]:
    """Yields the possible values of a number: 1234.0 and 1.234 for "1,234".

    For the first value, all separators are read as group separators. For the second value, the last separator
    is read as the decimal point.
    """
    digits = re.sub(r"[^0-9]", "", token)
    yield float(digits)
    last = re.search(r"[.,٫]([0-9]+)$", token)
    if last:
        yield float(f"{digits[: -len(last[1])]}.{last[1]}")


def _joined_parts(parts: list[str]) -> Iterator[str]:
    """Yields each part, and the numbers that result if neighbouring parts are joined.

    Leading zeros are removed: the result for ["1", "000"] is "1", "1000" and "0".
    """
    for start in range(len(parts)):
        for end in range(start + 1, min(len(parts), start + _MAX_JOINED_PARTS) + 1):
            yield plain("".join(parts[start:end]))


def _han_numbers(text: str) -> Iterator[int]:
    """Yields the values of numbers that contain Chinese, Japanese or Korean numerals.

    For example, "1万5千" is 15000, and "二十" is 20.
    """
    for match in _HAN_NUMBER.finditer(text):
        if not match[0].isascii():
            value = _han_value(_HAN_PART.findall(match[0]))
            if value == int(value):
                yield int(value)


def _han_value(parts: list[str]) -> float:
    total = myriad = 0.0
    digits: float | None = None
    for part in parts:
        if part in _HAN_TENS:
            myriad += (1 if digits is None else digits) * _HAN_TENS[part]
            digits = None
        elif part in _HAN_MYRIADS:
            counted = myriad + (digits or 0)
            total += (counted or 1) * _HAN_MYRIADS[part]
            myriad, digits = 0.0, None
        elif part in _HAN_DIGITS:
            digits = (digits or 0) * 10 + _HAN_DIGITS[part]  # 一九四五 is 1945
        else:
            digits = _grouped(part)
    return total + myriad + (digits or 0)


def _grouped(token: str) -> float:
    """Returns the value of a number in which commas separate groups and the point is the decimal point.

    For example, "1,234" is 1234 and "1.5" is 1.5. Returns 0 if there are several points.
    """
    return float(token.replace(",", "")) if token.count(".") < 2 else 0.0


def _roman_numbers(text: str) -> Iterator[int]:
    for match in _ROMAN.finditer(text):
        values = [_ROMAN_VALUES[char] for char in match[0]]
        following = [*values[1:], 0]
        value = sum(
            -one if one < after else one for one, after in zip(values, following, strict=True)
        )
        if 0 < value <= _MAX_ROMAN:
            yield value
