"""Checks the manifest of a finished build. Builds may come from anybody.

Values of a manifest become parts of paths: a build that is made of another one has its edition and date in
the name of its folder, and its files have the names of the other build's files. So these values must be plain
names.
"""

import re
import reprlib
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

MAX_DEPTH = 50
"""Nesting depth of a manifest. That of real manifests is below 10."""

MAX_NUMBER = (1 << 63) - 1
MAX_SIGNATURE = 10_000  # characters
_MAX_NAME = 255  # characters; file systems allow no longer name
_NAME = re.compile(r"\w[\w.-]*")
_SEARCHES = ("contamination", "overlap")  # no builds of a corpus, so they have no edition
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
