"""Unicode's composed form, NFC, as a fixed version of Unicode defines it.

The running Python brings its own version, 14.0 or later. Between versions nothing changes for characters that
both have, and characters that the older one lacks are to it single letters without parts. So it is enough to
keep those out.
"""

import functools
import itertools
import re
import unicodedata

from transforms.text.news.character_classes import class_body

# Python sorts the marks after a letter in quadratic time: for 100,000 of them half a minute. They are
# sorted before, then. What \W takes beyond Latin-1 are marks and symbols.
_MANY_MARKS = re.compile(r"[^\w\x00-\xff]{100,}")


def compose(text: str, perl: str) -> str:
    """NFC of the Unicode that a version of Perl has."""
    if unicodedata.is_normalized("NFC", text):
        return text  # in the older versions too: parts of a composed text are composed
    return "".join(
        part if is_unknown else _compose_known(part)
        for part, is_unknown in zip(
            _unknown(perl).split(text), itertools.cycle((False, True)), strict=False
        )
    )


def _compose_known(text: str) -> str:
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(_sort_marks, text))


def _sort_marks(match: re.Match[str]) -> str:
    parts = "".join(unicodedata.normalize("NFD", character) for character in match[0])
    runs = itertools.groupby(parts, lambda character: unicodedata.combining(character) > 0)
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if is_marks else run)
        for is_marks, run in runs
    )


@functools.cache
def _unknown(perl: str) -> re.Pattern[str]:
    return re.compile(f"([^{class_body('assigned', perl=perl)}]+)")
