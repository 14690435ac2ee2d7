"""Escapes cells of tables, so that spreadsheets show them as text and never evaluate them.

A cell that a spreadsheet could interpret as a formula gets an apostrophe in front. This includes cells in
which quotation marks, spaces or apostrophes precede the formula. So a cell that already has an apostrophe
before a formula gets another one, and `unprotect`, which removes one apostrophe, always restores the original
cell.
"""

import re
from collections.abc import Iterable

_FORMULA = re.compile(r"""['" ]*[=+\-@\t\r\n＝＋－＠]""")
_NUMBER = re.compile(r"-\d+(\.\d+)?")


def protect(cell: str) -> str:
    """Returns a cell in the form in which it is written to a table."""
    return f"'{cell}" if _could_be_formula(cell) else cell


def unprotect(cell: str) -> str:
    """Restores a cell that `protect` has changed. Other cells are returned unchanged."""
    return cell[1:] if cell.startswith("'") and _could_be_formula(cell[1:]) else cell


def _could_be_formula(cell: str) -> bool:
    return bool(_FORMULA.match(cell)) and not _NUMBER.fullmatch(cell)


def to_line(cells: Iterable[object]) -> str:
    """Returns a line of a table: protected cells separated by tabs, and a line feed.

    White space in a cell becomes one space.
    """
    return "\t".join(protect(" ".join(str(cell).split())) for cell in cells) + "\n"
