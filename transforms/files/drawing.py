"""Formats tables for the terminal."""

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from corpusmill.transforms.files.terminal import new_console

_WIDEST = 10_000  # largest width of a table, in columns of the screen
_NARROWEST = 10  # least number of characters in a line of a wrapped cell
_NAMED = 8  # number of names to print of a long list


def count_of(number: int, what: str) -> str:
    """Returns a number and a noun, such as "1 error" or "1,203 errors". `what` is the singular noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def name_some(names: Sequence[str]) -> str:
    """Returns a list of names as text. A long list is shortened: "fra, deu and 12 more"."""
    told = ", ".join(names[:_NAMED])
    return told if len(names) <= _NAMED else f"{told} and {len(names) - _NAMED:,} more"


def draw(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: int = 0,
    total: Sequence[str] = (),
    width: int | None = None,
    key: int = 1,
) -> str:
    """Formats a table as text. Cells are never truncated.

    If the table is wider than `width`, it is split into several tables, one below the other. The first `key`
    columns are repeated in each of them. If any other column is too wide to fit beside the repeated columns,
    the text in the last repeated column is wrapped.

    Args:
      columns: titles of the columns.
      rows: formatted cells.
      numbers: number of columns at the end that are right-aligned.
      total: last row, which is separated by a line.
      width: width of the screen in characters; None for no limit.
      key: number of columns at the beginning that are repeated.
    """
    cells, places = list(rows), list(range(len(columns)))
    alone = ([*places[:key], place] for place in places[key:])
    widest = max((_width_of(columns, cells, total, one) for one in alone), default=0)
    if width and key and widest > width:
        longest = max(map(len, (columns[key - 1], *(row[key - 1] for row in cells))))
        part = max(longest - widest + width, _NARROWEST)
        cells = [
            [*row[: key - 1], "\n".join(textwrap.wrap(row[key - 1], part)), *row[key:]]
            for row in cells
        ]
    drawn, begun = "", places[:key]
    for place in places[key:]:
        taken = [*begun, place]
        if width and len(begun) > key and _width_of(columns, cells, total, taken) > width:
            drawn += _draw(columns, cells, numbers, total, begun) + "\n"
            taken = [*places[:key], place]
        begun = taken
    return drawn + _draw(columns, cells, numbers, total, begun)


def screen_columns() -> int | None:
    """Returns the width of the screen: the environment variable COLUMNS or, if unset, that of the terminal.

    Returns None if there is neither.
    """
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if has_width else None


def _width_of(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    total: Sequence[str],
    places: Sequence[int],
) -> int:
    return max(map(len, _draw(columns, rows, 0, total, places).splitlines()), default=0)


def _draw(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: int,
    total: Sequence[str],
    places: Sequence[int],
) -> str:
    """Formats one table that has only the columns with the indices `places`.

    The other arguments are those of `draw`.
    """
    table = Table(box=box.SIMPLE)
    for place in places:
        justify: Any = "right" if place >= len(columns) - numbers else "left"
        table.add_column(columns[place], justify=justify, no_wrap=True)
    for row in rows:
        cells = (Text(row[place]) for place in places)
        table.add_row(*cells, end_section=bool(total) and row is rows[-1])
    if total:
        table.add_row(*(Text(total[place]) for place in places))
    drawing = io.StringIO()
    console = new_console(file=drawing, width=_WIDEST, force_terminal=False, color_system=None)
    console.width = Measurement.get(console, console.options, table).maximum
    console.print(table)
    lines = (line.rstrip() for line in drawing.getvalue().strip("\n").splitlines())
    return "".join(f"{line}\n" for line in lines if line)
