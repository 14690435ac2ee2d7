"""Lists of MD5 sums, as md5sum(1) and the BSDs write them, also with prose around the sums.

Lines that hold no sum are passed over: the published list of One Billion Word is a README. What looks
like a sum and is none, as after a copy that lost a digit, is an error and no prose.
"""

import re
from typing import NamedTuple

MD5_DIGITS = 32
_NAMED_DIGITS = 24  # a run of so many hexadecimal digits before a name is meant as a sum
_SHA_DIGITS = {40: "SHA-1", 56: "SHA-224", 64: "SHA-256", 96: "SHA-384", 128: "SHA-512"}

_GNU = re.compile(
    rf"\s*(?P<escaped>\\?)(?P<sum>[0-9a-fA-F]{{{_NAMED_DIGITS},}})[ \t][ *]?(?P<name>\S.*)"
)
_BSD = re.compile(
    r"\s*(?P<escaped>\\?)(?P<kind>[A-Z][A-Z0-9/-]*) \((?P<name>.+)\) = (?P<sum>[0-9a-fA-F]+)\s*"
)
_ESCAPE = re.compile(r"\\([\\nr])")  # md5sum(1) of coreutils: only where the line begins with one
_ESCAPED = {"\\": "\\", "n": "\n", "r": "\r"}


class ListedSum(NamedTuple):
    """A file as a list names it."""

    name: str  # a path, often of another machine
    md5: str  # in lower case
    line: int  # of the list, from 1


class MalformedListError(ValueError):
    """A list that cannot be used; the message names the line where there is one."""


def read_checksums(text: str) -> list[ListedSum]:
    """The sums of a list in its order, each name once. Raises MalformedListError."""
    found: dict[str, ListedSum] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        listed = _read_line(line.removesuffix("\r"), number)
        if not listed:
            continue
        first = found.setdefault(listed.name, listed)
        if first.md5 != listed.md5:
            raise MalformedListError(
                f"line {number}: another sum of {listed.name} than in line {first.line}"
            )
    if not found:
        raise MalformedListError("there is no MD5 sum in it")
    return list(found.values())


def _read_line(line: str, number: int) -> ListedSum | None:
    if match := _BSD.fullmatch(line):
        if match["kind"] != "MD5":
            raise MalformedListError(f"line {number}: sums of {match['kind']}; MD5 is needed")
    elif not (match := _GNU.fullmatch(line)):
        return None
    name = _unescape(match["name"]) if match["escaped"] else match["name"]
    digits = len(match["sum"])
    if digits in _SHA_DIGITS:
        raise MalformedListError(f"line {number}: sums of {_SHA_DIGITS[digits]}; MD5 is needed")
    if digits != MD5_DIGITS:
        raise MalformedListError(
            f"line {number}: {digits} hexadecimal digits before {name}; an MD5 sum has {MD5_DIGITS}"
        )
    return ListedSum(name, match["sum"].lower(), number)


def _unescape(name: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], name)
