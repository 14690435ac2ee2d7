"""Loads a split of a build for lm-evaluation-harness. `corpusmill harness` copies this file beside its task
files.

The harness adds up the log-likelihoods, words and bytes of all documents. This module scales the words and
bytes of each document, so that their sums are the build's counts, which `corpusmill score` also uses.
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
    """Loads the documents of a split. Returns {split: Dataset} with the columns "text", "words" and "bytes".

    Args:
      build: The folder of the build, relative to this file; or "hub:owner/name:config".
      split: The name of the split, such as "test".
      column: The column with the text.
      end: The string to append to each text.
      words: The number of words in the split, including the ends of lines if a model predicts them.
      text_bytes: The number of UTF-8 bytes in the split.
    """
    import datasets

    if build.startswith("hub:"):
        repo, config = build.split(":")[1:]
        rows = datasets.load_dataset(repo, config, split=split)
    else:
        folder = pathlib.Path(__file__).parent / build
        kinds = {".parquet": "parquet", ".jsonl": "json", ".jsonl.gz": "json", ".jsonl.zst": "json"}
        suffix = next((one for one in kinds if any(folder.glob(f"{split}-*{one}"))), ".parquet")
        files = sorted(str(path) for path in folder.glob(f"{split}-*{suffix}"))
        rows = datasets.load_dataset(kinds[suffix], data_files={split: files}, split=split)
    texts = rows.map(
        lambda row: measure(row[column] + end), remove_columns=rows.column_names
    ).with_format("python")
    scales = {"words": words / sum(texts["words"]), "bytes": text_bytes / sum(texts["bytes"])}
    return {split: texts.map(lambda row: {name: row[name] * by for name, by in scales.items()})}


def measure(text: str) -> dict[str, Any]:
    """Returns a document as a dictionary with its text and its numbers of words and bytes.

    The numbers are floats, because `load` scales them, and scaled integers would be rounded.
    """
    return {
        "text": text,
        "words": float(len(text.split())),
        "bytes": float(len(text.encode("utf-8"))),
    }


def process_results(doc: dict[str, Any], results: list[float]) -> dict[str, tuple[float, float]]:
    """Returns metric → (log-likelihood of the document, number of words or bytes to divide it by).

    Args:
      doc: The document, with its numbers of words and bytes.
      results: A list with the log-likelihood of the document.
    """
    (log_likelihood,) = results
    return {
        "word_perplexity": (log_likelihood, doc["words"]),
        "byte_perplexity": (log_likelihood, doc["bytes"]),
        "bits_per_byte": (log_likelihood, doc["bytes"]),
    }
