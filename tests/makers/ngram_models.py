"""N-gram models of texts that fit into memory: by the functions of the product, and by the formulae."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

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
    """The words of a block that are in a vocabulary, by bytes."""
    words = select_words(count_words(block), min_count)
    return words.take(pc.array_sort_indices(words))


def make_model(block: bytes, order: int, min_count: int = 1, prune: Sequence[int] = ()) -> Model:
    """The Kneser-Ney model of a block of lines."""
    words = vocabulary_of(block, min_count)
    cut = gram_tables.cut_offs(prune, order)
    table = gram_tables.count_grams(number_words(block, words), order)
    tables = {order: gram_tables.adjust_highest(table)}
    for n in range(order, 1, -1):
        tables[n - 1] = gram_tables.count_suffixes(tables[n])
    tables = {n: one[gram_tables.is_gram(one["words"])] for n, one in tables.items()}
    tallies = {n: gram_tables.tally_of(tables[n], cut[n]) for n in tables}
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


# The same by the formulae of Chen and Goodman, in dictionaries, word by word.

Gram = tuple[str, ...]


def _count(sentences: Sequence[Sequence[str]], order: int) -> Counter[Gram]:
    """The n-grams of up to `order` words, but for "<s>" alone, which is never predicted."""
    counts: Counter[Gram] = Counter()
    for words in sentences:
        for n in range(1, order + 1):
            grams = zip(*(words[start:] for start in range(n)), strict=False)
            counts.update(gram for gram in grams if gram != ("<s>",))
    return counts


class Reference:
    """Interpolated modified Kneser-Ney, as slow as it is plain.

    Args:
      sentences: with "<s>" before and "</s>" behind.
      prune: the largest count of each order that is cut off.
    """

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, prune: Sequence[int] = ()):
        self.order = order
        self.prune = gram_tables.cut_offs(prune, order)
        self.counts = _count(sentences, order)
        before: Counter[Gram] = Counter(gram[1:] for gram in self.counts if len(gram) > 1)
        self.adjusted = {
            gram: count if len(gram) == order or gram[0] == "<s>" else before[gram]
            for gram, count in self.counts.items()
        }
        self.discounts = {n: self._discounts_of(n) for n in range(1, order + 1)}
        self.followers: dict[Gram, list[Gram]] = {}
        for gram in self.adjusted:
            self.followers.setdefault(gram[:-1], []).append(gram)
        self.size = len({gram for gram in self.counts if len(gram) == 1} | {("<unk>",)})

    def _discounts_of(self, n: int) -> Sequence[float]:
        seen = Counter(count for gram, count in self.adjusted.items() if len(gram) == n)
        if not all(seen[j] for j in range(1, 5)):
            return smoothing.FALLBACK
        y = seen[1] / (seen[1] + 2 * seen[2])
        found = [0.0, *(j - (j + 1) * y * seen[j + 1] / seen[j] for j in (1, 2, 3))]
        return found if all(0 <= d <= j for j, d in enumerate(found)) else smoothing.FALLBACK

    def probability(self, word: str, history: Gram) -> float:
        """p(word | history), the history as long as it may be."""
        history = history[max(len(history) - self.order + 1, 0) :]
        gram = (*history, word)
        shorter = self.probability(word, history[1:]) if history else 1 / self.size
        followers = self.followers.get(history, ())
        if not followers:
            return shorter
        discounts = self.discounts[len(gram)]
        whole = sum(self.adjusted[one] for one in followers)
        own = left = 0.0
        for one in followers:
            count = self.adjusted[one]
            taken = discounts[min(count, 3)] if self._is_kept(one) else count
            left += taken / whole
            own += (count - taken) / whole * (one == gram)
        return own + left * shorter

    def _is_kept(self, gram: Gram) -> bool:
        return self.counts[gram] > self.prune[len(gram)]

    def log_likelihood(self, words: Sequence[str]) -> float:
        """The sum over a sentence with "<s>" before and "</s>" behind."""
        places = range(1, len(words))
        return sum(math.log(self.probability(words[i], tuple(words[:i]))) for i in places)


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
    """The lines as `Reference` takes them."""
    lines = block.decode().splitlines()
    return [["<s>", *line.split(), "</s>"] for line in lines]
