"""How far the estimates of two ways to sign are off, on the same pairs of texts."""

import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy
from datasketch import MinHash

from transforms.text.duplicates.document_signatures import sign_documents
from transforms.text.duplicates.hashed_ngrams import hash_ngrams

PERMUTATIONS = 128
NGRAM_WORDS = 8


class Errors(NamedTuple):
    """Mean absolute errors of the estimated Jaccard similarity."""

    ours: float
    datasketch: float


def signature_errors(pairs: Iterable[tuple[str, str]]) -> Errors:
    """Of pairs of texts, each with words."""
    ours, theirs = [], []
    for first, second in pairs:
        ngrams, others = set(joined_ngrams(first)), set(joined_ngrams(second))
        true = len(ngrams & others) / len(ngrams | others)
        signed = sign_documents(
            [hash_ngrams(one, NGRAM_WORDS) for one in (first, second)], PERMUTATIONS
        )
        ours.append(abs(float((signed[0] == signed[1]).mean()) - true))
        theirs.append(
            abs(sign_with_datasketch(ngrams).jaccard(sign_with_datasketch(others)) - true)
        )
    return Errors(float(numpy.mean(ours)), float(numpy.mean(theirs)))


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
