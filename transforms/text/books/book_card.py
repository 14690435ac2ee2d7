"""README.md of a corpus of books: what a person reads first, and what the Hugging Face hub reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from transforms.text.books.book_stats import BookStats
from transforms.text.builds.build_manifest import Description
from transforms.text.files.markdown import hub_head, make_list, make_table


def make_book_card(
    description: Description,
    manifest: Mapping[str, Any],
    stats: Mapping[str, Any],
    splits: Sequence[str],
    sections: Sequence[str],
) -> str:
    """The README in Markdown, with the YAML head of the hub, from manifest.json and stats.json.

    Args:
      sections: lines that tell what only this corpus has.
    """
    counts = manifest["counts"]
    lines = [
        *hub_head(description.license_id, manifest["edition"], splits),
        "",
        f"# {description.title}",
        "",
        description.about,
        "",
        f"Signature: `{manifest['signature']}`",
        "",
        *make_table(
            ["split", *(name.replace("_", " ") for name in BookStats._fields)],
            ([split, *stats[split].values()] for split in (*splits, "total")),
        ),
        "",
        "Words stand between white space; characters are Unicode code points, bytes are of UTF-8.",
        *sections,
        "",
        f"Not kept, of {counts['files_read']:,} files read (each is listed in `rejected/`):",
        "",
        *make_table(["reason", "files"], counts["rejected"].items()),
        *make_list("What this build could not know:", manifest["caveats"]),
        "",
        "Every input and output with its SHA-256, and all settings: `manifest.json`.",
        "",
    ]
    return "\n".join(lines)
