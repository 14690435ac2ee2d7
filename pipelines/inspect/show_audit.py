"""Prints the audit of a build: the kinds of holes, and the templates and pages with the most holes.

A hole is a place in the text where words are missing.
"""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from corpusmill.transforms.files.terminal import new_console

COLUMNS = 80
SHOWN = 10  # number of templates, and of pages, that are printed


def print_audit(summary: Mapping[str, Any]) -> None:
    """Prints the contents of `audit/summary.json` as tables."""
    console = new_console(width=COLUMNS)
    pages = dict(summary["pages"])
    drawn, audited = pages.pop("drawn"), pages.pop("audited")
    left_out = "".join(f", {count:,} {reason}" for reason, count in pages.items())
    words = summary["words"]
    share = words["in_text"] / max(words["in_source"], 1)
    console.print(
        f"audit: {audited:,} of {drawn:,} pages{left_out}; {summary['paragraphs']:,} paragraphs;"
        f" {share:.2%} of the words of running text"
    )
    kinds = _table("holes", "count", "per 1,000 paragraphs")
    for kind, counts in summary["holes"].items():
        if counts["count"] or kind == "all":
            kinds.add_row(kind, f"{counts['count']:,}", f"{counts['per_1000_paragraphs']:.2f}")
    console.print(kinds)
    if summary["templates"]:
        templates = _table("template", "holes", "shown", "nothing", example="for example in")
        for one in summary["templates"][:SHOWN]:
            counts = (str(one.get(name, "")) for name in ("holes", "shown", "nothing"))
            templates.add_row(one["template"], *counts, one["for_example_in"])
        console.print(templates)
    if summary["worst_pages"]:
        worst = _table("page", "holes")
        for one in summary["worst_pages"][:SHOWN]:
            worst.add_row(one["title"], str(one["holes"]))
        console.print(worst)


def _table(first: str, *numbers: str, example: str = "") -> Table:
    table = Table()
    table.add_column(first, overflow="ellipsis", no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    if example:
        table.add_column(example, overflow="ellipsis", no_wrap=True)
    return table
