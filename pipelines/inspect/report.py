"""The sizes of finished builds: for people, for a paper, for programs.

Those of Wiki-40B are as in the table of the paper, and those of other corpora in a table of their own.
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from pipelines.inspect.build_sizes import BuildSizes, Found, newest_of_each_language, total_of
from transforms.text.fingerprint import SPLITS

UNKNOWN = "–"
MILLIONS_FROM = 10_000_000
"""Counts of pieces and characters are shown in millions where the largest of them is at least this."""

_WIDEST = 10_000  # columns
_HEAD = (
    "language",
    "dump",
    "articles",
    "sections",
    *(f"pieces{{unit}} {split}" for split in SPLITS),
    *(f"characters{{unit}} {split}" for split in SPLITS),
    "characters/ piece",
    "coverage",
    "paper: articles",
    "paper: characters/ piece",
)


def _head(rows: Sequence[BuildSizes]) -> list[str]:
    unit = " (M)" if _in_millions(rows) else ""
    return [title.format(unit=unit) for title in _HEAD]


def _in_millions(rows: Sequence[BuildSizes]) -> bool:
    return max(row.characters[split] for row in rows for split in SPLITS) >= MILLIONS_FROM


def _cells(row: BuildSizes, in_millions: bool) -> list[str]:
    def count(number: int | None) -> str:
        if number is None:
            return UNKNOWN
        return f"{number / 1e6:,.1f}" if in_millions else f"{number:,}"

    return [
        row.language,
        row.dump_date,
        f"{row.articles:,}",
        f"{row.sections:,}",
        *(count(row.pieces.get(split)) for split in SPLITS),
        *(count(row.characters[split]) for split in SPLITS),
        UNKNOWN if row.characters_per_piece is None else f"{row.characters_per_piece:.3f}",
        UNKNOWN if row.coverage is None else f"{row.coverage:.2%}",
        f"{row.paper_articles:,}",
        f"{row.paper_characters_per_piece:.3f}",
    ]


def _lines_of_others(found: Found) -> list[list[str]]:
    """A line of names, then one for each build of a corpus that the table of the paper does not have."""
    lines = [
        [
            *(other.corpus, other.edition, other.dump_date, other.unit),
            ", ".join(f"{split} {kept:,}" for split, kept in other.kept.items()),
        ]
        for other in found.others
    ]
    return [["corpus", "edition", "dump", "unit", "kept"], *lines] if lines else []


def _notes(found: Found) -> list[str]:
    unfinished = [f"unfinished, not shown: {folder}" for folder in found.unfinished]
    if not found.rows:
        return unfinished
    notes = [
        "characters per piece and coverage (characters that have a piece of their own) are those of"
        " validation and test; a marker is one character; the paper's pieces are of its own vocabularies"
    ]
    if len(newest_of_each_language(found.rows)) < len(found.rows):
        notes.append("Total: the newest build of each language")
    return notes + unfinished


def render_text(found: Found) -> str:
    """Tables for people, as wide as they have to be; columns are never cut."""
    drawn = []
    if found.rows:
        in_millions = _in_millions(found.rows)
        head = [title.replace(" ", "\n") for title in _head(found.rows)]
        rows = [_cells(row, in_millions) for row in (*found.rows, total_of(found.rows))]
        drawn.append(_draw("Wiki-40B, as Table 2 of the paper", head, rows, len(rows) - 2))
    if found.others:
        head, *rows = _lines_of_others(found)
        drawn.append(_draw("Other corpora", head, rows))
    notes = "".join(f"note: {note}\n" for note in _notes(found))
    return "\n".join(drawn) + notes


def _draw(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], line_after: int = -1
) -> str:
    """A table of one title, the columns of numbers to the right."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    numbers = (2, len(head)) if line_after >= 0 else (0, 0)
    for place, name in enumerate(head):
        justify: Any = "right" if place in range(*numbers) else "left"
        table.add_column(name, justify=justify, no_wrap=True)
    for number, row in enumerate(rows):
        table.add_row(*row, end_section=number == line_after)
    drawing = io.StringIO()
    console = Console(file=drawing, width=_WIDEST, force_terminal=False, color_system=None)
    console.width = Measurement.get(console, console.options, table).maximum
    console.print(table)
    lines = [line.rstrip() for line in drawing.getvalue().strip("\n").splitlines()]
    return "\n".join([*lines, ""])


def render_markdown(found: Found) -> str:
    """Tables for a paper or a README."""
    tables = []
    if found.rows:
        in_millions = _in_millions(found.rows)
        head = _head(found.rows)
        cells = [_cells(row, in_millions) for row in (*found.rows, total_of(found.rows))]
        tables.append([head, ["---", "---", *["---:"] * (len(head) - 2)], *cells])
    if found.others:
        head, *cells = _lines_of_others(found)
        tables.append([head, ["---"] * len(head), *cells])
    lines = [[f"| {' | '.join(cells)} |" for cells in table] for table in tables]
    parts = ["".join(f"{line}\n" for line in table) for table in lines]
    notes = "".join(f"- {note}\n" for note in _notes(found))
    return "\n".join([*parts, *([notes] if notes else [])])


def render_tsv(found: Found) -> str:
    """Exact numbers under one line of names; nothing between two tabs is not known.

    One table: builds of other corpora are in it where there is none of Wiki-40B.
    """
    if found.rows:
        lines = [_flat(row) for row in (*found.rows, total_of(found.rows))]
    else:
        lines = [
            dict(zip(other._fields, other[:-1], strict=False)) | {"split": split, "kept": count}
            for other in found.others
            for split, count in other.kept.items()
        ]
    head = "\t".join(lines[0])
    return "\n".join([head, *("\t".join(map(str, line.values())) for line in lines)]) + "\n"


def _flat(row: BuildSizes) -> dict[str, Any]:
    per_piece, coverage = row.characters_per_piece, row.coverage
    return {
        "language": row.language,
        "dump_date": row.dump_date,
        "version": row.version,
        "articles": row.articles,
        "sections": row.sections,
        **{f"{split}_pieces": row.pieces.get(split, "") for split in SPLITS},
        **{f"{split}_characters": row.characters[split] for split in SPLITS},
        "characters_per_piece": "" if per_piece is None else f"{per_piece:.4f}",
        "coverage": "" if coverage is None else f"{coverage:.6f}",
        "paper_articles": row.paper_articles,
        "paper_characters_per_piece": f"{row.paper_characters_per_piece:.3f}",
    }


def render_json(found: Found) -> str:
    """Everything, numbers as they are; null is not known."""
    value = {
        "rows": [row._asdict() for row in found.rows],
        "total": total_of(found.rows)._asdict() if found.rows else None,
        "unfinished": found.unfinished,
        "others": [other._asdict() for other in found.others],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


RENDERERS: Mapping[str, Callable[[Found], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "tsv": render_tsv,
    "json": render_json,
}
