"""Loads a split of a build for lm-evaluation-harness. `corpusmill harness` copies this file beside its task
files.

The harness adds up the log-likelihoods, words and bytes of all documents. This module scales the words and
bytes of each document, so that their sums are the build's counts, which `corpusmill score` also uses.

Translations are scored with sacrebleu, as by `corpusmill score spbleu`.
"""

import pathlib
from typing import Any

_HERE = pathlib.Path(__file__).parent


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
    rows = _load_rows(build, split, [f"{split}-*"])
    texts = rows.map(
        lambda row: measure(row[column] + end), remove_columns=rows.column_names
    ).with_format("python")
    scales = {"words": words / sum(texts["words"]), "bytes": text_bytes / sum(texts["bytes"])}
    return {split: texts.map(lambda row: {name: row[name] * by for name, by in scales.items()})}


_KINDS = {".parquet": "parquet", ".jsonl": "json", ".jsonl.gz": "json", ".jsonl.zst": "json"}


def _load_rows(build: str, split: str, names: list[str]) -> Any:
    """Loads the rows of a split; `names` are patterns of its files, without their endings."""
    import datasets

    if build.startswith("hub:"):
        repo, config = build.split(":")[1:]
        return datasets.load_dataset(repo, config, split=split)
    folder = _HERE / build
    found = {
        suffix: sorted(str(path) for name in names for path in folder.glob(f"{name}{suffix}"))
        for suffix in _KINDS
    }
    suffix = next((one for one, files in found.items() if files), ".parquet")
    return datasets.load_dataset(_KINDS[suffix], data_files={split: found[suffix]}, split=split)


def load_translations(
    *, build: str, splits: list[str], source: str, target: str, model: str, **_: object
) -> Any:
    """Loads the sentences of a translation direction. Returns split → Dataset with the columns "source",
    "target" and "model".

    Args:
      build: As for `load`.
      splits: The names of the splits.
      source: The code of the source language, such as "eng_Latn".
      target: The code of the target language.
      model: A SentencePiece model, relative to this file; "" for that of sacrebleu's tokenizer flores101.
    """
    import datasets

    loaded = {}
    for split in splits:
        texts: dict[str, dict[int, str]] = {source: {}, target: {}}
        names = [f"{split}-*", *(f"{split}/{code}" for code in texts)]
        for row in _load_rows(build, split, names):
            code = row.get("language") or f"{row['iso_639_3']}_{row['iso_15924']}"
            code = code if code in texts else f"{code}_{row.get('glottocode')}"
            place = row.get("number", row["id"])
            if code in texts and texts[code].setdefault(place, row["text"]) != row["text"]:
                raise ValueError(f"{build}: sentence {place} of {split} has two texts in {code}")
        if texts[source].keys() != texts[target].keys():
            raise ValueError(f"{build}: {source} and {target} have other sentences in {split}")
        pairs = ((one, texts[target][place]) for place, one in sorted(texts[source].items()))
        loaded[split] = datasets.Dataset.from_list(
            [{"source": one, "target": other, "model": model} for one, other in pairs]
        )
    return loaded


def process_translation(doc: dict[str, Any], results: list[str]) -> dict[str, tuple[str, ...]]:
    """Returns metric → (reference, translation, SentencePiece model)."""
    scored = doc["target"].rstrip(), results[0].strip(), doc["model"]
    return {"spBLEU": scored, "chrF++": scored}


def spbleu(items: list[tuple[str, str, str]]) -> float:
    """Returns the BLEU over SentencePiece pieces of a corpus."""
    from sacrebleu.metrics.bleu import BLEU

    references, translations, (model, *_) = zip(*items, strict=True)
    if not model:
        return float(BLEU(tokenize="flores101").corpus_score(translations, [references]).score)
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(_HERE / model))
    cut, cut_references = (
        [" ".join(pieces) for pieces in processor.encode(list(lines), out_type=str)]
        for lines in (translations, references)
    )
    return float(BLEU(tokenize="none", force=True).corpus_score(cut, [cut_references]).score)


def chrf(items: list[tuple[str, str, str]]) -> float:
    """Returns the chrF++ of a corpus."""
    from sacrebleu.metrics.chrf import CHRF

    references, translations, _ = zip(*items, strict=True)
    return float(CHRF(word_order=2).corpus_score(translations, [references]).score)


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
