"""Measures the similarity of documents by the hashes of their word n-grams, either exactly or by signatures.

The hashes are computed by hashed_ngrams.py, the signatures by minhash.py. A similarity is a fraction, so that
it can be compared exactly with a threshold.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy

from corpusmill.transforms.duplicates.hashed_ngrams import Uint64s
from corpusmill.transforms.duplicates.minhash import Uint32s, sign_hashes


def sign_documents(ngrams: Sequence[Uint64s], permutations: int) -> Uint32s:
    """Returns a MinHash signature for each document, one per row.

    The signatures are computed from the last 32 bits of each hash. They are equal to those of the library
    datasketch, see pipelines/docs/overlap.md. Two documents without common n-grams may agree in a value by
    chance. If both have ten million n-grams, this happens in one of 400 values; if both have 100,000 n-grams,
    in one of 40,000.

    Args:
      ngrams: for each document, the hashes of its different n-grams. Each document must have an n-gram.
      permutations: number of values of a signature.
    """
    return sign_hashes([hashes.astype(numpy.uint32) for hashes in ngrams], permutations)


def exact_jaccard(first: Uint64s, second: Uint64s) -> Fraction:
    """Returns the Jaccard similarity |A ∩ B| / |A ∪ B| of two sets of hashes.

    Each set is an ascending array without repeated hashes. At least one of the sets must not be empty.
    """
    both = numpy.sort(numpy.concatenate((first, second)), kind="stable")  # merges two sorted runs
    common = int(numpy.count_nonzero(both[1:] == both[:-1]))
    return Fraction(common, len(both) - common)


def parse_similarity(similarity: str | float | Fraction) -> Fraction:
    """Parses a threshold of similarity as an exact fraction: "0.8" and 0.8 are 4/5.

    Raises ValueError if it is not a number above 0 and below 1.
    """
    try:
        exact = Fraction(str(similarity))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"similarity must be a number, not {similarity}") from error
    if not 0 < exact < 1:
        raise ValueError(f"similarity must be above 0 and below 1, not {similarity}")
    return exact
