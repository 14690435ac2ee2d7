"""Reads the items of evaluation sets, and indexes their texts."""

import posixpath
from collections.abc import Iterable
from typing import NamedTuple

from corpusmill.transforms.duplicates.contamination_evidence import sum_of
from corpusmill.transforms.duplicates.evaluation_index import (
    EvaluationIndex,
    build_index,
    fold_texts,
)
from corpusmill.transforms.duplicates.read_texts import FILES, LINES, TextFile, read_texts


class EvaluationSet(NamedTuple):
    """The files of a data set on which models are evaluated."""

    name: str
    files: tuple[TextFile, ...]


class Item(NamedTuple):
    """A text of an evaluation set, with its id and its number in the index."""

    set: str
    split: str
    id: str
    text: str
    number: int  # number of its text in the index; items with the same text have the same number


class EvaluationItems(NamedTuple):
    """The items of all evaluation sets, the index of their texts, and counts of rejected texts."""

    items: list[Item]  # in the order of sets and files
    known: EvaluationIndex
    rejected: dict[str, int]  # "set/reason" → texts


def read_evaluation_sets(sets: Iterable[EvaluationSet], n: int) -> EvaluationItems:
    """Reads all items of the given evaluation sets, and indexes them. Raises InputError if a file is invalid.

    If an item has no id, its position becomes its id: in a text file the line number, counted from 1; in a
    Parquet file the row, counted from 0; in JSON lines the byte at which the line begins. If the ids of a
    split with several files are positions, the file name is put before them. `n` is the number of words in
    the n-grams of the index.
    """
    texts: dict[str, int] = {}
    items: list[Item] = []
    rejected: dict[str, int] = {}
    for one in sets:
        splits = [file.split for file in one.files]
        for file in one.files:
            line = 0
            for batch in read_texts(file):
                reasons = {
                    f"{one.name}/{reason}": count for reason, count in batch.rejected.items()
                }
                rejected = sum_of([rejected, reasons])
                for key, text in zip(batch.ids, batch.texts, strict=True):
                    line += 1
                    name = str(line) if file.kind in (LINES, FILES) else key
                    if splits.count(file.split) > 1 and not file.id:
                        name = f"{posixpath.basename(file.path)}:{name}"
                    number = texts.setdefault(text, len(texts))
                    items.append(Item(one.name, file.split, name, text, number))
    return _without_wordless(items, list(texts), rejected, n)


def _without_wordless(
    items: list[Item], texts: list[str], rejected: dict[str, int], n: int
) -> EvaluationItems:
    """Returns the items that contain words, with new numbers, and the index of their n-grams.

    Items without words are added to the counts of rejected texts.

    Args:
      items: all items of the evaluation sets.
      texts: the different texts of the items.
      rejected: "set/reason" → number of texts that were already rejected.
      n: number of words in an n-gram.
    """
    counts = [
        int(one) for block in fold_texts(texts) for one in block.bounds[1:] - block.bounds[:-1]
    ]
    kept = [text for text, count in zip(texts, counts, strict=True) if count]
    numbers = {text: number for number, text in enumerate(kept)}
    wordless = [{f"{item.set}/no-words": 1} for item in items if item.text not in numbers]
    return EvaluationItems(
        [item._replace(number=numbers[item.text]) for item in items if item.text in numbers],
        build_index(kept, n),
        sum_of([rejected, *wordless]),
    )
