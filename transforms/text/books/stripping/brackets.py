"""Matches opening and closing brackets."""

import re

_BRACKETS = re.compile(r"[\[\]{}]")
_CLOSED_BY = {"]": "[", "}": "{"}


def match_brackets(text: str) -> dict[int, int]:
    """Places of opening brackets, square ones and braces, → places behind those that close them.

    An opening bracket that nothing closes is not in it. The two kinds do not see each other.
    """
    open_at: dict[str, list[int]] = {"[": [], "{": []}
    closed = {}
    for found in _BRACKETS.finditer(text):
        bracket = found.group()
        if bracket in open_at:
            open_at[bracket].append(found.start())
        elif starts := open_at[_CLOSED_BY[bracket]]:
            closed[starts.pop()] = found.end()
    return closed
