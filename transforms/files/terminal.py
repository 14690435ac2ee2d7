"""Prints text of unknown origin to a terminal.

Control characters could change what a terminal shows or does. They are shown as escapes such as `\\u001b`.

Formats tables for the terminal.
"""

import contextlib
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")
_BREAK = re.compile(r"[\t\n\u2028\u2029]")


def escape(text: str) -> str:
    """Returns a text in which control characters are replaced by escapes.

    They are the controls of Unicode except tabs and line feeds, characters that override the direction of
    text, and unpaired surrogates, which cannot be printed. An escape is like that of JSON, so JSON stays
    valid and keeps its meaning.
    """
    return _CONTROL.sub(_escaped, text)


def escape_line(text: str) -> str:
    """Returns a text in one line: control characters, tabs and line breaks are replaced by escapes."""
    return _BREAK.sub(_escaped, escape(text))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class EscapedStream:
    """A text stream that writes to another one, and replaces control characters.

    The other stream is the attribute `rich_proxied_file`: consoles of rich write their own control sequences
    there.
    """

    def __init__(self, stream: Any):
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Writes a text, and returns its length."""
        self.rich_proxied_file.write(escape(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextlib.contextmanager
def escaped_output() -> Iterator[None]:
    """Replaces control characters in all text that is written to stdout and stderr in the `with` block."""
    out: Any = EscapedStream(sys.stdout)
    err: Any = EscapedStream(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def new_console(*, stderr: bool = False, **named: Any) -> "Console":
    """Returns a console of rich that prints strings as they are, and control characters as escapes.

    Words in brackets, such as `[red]`, and names of emoji are not interpreted.

    Args:
      stderr: whether to write to stderr instead of stdout.
      named: Further arguments of the console.
    """
    from rich.console import Console
    from rich.text import Text

    class _Console(Console):
        def render_str(self, text: str, *args: Any, **named: Any) -> Text:
            return super().render_str(escape(text), *args, **named)

    stream: Any = sys.stderr if stderr else sys.stdout
    while hasattr(stream, "rich_proxied_file"):
        stream = stream.rich_proxied_file
    settings = {"file": stream, "highlight": False, "markup": False, "emoji": False}
    return _Console(**(settings | named))


_WIDEST = 10_000  # largest width of a table, in columns of the screen
_NARROWEST = 10  # least number of characters in a line of a wrapped cell


def shorten(text: str, most: int) -> str:
    """Returns a text of at most `most` characters, the last of which is "…" if the text was longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def count_of(number: int, what: str) -> str:
    """Returns a number and a noun, such as "1 error" or "1,203 errors". `what` is the singular noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def name_some(names: Sequence[str], most: int = 8) -> str:
    """Returns a list of names as text. After `most` names, it is shortened: "fra, deu and 12 more"."""
    told = ", ".join(names[:most])
    return told if len(names) <= most else f"{told} and {len(names) - most:,} more"


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
    the text in the last repeated column is wrapped. So with `key` columns and no more, that is the last one.

    Args:
      columns: titles of the columns.
      rows: formatted cells.
      numbers: number of columns at the end that are right-aligned.
      total: last row, which is separated by a line.
      width: width of the screen in characters; None for no limit.
      key: number of columns at the beginning that are repeated.
    """
    # Names may be cut; of texts, paths and flags can be copied only if they are not.
    is_name = key < len(columns)
    wrap = textwrap.wrap if is_name else fold_parts
    cells, places = list(rows), list(range(len(columns)))
    alone = [[*places[:key], place] for place in places[key:]] or [places]
    widest = max(_width_of(columns, cells, total, one) for one in alone)
    if width and key and widest > width:
        longest = max(map(len, (columns[key - 1], *(row[key - 1] for row in cells))))
        part = max(longest - widest + width, _NARROWEST)
        cells = [
            [*row[: key - 1], "\n".join(wrap(row[key - 1], part)), *row[key:]] for row in cells
        ]
    drawn, begun = "", places[:key]
    for place in places[key:]:
        taken = [*begun, place]
        if width and len(begun) > key and _width_of(columns, cells, total, taken) > width:
            drawn += _draw(columns, cells, numbers, total, begun) + "\n"
            taken = [*places[:key], place]
        begun = taken
    return drawn + _draw(columns, cells, numbers, total, begun)


def fold_parts(text: str, width: int) -> list[str]:
    """Returns the lines of a text of at most `width` characters, if no word and no part is longer.

    Lines end at white space, or after "|", which separates the parts of signatures.
    """
    lines = [""]
    for part in re.findall(r"[^\s|]*[\s|]|[^\s|]+", text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def fold(text: str, width: int | None = None) -> str:
    """Returns a text whose lines are folded between words, if they are wider than `width`.

    `width` is by default that of the screen. If there is no screen, the text is unchanged.
    """
    if not (width := width or screen_columns()):
        return text
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    lines = []
    for line in text.split("\n"):
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines.append(wrapper.fill(line) if len(line) > width else line)
    return "\n".join(lines)


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
    from rich import box  # slow to import
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for place in places:
        justify: Any = "right" if place >= len(columns) - numbers else "left"
        table.add_column(columns[place], justify=justify, no_wrap=True)
    for row in rows:
        cells = (Text(row[place]) for place in places)
        table.add_row(*cells, end_section=bool(total) and row is rows[-1])
    if total:
        table.add_row(*(Text(total[place]) for place in places))
    console = new_console(file=io.StringIO(), width=_WIDEST, color_system=None)
    width = Measurement.get(console, console.options, table).maximum
    return "".join(f"{line}\n" for line in _printed(table, width) if line)


def draw_texts(
    columns: Sequence[str], rows: Iterable[Sequence[str]], shares: Sequence[int], width: int
) -> str:
    """Formats texts side by side, for reading. The texts are wrapped, and an empty line follows each row.

    Args:
      columns: titles of the columns.
      rows: texts, which may have several lines.
      shares: the width of each column, relative to the others.
      width: width of the screen in characters.
    """
    from rich import box  # slow to import
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, expand=True, show_lines=True)
    for column, share in zip(columns, shares, strict=True):
        table.add_column(column, ratio=share, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return "".join(f"{line}\n" for line in _printed(table, width))


def _printed(table: Any, width: int) -> list[str]:
    """Returns the lines of a table of rich."""
    drawing = io.StringIO()
    new_console(file=drawing, width=width, force_terminal=False, color_system=None).print(table)
    return [line.rstrip() for line in drawing.getvalue().strip("\n").splitlines()]
