"""Makes the card, README.md, of a folder with several builds, so that each build can be loaded by its name.

Without this card, Hugging Face `datasets` would load all Parquet files below the folder as one data set.
"""

import glob
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec
import yaml

from corpusmill.transforms.files.builds.dataset_card import make_citation, read_citation
from corpusmill.transforms.files.markdown import Config, Dataset, yaml_head

MARK = "<!-- corpusmill writes this file after every build; without this line, it leaves the file alone -->"

_ESCAPED = re.compile(r"\[([*?[])\]")  # characters that glob.escape has escaped
_FENCE = "---\n"
_USE = """\
```python
import datasets

datasets.load_dataset("{place}", "{name}")
```"""


class BuildBelow(NamedTuple):
    """A finished build in a folder below the folder of the card."""

    name: str  # name by which the build is loaded
    folder: str  # relative to the folder of the card: "uk/20260101-1.3.0"
    card: str  # text of its README.md; "" if it has none


class _Split(msgspec.Struct):
    split: str
    path: str


class _Config(msgspec.Struct):
    data_files: Annotated[list[_Split], msgspec.Meta(min_length=1)]
    config_name: str = ""


class CardHead(msgspec.Struct):
    """The YAML head of the card of a build."""

    license: str | list[str]
    language: str | list[str]
    configs: Annotated[list[_Config], msgspec.Meta(min_length=1)]
    pretty_name: str = ""
    tags: list[str] = []
    task_categories: list[str] = []
    size_categories: list[str] = []


def make_folder_card(
    title: str, builds: Iterable[BuildBelow], default: str = "", place: str = "<this folder>"
) -> str:
    """Returns the card of the folder, whose YAML head combines the heads of the builds' cards.

    Returns "" if no build has a card with a valid YAML head.

    Args:
      title: title of the card.
      builds: the builds below the folder.
      default: name of the build that is loaded if no name is given; "" if there is none. A single build is
        always loaded without a name.
      place: name of the folder, or of the data set on the hub, for the example code in the card.
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
        _USE.format(place=place, name=found[0][0].name),
        "",
        *(f"- `{build.name}`: [{build.folder}]({build.folder}/README.md)" for build, _ in found),
        *make_citation(
            "\n\n".join(filter(None, _different(read_citation(build.card) for build, _ in found)))
        ),
        "",
    ]
    return "\n".join(lines)


def read_places(card: str) -> dict[str, str]:
    """Returns name → folder of each build that the card of a folder lists, or {} if the card has no head."""
    head = read_head(card)
    places = {}
    for config in head.configs if head else ():
        folder = posixpath.dirname(config.data_files[0].path)
        places[config.config_name] = _ESCAPED.sub(r"\1", folder)
    return places


def read_head(card: str) -> CardHead | None:
    """Returns the YAML head of a dataset card, or None if it is missing or invalid."""
    if not card.startswith(_FENCE):
        return None
    text = card.removeprefix(_FENCE).partition(f"\n{_FENCE}")[0]
    try:
        # This loader reads all values as text: older cards have an unquoted `no`, which is Norwegian.
        return msgspec.convert(yaml.load(text, yaml.BaseLoader), CardHead)
    except (yaml.YAMLError, msgspec.ValidationError):
        return None


def as_list(value: str | list[str]) -> list[str]:
    """Returns a field of a YAML head as a list. Its value may be one text, or a list of texts."""
    return [value] if isinstance(value, str) else value


def _one_or_all(texts: Sequence[str]) -> str | list[str]:
    """Returns the different texts as a list. If there is only one, returns the text itself."""
    different = _different(texts)
    return different[0] if len(different) == 1 else different


def _different(texts: Iterable[str]) -> list[str]:
    """Returns the texts without repetitions, in order of first occurrence."""
    return list(dict.fromkeys(texts))


def _config(build: BuildBelow, head: CardHead, is_default: bool) -> Config:
    folder = glob.escape(build.folder)
    files = {one.split: f"{folder}/{one.path}" for one in head.configs[0].data_files}
    return Config(build.name, files, is_default)
