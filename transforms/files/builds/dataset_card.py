"""Makes README.md, the dataset card of a build. It is read by people and by the Hugging Face hub."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Description
from corpusmill.transforms.files.markdown import (
    Dataset,
    hub_head,
    make_list,
    make_table,
    size_category,
)

MAKER = "corpusmill"
_SIGNATURE = "Signature: "
_CITATION = "```bibtex\n"


def make_card(
    description: Description, manifest: Mapping[str, Any], sections: Sequence[str]
) -> str:
    """Returns a dataset card in Markdown, with the YAML head that the Hugging Face hub reads.

    Args:
      description: texts that describe the corpus.
      manifest: the manifest of the build.
      sections: lines of the sections that only this kind of build has.
    """
    license_id = description.license_id
    language = manifest.get("settings", {}).get("tables", {}).get("language", "")
    dataset = Dataset(
        description.title,
        (MAKER, *description.tags),
        description.tasks,
        [size_category(_rows(manifest, description.splits))],
    )
    head = hub_head(license_id, manifest["edition"], description.splits, language, dataset)
    lines = [
        *((*head, "") if license_id else ()),
        f"# {description.title}",
        "",
        *((description.about, "") if description.about else ()),
        f"{_SIGNATURE}`{manifest['signature']}`",
        "",
        *sections,
        *make_list("Caveats of this build:", manifest["caveats"]),
        *make_citation(description.citation),
        "",
        description.closing,
        "",
    ]
    return "\n".join(lines)


def make_citation(bibtex: str) -> list[str]:
    """Returns the lines of the section "Citation", after an empty line, or [] if `bibtex` is empty."""
    return ["", "## Citation", "", f"{_CITATION}{bibtex}", "```"] if bibtex else []


def read_citation(card: str) -> str:
    """Returns the BibTeX entry in a dataset card; "" if the card has none."""
    return card.partition(_CITATION)[2].partition("\n```")[0]


def read_about(card: str) -> str:
    """Returns the description of the data set in its dataset card; "" if the card has none."""
    body = card.partition("\n# ")[2].partition(f"\n{_SIGNATURE}")[0]
    return body.partition("\n")[2].strip()


def not_kept(read: int, unit: str, rejected: Mapping[str, int]) -> list[str]:
    """Returns the lines of the section about rejected documents, with counts by reason.

    Args:
      read: number of documents that were read.
      unit: noun for the documents, such as "articles".
      rejected: reason → number of rejected documents.
    """
    return [
        "",
        f"Not kept, of {read:,} {unit} read (each is listed in `rejected/`):",
        "",
        *make_table(["reason", unit], rejected.items()),
    ]


def _rows(manifest: Mapping[str, Any], splits: Sequence[str]) -> int:
    """Returns the number of rows in `splits`, which are the splits that the Hugging Face hub loads."""
    return sum(
        file["records"]
        for file in manifest["outputs"]
        if file["format"] == "parquet" and file["split"] in splits
    )
