"""Prints documents of a finished build: the first ones, some by chance, or those that a condition selects."""

import argparse
import bisect
import itertools
import pydoc
import random
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corpusmill.transforms.files.terminal import count_of, shorten

from ..run.flags import Commands, Flags, add_command, guess
from ..run.settings import positive

if TYPE_CHECKING:
    import pyarrow as pa

    from corpusmill.transforms.files.builds.finished_builds import RowGroup
    from corpusmill.transforms.files.records import CorpusShape

_CONDITION = re.compile(r"\s*(\w+)\s*(!~|!=|<=|>=|~|=|<|>)\s*(.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_COMPARISONS = {
    "=": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
_MARKER = re.compile(r"^_START_\w+_$|_NEWLINE_", re.MULTILINE)  # of Wiki-40B
_TITLE = "title"  # also where the title is a line of the text
_LINES, _VALUE = 4, 60  # lines of a text, and characters of a value, without --full


def add_head(commands: Commands) -> None:
    """Shows documents of a finished build: title, first lines, and the other columns.

    examples:
      The first twenty documents:
        corpusmill head corpora/wiki40b/uk
      Five drawn by chance, the same five each time, whole:
        corpusmill head corpora/pg19/en --random 7 -n 5 --full
      Those that a condition selects:
        corpusmill head corpora/wiki40b/uk --where 'title ~ ^Київ'
        corpusmill head corpora/pg19/en --split test --where 'publication_date < 1800'

    A condition is COLUMN OPERATOR VALUE. ~ and !~ compare with a regular expression of RE2, anywhere in the
    value; = != < <= > >= compare with a value of the column's type, and < <= > >= numbers also in columns of
    text, such as years. At a terminal, a long output is shown by the pager of the system (PAGER).
    """
    about = "shows documents of a finished build, with all their columns"
    parser = add_command(commands, "head", about, add_head.__doc__, _run)
    parser.add_argument("build", metavar="BUILD", help="folder of a finished build, or above one")
    parser.add_argument(
        *("-n", "--number"), metavar="N", type=positive, default=20, help="documents (default 20)"
    )
    flags = Flags(parser)
    flags.number("--random", "draw the documents by chance", metavar="SEED")
    flags.text("--split", "SPLIT", "only documents of this split, such as test")
    flags.text("--where", "CONDITION", "only documents for which this is true: 'title ~ Kyiv'")
    flags.switch("--full", "the whole texts and values, instead of their beginnings")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.transforms.files.terminal import escape, screen_columns

    shown = show_documents(
        settings.build,
        settings.number,
        seed=settings.random,
        split=settings.split,
        where=settings.where,
        width=0 if settings.full else screen_columns() or 80,
    )
    if sys.stdout.isatty():
        pydoc.pager(escape("\n".join(shown)))
    else:
        for document in shown:
            print(document)


class _Part(NamedTuple):
    """A row group, and the columns that are read of it."""

    group: "RowGroup"
    columns: Sequence[str]


def show_documents(
    folder: str,
    number: int,
    *,
    seed: int | None = None,
    split: str = "",
    where: str = "",
    width: int,
) -> Iterator[str]:
    """Yields documents of the build in a folder as text, in the order of its files.

    Args:
      folder: The folder of a build, or a folder that has builds of one edition in its subfolders.
      number: The number of documents.
      seed: Draws the documents by chance, the same ones for the same seed; None for the first ones.
      split: The split to read; "" for all.
      where: A condition (see `add_head`); "" for none.
      width: Columns of the screen for which texts and values are shortened; 0 for whole ones.

    Raises InputError if the build has no documents, and ValueError for a wrong split or condition. A row
    group of the build is read at a time.
    """
    from corpusmill.transforms.files.builds.finished_builds import (
        columns_of,
        files_of,
        read_row_group,
        row_groups_of,
    )
    from corpusmill.transforms.files.read_files import InputError
    from corpusmill.transforms.files.records import TITLE_IN_TEXT

    from ..run.corpora import shape_of
    from ..run.editions import choose_build

    build = choose_build(folder)
    shape = shape_of(build.manifest)
    splits = [name for name, files in build.files.items() if files]
    if not shape or not splits:
        raise InputError(folder, f"a build of {build.corpus} contains no documents")
    if split and split not in splits:
        raise ValueError(f"no such split: {split}; the build has {', '.join(splits)}")
    files = files_of(build, [split] if split else splits)
    parts = (
        _Part(group, there)
        for file in files
        for there in [columns_of(file.path)]
        for group in row_groups_of(file)
    )
    text_of_title = shape.texts[0] if shape.title == TITLE_IN_TEXT else ""
    title = _TITLE if text_of_title else shape.title
    columns = columns_of(files[0].path)
    name, is_wanted = _condition(where, [*columns, *([_TITLE] if text_of_title else [])])

    def rows_of(part: _Part) -> Sequence[int]:
        if not is_wanted:
            return range(part.group.rows)
        needed = name if name in part.columns else text_of_title
        table = read_row_group(part.group, [needed]).table
        return is_wanted(_with_title(table, text_of_title if needed != name else ""))

    drawn = iter(()) if seed is None else _drawn(list(parts), rows_of, number, seed)
    count = 0
    for part, places in _first(parts, rows_of, number) if seed is None else drawn:
        table = _with_title(read_row_group(part.group, part.columns).table, text_of_title)
        for row in table.take(list(places)).to_pylist():
            count += 1
            yield _shown(row, shape._replace(title=title), part.group.file.split, width)
    if not count:
        yield "no document" + (f" for which {where}" if where else "")


def _first(
    parts: Iterator[_Part], rows_of: Callable[[_Part], Sequence[int]], number: int
) -> Iterator[tuple[_Part, Sequence[int]]]:
    for part in parts:
        places = rows_of(part)[:number]
        if places:
            yield part, places
        number -= len(places)
        if not number:
            return


def _drawn(
    parts: Sequence[_Part], rows_of: Callable[[_Part], Sequence[int]], number: int, seed: int
) -> Iterator[tuple[_Part, Sequence[int]]]:
    """Draws rows by chance. Only the numbers of rows are kept, so the drawn parts are searched twice."""
    ends = list(itertools.accumulate(len(rows_of(part)) for part in parts))
    total = ends[-1] if ends else 0
    drawn = sorted(random.Random(seed).sample(range(total), min(number, total)))
    for at, indexes in itertools.groupby(drawn, lambda index: bisect.bisect_right(ends, index)):
        places, first = rows_of(parts[at]), ends[at - 1] if at else 0
        yield parts[at], [places[index - first] for index in indexes]


def _with_title(table: "pa.Table", text: str) -> "pa.Table":
    """Returns rows of Wiki-40B with a column of titles, which are the second line of the column `text`."""
    import pyarrow.compute as pc

    if not text or _TITLE in table.column_names:
        return table
    titles = pc.extract_regex(table[text], r"^\n_START_ARTICLE_\n(?P<title>[^\n]*)")
    return table.add_column(0, _TITLE, pc.struct_field(titles, _TITLE))


def _condition(
    where: str, columns: Sequence[str]
) -> tuple[str, Callable[["pa.Table"], list[int]] | None]:
    """Returns the column of a condition, and the function from rows to the indexes of those that match."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not where:
        return "", None
    parsed = _CONDITION.fullmatch(where)
    if not parsed:
        raise ValueError(f"--where {where!r} is not COLUMN OPERATOR VALUE, such as 'title ~ Kyiv'")
    name, operator, value = parsed.groups()
    if name == "split":
        raise ValueError("--where: name the split with --split")
    if name not in columns:
        known = ", ".join(dict.fromkeys(columns))
        raise ValueError(
            f"--where: no such column: {name}; the build has {known}{guess(name, columns)}"
        )

    def matches(table: pa.Table) -> list[int]:
        column = table[name]
        try:
            if "~" in operator:
                is_it = pc.match_substring_regex(pc.cast(column, pa.string()), value)
                is_it = pc.invert(is_it) if operator == "!~" else is_it
            else:
                if operator not in ("=", "!=") and _NUMBER.fullmatch(value):
                    column = pc.cast(column, pa.float64())
                wanted = pc.cast(pa.array([value]), column.type)[0]
                is_it = pc.call_function(_COMPARISONS[operator], [column, wanted])
        except pa.ArrowException as error:
            raise ValueError(f"--where {where!r}: {error}; {name} is {column.type}") from None
        places: list[int] = pc.indices_nonzero(pc.fill_null(is_it, False)).to_pylist()
        return places

    return name, matches


def _shown(row: Mapping[str, Any], shape: "CorpusShape", split: str, width: int) -> str:
    """Returns a document as text: a line with title, id and split, its other columns, and its text."""
    named = [str(row[name]) for name in (shape.title, shape.id) if row.get(name) not in (None, "")]
    others = [
        f"{name}: {shorten(' '.join(str(value).split()), _VALUE) if width else value}"
        for name, value in row.items()
        if name not in (shape.title, shape.id, "split", *shape.texts) and value is not None
    ]
    lines = [" · ".join([*dict.fromkeys(named), split])]
    lines += textwrap.wrap("; ".join(others), width or 10**9, subsequent_indent="  ")
    for name in shape.texts:
        if row.get(name) is not None:
            lines += _lines_of(str(row[name]), str(row.get(shape.title)), width)
    return "\n".join(lines) + "\n"


def _lines_of(text: str, title: str, width: int) -> list[str]:
    """Returns the lines of a text; if there is a width, only the first ones, without title and markers."""
    if not width:
        return text.split("\n")
    from rich.cells import cell_len, set_cell_size

    lines = _MARKER.sub("\n", text).split("\n")
    told = [line for line in lines if line.strip() and line != title]
    cut = [
        line if cell_len(line) <= width - 2 else set_cell_size(line, width - 3).rstrip() + "…"
        for line in told[:_LINES]
    ]
    rest = [f"… {count_of(len(told) - _LINES, 'more line')}"] if len(told) > _LINES else []
    return [f"  {line}" for line in (*cut, *rest)]
