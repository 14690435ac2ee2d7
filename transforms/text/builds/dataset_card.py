"""README.md of a build: what a person reads first, and what the Hugging Face hub reads."""

from collections.abc import Mapping
from typing import Any

from transforms.text.files.markdown import hub_head, make_list, make_table
from transforms.text.fingerprint import SPLITS


def make_card(
    title: str, about: str, license_id: str, manifest: Mapping[str, Any], stats: Mapping[str, Any]
) -> str:
    """A dataset card in Markdown with the YAML head of the hub."""
    columns = list(stats["total"])
    lines = [
        *hub_head(license_id, manifest["edition"], SPLITS),
        "",
        f"# {title}",
        "",
        about,
        "",
        f"Signature: `{manifest['signature']}`",
        "",
        *make_table(
            ["split", *columns], ([name, *counts.values()] for name, counts in stats.items())
        ),
        *_vocabulary(manifest.get("sentencepiece"), stats),
        "",
        "Not kept, of "
        f"{manifest['counts']['pages_read']:,} pages read (each is listed in `rejected/`):",
        "",
        *make_table(["reason", "pages"], manifest["counts"]["rejected"].items()),
        *make_list("What this build could not know:", manifest["caveats"]),
        "",
        "Every input and output with its SHA-256, and all settings: `manifest.json`.",
        "",
    ]
    return "\n".join(lines)


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
