"""Normalises texts to NFC, the composed form of Unicode, according to an older version of Unicode.

Python uses its own version of Unicode, 14.0 or later. Its NFC differs from that of an older version only for
characters that the older version does not have: the NFC of existing characters never changes, and the older
version leaves unknown characters unchanged. So it is enough to exclude the newer characters from the
composition.
"""

import functools
import itertools
import re
import unicodedata

from corpusmill.transforms.news.character_classes import class_body

# Python sorts the marks after a letter in quadratic time: half a minute for 100,000 marks. So many marks are
# sorted beforehand. Beyond Latin-1, \W matches marks and symbols.
_MANY_MARKS = re.compile(r"[^\w\x00-\xff]{100,}")


def compose(text: str, perl: str) -> str:
    """Returns a text in NFC, according to the Unicode version of the Perl version `perl`."""
    if unicodedata.is_normalized("NFC", text):
        # composed in older versions, too, because parts of a composed text are composed
        return text
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
