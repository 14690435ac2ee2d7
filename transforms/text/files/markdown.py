"""Makes the parts of dataset cards: tables, lists, and the head that the Hugging Face hub reads."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import yaml


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


class Config(NamedTuple):
    """The files that Hugging Face `datasets` loads by one name."""

    name: str
    files: Mapping[str, str]  # split → pattern of paths, from the folder of the card
    is_default: bool = False  # of several, the one that is loaded without a name


def hub_head(
    license_id: str | list[str], edition: str, splits: Iterable[str], language: str = ""
) -> list[str]:
    """The lines of the YAML head of a build; the language is what the edition begins with, or another."""
    files = {split: f"{split}-*.parquet" for split in splits}
    tag = (language or edition).partition("-")[0]
    return yaml_head(license_id, tag, [Config(edition, files)])


def yaml_head(
    licenses: str | list[str], languages: str | list[str], configs: Iterable[Config]
) -> list[str]:
    """The lines of any YAML head. A text that YAML would read as something else is quoted: 'no'."""
    head = {
        "license": licenses,
        "language": languages,
        "configs": [_config(config) for config in configs],
    }
    text: str = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=math.inf)
    return ["---", *text.removesuffix("\n").split("\n"), "---"]


def _config(config: Config) -> dict[str, Any]:
    files = [{"split": split, "path": path} for split, path in config.files.items()]
    default = {"default": True} if config.is_default else {}
    return {"config_name": config.name, **default, "data_files": files}
