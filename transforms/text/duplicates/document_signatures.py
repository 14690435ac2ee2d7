"""Measures the similarity of documents by the hashes of their word n-grams, exactly or by signatures.

Hashes are those of hashed_ngrams.py, signatures those of minhash.py. A similarity is a fraction, so that the
comparison with a threshold is exact.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy

from transforms.text.duplicates.hashed_ngrams import Uint64s
from transforms.text.duplicates.minhash import Uint32s, sign_hashes


def sign_documents(ngrams: Sequence[Uint64s], permutations: int) -> Uint32s:
    """Returns a row per document: the MinHash signature of its different n-grams.

    The last 32 bits of each hash are permuted. pipelines/docs/overlap.md describes the function; datasketch
    gives the same rows. For two documents of ten million n-grams each, one permutation in 400 has the same
    smallest value by chance; for two documents of 100,000 n-grams, one in 40,000.

    Args:
      ngrams: for each document, the hashes of its n-grams, at least one.
    """
    return sign_hashes([hashes.astype(numpy.uint32) for hashes in ngrams], permutations)


def exact_jaccard(first: Uint64s, second: Uint64s) -> Fraction:
    """Returns |A ∩ B| / |A ∪ B| of two sets: ascending arrays of different hashes, not both of them empty."""
    both = numpy.sort(numpy.concatenate((first, second)), kind="stable")  # merges two sorted runs
    common = int(numpy.count_nonzero(both[1:] == both[:-1]))
    return Fraction(common, len(both) - common)


def parse_similarity(similarity: str | float | Fraction) -> Fraction:
    """Returns a threshold of similarity as an exact fraction: "0.8" and 0.8 are 4/5.

    Raises ValueError unless it is a number above 0 and below 1.
    """
    try:
        exact = Fraction(str(similarity))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"similarity must be a number, not {similarity}") from error
    if not 0 < exact < 1:
        raise ValueError(f"similarity must be above 0 and below 1, not {similarity}")
    return exact
