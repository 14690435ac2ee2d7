"""Finds numbers of a source sentence that are missing in its translation.

A number is not missing if the translation contains it in the digits of any script (see number_readings), or
contains a correct conversion of it: 22:30 for 10:30 p.m., the 20s for the 1920s, 33万 for 330,000, metres for
feet. The rules were tested on the devtest files of FLORES-101 and FLORES-200 in 16 languages. The English
source of each file has 309 numbers.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.number_readings import (
    Readings,
    parts_of,
    plain,
    quantities,
    read_numbers,
    significant,
)
from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, excerpt
from corpusmill.transforms.files.translation_records import Finding

_RULE = "numbers-differ"

_NUMBER = re.compile(
    r"(?<![0-9])[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:[.:][0-9]+)*(?P<decade>(?=s\b|['’]s\b))?"
)
_SCALE_WORD = re.compile(r"[\s-](?:hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)
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
    "f": (0.3048, 30.48, 0.0929),  # m, cm, m²
    "m": (1.609, 2.59),  # km, km²
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
    unit: str  # "feet", or ""


def find_lost_numbers(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields a finding `numbers-differ` for each translation that lacks a number of its source.

    The finding is a warning if each missing number may have been converted or written as a word. Otherwise it
    is an error.
    """
    counts_from_dawn = language.tag.split("-")[0] in _FROM_DAWN
    for pair in pairs:
        numbers = list(_source_numbers(pair.source.text))
        if not numbers:
            continue
        target = read_numbers(pair.translation.text)
        hours = _Hours(bool(_AFTERNOON.search(pair.source.text)), counts_from_dawn)
        lost = [number for number in numbers if not _is_kept(number, target, hours)]
        if lost:
            new = _new_numbers(numbers, target)
            is_doubtful = all(_may_be_a_word(number, bool(new)) for number in lost)
            yield pair.finding(_RULE, WARNING if is_doubtful else ERROR, _message(lost, new))


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
            digits=plain(re.sub(r"[^0-9]", "", token)),
            is_clock=":" in clock or bool(re.search(r"\.[0-9]{2}$", token)),
            is_decade=match["decade"] is not None,
            has_scale=bool(_SCALE_WORD.match(text, match.end())),
            unit=unit["unit"].lstrip("°(").casefold() if unit else "",
        )


def _is_kept(number: _Number, target: Readings, hours: "_Hours") -> bool:
    if number.digits in target.whole or _without_last_zeros(number) in target.whole:
        return True
    if number.is_clock and _has_parts(number, target, hours):
        return True
    if len(number.parts) == 1 and hours.is_afternoon and hours.of(number.digits) & target.whole:
        return True
    if number.is_decade and plain(number.digits[-2:]) in target.whole:
        return True
    if (number.has_scale or int(number.digits) >= _MIN_SCALABLE) and _is_scaled(number, target):
        return True
    return bool(number.unit) and _is_converted(number, target)


def _without_last_zeros(number: _Number) -> str:
    """Returns the digits of a number without zeros at the end of its decimals: "35" for 3.50."""
    whole, point, decimals = number.text.replace(",", "").partition(".")
    return plain(whole + decimals.rstrip("0")) if point else number.digits


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


def _has_parts(number: _Number, target: Readings, hours: _Hours) -> bool:
    """Returns True if the translation has the hour, minutes and seconds of a time.

    Minutes or seconds that are 0 may be missing.

    Args:
      number: the time in the source.
      target: the numbers of the translation.
      hours: the forms in which the hour may be written in the translation.
    """
    hour, *rest = number.parts
    return bool(hours.of(hour) & target.whole) and all(
        part == "0" or part in target.whole for part in rest
    )


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
        converted = tuple(value * factor for factor in _FACTORS[number.unit[0]])
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
    return [
        token
        for token in target.tokens
        if not known & {plain(re.sub(r"[^0-9]", "", token)), *parts_of(token)}
    ]


def _message(lost: list[_Number], new: list[str]) -> str:
    missing = " ".join(excerpt(number.text) for number in lost)
    message = f"{missing} of the source is missing"
    if new:
        message += f"; {' '.join(map(excerpt, new))} is not in the source"
    return message
