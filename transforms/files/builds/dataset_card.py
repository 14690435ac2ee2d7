"""Makes README.md, the dataset card of a build. It is read by people and by the Hugging Face hub.

Describes the shapes of corpora: their splits, and the columns with ids, titles and texts.

Makes the small text files of a build: statistics, dataset card and metadata of TensorFlow Datasets.

Makes the card, README.md, of a folder with several builds, so that each build can be loaded by its name.

Without this card, Hugging Face `datasets` would load all Parquet files below the folder as one data set.
"""

import glob
import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import yaml

from .. import tfrecord
from ..formats import TEXT, TFRECORD, formats_in, formats_of, loadable_suffix
from ..markup import CardHead, Config, config_of, hub_head, render, size_category, yaml_head
from ..records import OutputFile
from .manifest import CARD, Description, Provenance, to_json

MAKER = "corpusmill"
_SIGNATURE = "Signature: "
_CITATION = "```bibtex\n"


def make_card(
    description: Description, manifest: Mapping[str, Any], sections: Sequence[str]
) -> str:
    """Returns a dataset card in Markdown, with the YAML head that the Hugging Face hub reads.

    Args:
      description: texts that describe the corpus.
      manifest: the manifest of the build.
      sections: lines of the sections that only this kind of build has.
    """
    license_id = description.license_id
    language = manifest.get("settings", {}).get("tables", {}).get("language", "")
    head = hub_head(
        license_id,
        manifest["edition"],
        description.splits,
        language,
        loadable_suffix(manifest),
        pretty_name=description.title,
        tags=[MAKER, *description.tags],
        task_categories=[*description.tasks],
        size_categories=[size_category(_rows(manifest, description.splits))],
    )
    return "\n".join(
        [
            *((*head, "") if license_id else ()),
            *render(
                "card", **description._asdict(), manifest=manifest, sections="\n".join(sections)
            ),
            "",
        ]
    )


def read_citation(card: str) -> str:
    """Returns the BibTeX entry in a dataset card; "" if the card has none."""
    return card.partition(_CITATION)[2].partition("\n```")[0]


def read_about(card: str) -> str:
    """Returns the description of the data set in its dataset card; "" if the card has none."""
    body = card.partition("\n# ")[2].partition(f"\n{_SIGNATURE}")[0]
    return body.partition("\n")[2].strip()


def _rows(manifest: Mapping[str, Any], splits: Sequence[str]) -> int:
    """Returns the number of rows in `splits`, which are the splits that the Hugging Face hub loads."""
    kind = next(iter(formats_of(manifest)), TEXT)
    return sum(
        file["records"]
        for file in manifest["outputs"]
        if file["format"] == kind and file["split"] in splits
    )


def make_texts(
    provenance: Provenance,
    description: Description,
    stats: Mapping[str, Any],
    card: str,
    outputs: Iterable[OutputFile],
) -> dict[str, str]:
    """Returns file name → text of all small text files of a build, except manifest.json.

    Args:
      provenance: the facts that are known before the build.
      description: the description of the corpus.
      stats: the statistics of the corpus, for stats.json.
      card: the text of the dataset card.
      outputs: the data files of the build.
    """
    texts = {"stats.json": to_json(stats), CARD: card}
    if not description.features or TFRECORD not in formats_in(provenance.settings):
        return texts
    dataset_info = tfrecord.dataset_info_json(
        provenance.corpus,
        provenance.edition,
        provenance.version,
        provenance.release_notes,
        description.about,
        description.citation,
        outputs,
        description.splits,
    )
    features = tfrecord.features_json(description.features, description.numbers)
    return {
        "features.json": json.dumps(features, indent=2),
        "dataset_info.json": json.dumps(dataset_info, indent=2),
        **texts,
    }


MARK = "<!-- corpusmill writes this file after every build; without this line, it leaves the file alone -->"

_ESCAPED = re.compile(r"\[([*?[])\]")  # characters that glob.escape has escaped
_FENCE = "---\n"


class BuildBelow(NamedTuple):
    """A finished build in a folder below the folder of the card."""

    name: str  # name by which the build is loaded
    folder: str  # relative to the folder of the card: "uk/20260101-1.3.0"
    card: str  # text of its README.md; "" if it has none


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
    citations = _different(read_citation(build.card) for build, _ in found)
    heads = [head for _, head in found]
    head = CardHead(
        license=one_or_all([name for one in heads for name in as_list(one.license)]),
        language=one_or_all([tag for one in heads for tag in as_list(one.language)]),
        pretty_name=heads[0].pretty_name,
        tags=_different(tag for one in heads for tag in one.tags),
        task_categories=_different(task for one in heads for task in one.task_categories),
        size_categories=_different(size for one in heads for size in one.size_categories),
        configs=[_config(build, one, build.name == default) for build, one in found],
    )
    card = render(
        "folder",
        mark=MARK,
        title=title,
        builds=[build for build, _ in found],
        default=default,
        place=place,
        citation="\n\n".join(filter(None, citations)),
    )
    return "\n".join([*yaml_head(head), "", *card, ""])


def read_places(card: str) -> dict[str, str]:
    """Returns name → folder of each build that the card of a folder lists, or {} if the card has no head."""
    head = read_head(card)
    places = {}
    for config in head.configs if head else ():
        first = config.data_files[0]
        folder = posixpath.dirname(first.path).removesuffix(f"/{first.split}")
        places[config.config_name] = _ESCAPED.sub(r"\1", folder)
    return places


def read_head(card: str) -> CardHead | None:
    """Returns the YAML head of a dataset card, or None if it is missing or invalid."""
    if not card.startswith(_FENCE):
        return None
    text = card.removeprefix(_FENCE).partition(f"\n{_FENCE}")[0]
    try:
        # This loader reads all values as text: older cards have an unquoted `no`, which is Norwegian.
        head = msgspec.convert(yaml.load(text, yaml.BaseLoader), CardHead, strict=False)
    except (yaml.YAMLError, msgspec.ValidationError):
        return None
    return head if head.configs else None


def as_list(value: str | list[str]) -> list[str]:
    """Returns a field of a YAML head as a list. Its value may be one text, or a list of texts."""
    return [value] if isinstance(value, str) else value


def one_or_all(texts: Sequence[str]) -> str | list[str]:
    """Returns the different texts as a list. If there is only one, returns the text itself."""
    different = _different(texts)
    return different[0] if len(different) == 1 else different


def _different(texts: Iterable[str]) -> list[str]:
    """Returns the texts without repetitions, in order of first occurrence."""
    return list(dict.fromkeys(texts))


def _config(build: BuildBelow, head: CardHead, is_default: bool) -> Config:
    folder = glob.escape(build.folder)
    files = {one.split: f"{folder}/{one.path}" for one in head.configs[0].data_files}
    return config_of(build.name, files, is_default)
