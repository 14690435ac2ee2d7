"""Tables on a screen."""

import io
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_WIDEST = 10_000  # columns
_NAMED = 8  # of many


def count_of(number: int, what: str) -> str:
    """ "1 error", "1,203 errors"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def name_some(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    told = ", ".join(names[:_NAMED])
    return told if len(names) <= _NAMED else f"{told} and {len(names) - _NAMED:,} more"


def draw(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: int = 0,
    total: Sequence[str] = (),
) -> str:
    """A table as wide as it has to be: columns are never cut.

    Args:
      columns: their titles.
      rows: their cells, as they are to be shown.
      numbers: how many of the last columns stand at the right.
      total: a row under a line.
    """
    table = Table(box=box.SIMPLE)
    for place, title in enumerate(columns):
        justify: Any = "right" if place >= len(columns) - numbers else "left"
        table.add_column(title, justify=justify, no_wrap=True)
    cells = list(rows)
    for row in cells:
        table.add_row(*map(Text, row), end_section=bool(total) and row is cells[-1])
    if total:
        table.add_row(*map(Text, total))
    drawing = io.StringIO()
    console = Console(file=drawing, width=_WIDEST, force_terminal=False, color_system=None)
    console.width = Measurement.get(console, console.options, table).maximum
    console.print(table)
    lines = (line.rstrip() for line in drawing.getvalue().strip("\n").splitlines())
    return "".join(f"{line}\n" for line in lines if line)
