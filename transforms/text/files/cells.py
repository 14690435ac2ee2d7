"""Cells of tables for people: a spreadsheet shows them as text and evaluates none.

A cell that a spreadsheet could take for a formula gets an apostrophe before it, also where quotation marks
or spaces come first. So does one that has an apostrophe there already, so that `unprotect` is exact.
"""

import re
from collections.abc import Iterable

_FORMULA = re.compile(r"""['" ]*[=+\-@\t\r\n＝＋－＠]""")
_NUMBER = re.compile(r"-\d+(\.\d+)?")


def protect(cell: str) -> str:
    """The cell as it is written."""
    return f"'{cell}" if _could_be_formula(cell) else cell


def unprotect(cell: str) -> str:
    """The cell that `protect` was given. One that it did not write is as it is."""
    return cell[1:] if cell.startswith("'") and _could_be_formula(cell[1:]) else cell


def _could_be_formula(cell: str) -> bool:
    return bool(_FORMULA.match(cell)) and not _NUMBER.fullmatch(cell)


def to_line(cells: Iterable[object]) -> str:
    """A row of protected cells with tabs between, and its line feed. White space in a cell is one space."""
    return "\t".join(protect(" ".join(str(cell).split())) for cell in cells) + "\n"
