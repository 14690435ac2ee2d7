"""Measures the similarity of two documents by the hashes of their word n-grams: exactly, and by signatures.

Hashes are those of hashed_ngrams.py, signatures those of minhash.py. A similarity is a fraction,
so that it is compared with a threshold as exactly as both are known.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy

from transforms.text.duplicates.hashed_ngrams import Uint64s
from transforms.text.duplicates.minhash import Uint32s, sign_hashes


def sign_documents(ngrams: Sequence[Uint64s], permutations: int) -> Uint32s:
    """A row for each document, of its different n-grams, of which it must have one at least.

    Permuted are the last 32 bits of each hash. pipelines/docs/overlap.md publishes the function: datasketch
    gives the same rows. Of two documents of ten million n-grams, one permutation in
    400 has its smallest in common by chance; of two of 100,000, one in 40,000.
    """
    return sign_hashes([hashes.astype(numpy.uint32) for hashes in ngrams], permutations)


def exact_jaccard(first: Uint64s, second: Uint64s) -> Fraction:
    """|A ∩ B| / |A ∪ B| of two sets of hashes, each different and ascending, not both empty."""
    both = numpy.sort(numpy.concatenate((first, second)), kind="stable")  # two runs are but merged
    common = int(numpy.count_nonzero(both[1:] == both[:-1]))
    return Fraction(common, len(both) - common)


def parse_similarity(similarity: str | float | Fraction) -> Fraction:
    """The threshold as it is written: "0.8" and 0.8 are 4/5.

    Raises ValueError where it is not a number above 0 and below 1.
    """
    try:
        exact = Fraction(str(similarity))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"similarity is {similarity}, and must be a number") from error
    if not 0 < exact < 1:
        raise ValueError(f"similarity is {similarity}, and must be above 0 and below 1")
    return exact
