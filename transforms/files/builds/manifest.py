"""Makes the manifest of a build, which has its inputs, settings, counts and outputs.

Checks the manifest of a finished build. Builds may come from anybody.

Values of a manifest become parts of paths: a build that is made of another one has its edition and date in
the name of its folder, and its files have the names of the other build's files. So these values must be plain
names.
"""

import hashlib
import json
import os
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from ..records import InputFile, OutputFile
from ..text import SPLITS

COMPLETED = "COMPLETED"
RELEASED = "released"  # value of the setting `source` in builds that are made of a released corpus
MANIFEST = "manifest.json"
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


def mark_of(manifest: bytes) -> bytes:
    """Returns the content of the file COMPLETED for a manifest: the SHA-256 of the manifest."""
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()


def find_link(folder: str) -> str:
    """Returns the path of a link in a local folder or below, or "" if there is none.

    A build has no links: one could lead to any file of the machine. Raises OSError if a folder cannot be
    listed.
    """
    with os.scandir(folder) as entries:  # several times as fast as os.walk
        for entry in entries:
            if entry.is_symlink():
                return entry.path
            if entry.is_dir() and (found := find_link(entry.path)):
                return found
    return ""


MAX_DEPTH = 50
"""Nesting depth of a manifest. That of real manifests is below 10."""

MAX_NUMBER = (1 << 63) - 1
MAX_SIGNATURE = 10_000  # characters
_MAX_NAME = 255  # characters; file systems allow no longer name
_NAME = re.compile(r"\w[\w.-]*")
_SEARCHES = ("contamination", "overlap", "removal")  # not of a corpus, so they have no edition
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")  # packages of translations may have any

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)]


def is_name(value: str) -> bool:
    """Returns True if a value can be a part of a path, such as the name of an edition or of a file.

    It consists of letters, digits, `.`, `-` and `_`, and does not begin with `.` or `-`.
    """
    return len(value) <= _MAX_NAME and bool(_NAME.fullmatch(value))


def check_name(what: str, value: str) -> None:
    """Raises ValueError if a value is neither "" nor a name (see `is_name`)."""
    if value and not is_name(value):
        raise ValueError(
            f"{what} must consist of letters, digits, . and -, beginning with a letter or digit, got"
            f" {reprlib.repr(value)}"
        )


