"""Formats a report on the sizes of finished builds as text, Markdown, TSV or JSON.

The table of Wiki-40B has the columns of Table 2 in its paper. All other corpora are in a second table.

Prints the audit of a build: the kinds of holes, and the templates and pages with the most holes.

A hole is a place in the text where words are missing.
"""

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from corpusmill.transforms.files.builds.paper_figures import NO_SCORES, OTHER_TEXT
from corpusmill.transforms.files.markup import to_line
from corpusmill.transforms.files.terminal import (
    draw,
    escape_line,
    new_console,
    screen_columns,
    shorten,
)
from corpusmill.transforms.files.text import SPLITS

from .build_sizes import BuildSizes, Found, KeptDocuments, newest_of_each_language, total_of

UNKNOWN = "–"
MILLIONS_FROM = 10_000_000
"""If the largest number of characters in the table is at least this, pieces and characters are
in millions.
"""

_HEAD = (
    "edition",
    "dump",
    "articles",
    "sections",
    *(f"pieces{{unit}} {split}" for split in SPLITS),
    *(f"characters{{unit}} {split}" for split in SPLITS),
    "characters/ piece",
    "coverage",
    "paper: articles",
    "paper: characters/ piece",
    "paper: bits/ character",
    "what differs",
)


_KEY = 2  # number of columns that identify the build of a row


def _tables(
    found: Found, between: str = ", "
) -> Iterator[tuple[str, list[str], list[list[str]], int]]:
    """Yields the table of Wiki-40B, then the table of all other corpora, as (title, head, rows, numbers).

    The last `numbers` columns are right-aligned. If it is not 0, the last row is a total.

    Args:
      between: The separator between the counts of two splits, and between settings that differ.
    """
    if found.rows:
        most = max(row.characters[split] for row in found.rows for split in SPLITS)
        in_millions = most >= MILLIONS_FROM
        head = [title.format(unit=" (M)" if in_millions else "") for title in _HEAD]
        rows = [_cells(row, in_millions, between) for row in (*found.rows, total_of(found.rows))]
        yield "Wiki-40B, as Table 2 of the paper", head, rows, len(head) - 2
    if found.others:
        rows = [
            [
                *(other.corpus, other.edition, other.dump_date, other.unit),
                *(_splits(counts, between) for counts in (other.kept, other.paper)),
                *(_splits(counts, between) for counts in (other.words, other.paper_words)),
                between.join(f"{split} {score}" for split, score in other.paper_scores.items())
                or UNKNOWN,
                other.differs.replace(", ", between) or UNKNOWN,
            ]
            for other in found.others
        ]
        head = ["corpus", "edition", "dump", "unit", "kept", "paper: kept"]
        yield (
            "Other corpora and editions",
            [*head, "words", "paper: words", "paper: score", _HEAD[-1]],
            rows,
            0,
        )


def _splits(counts: Mapping[str, int], between: str) -> str:
    return between.join(f"{split} {count:,}" for split, count in counts.items()) or UNKNOWN


def _cells(row: BuildSizes, in_millions: bool, between: str) -> list[str]:
    def count(number: int | None) -> str:
        if number is None:
            return UNKNOWN
        return f"{number / 1e6:,.1f}" if in_millions else f"{number:,}"

    return [
        row.edition,
        row.dump_date,
        f"{row.articles:,}",
        f"{row.sections:,}",
        *(count(row.pieces.get(split)) for split in SPLITS),
        *(count(row.characters[split]) for split in SPLITS),
        _number(row.characters_per_piece, ".3f", UNKNOWN),
        _number(row.coverage, ".2%", UNKNOWN),
        f"{row.paper_articles:,}",
        f"{row.paper_characters_per_piece:.3f}",
        _number(row.paper_bits_per_character, ".3f", UNKNOWN),
        row.differs.replace(", ", between) or UNKNOWN,
    ]


def _number(value: float | str | None, shape: str, unknown: str) -> str:
    return unknown if value is None else format(value, shape)


def _notes(found: Found) -> list[str]:
    others = [
        f"no figures of the paper beside {one.corpus} {one.edition}: {one.why_no_paper}"
        for one in found.others
        if one.why_no_paper
    ]
    if any(one.paper_scores and not one.is_released for one in found.others):
        others.append(OTHER_TEXT)
    if any(one.differs for one in found.rows) or any(one.differs for one in found.others):
        others.append(NO_SCORES)
    others += [f"not in the table, because unfinished: {folder}" for folder in found.unfinished]
    if not found.rows:
        return others
    notes = [
        "characters per piece and coverage (the share of characters that have a piece of their own) are"
        " measured on validation and test; a marker counts as one character (before 1.4.0 without its line"
        " feeds); the paper used its own vocabularies; its bits per character are those of models with 32k"
        " pieces on test, on the text of the published corpus"
    ]
    if len(newest_of_each_language(found.rows)) < len(found.rows):
        notes.append(
            "Total is the sum over the newest build of each language, in its first edition here"
        )
    return notes + others


