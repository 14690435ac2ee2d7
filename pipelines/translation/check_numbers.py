"""Finds the numbers of a text in any script, with all their possible values.

"1.234" may be 1234 or a decimal number, "10 30" may be one number or two, and "1万5千" is 15000. A check only
needs to know whether a given number is one of the possible values.

Finds numbers of a source sentence that are missing in its translation.

A number is not missing if the translation contains it in the digits of any script (see number_readings), or
contains a correct conversion of it: 22:30 for 10:30 p.m., the 20s for the 1920s, 33万 for 330,000, metres for
feet. The rules were tested on the devtest files of FLORES-101 and FLORES-200 in 16 languages. The English
source of each file has 309 numbers.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.records import Finding

from .sentence_pairs import ERROR, WARNING, Pair, excerpt
from .target_languages import TargetLanguage

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
        parts = re.findall(r"[0-9]+", match[0])
        joined = [  # "1", "1000" and "0" for "1 000"
            plain("".join(parts[start:end]))
            for start in range(len(parts))
            for end in range(start + 1, min(len(parts), start + _MAX_JOINED_PARTS) + 1)
        ]
        whole.update(joined)
        if _SCALE_FOLLOWS.match(text, match.end()):
            scaled.update(plain("".join(parts[start:])) for start in range(len(parts)))
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


def _digits(token: str) -> str:
    return plain(re.sub(r"[^0-9]", "", token))


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
    if last := re.search(r"[.,٫]([0-9]+)$", token):
        yield float(f"{digits[: -len(last[1])]}.{last[1]}")


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
            # Commas separate groups: "1,234" is 1234. With several points, it is no number.
            digits = float(part.replace(",", "")) if part.count(".") < 2 else 0.0
    return total + myriad + (digits or 0)


def _roman_numbers(text: str) -> Iterator[int]:
    for match in _ROMAN.finditer(text):
        values = [_ROMAN_VALUES[char] for char in match[0]]
        following = [*values[1:], 0]
        value = sum(
            -one if one < after else one for one, after in zip(values, following, strict=True)
        )
        if 0 < value <= _MAX_ROMAN:
            yield value


_RULE = "numbers-differ"

_NUMBER = re.compile(
    r"(?<![0-9])[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:[.:][0-9]+)*(?P<decade>(?=s\b|['’]s\b))?"
)
_SCALE_WORD = re.compile(r"[\s-](?:hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)
_NUMBER_WORD = re.compile(r"hundred|thousand|million|billion|trillion|dozen", re.IGNORECASE)
_MIN_ADDED_DIGITS = 3  # smaller numbers are often words in the source
_AFTERNOON = re.compile(r"p\.?m\b", re.IGNORECASE)
_AFTER_JOINED_CLOCK = re.compile(r"\s(?:GMT|UTC|hours|hrs)\b")  # 1200 GMT
_NOON = 12
_MAX_HOUR = 23
# Languages of Ethiopia, Uganda and the Swahili coast, where hours are counted from dawn: 10 at night is
# "saa 4 usiku" in Swahili.
_FROM_DAWN = frozenset("sw am ti om lg".split())
_DAWN = 6

# The unit is after the number, or after the second number of a range: "328 to 820 feet".
_UNIT = re.compile(
    r"(?:[0-9,.]|\s|-|to|and|or|by|x|a|square|cubic|\(|°){0,12}?"
    r"(?P<unit>feet|foot|ft|miles?|mi|mph|pounds?|lbs?|inch(?:es)?|in\b|yards?|acres?|gallons?|ounces?|oz|°?\(?F\b)",
)
_FACTORS = {
    "f": (0.3048, 30.48),  # m, cm
    "²f": (0.0929,),  # m²
    "m": (1.609,),  # km
    "²m": (2.59,),  # km²
    "²i": (6.452,),  # cm²
    "²y": (0.8361,),  # m²
    "p": (0.4536, 0.454),  # kg
    "l": (0.4536, 0.454),
    "i": (2.54, 25.4),  # cm, mm
    "y": (0.9144,),  # m
    "a": (0.4047, 4047.0),  # ha, m²
    "g": (3.785,),  # l
    "o": (28.35,),  # g
}
_CONVERSION_TOLERANCE = 0.1  # "over 100 feet" is "30 metres"

# Numbers that are often written as a word, which the check cannot read: numbers up to 20, and round ones.
# Numbers up to 99 need two words, which is rarer: a word is assumed only if the translation has no other new
# number.
_MAX_WORD = 20
_ROUND_WORDS = frozenset({30, 40, 50, 60, 70, 80, 90, 100, 1000, 10**6})
_MAX_WORDS = 99
_MIN_SCALABLE = 1000
_MIN_SCALE_ZEROS = 3  # languages have scale words for a thousand and more


class _Number(NamedTuple):
    text: str  # "10:30"
    parts: tuple[str, ...]  # ("10", "30")
    digits: str  # "1030"
    is_clock: bool  # True for a time or a similar number with parts: 10:30, 12.00, 4:41.30
    is_decade: bool  # True for numbers such as 1920s
    has_scale: bool  # True for numbers such as 2.3 million
    unit: str  # "feet", "²feet" for square feet, or ""


def find_lost_numbers(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields a finding `numbers-differ` for each translation that lacks a number of its source, or that has a
    number of three digits or more that is not in the source.

    A missing number is an error, unless it may have been converted or written as a word. Otherwise, the
    finding is a warning.
    """
    counts_from_dawn = language.tag.split("-")[0] in _FROM_DAWN
    for pair in pairs:
        numbers = list(_source_numbers(pair.source.text))
        target = read_numbers(pair.translation.text)
        new = _new_numbers(numbers, target)
        hours = _Hours(bool(_AFTERNOON.search(pair.source.text)), counts_from_dawn)
        if lost := [number for number in numbers if not _is_kept(number, target, hours)]:
            is_doubtful = all(_may_be_a_word(number, bool(new)) for number in lost)
            yield pair.finding(_RULE, WARNING if is_doubtful else ERROR, _message(lost, new))
        elif added := _added_numbers(pair.source.text, numbers, new):
            message = f"{' '.join(map(excerpt, added))} is not in the source"
            yield pair.finding(_RULE, WARNING, message)


