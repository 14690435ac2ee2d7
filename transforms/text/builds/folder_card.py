"""README.md of a folder above builds: each of them is loaded by its name.

Without it, Hugging Face `datasets` takes all Parquet files below the folder for one data set.
"""

import glob
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec
import yaml

from transforms.text.builds.dataset_card import make_citation, read_citation
from transforms.text.files.markdown import Config, Dataset, yaml_head

MARK = "<!-- corpusmill writes this file after every build; without this line, it leaves the file alone -->"

_ESCAPED = re.compile(r"\[([*?[])\]")  # by glob.escape
_FENCE = "---\n"
_USE = """\
```python
import datasets

datasets.load_dataset("<this folder>", "{name}")
```"""


class BuildBelow(NamedTuple):
    """A finished build below the folder."""

    name: str  # by which it is loaded
    folder: str  # from the folder of the card: "uk/20260101-1.3.0"
    card: str  # its README.md; "" for none


class _Split(msgspec.Struct):
    split: str
    path: str


class _Config(msgspec.Struct):
    data_files: Annotated[list[_Split], msgspec.Meta(min_length=1)]
    config_name: str = ""


class CardHead(msgspec.Struct):
    """The head of the card of a build."""

    license: str | list[str]
    language: str | list[str]
    configs: Annotated[list[_Config], msgspec.Meta(min_length=1)]
    pretty_name: str = ""
    tags: list[str] = []
    task_categories: list[str] = []
    size_categories: list[str] = []


def make_folder_card(title: str, builds: Iterable[BuildBelow], default: str = "") -> str:
    """The card, by which `datasets` loads what the cards of the builds say; "" where none says anything.

    Args:
      default: the name of the build that is loaded without a name; "" for none, unless there is one only.
    """
    found = [(build, head) for build in builds if (head := read_head(build.card))]
    if not found:
        return ""
    has_default = any(build.name == default for build, _ in found)
    lines = [
        *yaml_head(
            _one_or_all([name for _, head in found for name in as_list(head.license)]),
            _one_or_all([tag for _, head in found for tag in as_list(head.language)]),
            [_config(build, head, build.name == default) for build, head in found],
            Dataset(
                found[0][1].pretty_name,
                _different(tag for _, head in found for tag in head.tags),
                _different(task for _, head in found for task in head.task_categories),
                _different(size for _, head in found for size in head.size_categories),
            ),
        ),
        "",
        MARK,
        "",
        f"# {title}",
        "",
        "Hugging Face `datasets` loads each of the builds by its name"
        + (f", and `{default}` without a name:" if has_default else ":"),
        "",
        _USE.format(name=found[0][0].name),
        "",
        *(f"- `{build.name}`: [{build.folder}]({build.folder}/README.md)" for build, _ in found),
        *make_citation(
            "\n\n".join(filter(None, _different(read_citation(build.card) for build, _ in found)))
        ),
        "",
    ]
    return "\n".join(lines)


def read_places(card: str) -> dict[str, str]:
    """Name → folder of each build that such a card loads, as it is in the card: {} for none."""
    head = read_head(card)
    places = {}
    for config in head.configs if head else ():
        folder = posixpath.dirname(config.data_files[0].path)
        places[config.config_name] = _ESCAPED.sub(r"\1", folder)
    return places


def read_head(card: str) -> CardHead | None:
    """The head of a card; None for a card without one, or with one that says too little."""
    if not card.startswith(_FENCE):
        return None
    text = card.removeprefix(_FENCE).partition(f"\n{_FENCE}")[0]
    try:
        # For this loader all is text: older cards have an unquoted `no`, which is Norwegian.
        return msgspec.convert(yaml.load(text, yaml.BaseLoader), CardHead)
    except (yaml.YAMLError, msgspec.ValidationError):
        return None


def as_list(value: str | list[str]) -> list[str]:
    """A field of a head, one text or several."""
    return [value] if isinstance(value, str) else value


def _one_or_all(texts: Sequence[str]) -> str | list[str]:
    """Each text once; one alone is not a list."""
    different = _different(texts)
    return different[0] if len(different) == 1 else different


def _different(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of their first places."""
    return list(dict.fromkeys(texts))


def _config(build: BuildBelow, head: CardHead, is_default: bool) -> Config:
    folder = glob.escape(build.folder)
    files = {one.split: f"{folder}/{one.path}" for one in head.configs[0].data_files}
    return Config(build.name, files, is_default)
