"""Makes the parts of dataset cards: tables, lists, and the YAML head for the Hugging Face hub."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from huggingface_hub import DatasetCardData


def make_table(columns: Sequence[str], rows: Iterable[Iterable[str | int]]) -> list[str]:
    """Returns the lines of a Markdown table.

    The first column is left-aligned, the others are right-aligned. Integers have thousands separators.
    """
    lines = [f"| {' | '.join(columns)} |", f"|---{'|---:' * (len(columns) - 1)}|"]
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else cell for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def make_list(title: str, sentences: Sequence[str]) -> list[str]:
    """Returns the lines of a list, after an empty line and its title, or [] if there are no sentences."""
    return ["", title, "", *(f"- {sentence}" for sentence in sentences)] if sentences else []


class Config(NamedTuple):
    """A configuration of a data set: the files that Hugging Face `datasets` loads by one name."""

    name: str
    files: Mapping[str, str]  # split → pattern of paths, relative to the folder of the card
    is_default: bool = False  # True if it is loaded when no name is given


class Dataset(NamedTuple):
    """The metadata of a data set by which the hub lists and finds it."""

    title: str = ""
    tags: Sequence[str] = ()
    tasks: Sequence[str] = ()  # task categories of the hub
    sizes: Sequence[str] = ()  # from `size_category`


UNLISTED = Dataset()


def size_category(rows: int) -> str:
    """Returns the hub's size category for a number of rows, such as "1K<n<10K"."""
    above = max((n for n in range(len(_POWERS)) if rows >= 10 ** (n + 3)), default=-1)
    if above < 0:
        return f"n<{_POWERS[0]}"
    if above + 1 == len(_POWERS):
        return f"n>{_POWERS[above]}"
    return f"{_POWERS[above]}<n<{_POWERS[above + 1]}"


# Other versions of the library may have another order.
_ORDER = ["license", "language", "pretty_name", "tags", "task_categories", "size_categories"]
_POWERS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")


def hub_head(
    license_id: str | list[str],
    edition: str,
    splits: Iterable[str],
    language: str = "",
    dataset: Dataset = UNLISTED,
) -> list[str]:
    """Returns the lines of the YAML head of a build's dataset card.

    `edition` is the name of the build, such as "uk". If `language` is empty, the language is the part of
    `edition` before the first hyphen.
    """
    files = {split: f"{split}-*.parquet" for split in splits}
    tag = (language or edition).partition("-")[0]
    return yaml_head(license_id, tag, [Config(edition, files)], dataset)


def yaml_head(
    licenses: str | list[str],
    languages: str | list[str],
    configs: Iterable[Config],
    dataset: Dataset = UNLISTED,
) -> list[str]:
    """Returns the lines of the YAML head of a dataset card.

    Texts that YAML would misread, such as 'no', are quoted.
    """
    data = DatasetCardData(
        license=licenses,
        language=languages,
        size_categories=[*dataset.sizes] or None,
        task_categories=[*dataset.tasks] or None,
        pretty_name=dataset.title or None,
        tags=[*dataset.tags] or None,
        configs=[_config(config) for config in configs],
    )
    return ["---", *data.to_yaml(original_order=_ORDER).removesuffix("\n").split("\n"), "---"]


def _config(config: Config) -> dict[str, Any]:
    files = [{"split": split, "path": path} for split, path in config.files.items()]
    default = {"default": True} if config.is_default else {}
    return {"config_name": config.name, **default, "data_files": files}