def _added_numbers(source: str, numbers: list[_Number], new: list[str]) -> list[str]:
    """Returns those of the new numbers that are long enough, and neither converted nor from words."""
    if _NUMBER_WORD.search(source) or any(number.unit or number.has_scale for number in numbers):
        return []
    known = {number.digits.removesuffix("000") for number in numbers}
    return [
        token
        for token in new
        if len(_digits(token)) >= _MIN_ADDED_DIGITS and _digits(token) not in known
    ]


def _source_numbers(text: str) -> Iterator[_Number]:
    for match in _NUMBER.finditer(text):
        token = match[0]
        is_joined_clock = len(token) == 4 and bool(_AFTER_JOINED_CLOCK.match(text, match.end()))
        clock = f"{token[:2]}:{token[2:]}" if is_joined_clock else token
        parts = tuple(parts_of(clock.replace(",", "")))
        unit = _UNIT.match(text, match.end())
        yield _Number(
            text=token,
            parts=parts,
            digits=_digits(token),
            is_clock=":" in clock or bool(re.search(r"\.[0-9]{2}$", token)),
            is_decade=match["decade"] is not None,
            has_scale=bool(_SCALE_WORD.match(text, match.end())),
            unit=("²" if "square" in unit[0] else "") + unit["unit"].lstrip("°(").casefold()
            if unit
            else "",
        )


def _is_kept(number: _Number, target: Readings, hours: "_Hours") -> bool:
    whole, _, decimals = number.text.replace(",", "").partition(".")
    if number.digits in target.whole or plain(whole + decimals.rstrip("0")) in target.whole:
        return True  # "35" for 3.50
    # Minutes or seconds that are 0 may be missing.
    hour, rest = number.parts[0], {*number.parts[1:]} - {"0"}
    if number.is_clock and hours.of(hour) & target.whole and rest <= target.whole:
        return True
    if len(number.parts) == 1 and hours.is_afternoon and hours.of(number.digits) & target.whole:
        return True
    if number.is_decade and plain(number.digits[-2:]) in target.whole:
        return True
    if (number.has_scale or int(number.digits) >= _MIN_SCALABLE) and _is_scaled(number, target):
        return True
    return bool(number.unit) and _is_converted(number, target)


class _Hours(NamedTuple):
    """The forms in which an hour of the source may be written in the translation."""

    is_afternoon: bool  # True if the source says p.m.
    counts_from_dawn: bool

    def of(self, hour: str) -> set[str]:
        """Returns the forms in which an hour of the source may be written in the translation.

        The unchanged hour is always included. The hour on a 24-hour clock is included for p.m., and the hour
        counted from dawn for languages that count hours from dawn.
        """
        hours = {int(hour)}
        if self.is_afternoon and int(hour) + _NOON <= _MAX_HOUR:
            hours.add(int(hour) + _NOON)
        if self.counts_from_dawn:
            hours.add((int(hour) - _DAWN) % _NOON or _NOON)
        return set(map(str, hours))


def _is_scaled(number: _Number, target: Readings) -> bool:
    """Returns True if the translation has the number with another unit of scale, such as thousand or million.

    For example, 330,000 may be written "33万" or "330 thousand", and 2.3 million may be written "230万" or
    "2,300,000".
    """
    digits = significant(number.digits)
    if number.has_scale:
        return any(significant(reading) == digits for reading in target.whole)
    return any(
        significant(reading) == digits and len(number.digits) - len(reading) >= _MIN_SCALE_ZEROS
        for reading in target.scaled
    )


def _is_converted(number: _Number, target: Readings) -> bool:
    value = next(quantities(number.text.replace(",", "")))
    if number.unit == "f":
        converted: tuple[float, ...] = ((value - 32) * 5 / 9,)
    else:
        key = number.unit[: 1 + number.unit.startswith("²")]
        factors = _FACTORS.get(key) or _FACTORS[key[-1]]
        converted = tuple(value * factor for factor in factors)
    return any(
        abs(found - wanted) <= _CONVERSION_TOLERANCE * abs(wanted)
        for wanted in converted
        for found in target.values
    )


def _may_be_a_word(number: _Number, has_new: bool) -> bool:
    if number.unit or number.is_decade:
        return True
    value = int(number.digits)
    if len(number.parts) > 1:
        return False
    return value <= _MAX_WORD or value in _ROUND_WORDS or (value <= _MAX_WORDS and not has_new)


def _new_numbers(numbers: list[_Number], target: Readings) -> list[str]:
    """Returns the numbers of the translation that share no part with any number of the source.

    A part is a run of digits: 10 and 30 in "10:30". The whole number, without separators, is also a part.

    Args:
      numbers: the numbers of the source.
      target: the numbers of the translation.
    """
    known = {part for number in numbers for part in (number.digits, *number.parts)}
    return [token for token in target.tokens if not known & {_digits(token), *parts_of(token)}]


def _message(lost: list[_Number], new: list[str]) -> str:
    missing = " ".join(excerpt(number.text) for number in lost)
    message = f"{missing} of the source is missing"
    if new:
        message += f"; {' '.join(map(excerpt, new))} is not in the source"
    return message
