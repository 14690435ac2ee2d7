"""Parses years in Roman numerals as printed on title pages: "MDCCCXCIX", "M DCCC XCIX", "M.DCC.XXXVIII."."""

import re

# Printers also repeated a letter four times: MDCCCCXI for MCMXI. Both forms are parsed.
_THOUSANDS = re.compile(
    r"(?P<thousands>M{1,3})(?P<hundreds>CM|CD|D?C{0,4})(?P<tens>XC|XL|L?X{0,4})(?P<units>IX|IV|V?I{0,4})"
)
_PAIRS = {"CM": 900, "CD": 400, "XC": 90, "XL": 40, "IX": 9, "IV": 4}
_LETTERS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_BETWEEN = re.compile(r"[. ]+")


def parse_roman(text: str) -> int | None:
    """Parses a Roman numeral of at least 1000 in capital letters. Returns None for other texts.

    Points and spaces between the letters are ignored.
    """
    match = _THOUSANDS.fullmatch(_BETWEEN.sub("", text))
    if match is None:
        return None
    return sum(_value(part) for part in match.groups())


def _value(part: str) -> int:
    return _PAIRS.get(part) or sum(_LETTERS[letter] for letter in part)
