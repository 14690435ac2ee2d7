"""Makes the manifest of a build, which has its inputs, settings, counts and outputs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.records import InputFile, OutputFile

CARD = "README.md"
"""Name of the dataset card.

A manifest that lists the card lists every file of the build except manifest.json and COMPLETED.
"""


class Description(NamedTuple):
    """The description of a corpus for its dataset card and for TensorFlow Datasets."""

    title: str
    about: str = ""  # Markdown
    citation: str = ""  # BibTeX
    license_id: str | list[str] = (
        ""  # name on the Hugging Face hub; "" for a build that is not a dataset
    )
    features: Sequence[str] = ()  # features for TensorFlow Datasets; () if it cannot read the build
    numbers: Sequence[str] = ()  # features that are integers; all others are strings
    splits: Sequence[str] = SPLITS
    tags: Sequence[str] = ()  # keywords for search on the hub
    tasks: Sequence[str] = ("text-generation",)  # task categories of the hub
    closing: str = "Every input and output with its SHA-256, and all settings: `manifest.json`."


class Release(NamedTuple):
    """A version of the method by which a corpus is built."""

    corpus: str  # first folder of its builds, "wiki40b"
    version: str  # "1.0.0"
    notes: Mapping[str, str]  # version → its changes


class Provenance(NamedTuple):
    """The facts about a build that are known before it runs."""

    corpus: str  # "wiki40b"
    edition: str  # "uk"
    dump_date: str  # "20230501"
    version: str  # "1.0.0"
    release_notes: Mapping[str, str]
    settings: Mapping[str, Any]  # every setting that affects the output
    caveats: tuple[str, ...]  # sentences: limits of this build, such as missing inputs
    code: Mapping[str, str]  # package → version
    signature_settings: Mapping[str, str] = {}  # settings that are part of the signature, in order

    @property
    def signature(self) -> str:
        """One line that identifies the build: "wiki40b|lang:uk|dump:20230501|v:1.0.0"."""
        parts = {
            "lang": self.edition,
            "dump": self.dump_date,
            **self.signature_settings,
            "v": self.version,
        }
        named = (f"{name}:{value}" for name, value in parts.items() if value)
        return "|".join([self.corpus, *named])


def assemble(
    provenance: Provenance,
    inputs: Iterable[InputFile],
    counts: Mapping[str, Any],
    lost: Iterable[Mapping[str, Any]],
    outputs: Iterable[OutputFile],
) -> dict[str, Any]:
    """Returns the manifest of a build, with its keys in a readable order.

    Args:
      provenance: the facts that are known before the build.
      inputs: the files that were read.
      counts: the counts of the build, by name.
      lost: for each part of the input that could not be read, a mapping that describes it.
      outputs: the files that were written.
    """
    known = provenance._asdict()
    del known["signature_settings"]
    return {
        "signature": provenance.signature,
        **known,
        "caveats": list(provenance.caveats),
        "inputs": [file._asdict() for file in sorted(inputs)],
        "counts": dict(counts),
        "lost": sorted(lost, key=lambda one: json.dumps(one, sort_keys=True)),
        "outputs": [file._asdict() for file in sorted(outputs)],
    }


def add_outputs(manifest: Mapping[str, Any], files: Iterable[OutputFile]) -> dict[str, Any]:
    """Returns a copy of a manifest in which `files` are added to the output files."""
    outputs = [*manifest["outputs"], *(file._asdict() for file in files)]
    return {**manifest, "outputs": sorted(outputs, key=lambda file: str(file["name"]))}


def to_json(value: Any) -> str:
    """Returns indented JSON that ends with a line feed."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
