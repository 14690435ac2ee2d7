"""What dataset cards are made of: tables, lists, and the head that the Hugging Face hub reads."""

from collections.abc import Iterable, Iterator, Sequence


def make_table(columns: Sequence[str], rows: Iterable[Iterable[str | int]]) -> list[str]:
    """The lines of a table; the first column is aligned left, numbers have their thousands marked."""
    lines = [f"| {' | '.join(columns)} |", f"|---{'|---:' * (len(columns) - 1)}|"]
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else cell for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def make_list(title: str, sentences: Sequence[str]) -> list[str]:
    """The lines of a list after a blank line; none for no sentence."""
    return ["", title, "", *(f"- {sentence}" for sentence in sentences)] if sentences else []


def hub_head(license_id: str, edition: str, splits: Iterable[str]) -> list[str]:
    """The lines of the YAML head; the language is what the edition begins with."""
    return [
        "---",
        f"license: {license_id}",
        f"language: {edition.partition('-')[0]}",
        "configs:",
        f"- config_name: {edition}",
        "  data_files:",
        *(line for split in splits for line in _data_files(split)),
        "---",
    ]


def _data_files(split: str) -> Iterator[str]:
    yield f"  - split: {split}"
    yield f"    path: {split}-*.parquet"
