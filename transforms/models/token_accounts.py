"""Computes the counts, statistics and dataset card of a build of token files."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Description, Provenance
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger, balance
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.markdown import make_table

DESCRIPTION = Description(
    title="Tokens for training",
    closing="The build and the tokenizer, with their SHA-256: `manifest.json`.",
)

USE = """\
```python
from megatron.core.datasets.indexed_dataset import IndexedDataset

tokens = IndexedDataset("{split}")  # {split}.bin and {split}.idx
tokens[0]  # the ids of the first document, the last one is that of `{eos}`
```

Megatron-LM trains on it with `--data-path <this folder>/{split}`. To find the source of a token:

```python
import pyarrow.parquet as pq

token = 12345  # its position in {split}.bin
filters = [("first_token", "<=", token), ("end_token", ">", token)]
pq.read_table("{split}-rows.parquet", filters=filters).to_pylist()  # file and row of the build, and id
```"""


def account_for_tokens(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a build of token files.

    `provenance` has the facts about the build that were known before it ran, such as its settings.

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      counted: (split, mapping: name of a count → its value).
      expected: (split, its number of rows in the build whose text is tokenised).

    Raises AccountingError if the numbers of documents read, tokenised and written differ.
    """
    counted = ledger.pairs("counted")
    stats = {split: dict(counted[split]) for split in SPLITS if split in counted}
    for split, rows in ledger.pairs("expected").items():
        documents = stats.get(split, {}).get("documents", 0)
        balance(rows, f"documents of {split}", tokenized=documents)
        for kind in ("megatron-bin", "megatron-idx"):
            written = sum(file.records for file in ledger.files(kind, split))
            balance(rows, f"documents of {split}", **{kind.replace("-", "_"): written})
    columns: Mapping[str, int] = next(iter(stats.values()), {})
    total = {name: sum(one[name] for one in stats.values()) for name in columns}
    return Accounts(
        counts={
            "documents_read": total.get("documents", 0),
            "documents": {split: one["documents"] for split, one in stats.items()},
        },
        stats={**stats, "total": total},
        sections=_make_sections(provenance.settings, stats),
        findings={"stats": {**stats, "total": total}},
    )


def _make_sections(
    settings: Mapping[str, Any], stats: Mapping[str, Mapping[str, int]]
) -> Sequence[str]:
    filled = [split for split, one in stats.items() if one["documents"]]
    tokenizer = settings["tokenizer"]
    return [
        f"The documents of `{settings['build']}`, tokenised with corpusmill for Megatron-LM: for each split,"
        f" `.bin` has the tokens as {settings['token_type']}, and `.idx` has the beginnings of documents."
        f" Each document ends with `{settings['eos']}`, id {settings['eos_id']}. Documents are in the order"
        " of the build's files. The licence is that of the build; see its card.",
        "",
        f"Tokenizer: {tokenizer['kind']}, {tokenizer['size']:,} tokens, the file `{tokenizer['file']}` here."
        f" Text: column `{settings['column']}`, {settings['text']}.",
        "",
        *(USE.format(split=split, eos=settings["eos"]) for split in filled[:1]),
        "",
        *make_table(
            ["split", "documents", "tokens", "bytes of text", "bytes per token", "unknown"],
            [
                [
                    split,
                    one["documents"],
                    one["tokens"],
                    one["text_bytes"],
                    f"{one['text_bytes'] / max(one['tokens'] - one['documents'], 1):.3f}",
                    one["unknown"],
                ]
                for split, one in stats.items()
            ],
        ),
    ]
