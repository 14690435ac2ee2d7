"""Character classes as Perl has them, of fixed versions: another Python or Perl changes no output.

The ranges are data, a file for each version: Perl 5.36 (Unicode 14.0), and Perl 5.14 (Unicode 6.0), by which
the published One Billion Word corpus was made. Code points above U+10FFFF, which Perl knows, are in no class.
"""

import functools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from transforms.text.files.toml_tables import read_table

PERL_VERSIONS = ("5.36", "5.14")
CURRENT_PERL = "5.36"
CODE_POINTS = 0x110000

Ranges = tuple[tuple[int, int], ...]


@functools.cache
def ranges_of(name: str, perl: str) -> Ranges:
    """First and last code point of each range of a class, ascending. The files list the names.

    Raises:
        ValueError: there is no table of that version of Perl; the message lists those that there are.
    """
    return tuple(_range(item) for item in _tables(perl)[name].split())


def class_body(*names: str, perl: str, below: int = CODE_POINTS) -> str:
    """The characters of some classes, as they are written between the brackets of a regex.

    A class that stops `below` some code point is the faster for it, where a text is known to.
    """
    return "".join(
        f"\\U{first:08x}-\\U{min(last, below - 1):08x}"
        for name in names
        for first, last in ranges_of(name, perl)
        if first < below
    )


def members_of(name: str, perl: str) -> NDArray[np.bool_]:
    """Returns for each code point whether it is in the class."""
    members = np.zeros(CODE_POINTS, np.bool_)
    for first, last in ranges_of(name, perl):
        members[first : last + 1] = True
    return members


def _tables(perl: str) -> Mapping[str, str]:
    if perl not in PERL_VERSIONS:
        raise ValueError(f"no rules of Perl {perl!r}, only of {', '.join(PERL_VERSIONS)}")
    return read_table(__package__, f"perl_{perl.replace('.', '_')}.toml")


def _range(item: str) -> tuple[int, int]:
    first, _, last = item.partition("-")
    return int(first, 16), int(last or first, 16)