def check_values(value: Any, place: str = "$", depth: int = 0) -> None:
    """Raises ValueError for a JSON value that no build contains.

    Such values are numbers that are not finite or have more than 64 bits, text that is not UTF-8, and values
    that are nested too deeply.

    Args:
      value: the value, with all values in it.
      place: the place of the value in its file, for the error message.
      depth: the number of values that contain this one.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str):
        value.encode()  # raises an error for an unpaired surrogate
    elif isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
        raise ValueError(f"a number is not finite, or larger than 2^63 - at `{place}`")
    elif isinstance(value, dict):
        check_values([*value], place, depth)
        for key, part in value.items():
            check_values(part, f"{place}.{reprlib.repr(key)[1:-1]}", depth + 1)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            check_values(part, f"{place}[{number}]", depth + 1)


class _File(msgspec.Struct):
    name: str
    bytes: Count
    sha256: str


class _Input(_File):
    """The entry of an input file. Its fields are those of `InputFile`."""

    role: str


class _Output(_File):
    """The entry of an output file. Its fields are those of `OutputFile`."""

    split: str
    format: str
    records: Count

    def __post_init__(self) -> None:
        if not all(map(is_name, self.name.split("/"))):
            raise ValueError(
                f"{reprlib.repr(self.name)} is not the name of a file of a build: only letters, digits, . - _"
                " and / are allowed, and each part begins with a letter or digit"
            )
        check_name("split", self.split)
        check_name("format", self.format)


class _Origin(msgspec.Struct):
    """The build from which documents were removed."""

    build_sha256: str = ""


class _Manifest(msgspec.Struct):
    """The schema of a manifest: the required fields, and the types of the optional ones."""

    signature: Annotated[str, msgspec.Meta(max_length=MAX_SIGNATURE)]
    corpus: str
    edition: str
    dump_date: str
    version: str
    outputs: list[_Output]
    inputs: list[_Input] = []
    counts: dict[str, Count | dict[str, Count]] = {}
    rows_by_language: dict[str, dict[str, Count]] = {}
    settings: dict[str, Any] = {}
    release_notes: dict[str, str] = {}
    code: dict[str, str] = {}
    caveats: list[str] = []
    lost: list[dict[str, Any]] = []
    stats: dict[str, Any] = {}
    sentencepiece: dict[str, Any] = {}
    languages: dict[str, Any] = {}
    made_of: _Origin = msgspec.field(default_factory=_Origin)

    def __post_init__(self) -> None:
        for what in ("corpus", "edition", "dump_date"):
            check_name(what, getattr(self, what))
        if not self.corpus or not (self.edition or self.corpus in _SEARCHES):
            raise ValueError("the corpus or the edition has no name")
        if len(self.version) > _MAX_NAME or not _VERSION.fullmatch(self.version):
            raise ValueError(f"{reprlib.repr(self.version)} is not a version")
        if len(self.signature.splitlines()) > 1:
            raise ValueError("the signature has more than one line")
        if isinstance(self.counts.get("kept"), int) and self.corpus not in _SEARCHES:
            raise ValueError("the counts `kept` are not divided into splits")


def check_manifest(manifest: Any) -> None:
    """Raises ValueError if a JSON value is not the manifest of a build, or has values that no build has."""
    check_values(manifest)
    msgspec.convert(manifest, _Manifest)
    check_name("language", language_of(manifest))


def language_of(manifest: Mapping[str, Any]) -> str:
    """Returns the language of a build.

    It is taken from the settings, otherwise from the signature ("wiki40b|lang:uk|dump:…"), otherwise from the
    edition.
    """
    if language := manifest.get("settings", {}).get("language"):
        return str(language)
    parts = (part.partition(":") for part in manifest["signature"].split("|"))
    return str(next((value for name, _, value in parts if name == "lang"), manifest["edition"]))


def is_released(settings: Mapping[str, Any]) -> bool:
    """Returns True if builds with these settings are made of the files of a released corpus, unchanged."""
    return bool(settings.get("source") == RELEASED)


def limit_caveat(limit: int, unit: str) -> tuple[str, ...]:
    """Returns the caveat that a build reads only the first documents; empty if `limit` is 0.

    Args:
      limit: The number of documents that are read.
      unit: The name of the documents, such as "articles".
    """
    if not limit:
        return ()
    return (f"Only the first {limit:,} {unit} of the input were read: a first look, no corpus.",)


def name_edition(language: str, variant: Mapping[str, Any], original: Mapping[str, Any]) -> str:
    """Returns the name of an edition: the language, and the settings that differ from those of the original
    corpus.

    Examples are "en" and "en-shards-10". The name is also the name of a folder.

    Args:
      variant: Setting → value, for the settings that distinguish corpora made from the same input.
      original: Setting → value in the original corpus.
    """
    differing = {
        name.replace("_", "-"): value
        for name, value in variant.items()
        if value != original.get(name)
    }
    switches = {True: "{}", False: "no-{}"}
    named = (
        switches[value].format(name) if isinstance(value, bool) else f"{name}-{value}"
        for name, value in differing.items()
    )
    return "-".join([language, *named])


def name_variant(variant: Mapping[str, Any]) -> dict[str, str]:
    """Returns the settings in `variant` as they are written in the signature of a build.

    The signature is a line that identifies a build, such as "wiki40b|lang:uk|dump:20261101|v:1.3.0". The
    underscores in names are replaced by dashes, and the values are strings.
    """
    return {
        name.replace("_", "-"): "yes" if value is True else str(value or "no")
        for name, value in variant.items()
    }
