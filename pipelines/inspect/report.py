"""The sizes of finished builds as the table of the paper: for people, for a paper, for programs."""

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


def _notes(found: Found) -> list[str]:
    notes = [
        "characters per piece and coverage (characters that have a piece of their own) are those of"
        " validation and test; a marker is one character; the paper's pieces are of its own vocabularies"
    ]
    if len(newest_of_each_language(found.rows)) < len(found.rows):
        notes.append("Total: the newest build of each language")
    notes += [f"unfinished, not shown: {folder}" for folder in found.unfinished]
    return notes


def render_text(found: Found) -> str:
    """A table for people, as wide as it has to be; columns are never cut."""
    rows = found.rows
    table = Table(title="Wiki-40B, as Table 2 of the paper", title_justify="left", box=box.SIMPLE)
    for number, title in enumerate(_head(rows)):
        justify: Any = "left" if number < 2 else "right"
        table.add_column(title.replace(" ", "\n"), justify=justify, no_wrap=True)
    in_millions = _in_millions(rows)
    for row in rows:
        table.add_row(*_cells(row, in_millions), end_section=row is rows[-1])
    table.add_row(*_cells(total_of(rows), in_millions))
    drawing = io.StringIO()
    console = Console(file=drawing, width=_WIDEST, force_terminal=False, color_system=None)
    console.width = Measurement.get(console, console.options, table).maximum
    console.print(table)
    lines = [line.rstrip() for line in drawing.getvalue().strip("\n").splitlines()]
    return "\n".join([*lines, *(f"note: {note}" for note in _notes(found))]) + "\n"


def render_markdown(found: Found) -> str:
    """A table for a paper or a README."""
    in_millions = _in_millions(found.rows)
    head = _head(found.rows)
    lines = [head, ["---", "---", *["---:"] * (len(head) - 2)]]
    lines += [_cells(row, in_millions) for row in (*found.rows, total_of(found.rows))]
    table = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([*table, "", *(f"- {note}" for note in _notes(found))]) + "\n"


def render_tsv(found: Found) -> str:
    """Exact numbers under one line of names; nothing between two tabs is not known."""
    lines = [_flat(row) for row in (*found.rows, total_of(found.rows))]
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
        "total": total_of(found.rows)._asdict(),
        "unfinished": found.unfinished,
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


RENDERERS: Mapping[str, Callable[[Found], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "tsv": render_tsv,
    "json": render_json,
}