def render_text(found: Found, width: int | None = None) -> str:
    """Formats the tables of the report for a terminal. Columns are never truncated.

    Args:
      width: The width of the screen in characters; None for no limit. A wider table is split into several.
    """
    drawn = []
    for title, head, rows, numbers in _tables(found, "\n" if width else ", "):
        names = [name.replace(" ", "\n") for name in head]
        total = rows.pop() if numbers else ()
        table = draw(names, rows, numbers=numbers, total=total, width=width, key=_KEY)
        drawn.append(f"{title}\n\n{table}\n")
    notes = "".join(f"{_fill(f'note: {note}', width)}\n" for note in _notes(found))
    return "\n".join(drawn) + notes


def _fill(text: str, width: int | None) -> str:
    return textwrap.fill(text, width, break_long_words=False) if width else text


def render_markdown(found: Found) -> str:
    """Formats the tables of the report as Markdown."""
    parts = []
    for _, head, rows, numbers in _tables(found):
        marks = ["---"] * (len(head) - numbers) + ["---:"] * numbers
        parts.append("".join(f"| {' | '.join(cells)} |\n" for cells in (head, marks, *rows)))
    if notes := _notes(found):
        parts.append("".join(f"- {note}\n" for note in notes))
    return "\n".join(parts)


def render_tsv(found: Found) -> str:
    """Formats one table of the report as tab-separated lines with a header and unrounded numbers.

    It is the table of Wiki-40B if any build of Wiki-40B was found, otherwise the table of all other corpora.
    Unknown values are empty.
    """
    if found.rows:
        lines = [_flat(row) for row in (*found.rows, total_of(found.rows))]
        return "".join(map(to_line, (lines[0], *(line.values() for line in lines))))
    names = ("kept", "paper", "words", "paper_words", "paper_score", "why_no_paper", "differs")
    rows = (
        (*one[:5], split, *(counts.get(split, "") for counts in one[5:10]), *one[10:12])
        for one in found.others
        for split in {**one.kept, **one.words}
    )
    return "".join(map(to_line, ((*KeptDocuments._fields[:5], "split", *names), *rows)))


_DIGITS = {"characters_per_piece": ".4f", "coverage": ".6f"}  # of the others, 3


def _flat(row: BuildSizes) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row._asdict().items():
        if isinstance(value, Mapping):
            flat |= {f"{split}_{name}": value.get(split, "") for split in SPLITS}
        else:
            shape = _DIGITS.get(name, ".3f" if isinstance(value, float) else "")
            flat[name] = _number(value, shape, "")
    return flat


def render_json(found: Found) -> str:
    """Formats the sizes of all builds as JSON with unrounded numbers. Unknown values are null."""
    value = {
        "rows": [row._asdict() for row in found.rows],
        "total": total_of(found.rows)._asdict() if found.rows else None,
        "unfinished": found.unfinished,
        "others": [other._asdict() for other in found.others],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


RENDERERS: Mapping[str, Callable[[Found], str]] = {
    "text": lambda found: render_text(found, screen_columns()),
    "markdown": render_markdown,
    "tsv": render_tsv,
    "json": render_json,
}


COLUMNS = 80
CELL = 24  # maximum number of characters of a name in a table
SHOWN = 10  # number of templates, and of pages, that are printed


def print_audit(summary: Mapping[str, Any]) -> None:
    """Prints the contents of `audit/summary.json` as tables."""
    console = new_console(width=COLUMNS)
    pages = dict(summary["pages"])
    drawn, audited = pages.pop("drawn"), pages.pop("audited")
    left_out = "".join(f", {count:,} {reason}" for reason, count in pages.items())
    words = summary["words"]
    console.print(
        f"audit: {audited:,} of {drawn:,} pages{left_out}; {summary['paragraphs']:,} paragraphs;"
        f" {words['in_text'] / max(words['in_source'], 1):.2%} of the words of running text"
    )
    kinds = [
        (kind, f"{counts['count']:,}", f"{counts['per_1000_paragraphs']:.2f}")
        for kind, counts in summary["holes"].items()
        if counts["count"] or kind == "all"
    ]
    templates = [
        (
            *(shorten(escape_line(one[name]), CELL) for name in ("template", "for_example_in")),
            *(str(one.get(name, "")) for name in ("holes", "shown", "nothing")),
        )
        for one in summary["templates"][:SHOWN]
    ]
    worst = [
        (shorten(escape_line(one["title"]), CELL), str(one["holes"]))
        for one in summary["worst_pages"][:SHOWN]
    ]
    for columns, rows, numbers in (
        (("holes", "count", "per 1,000 paragraphs"), kinds, 2),
        (("template", "for example in", "holes", "shown", "nothing"), templates, 3),
        (("page", "holes"), worst, 1),
    ):
        if rows:
            table = draw(columns, rows, numbers=numbers, width=COLUMNS)
            console.print(table, end="", soft_wrap=True)
