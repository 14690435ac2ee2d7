"""The manifest of a build, which says where every number comes from."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.records import InputFile, OutputFile
from transforms.text.fingerprint import SPLITS

CARD = "README.md"
"""The dataset card. A manifest that lists it lists every file of its build, but itself and COMPLETED."""


class Description(NamedTuple):
    """Words about a corpus."""

    title: str
    about: str = ""  # Markdown
    citation: str = ""  # BibTeX
    license_id: str | list[str] = ""  # as the Hugging Face hub names it; "" for what is no dataset
    features: Sequence[str] = ()  # of TensorFlow Datasets; () for what it does not read
    numbers: Sequence[str] = ()  # features that are integers; all others are texts
    splits: Sequence[str] = SPLITS
    tags: Sequence[str] = ()  # by which the hub finds it
    tasks: Sequence[str] = ("text-generation",)  # task categories of the hub
    caveats: str = "What this build could not know:"  # title of their list
    closing: str = "Every input and output with its SHA-256, and all settings: `manifest.json`."


class Release(NamedTuple):
    """A version of a method."""

    corpus: str  # first folder of the builds, "wiki40b"
    version: str  # "1.0.0"
    notes: Mapping[str, str]  # version → what is new


class Provenance(NamedTuple):
    """The facts about a build that are known before it runs."""

    corpus: str  # "wiki40b"
    edition: str  # "uk"
    dump_date: str  # "20230501"
    version: str  # "1.0.0"
    release_notes: Mapping[str, str]
    settings: Mapping[str, Any]  # every setting that decides about the bytes
    caveats: tuple[str, ...]  # sentences: what this build could not know
    code: Mapping[str, str]  # package → version
    signature_settings: Mapping[str, str] = {}  # what makes a variant, in order

    @property
    def signature(self) -> str:
        """One line that names the build: "wiki40b|lang:uk|dump:20230501|v:1.0.0"."""
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
    """A manifest in the order in which it is read. What comes in any order is sorted."""
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
    """The manifest with more output files."""
    outputs = [*manifest["outputs"], *(file._asdict() for file in files)]
    return {**manifest, "outputs": sorted(outputs, key=lambda file: str(file["name"]))}


def to_json(value: Any) -> str:
    """Readable JSON that ends with a line feed."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
