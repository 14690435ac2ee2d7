"""Matches opening and closing brackets."""

import re

_BRACKETS = re.compile(r"[\[\]{}]")
_CLOSED_BY = {"]": "[", "}": "{"}


def match_brackets(text: str) -> dict[int, int]:
    """Returns position of an opening bracket, "[" or "{", → position after its closing bracket.

    Opening brackets without a closing one are left out. Brackets and braces are matched independently.
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
