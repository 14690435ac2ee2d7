"""Functions of texts: words, dates, differences, fingerprints, and the names of splits and shards.

White space as in `str.split`, and a fast count of the words between it.

Normalises words by removing case and punctuation, so that two editions of a text have the same words.

For example, Project Gutenberg has one edition of a book with straight quotes and another with curly quotes.
The editions may share only half of the 8-grams of their original words, but nearly all 8-grams of their
normalised words.

Inputs may have dates like 2026-11-01. Builds write 20261101.

Computes a fixed hash of texts, which determines splits, shards and the order of documents.

`fingerprint(text)` is the first eight bytes, big-endian, of the SHA-256 of the UTF-8 text, so that it can be
computed in any programming language. Python's own `hash`, which the Wiki-40B paper names, is different in
each process.
"""

import datetime
import functools
import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NARROW_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""White space of ASCII."""

WIDE_SPACES = (
    "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space beyond ASCII."""


def count_words(text: str) -> int:
    """Returns `len(text.split())`, in 40 % of the time for texts of some thousand characters."""
    import numpy as np

    units = np.frombuffer(f" {text}".encode("utf-16-le", "surrogatepass"), "<u2")
    is_space = _spaces().take(units)
    return int(np.count_nonzero(is_space[:-1] > is_space[1:]))  # a word begins after white space


@functools.cache
def _spaces() -> "npt.NDArray[np.bool_]":
    """Returns for each UTF-16 code unit whether it is white space, which is never written with two units."""
    import numpy as np  # not for those who only print help

    spaces = np.zeros(1 << 16, bool)
    spaces[[ord(space) for space in NARROW_SPACES + WIDE_SPACES]] = True
    return spaces


# Patterns over UTF-8 bytes, because a search for a pattern with a fixed first byte is fast.
_MARKS = (
    re.compile(rb"\xc2[\xa0-\xbf]"),  # Latin-1 punctuation
    re.compile(rb"\xe2[\x80\x81][\x80-\xbf]"),  # General Punctuation, including spaces
    re.compile(rb"\xe3\x80[\x80-\x9f]"),  # CJK Symbols and Punctuation
    re.compile(rb"\xef(?:\xbc[\x81-\x8f\x9a-\xa0\xbb-\xbf]|\xbd[\x80\x9b-\xa5])"),  # full width
)
_MAYBE_UNSPACED = re.compile(rb"[\xe0\xe1\xe3-\xe9]")
_UNSPACED = re.compile(
    rb"(\xe0[\xb8-\xbb][\x80-\xbf]"  # Thai, Lao
    rb"|\xe1[\x80-\x82\x9e\x9f][\x80-\xbf]"  # Burmese, Khmer
    rb"|\xe3[\x81-\xbf][\x80-\xbf]|[\xe4-\xe9][\x80-\xbf]{2})"  # kana, Han
)
_TO_BLANKS = bytes(byte if byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))


def plain_words(text: str) -> str:
    """Lower-cases a text and replaces punctuation, symbols and line ends by spaces.

    In scripts without spaces between words, each character becomes a word.
    """
    plain = text.lower().encode("utf-8")
    if not text.isascii():
        for marks in _MARKS:
            plain = marks.sub(b" ", plain)
        if _MAYBE_UNSPACED.search(plain):
            plain = _UNSPACED.sub(rb" \1 ", plain)
    return plain.translate(_TO_BLANKS).decode("utf-8")


_PLAIN = re.compile(r"(\d{4})(\d\d)(\d\d)")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def plain_date(text: str) -> str:
    """Returns a date without hyphens: "20261101". Other texts, such as "latest", are returned unchanged."""
    return text.replace("-", "") if _ISO.fullmatch(text) else text


def iso_date(text: str) -> str:
    """Returns a date with hyphens: "2026-11-01". Other texts are returned unchanged."""
    found = _PLAIN.fullmatch(text)
    return "-".join(found.groups()) if found else text


def checked_date(text: str) -> str:
    """Returns a date without hyphens, or "" if it is not a valid date."""
    try:
        return datetime.date.fromisoformat(text).strftime("%Y%m%d") if "W" not in text else ""
    except ValueError:
        return ""


def days_between(first: str, second: str) -> int:
    """Returns the number of days from the date `first` to the date `second`; 0 if one of them is "".

    A date may be "20261101" or "2026-11-01".
    """
    if not first or not second:
        return 0
    return (datetime.date.fromisoformat(second) - datetime.date.fromisoformat(first)).days


SHOWN = 40  # characters shown on each side of the difference


class Difference(NamedTuple):
    """The first line in which two texts differ."""

    number: int  # from 1
    left: bytes  # with its line feed; b"" after the end of the text
    right: bytes


def find_difference(left: Iterable[bytes], right: Iterable[bytes]) -> Difference | None:
    """Returns the first line in which two texts differ, or None for equal texts."""
    for number, (one, other) in enumerate(itertools.zip_longest(left, right, fillvalue=b""), 1):
        if one != other:
            return Difference(number, one, other)
    return None


def describe_difference(found: Difference, left: str, right: str) -> str:
    """Returns a message with both lines, shortened around the difference.

    If the lines look the same, invisible characters are escaped.

    Args:
      left, right: names of the texts, such as "the build".
    """
    lines = [line.decode("utf-8", "backslashreplace") for line in (found.left, found.right)]
    pairs = enumerate(zip(*lines, strict=False))
    place = next((at for at, (one, other) in pairs if one != other), min(map(len, lines)))
    start = max(place - SHOWN, 0)
    shown = [line[start : start + 2 * SHOWN] for line in lines]
    looks = {unicodedata.normalize("NFKC", line).strip() for line in shown}
    if len(looks) == 1 or not all(line.rstrip("\n").isprintable() for line in shown):
        shown = [ascii(line)[1:-1] for line in shown]
    one, other = (
        f"“{'…' if start else ''}{part.rstrip()}{'…' if len(line) > start + 2 * SHOWN else ''}”"
        if line
        else "nothing"
        for line, part in zip(lines, shown, strict=True)
    )
    return f"line {found.number:,}: {one} in {left}, {other} in {right}"


SPLITS = ("train", "validation", "test")
_BITS = 64
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def fingerprint(text: str) -> int:
    """Returns an unsigned 64-bit hash of the text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def split_of(identity: str) -> str:
    """Returns the split of a document, given the text that identifies it, such as "gutenberg:84".

    90 % of all documents are in train, 5 % in validation and 5 % in test (Guo et al. 2020, section 2.4).
    """
    bucket = fingerprint(identity) % 100
    return "train" if bucket < 90 else "validation" if bucket < 95 else "test"


def shard_of(identity: str, shard_count: int) -> int:
    """Returns the number of a document's shard, given the text that identifies it.

    The range of all fingerprints is divided equally among the shards. So for any number of shards, the
    concatenated shards are in the order of the fingerprints.
    """
    return fingerprint(identity) * shard_count >> _BITS


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Returns key → all its values, in the order of the pairs (key, value)."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def short_fingerprint(lines: Iterable[str]) -> str:
    """Returns eight hexadecimal digits that identify the content of `lines`, for use in signatures of builds.

    Returns "" if there are no lines.
    """
    text = "\n".join(lines)
    return f"{fingerprint(text):016x}"[:8] if text else ""


class Shard(NamedTuple):
    """One of the files (shards) into which a split is divided.

    Files that belong to no split, such as "books-00000-of-00001.tsv", are numbered in the same way.
    """

    split: str  # name of the split; for records, which are in no split, the name of their files
    shard: int
    shards: int  # number of shards of the split
