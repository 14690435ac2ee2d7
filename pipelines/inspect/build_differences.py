"""Lists the differences between two builds in versions, settings and kinds of inputs, but not in data."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

NONE = "none"
SHOWN_CHARACTERS = 60
PINS = "pin-splits"  # role of input files that assign documents to splits


def find_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the differences between the manifests of two builds.

    Examples are "version: 1.2.0 → 1.3.0" and "settings limit: 0 → 100". Of inputs, only the number of files
    with each role is compared, because the files of a newer dump are always different.
    """
    before, after = _facts_of(old), _facts_of(new)
    return tuple(
        f"{name}: {_shortened(before.get(name, NONE))} → {_shortened(after.get(name, NONE))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name, NONE) != after.get(name, NONE)
    )


def _facts_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts of a manifest that are compared, by name. `find_differences` prints these names."""
    facts = {"version": manifest["version"]}
    for part in ("settings", "code"):
        for name, value in sorted(_flat(manifest.get(part) or {}).items()):
            facts[f"{part} {name}"] = value
    inputs = manifest.get("inputs", [])
    for role, files in sorted(Counter(file["role"] for file in inputs).items()):
        facts[f"inputs {role}"] = f"{files} file{'s' * (files > 1)}"
    pins = sorted(file["sha256"] for file in inputs if file["role"] == PINS)
    if pins:
        facts["pinned splits, SHA-256"] = " ".join(pins)
    return facts


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flattens a nested mapping. Returns dotted name → value."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
