"""Compares a finished build with a requested one."""

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from corpusmill.pipelines.run.launch import Corpus
from corpusmill.pipelines.run.publish import TargetError, is_completed
from corpusmill.transforms.files.builds.finished_builds import read_manifest
from corpusmill.transforms.files.open_input import file_bytes_of

SHOWN_DIFFERENCES = 3


def is_built(target: str, corpus: Corpus) -> bool:
    """Returns True if the folder `target` contains a finished build with the settings and inputs of `corpus`.

    Raises TargetError if it contains a finished build of another version, with other settings, or from inputs
    with other names or sizes.
    """
    if not is_completed(target):
        return False
    if differences := "; ".join(_differences(target, corpus)):
        raise TargetError(
            f"{target} contains a build {differences}; use --replace to build it again"
        )
    return True


def _differences(target: str, corpus: Corpus) -> Iterator[str]:
    """Yields the differences between a finished build and the requested build `corpus`, as phrases."""
    manifest = read_manifest(target)
    provenance = corpus.provenance()
    if manifest["version"] != provenance.version:
        yield f"of another version ({manifest['version']} → {provenance.version})"
    # Convert to JSON types: tuples become lists.
    settings = json.loads(json.dumps(dict(provenance.settings)))
    if changes := _changes(manifest.get("settings", {}), settings):
        yield f"with other settings ({changes})"
    before = _sizes(
        (file["role"], file["name"], file["bytes"]) for file in manifest.get("inputs", [])
    )
    inputs = corpus.inputs()
    now = _sizes(
        (role, posixpath.basename(path), file_bytes_of(path))
        for role in inputs
        for path in inputs[role]
    )
    if changes := _changes(before, now):
        yield f"from other inputs ({changes})"


def _sizes(files: Iterator[tuple[str, str, int]]) -> dict[str, str]:
    """Returns a mapping from the role and name of input files to their sizes as text.

    Two files with the same name give, for example, {"dump ukwiki.xml.bz2": "5 bytes and 7 bytes"}.

    Args:
      files: A tuple (role, name, size in bytes) for each file.
    """
    found: dict[str, list[int]] = {}
    for role, name, size in files:
        found.setdefault(f"{role} {name}", []).append(size)
    return {
        name: " and ".join(f"{size:,} bytes" for size in sorted(sizes))
        for name, sizes in found.items()
    }


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    changes = [
        f"{name}: {_show(before.get(name))} → {_show(now.get(name))}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
    more = len(changes) - SHOWN_DIFFERENCES
    return ", ".join(changes[:SHOWN_DIFFERENCES]) + (f" and {more} more" if more > 0 else "")


def _show(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
