"""Provides the character classes of fixed versions of Perl, independent of the installed Python or Perl.

The ranges are in one TOML file per version: Perl 5.36 (Unicode 14.0), and Perl 5.14 (Unicode 6.0), with which
the published One Billion Word corpus was made. Code points above U+10FFFF, which Perl allows, are in no
class.
"""

import functools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from corpusmill.transforms.files.toml_tables import read_table

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
    return tuple(_range(item) for item in _tables(perl)[name].split())


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


def _tables(perl: str) -> Mapping[str, str]:
    if perl not in PERL_VERSIONS:
        raise ValueError(
            f"there are no rules for Perl {perl!r}; available are {', '.join(PERL_VERSIONS)}"
        )
    return read_table(__package__, f"perl_{perl.replace('.', '_')}.toml")


def _range(item: str) -> tuple[int, int]:
    first, _, last = item.partition("-")
    return int(first, 16), int(last or first, 16)
