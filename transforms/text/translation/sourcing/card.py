"""README.md of a build of source sentences: what a person reads, and what the Hugging Face hub reads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transforms.text.files.markdown import hub_head, make_list, make_table
from transforms.text.translation.records import SPLITS
from transforms.text.translation.sourcing.quotas import SENTENCES, SPLIT_SENTENCES

_PAPER_SENTENCES = {**SPLIT_SENTENCES, "total": SENTENCES}
_FILES = """\
| file | what |
|---|---|
| `source.tsv` | all sentences in order: what a translation project begins with |
| `dev-*.parquet`, `devtest-*.parquet`, `test-*.parquet` | the same, a file a split |
| `rejected/` | pages that gave no sentence, and why |

A split has whole articles. `has_image`: the article shows a picture; `has_hyperlink`: the sentence links to
another page. The sentences of `test` are not for release.
"""


def make_source_card(manifest: Mapping[str, Any]) -> str:
    """The README in Markdown, with the YAML head of the hub."""
    stats = manifest["stats"]
    lines = [
        *hub_head("cc-by-sa-4.0", manifest["edition"], SPLITS),
        "",
        "# Source sentences of a translation benchmark",
        "",
        "Sentences of English Wikimedia sites, drawn with corpusmill after Goyal et al., TACL 2022"
        " (FLORES-101), section 3.1. The text is by the authors of the pages: CC BY-SA, of Wikinews CC BY.",
        "",
        f"Signature: `{manifest['signature']}`",
        "",
        *make_table(
            ["split", *(name.replace("_", " ") for name in stats["total"]), "paper: sentences"],
            (
                [split, *stats[split].values(), _PAPER_SENTENCES[split]]
                for split in (*SPLITS, "total")
            ),
        ),
        "",
        _FILES,
        "## Pages",
        "",
        *make_table(["domain", *_names(stats)], _accounts(stats["domains"])),
        "",
        "rejected + not drawn + articles = pages. Rejected are, by their reasons:",
        "",
        *make_table(["reason", "pages"], manifest["counts"]["rejected"].items()),
        "",
        "## Topics",
        "",
        *make_table(["topic", "sentences"], stats["topics"].items()),
        *make_list("What this build could not be:", manifest["caveats"]),
        "",
        "Every input and output with its SHA-256, and all settings: `manifest.json`.",
        "",
    ]
    return "\n".join(lines)


def _names(stats: Mapping[str, Any]) -> Sequence[str]:
    first = next(iter(stats["domains"].values()))
    return [name.replace("_", " ") for name in first]


def _accounts(domains: Mapping[str, Mapping[str, int]]) -> Iterator[list[str | int]]:
    for domain, account in domains.items():
        yield [domain, *account.values()]
    columns = zip(*(account.values() for account in domains.values()), strict=True)
    yield ["total", *map(sum, columns)]
