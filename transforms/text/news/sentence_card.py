"""README.md of a corpus of shuffled sentences: what a person reads, and what the Hugging Face hub reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from transforms.text.files.markdown import hub_head, make_list, make_table
from transforms.text.news.sentence_accounts import LEFT_OUT
from transforms.text.news.shard_names import HELDOUT_FOLDER, SPLITS, TRAIN_FOLDER

MEASURED = ("before_deduplication", *SPLITS, "total")  # the first may be absent
COLUMNS = ("sentences", "words", "characters", "text_bytes", "longest_line_bytes")

_FILES = """\
## Files

| files | what |
|---|---|
| `{train_folder}/` | the training shards as text, a sentence a line |
| `{heldout_folder}/` | the held-out shard, and the shards it is split into, as text |
| `md5sums` | of these text files: `md5sum -c md5sums` |
| `train-*.parquet`, `{corpus}-train.tfrecord-*` | the training shards with one column `text` |
| `test-*.parquet`, `{corpus}-test.tfrecord-*` | all shards that the held-out shard is split into |
| `paper_test-*.parquet`, `{corpus}-paper_test.tfrecord-*` | the first of these: the paper's test set |
| `vocabulary.tsv` | the words with their counts in the training shards |
| `rejected/` | lines that were not kept, and why |

```python
import datasets
import tensorflow_datasets as tfds

datasets.load_dataset("<this folder>", split="train")
tfds.builder_from_directory("<this folder>").as_dataset(split="train")
```
"""


def make_sentence_card(
    title: str, about: str, license_id: str, manifest: Mapping[str, Any], stats: Mapping[str, Any]
) -> str:
    """The README in Markdown, with the YAML head of the hub, from manifest.json and stats.json."""
    measured = [name for name in MEASURED if name in stats]
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
            ["split", *(name.replace("_", " ") for name in COLUMNS)],
            ([_name(of), *(stats[of][name] for name in COLUMNS)] for of in measured),
        ),
        "",
        "Words stand between blanks; bytes and characters count the line feeds. `paper_test` is a part of"
        f" `test`. Before deduplication, there were {stats['sentences_before_deduplication']:,} lines.",
        "",
        _FILES.format(
            corpus=manifest["corpus"], train_folder=TRAIN_FOLDER, heldout_folder=HELDOUT_FOLDER
        ),
        *_vocabulary(stats),
        "",
        "## Lengths",
        "",
        *_lengths(stats, measured),
        "",
        "## Lines",
        "",
        *_accounts(manifest["counts"]),
        *make_list("What this build could not know, or met:", manifest["caveats"]),
        "",
        "Every input and output with its SHA-256, and all settings: `manifest.json`.",
        "",
    ]
    return "\n".join(lines)


def _vocabulary(stats: Mapping[str, Any]) -> list[str]:
    shards = stats["heldout_shards"]
    rows = [(f"held-out shard {shard}", counts) for shard, counts in enumerate(shards)]
    return [
        "## Vocabulary",
        "",
        f"{stats['vocabulary_with_S_slashS_UNK']:,} words with `<S>`, `</S>` and `<UNK>`, of"
        f" {stats['training_distinct_words']:,} different ones in"
        f" {stats['training_words_with_boundaries']:,} running words of the training shards, the bounds of"
        " sentences counted. Of the held-out words, ends of sentences counted:",
        "",
        *make_table(
            ["held out", "sentences", "words", "out of vocabulary", "share"],
            (_coverage(name, counts) for name, counts in [*rows, ("all", stats["heldout"])]),
        ),
    ]


def _coverage(name: str, counts: Mapping[str, int]) -> list[Any]:
    words, unknown = counts["predicted_words_with_end"], counts["out_of_vocabulary"]
    share = f"{100 * unknown / words:.2f} %" if words else "–"
    return [name, counts["sentences"], words, unknown, share]


def _lengths(stats: Mapping[str, Any], measured: Sequence[str]) -> list[str]:
    histograms = [stats[of]["sentences_by_words"] for of in measured]
    rows = ([words, *(one[words] for one in histograms)] for words in histograms[0])
    return make_table(["words in a sentence", *map(_name, measured)], rows)


def _accounts(counts: Mapping[str, Any]) -> list[str]:
    rejected = {f"rejected: {r}": n for r, n in counts["rejected"].items() if r != "total"}
    rows = {
        "read": counts["lines_read"],
        **rejected,
        **{title: counts[name] for name, title in LEFT_OUT.items()},
        "kept": counts["kept"]["total"],
    }
    return make_table(["lines", "count"], rows.items())


def _name(measured: str) -> str:
    return measured if measured in SPLITS else measured.replace("_", " ")
