"""When a finished stage may stand for a new run of it: the same settings, code and inputs."""

import dataclasses
import functools
import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from apache_beam.io.filesystems import FileSystems

from pipelines.builds.provenance import VERSION
from transforms.files.open_input import InputError
from transforms.files.stores import is_local
from transforms.text.builds.build_manifest import Provenance

_TOP = pathlib.Path(__file__).parents[2]
_PACKAGES = ("pipelines", "transforms")
_CODE = (".py", ".toml", ".tsv")
_DIGITS = 16


class Identified(Protocol):
    """What decides about the output of a build."""

    @property
    def config(self) -> Any: ...
    def provenance(self) -> Provenance: ...
    def inputs(self) -> Mapping[str, Sequence[str]]: ...


def name_stages(corpus: Identified, names: Sequence[str], folder: str) -> list[str]:
    """A name of a folder for each stage, "01-clean-" and hexadecimal digits: another one whenever settings,
    code, inputs, or the stages before are others.

    `folder` is that of the stages; where it is moved to another place, nothing in it counts any more, for
    paths stand in what they hold. How many workers there are, and where they run, makes no difference.

    Raises InputError for an input that is gone.
    """
    facts = {
        "folder": folder,
        "config": dataclasses.asdict(corpus.config),
        "provenance": corpus.provenance()._asdict(),
        "inputs": describe_inputs(corpus.inputs()),
        "code": code_digest(),
        "version": VERSION,
    }
    digests = (_digest(facts | {"stages": names[:end]}) for end in range(1, len(names) + 1))
    return [
        f"{number:02d}-{name}-{digest}"
        for number, (name, digest) in enumerate(zip(names, digests, strict=True), 1)
    ]


def describe_inputs(inputs: Mapping[str, Sequence[str]]) -> dict[str, list[list[Any]]]:
    """Role → (path, bytes, time of the last change) of each file. Raises InputError for one that is gone."""
    return {role: [_describe(path) for path in paths] for role, paths in inputs.items()}


def _describe(path: str) -> list[Any]:
    try:
        if is_local(path):
            found = pathlib.Path(path).stat()  # a file system of Beam's would round the time
            return [str(pathlib.Path(path).absolute()), found.st_size, found.st_mtime_ns]
        metadata = FileSystems.get_filesystem(path).metadata(path)
    except OSError as error:
        raise InputError(path, "no such file") from error
    return [path, metadata.size_in_bytes, metadata.last_updated_in_seconds]


@functools.cache
def code_digest(top: pathlib.Path = _TOP) -> str:
    """Of all source files, and the tables that they read."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((top / package).rglob("*")):
            if path.suffix in _CODE and "samples" not in path.parts:
                digest.update(f"{path.relative_to(top)}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _digest(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
