"""Scores of language models that can be compared: per character and per word, whatever the pieces.

A training job may import this module by itself: it needs the standard library only.

A model predicts a split piece by piece; L is the sum of the natural logarithms of the probabilities
of all its pieces. Perplexity per piece, e^(-L / pieces), says as much about the pieces as about the model.
What compares models is L over a count that the text alone decides:

    bits per character = -L / ln 2 / characters = log2(perplexity per piece) × pieces / characters
                                                  (Guo et al. 2020, Wiki-40B, section 5.1)
    word-level perplexity = e^(-L / words)        (Rae et al. 2020, PG-19, section 4.2)

The counts are those that the corpus was published with, never those of the tokeniser at hand.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

BASES = {"e": math.e, "2": 2.0, "10": 10.0}  # of logarithms


class Normalisers(NamedTuple):
    """What the scores of a split are divided by."""

    characters: int  # Unicode code points, a marker is one
    pieces: int  # of the SentencePiece model of the corpus; 0 where it has none
    words: int
    articles: int  # or books


# From a log-likelihood.


def bits_per_character(log_likelihood: float, characters: int) -> float:
    """Bits per character of a text with this natural log-likelihood."""
    return _loss(log_likelihood) / math.log(2) / _positive(characters, "characters")


def perplexity_per_piece(log_likelihood: float, pieces: int) -> float:
    """e^(-L / pieces). Compares models with the same pieces only. inf where it is out of range."""
    return _exp(_loss(log_likelihood) / _positive(pieces, "pieces"))


def word_level_perplexity(log_likelihood: float, words: int, sentences: int = 0) -> float:
    """e^(-L / words), the perplexity of PG-19 and of the One Billion Word benchmark.

    Args:
      log_likelihood: natural, of the whole text, whatever it was cut into.
      words: of the text as published.
      sentences: whose end the model also predicts: in One Billion Word an end counts as a word, and
        the beginning, which is never predicted, does not. The 159,658 words that Chelba et al. 2013
        tell of their test set have the ends in them.
    """
    return _exp(_loss(log_likelihood) / (_positive(words, "words") + sentences))


# To a log-likelihood: any score leads to any other by way of it.


def log_likelihood_of_bits_per_character(bits: float, characters: int) -> float:
    """The inverse of `bits_per_character`."""
    if not 0 <= bits < math.inf:
        raise ValueError(f"{bits} is no number of bits per character")
    return -bits * math.log(2) * _positive(characters, "characters")


def log_likelihood_of_perplexity(perplexity: float, count: int) -> float:
    """The inverse of `perplexity_per_piece` and `word_level_perplexity`: `count` is of what it is per."""
    if not 1 <= perplexity < math.inf:
        raise ValueError(f"{perplexity} is no perplexity: it is 1 at least")
    return -math.log(perplexity) * _positive(count, "units of the perplexity")


def bits_per_character_of_perplexity(perplexity: float, pieces: int, characters: int) -> float:
    """log2(perplexity per piece) × pieces / characters."""
    return bits_per_character(log_likelihood_of_perplexity(perplexity, pieces), characters)


def word_level_perplexity_of_bits_per_character(bits: float, characters: int, words: int) -> float:
    """The same model per word."""
    log_likelihood = log_likelihood_of_bits_per_character(bits, characters)
    return word_level_perplexity(log_likelihood, words)


# What goes in.


def in_nats(log_likelihood: float, base: str) -> float:
    """A log-likelihood to the base "e", "2" or "10" as a natural one."""
    if base not in BASES:
        raise ValueError(f"the base of logarithms is one of {', '.join(BASES)}, not {base!r}")
    return log_likelihood if base == "e" else log_likelihood * math.log(BASES[base])


def sum_log_likelihoods(lines: Iterable[str], normalisers: Normalisers) -> float:
    """The sum of numbers, one a line, each of one piece or each of one article of a split.

    The number of lines must be that of the pieces or of the articles: who leaves text out must not score
    better. Raises ValueError for that, and for a line that is no log-likelihood.
    """
    given = 0

    def values() -> Iterator[float]:
        nonlocal given
        for given, line in enumerate(lines, 1):
            yield _parse(line, given)

    try:
        total = math.fsum(values())
    except OverflowError:
        raise ValueError("the sum of the log-likelihoods is beyond all numbers") from None
    expected = {"pieces": normalisers.pieces, "articles": normalisers.articles}
    if not given or given not in expected.values():
        counts = " or ".join(f"{count:,} {what}" for what, count in expected.items() if count)
        raise ValueError(
            f"{given:,} log-likelihoods are given, and the split has {counts}: give one for each,"
            " or the sum of all"
        )
    return total


def _parse(line: str, number: int) -> float:
    try:
        value = float(line)
    except ValueError:
        raise ValueError(f"line {number}: {line.strip()!r} is no number") from None
    if not -math.inf < value <= 0:
        raise ValueError(f"line {number}: {line.strip()} is no log-likelihood: {_RANGE}")
    return value


def read_normalisers(manifest: Mapping[str, Any], split: str) -> Normalisers:
    """The normalisers of a split, from a manifest with "stats", or one made of stats.json:
    {"stats": json.loads(...)}.

    Raises ValueError where the manifest does not have them.
    """
    if "stats" not in manifest:
        raise ValueError('the manifest has no "stats": take those of stats.json beside it')
    stats = manifest["stats"] if isinstance(manifest["stats"], Mapping) else {}
    counts = stats.get(split)
    if not isinstance(counts, Mapping):
        raise ValueError(f"no such split: {split!r}; there are {', '.join(stats)}")
    unit = "books" if "books" in counts else "articles"
    missing = [
        name for name in ("characters", "words", unit) if not isinstance(counts.get(name), int)
    ]
    if missing:
        raise ValueError(f"the counts of {split} lack {', '.join(missing)}")
    return Normalisers(
        characters=counts["characters"],
        pieces=counts.get("pieces", 0),
        words=counts["words"],
        articles=counts[unit],
    )


_RANGE = "it is finite and not above 0 (a loss has the other sign)"


def _loss(log_likelihood: float) -> float:
    if not -math.inf < log_likelihood <= 0:
        raise ValueError(f"{log_likelihood} is no log-likelihood: {_RANGE}")
    return abs(log_likelihood)  # no -0.0


def _positive(count: int, what: str) -> int:
    if count > 0:
        return count
    if what == "pieces":
        raise ValueError(
            "the number of pieces is not known: the build has no SentencePiece model (it needs the"
            " package sentencepiece)"
        )
    raise ValueError(f"there are {count} {what}: nothing to divide by")


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
