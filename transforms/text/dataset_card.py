"""README.md of a build: what a person reads first, and what the Hugging Face hub reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from transforms.text.fingerprint import SPLITS


def make_card(
    title: str, about: str, license_id: str, manifest: Mapping[str, Any], stats: Mapping[str, Any]
) -> str:
    """A dataset card in Markdown with the YAML head of the hub."""
    edition = manifest["edition"]
    head = [
        "---",
        f"license: {license_id}",
        f"language: {edition.partition('-')[0]}",
        "configs:",
        f"- config_name: {edition}",
        "  data_files:",
    ]
    for split in SPLITS:
        head += [f"  - split: {split}", f"    path: {split}-*.parquet"]
    columns = list(stats["total"])
    body = [
        "---",
        "",
        f"# {title}",
        "",
        about,
        "",
        f"Signature: `{manifest['signature']}`",
        "",
        *_table(["split", *columns], ([name, *counts.values()] for name, counts in stats.items())),
        *_vocabulary(manifest.get("sentencepiece"), stats),
        "",
        "Not kept, of "
        f"{manifest['counts']['pages_read']:,} pages read (each is listed in `rejected/`):",
        "",
        *_table(["reason", "pages"], manifest["counts"]["rejected"].items()),
        *_caveats(manifest["caveats"]),
        "",
        "Every input and output with its SHA-256, and all settings: `manifest.json`.",
        "",
    ]
    return "\n".join(head + body)


def _table(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    lines = [f"| {' | '.join(columns)} |", f"|---{'|---:' * (len(columns) - 1)}|"]
    for name, *values in rows:
        lines.append(f"| {name} | {' | '.join(f'{value:,}' for value in values)} |")
    return lines


def _vocabulary(
    sentencepiece: Mapping[str, Any] | None, stats: Mapping[str, Mapping[str, int]]
) -> list[str]:
    if not sentencepiece or not sentencepiece["vocabulary_size"]:
        return []
    figures = [
        f"{split} {counts['characters'] / counts['pieces']:.3f}"
        for split, counts in stats.items()
        if counts["pieces"]
    ]
    return [
        "",
        f"`sentencepiece/`: {sentencepiece['vocabulary_size']:,} pieces, learned from the first"
        f" {sentencepiece['sampled_articles']:,} articles of train."
        f" Characters per piece: {', '.join(figures)}.",
    ]


def _caveats(caveats: Sequence[str]) -> list[str]:
    if not caveats:
        return []
    return ["", "What this build could not know:", "", *(f"- {caveat}" for caveat in caveats)]
