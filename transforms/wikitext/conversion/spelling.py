"""Spells numbers in English words, like the English Wikipedia's Module:ConvertNumeric."""

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ("", "thousand", "million", "billion", "trillion")
_MAX_DIGITS = 15
_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 8: "eighth", 10: "tenth"}
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip


def _below_thousand(number: int, *, after_more: bool) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{_SMALL[hundreds]} hundred"] if hundreds else []
    if rest and (hundreds or after_more):
        words.append("and")
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        words.append(_TENS[tens] + (f"-{_SMALL[ones]}" if ones else ""))
    elif rest:
        words.append(_SMALL[rest])
    return " ".join(words)


def spell_number(digits: str) -> str:
    """Returns a number such as "-25" or "1.5" in words, or "" if the text is not a number or is too long."""
    sign = "minus " if digits[:1] in ("-", "−") else ""
    digits = digits.lstrip("-−+").replace(",", "")
    whole, point, fraction = digits.partition(".")
    if not (whole + fraction).isascii() or not (whole + fraction).isdecimal():
        return ""
    if len(whole) > _MAX_DIGITS or len(fraction) > _MAX_DIGITS:
        return ""
    number = int(whole or "0")
    words = []
    for power in range(len(_GROUPS) - 1, -1, -1):
        group = number // 1000**power % 1000
        if group:
            last = power == 0 and number > 1000 and group < 100
            words.append(f"{_below_thousand(group, after_more=last)} {_GROUPS[power]}".strip())
    text = " ".join(words) or "zero"
    if point and fraction:
        text += " point " + " ".join(_SMALL[int(digit)] for digit in fraction)
    return sign + text


def spell_fraction(whole: int, top: int, bottom: int) -> str:
    """Returns a fraction in words, such as "two and three quarters", or "" if it has no usual name."""
    part = _PARTS.get(bottom)
    if not part or top >= 20:
        return ""
    plural = {"half": "halves"}.get(part, part + "s")
    fraction = f"{_SMALL[top]} {part if top == 1 else plural}"
    if not whole:
        return fraction
    return (
        f"{spell_number(str(whole))} and {'a' if top == 1 else _SMALL[top]} {fraction.split()[1]}"
    )


def spell_ordinal(digits: str) -> str:
    """Returns the ordinal of a whole number in words: "21" → "twenty-first".

    Returns "" if the text is not a whole number.
    """
    words = spell_number(digits)
    if not words or "point" in words:
        return ""
    start = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[start:]
    if last in _ORDINALS:
        return words[:start] + _ORDINALS[last]
    return words[:start] + (last[:-1] + "ieth" if last.endswith("y") else last + "th")
