"""Provides the character classes of fixed versions of Perl, independent of the installed Python or Perl.

The ranges are in one TOML file per version: Perl 5.36 (Unicode 14.0), and Perl 5.14 (Unicode 6.0), with which
the published One Billion Word corpus was made. Code points above U+10FFFF, which Perl allows, are in no
class.

Normalises texts to NFC, the composed form of Unicode, according to an older version of Unicode.

Python uses its own version of Unicode, 14.0 or later. Its NFC differs from that of an older version only for
characters that the older version does not have: the NFC of existing characters never changes, and the older
version leaves unknown characters unchanged. So it is enough to exclude the newer characters from the
composition.
"""

import functools
import itertools
import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

from ..files.markup import read_toml

PERL_VERSIONS = ("5.36", "5.14")
CURRENT_PERL = "5.36"
CODE_POINTS = 0x110000

Ranges = tuple[tuple[int, int], ...]


@functools.cache
def ranges_of(name: str, perl: str) -> Ranges:
    """Returns the (first, last) code points of each range of the character class `name`, ascending.

    The names of classes are those in the TOML files, such as "alphabetic". `perl` is a version of Perl.

    Raises:
        ValueError: there is no table of that version of Perl; the message lists the available versions.
    """
    if perl not in PERL_VERSIONS:
        raise ValueError(
            f"there are no rules for Perl {perl!r}; available are {', '.join(PERL_VERSIONS)}"
        )
    tables = read_toml(__package__, f"perl_{perl.replace('.', '_')}.toml")
    ranges = (item.partition("-") for item in tables[name].split())
    return tuple((int(first, 16), int(last or first, 16)) for first, _, last in ranges)


def class_body(*names: str, perl: str, below: int = CODE_POINTS) -> str:
    """Returns the ranges of the character classes `names`, as written in brackets in a regular expression.

    Code points from `below` on are left out, which makes the expression faster for texts without such
    characters.
    """
    return "".join(
        f"\\U{first:08x}-\\U{min(last, below - 1):08x}"
        for name in names
        for first, last in ranges_of(name, perl)
        if first < below
    )


def members_of(name: str, perl: str) -> NDArray[np.bool_]:
    """Returns one value for each code point: True if it is in the character class `name`."""
    members = np.zeros(CODE_POINTS, np.bool_)
    for first, last in ranges_of(name, perl):
        members[first : last + 1] = True
    return members


# Python sorts the marks after a letter in quadratic time: half a minute for 100,000 marks. So many marks are
# sorted beforehand. Beyond Latin-1, \W matches marks and symbols.
_MANY_MARKS = re.compile(r"[^\w\x00-\xff]{100,}")


def compose(text: str, perl: str) -> str:
    """Returns a text in NFC, according to the Unicode version of the Perl version `perl`."""
    if unicodedata.is_normalized("NFC", text):
        # composed in older versions, too, because parts of a composed text are composed
        return text
    return "".join(
        part if is_unknown else unicodedata.normalize("NFC", _MANY_MARKS.sub(_sort_marks, part))
        for part, is_unknown in zip(
            _unknown(perl).split(text), itertools.cycle((False, True)), strict=False
        )
    )


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
