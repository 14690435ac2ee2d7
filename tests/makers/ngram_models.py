"""N-gram models of texts that fit into memory, and models that lmplz has written."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.transforms.models import gram_tables, smoothing
from corpusmill.transforms.models.gram_tables import Table, number_words, select_words
from corpusmill.transforms.models.smoothing import join_backoffs
from corpusmill.transforms.models.word_vocabulary import count_words


class Model(NamedTuple):
    """A model in memory."""

    words: pa.BinaryArray  # by bytes
    entries: Mapping[int, Table]  # order → ENTRIES
    tallies: Mapping[int, gram_tables.Tally]
    discounts: Mapping[int, smoothing.Discounts]


def vocabulary_of(block: bytes, min_count: int = 1) -> pa.BinaryArray:
    """The words of a block that are in a vocabulary, in the order in which they first occur."""
    return select_words(count_words(block), min_count)["word"]


def make_model(block: bytes, order: int, min_count: int = 1, prune: Sequence[int] = ()) -> Model:
    """The Kneser-Ney model of a block of lines."""
    words = vocabulary_of(block, min_count)
    cut = gram_tables.cut_offs(prune, order)
    table = gram_tables.count_grams(number_words(block, words), order)
    tables = {order: gram_tables.adjust_highest(table)}
    for n in range(order, 1, -1):
        tables[n - 1] = gram_tables.count_suffixes(tables[n])
    tallies = {n: gram_tables.tally_of(tables[n], cut[n]) for n in tables}
    tables = {n: one[gram_tables.is_gram(one["words"])] for n, one in tables.items()}
    discounts = {n: smoothing.estimate_discounts(tallies[n]) for n in tables}
    probabilities = smoothing.estimate_unigrams(tables[1], tallies[1], discounts[1])
    entries = {}
    for n in range(2, order + 1):
        weighed, contexts = smoothing.weigh(tables[n], discounts[n], cut[n])
        entries[n - 1] = join_backoffs(probabilities, contexts)
        probabilities = smoothing.interpolate(weighed, probabilities)
    columns = probabilities["probability"], 1.0
    entries[order] = gram_tables.make_table(probabilities["words"], gram_tables.ENTRIES, *columns)
    return Model(words, entries, tallies, discounts)


def read_arpa(text: str) -> dict[int, dict[str, list[str]]]:
    """Order → the words of each line → its numbers."""
    head, *sections = re.split(r"\n\\(\d)-grams:\n", text)
    found: dict[int, dict[str, list[str]]] = {}
    for order, section in zip(sections[::2], sections[1::2], strict=True):
        rows = [line.split("\t") for line in section.split("\n") if "\t" in line]
        found[int(order)] = {
            words: [probability, *backoff] for probability, words, *backoff in rows
        }
    expected = {order: len(lines) for order, lines in found.items()}
    assert {int(n): int(c) for n, c in re.findall(r"ngram (\d)=(\d+)", head)} == expected
    assert sections[-1].endswith("\n\\end\\\n")
    return found


def check_arpa(text: str, toy: Mapping[str, Any]) -> None:
    """Asserts that the text of a model has what lmplz gives (see tests/tools/kenlm_toys.py)."""
    found, expected = read_arpa(text), read_arpa(toy["arpa"])
    for order, lines in expected.items():
        assert found[order].keys() == lines.keys()
        logs = [np.array([one[words] for words in lines], float) for one in (found[order], lines)]
        assert np.allclose(*logs, rtol=0, atol=1e-6)


Gram = tuple[str, ...]


def _count(sentences: Sequence[Sequence[str]], order: int) -> Counter[Gram]:
    """The n-grams of up to `order` words, but for "<s>" alone, which is never predicted."""
    counts: Counter[Gram] = Counter()
    for words in sentences:
        for n in range(1, order + 1):
            grams = zip(*(words[start:] for start in range(n)), strict=False)
            counts.update(gram for gram in grams if gram != ("<s>",))
    return counts


class StupidReference:
    """Normalised Stupid Backoff, by its definition.

    Args:
      sentences: with "<s>" before and "</s>" behind.
      prune: the largest count of each order that is cut off.
    """

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, prune: Sequence[int] = ()):
        self.order = order
        cut = gram_tables.cut_offs(prune, order)
        counts = _count(sentences, order)
        if ("<unk>",) not in counts:
            counts[("<unk>",)] = 1
        self.words = [gram[0] for gram in counts if len(gram) == 1]
        whole: Counter[Gram] = Counter()
        for gram, count in counts.items():
            whole[gram[:-1]] += count
        self.shares = {
            gram: count / whole[gram[:-1]]
            for gram, count in counts.items()
            if count > cut[len(gram)]
        }

    def score(self, word: str, history: Gram) -> float:
        """S(word | history), the history as long as it may be."""
        gram = (*history, word)
        return self.shares[gram] if gram in self.shares else 0.4 * self.score(word, history[1:])

    def log_likelihood(self, words: Sequence[str]) -> float:
        """The sum over a sentence with "<s>" before and "</s>" behind."""
        total = 0.0
        for place in range(1, len(words)):
            history = tuple(words[max(place - self.order + 1, 0) : place])
            whole = sum(self.score(word, history) for word in self.words)
            total += math.log(self.score(words[place], history) / whole)
        return total


def sentences_of(block: bytes) -> list[list[str]]:
    """The lines as `StupidReference` takes them."""
    lines = block.decode().splitlines()
    return [["<s>", *line.split(), "</s>"] for line in lines]
