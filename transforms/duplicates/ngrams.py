"""Computes the word n-grams of lines, and the similarity of two lines.

Words are separated by ASCII white space. A line with fewer words than `n` is one n-gram, so that short lines
are similar only if they have the same words.
"""


def word_ngrams(line: bytes, n: int) -> list[bytes]:
    """Returns all n-grams of a line, in order. A repeated n-gram is in the list several times.

    If a line has fewer than n words, the list has one element: all words of the line. The words of an n-gram
    are joined by single spaces.
    """
    words = line.split()
    if len(words) <= n:
        return [b" ".join(words)]
    return list(map(b" ".join, zip(*(words[start:] for start in range(n)), strict=False)))


def jaccard(first: bytes, second: bytes, n: int) -> float:
    """Returns the Jaccard similarity |A ∩ B| / |A ∪ B| of the sets of n-grams of two lines."""
    ngrams, others = set(word_ngrams(first, n)), set(word_ngrams(second, n))
    common = len(ngrams & others)
    return common / (len(ngrams) + len(others) - common)
