"""Loads a split of a build for lm-evaluation-harness. `corpusmill harness` copies it beside the task files.

The harness adds up log-likelihoods, words and bytes of documents. Words and bytes of each are scaled here, so
that those of the whole split are the counts of the build, by which `corpusmill score` divides, too.
"""

import pathlib
from typing import Any


def load(
    *,
    build: str,
    split: str,
    column: str,
    end: str,
    words: int,
    text_bytes: int,
    **_: object,
) -> Any:
    """The documents of a split, {split: Dataset} with "text", "words" and "bytes".

    Args:
      build: folder of the build, from that of this file; or "hub:owner/name:config".
      end: put after each text.
      words: of the split, with the ends of lines where those are predicted.
      text_bytes: UTF-8 bytes of the split.
    """
    import datasets

    if build.startswith("hub:"):
        repo, config = build.split(":")[1:]
        rows = datasets.load_dataset(repo, config, split=split)
    else:
        folder = pathlib.Path(__file__).parent / build
        files = sorted(str(path) for path in folder.glob(f"{split}-*.parquet"))
        rows = datasets.load_dataset("parquet", data_files={split: files}, split=split)
    texts = rows.map(
        lambda row: measure(row[column] + end), remove_columns=rows.column_names
    ).with_format("python")
    scales = {"words": words / sum(texts["words"]), "bytes": text_bytes / sum(texts["bytes"])}
    scaled = texts.map(lambda row: {name: row[name] * by for name, by in scales.items()})
    return {split: scaled}


def measure(text: str) -> dict[str, Any]:
    """A document and its size. Floats, as integers of a column stay integers when they are scaled."""
    return {
        "text": text,
        "words": float(len(text.split())),
        "bytes": float(len(text.encode("utf-8"))),
    }


def process_results(doc: dict[str, Any], results: list[float]) -> dict[str, tuple[float, float]]:
    """The log-likelihood of a document, and what it is divided by, of each metric."""
    (log_likelihood,) = results
    return {
        "word_perplexity": (log_likelihood, doc["words"]),
        "byte_perplexity": (log_likelihood, doc["bytes"]),
        "bits_per_byte": (log_likelihood, doc["bytes"]),
    }
