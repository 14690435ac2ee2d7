"""README.md of a build: what a person reads first, and what the Hugging Face hub reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from transforms.text.builds.build_manifest import Description
from transforms.text.files.markdown import hub_head, make_list, make_table


def make_card(
    description: Description, manifest: Mapping[str, Any], sections: Sequence[str]
) -> str:
    """A dataset card in Markdown, with the YAML head of the hub.

    Args:
      sections: lines that only this kind of build has.
    """
    license_id = description.license_id
    language = manifest.get("settings", {}).get("tables", {}).get("language", "")
    head = hub_head(license_id, manifest["edition"], description.splits, language)
    lines = [
        *((*head, "") if license_id else ()),
        f"# {description.title}",
        "",
        *((description.about, "") if description.about else ()),
        f"Signature: `{manifest['signature']}`",
        "",
        *sections,
        *make_list(description.caveats, manifest["caveats"]),
        "",
        description.closing,
        "",
    ]
    return "\n".join(lines)


def not_kept(read: int, unit: str, rejected: Mapping[str, int]) -> list[str]:
    """The section on what was rejected, by reason."""
    return [
        "",
        f"Not kept, of {read:,} {unit} read (each is listed in `rejected/`):",
        "",
        *make_table(["reason", unit], rejected.items()),
    ]
