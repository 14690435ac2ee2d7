"""Word n-grams of a line, and the similarity of two lines by their n-grams.

Words are separated by ASCII white space. A line with fewer words than `n` is one n-gram, so that short lines
are similar only if they have the same words.
"""


def word_ngrams(line: bytes, n: int) -> list[bytes]:
    """Returns the n-grams in order, at least one, with repetitions. Their words are joined by one space."""
    words = line.split()
    if len(words) <= n:
        return [b" ".join(words)]
    return list(map(b" ".join, zip(*(words[start:] for start in range(n)), strict=False)))


def jaccard(first: bytes, second: bytes, n: int) -> float:
    """Returns |A ∩ B| / |A ∪ B| of the sets of n-grams of two lines: 1.0 if the sets are equal."""
    ngrams, others = set(word_ngrams(first, n)), set(word_ngrams(second, n))
    common = len(ngrams & others)
    return common / (len(ngrams) + len(others) - common)
