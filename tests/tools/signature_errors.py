"""Measures the errors of several ways to sign, on the same pairs of texts."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy
from datasketch import MinHash

from corpusmill.transforms.duplicates.minhash import hash_ngrams, sign_documents

PERMUTATIONS = 128
NGRAM_WORDS = 8


Estimate = Callable[[str, str], float]
"""Two texts with words → their estimated Jaccard similarity."""


def estimate_by_ours(first: str, second: str) -> float:
    """As corpusmill signs."""
    ngrams = [hash_ngrams(one, NGRAM_WORDS) for one in (first, second)]
    signed = sign_documents(ngrams, PERMUTATIONS)
    return float((signed[0] == signed[1]).mean())


def estimate_by_datasketch(first: str, second: str) -> float:
    """As datasketch signs the n-grams themselves."""
    signed, other = (sign_with_datasketch(joined_ngrams(one)) for one in (first, second))
    return float(signed.jaccard(other))


ESTIMATES: Mapping[str, Estimate] = {
    "ours": estimate_by_ours,
    "datasketch": estimate_by_datasketch,
}


def signature_errors(
    pairs: Iterable[tuple[str, str]], estimates: Mapping[str, Estimate] = ESTIMATES
) -> dict[str, float]:
    """Name → mean absolute error of an estimate, of pairs of texts, each with words."""
    errors: dict[str, list[float]] = {name: [] for name in estimates}
    for first, second in pairs:
        ngrams, others = set(joined_ngrams(first)), set(joined_ngrams(second))
        true = len(ngrams & others) / len(ngrams | others)
        for name, estimate in estimates.items():
            errors[name].append(abs(estimate(first, second) - true))
    return {name: float(numpy.mean(values)) for name, values in errors.items()}


def sign_with_datasketch(ngrams: Iterable[bytes]) -> MinHash:
    """Its signature."""
    signature = MinHash(num_perm=PERMUTATIONS)
    signature.update_batch(ngrams)
    return signature


def joined_ngrams(text: str) -> list[bytes]:
    """The n-grams of a text, their words joined."""
    words = text.split()
    shifted = (words[start:] for start in range(min(NGRAM_WORDS, len(words))))
    return [" ".join(ngram).encode() for ngram in zip(*shifted, strict=False)]


def made_pairs(count: int, words: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Texts of so many words, and each with up to a tenth of its words changed."""
    chance = random.Random(seed)
    for _ in range(count):
        first = [f"w{chance.randrange(5000)}" for _ in range(words)]
        second = list(first)
        for place in chance.sample(range(words), chance.randrange(words // 10)):
            second[place] = "changed"
        yield " ".join(first), " ".join(second)
