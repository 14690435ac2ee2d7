"""Word n-grams of a line, and how much two lines have in common by them.

Words are what is between ASCII white space. A line with fewer words than `n` is one n-gram, whole: short
lines are alike only when they have the same words.
"""


def word_ngrams(line: bytes, n: int) -> list[bytes]:
    """The n-grams in their order, repeated ones too, their words joined by one space; never none."""
    words = line.split()
    if len(words) <= n:
        return [b" ".join(words)]
    return list(map(b" ".join, zip(*(words[start:] for start in range(n)), strict=False)))


def jaccard(first: bytes, second: bytes, n: int) -> float:
    """|A ∩ B| / |A ∪ B| of the sets of n-grams of two lines: 1.0 where they have the same ones."""
    ngrams, others = set(word_ngrams(first, n)), set(word_ngrams(second, n))
    common = len(ngrams & others)
    return common / (len(ngrams) + len(others) - common)
