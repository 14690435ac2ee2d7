"""Reads lists of MD5 checksums in the formats of md5sum(1) and of the BSDs.

Lines without a checksum are skipped, because the published list of One Billion Word is a README. A line with
an invalid checksum, such as one that lost a digit when it was copied, raises an error.
"""

import re
from typing import NamedTuple

MD5_DIGITS = 32
# at least this many hexadecimal digits before a name count as a checksum, valid or not
_NAMED_DIGITS = 24
_SHA_DIGITS = {40: "SHA-1", 56: "SHA-224", 64: "SHA-256", 96: "SHA-384", 128: "SHA-512"}

_GNU = re.compile(
    rf"\s*(?P<escaped>\\?)(?P<sum>[0-9a-fA-F]{{{_NAMED_DIGITS},}})[ \t][ *]?(?P<name>\S.*)"
)
_BSD = re.compile(
    r"\s*(?P<escaped>\\?)(?P<kind>[A-Z][A-Z0-9/-]*) \((?P<name>.+)\) = (?P<sum>[0-9a-fA-F]+)\s*"
)
_ESCAPE = re.compile(
    r"\\([\\nr])"
)  # md5sum(1) of coreutils escapes names only in lines that begin with a backslash
_ESCAPED = {"\\": "\\", "n": "\n", "r": "\r"}


class ListedSum(NamedTuple):
    """A file name in a list of checksums, and the checksum of the file."""

    name: str  # a path, often on another machine
    md5: str  # in lower case
    line: int  # line number in the list, from 1


class MalformedListError(ValueError):
    """Raised if a list of checksums is invalid. If a line is invalid, the message names this line."""


def read_checksums(text: str) -> list[ListedSum]:
    """Returns the checksums in a list, in order, each file name once.

    Raises MalformedListError if a checksum is invalid, a file has two different checksums, or the list is
    empty.
    """
    found: dict[str, ListedSum] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        listed = _read_line(line.removesuffix("\r"), number)
        if not listed:
            continue
        first = found.setdefault(listed.name, listed)
        if first.md5 != listed.md5:
            raise MalformedListError(
                f"line {number}: the checksum of {listed.name} differs from that in line {first.line}"
            )
    if not found:
        raise MalformedListError("the list has no MD5 checksum")
    return list(found.values())


def _read_line(line: str, number: int) -> ListedSum | None:
    if match := _BSD.fullmatch(line):
        if match["kind"] != "MD5":
            raise MalformedListError(
                f"line {number}: expected MD5 checksums, found {match['kind']}"
            )
    elif not (match := _GNU.fullmatch(line)):
        return None
    name = _unescape(match["name"]) if match["escaped"] else match["name"]
    digits = len(match["sum"])
    if digits in _SHA_DIGITS:
        raise MalformedListError(
            f"line {number}: expected MD5 checksums, found {_SHA_DIGITS[digits]}"
        )
    if digits != MD5_DIGITS:
        raise MalformedListError(
            f"line {number}: {digits} hexadecimal digits before {name}; an MD5 checksum has {MD5_DIGITS}"
        )
    return ListedSum(name, match["sum"].lower(), number)


def _unescape(name: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], name)
