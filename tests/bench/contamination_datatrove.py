"""Runs the decontamination of datatrove on items.jsonl and documents.jsonl of a folder.

It runs in another Python environment (see contamination.py), so it imports nothing of corpusmill. Prints
JSON: id of each dropped document → ids of the items with the n-gram for which it was dropped.
"""

import collections
import json
import pathlib
import sys

import numpy
from datatrove.data import Document
from datatrove.pipeline.decont import n_grams
from datatrove.utils.text import ngrams, simplify_text

# The indexer asks for lighteval, which it needs for sets of its own only.
n_grams.NGramsDecontIndexer._requires_dependencies = []


def main() -> None:
    """Indexes, and filters."""
    folder = pathlib.Path(sys.argv[1])
    indexer = n_grams.NGramsDecontIndexer(str(folder / "index"))
    size, norm = indexer.config.n_grams, indexer.config.norm_config
    items_of = collections.defaultdict(list)
    hashes = set()
    with (folder / "items.jsonl").open(encoding="utf-8") as lines:
        for item in map(json.loads, lines):
            hashes.update(indexer.compute_hashes(item["text"]))
            words = indexer.tokenizer.word_tokenize(simplify_text(item["text"], norm))
            for ngram in ngrams(words, size):
                items_of[" ".join(ngram)].append(item["id"])
    kind = indexer.config.hash_config.np_descr
    (folder / "index").mkdir(exist_ok=True)
    numpy.array(sorted(hashes), kind).tofile(folder / "index" / "items.index.hashes")
    filtering = n_grams.NGramsDecontFilter(str(folder / "index"))
    dropped = {}
    with (folder / "documents.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            document = Document(text=row["text"], id=row["id"])
            if filtering.filter(document) is not True:
                dropped[row["id"]] = items_of[document.metadata["contaminated_ngram"]]
    print(json.dumps(dropped))


if __name__ == "__main__":
    main()
