"""Computes scores of language models that are comparable across tokenisations: per character, byte or word.

The module needs only the standard library, so a training job can import it alone.

A model predicts a split piece by piece. L is the sum of the natural logarithms of the probabilities of all
pieces. Perplexity per piece, e^(-L / pieces), depends on the pieces as much as on the model. Models are
compared by L divided by a count that depends only on the text:

    bits per character = -L / ln 2 / characters = log2(perplexity per piece) × pieces / characters
                                                  (Guo et al. 2020, Wiki-40B, section 5.1)
    bits per byte = -L / ln 2 / bytes of UTF-8
    word-level perplexity = e^(-L / words)        (Rae et al. 2020, PG-19, section 4.2)

The counts are those published with the corpus, never those of the model's tokeniser. In One Billion Word and
in SimpleBooks, the end of each line is a word that the model predicts: `</S>`, `<eos>`.

A training job writes log-likelihoods as JSON lines or Parquet, one row per document of the split:

    {"document": 0, "log_likelihood": -812.25}
    {"document": 1, "log_likelihood": [-7.5, -0.25, -11.0]}

`document` is the position of the document in the split, counted from 0, in the order of its Parquet files and
their rows. The rows may be in any order, in any number of files. `log_likelihood` is one number for the whole
document, or a list of numbers: one for each piece, or for each word and, in One Billion Word and SimpleBooks,
each end of a line. A sum must be that of the whole text, which cannot be checked; the numbers in lists are
counted, and must be as many as the split has.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

BASES = {"e": math.e, "2": 2.0, "10": 10.0}  # bases of logarithms


class Normalisers(NamedTuple):
    """The counts of a split by which the log-likelihood of its text is divided, such as characters."""

    # code points, counted as in the paper of the corpus: a marker counts as one; 0 if not counted
    characters: int
    pieces: int  # pieces of the SentencePiece model of the corpus; 0 if there is none
    words: int  # separated by white space; markers and line ends do not count; 0 if not counted
    documents: int  # rows: articles, books or sentences
    ends: int = 0  # line ends, if the paper of the corpus counts each as a word
    # line feeds of the text; None if an older build did not count them
    line_feeds: int | None = None
    has_line_feeds: bool = True  # True if `characters` includes line feeds (other than of markers)
    text_bytes: int = 0  # size in UTF-8, with line feeds; 0 if an older build did not count it

    @property
    def other_characters(self) -> int:
        """The number of characters by the other way of counting line feeds.

        Line feeds are left out if `characters` includes them; otherwise they are included.
        """
        return self.characters + (self.line_feeds or 0) * (-1 if self.has_line_feeds else 1)

    @property
    def predicted_words(self) -> int:
        """The number of words, with line ends if the paper of the corpus counts them as words."""
        return self.words + self.ends


# Scores from log-likelihoods.


def bits_per_character(log_likelihood: float, characters: int) -> float:
    """Returns the bits per character of a text, given its natural log-likelihood."""
    return _loss(log_likelihood) / math.log(2) / _positive(characters, "characters")


def bits_per_byte(log_likelihood: float, text_bytes: int) -> float:
    """Returns the bits per UTF-8 byte of a text, given its natural log-likelihood."""
    return _loss(log_likelihood) / math.log(2) / _positive(text_bytes, "bytes")


def perplexity_per_piece(log_likelihood: float, pieces: int) -> float:
    """Returns e^(-L / pieces), where L is the natural log-likelihood, or inf on overflow.

    Only models with the same pieces can be compared by this perplexity.
    """
    return _exp(_loss(log_likelihood) / _positive(pieces, "pieces"))


def word_level_perplexity(log_likelihood: float, words: int, ends: int = 0) -> float:
    """Returns e^(-L / (words + ends)), the perplexity used for PG-19, One Billion Word and SimpleBooks.

    Args:
      log_likelihood: natural log-likelihood L of the whole text, with any tokenisation.
      words: number of words of the text, as published with the corpus.
      ends: number of line ends, which the model also predicts. In One Billion Word and SimpleBooks the end of
        a line counts as a word; its beginning is not predicted and does not count. The 159,658 words that
        Chelba et al. 2013 state for their test set include line ends.
    """
    return _exp(_loss(log_likelihood) / (_positive(words, "words") + ends))


def log_likelihood_of_perplexity(perplexity: float, count: int, unit: str = "words") -> float:
    """Converts a perplexity to a natural log-likelihood.

    This is the inverse of `perplexity_per_piece` and `word_level_perplexity`.

    Args:
      perplexity: perplexity per piece or word.
      count: number of pieces, or the sum of the numbers of words and line ends.
      unit: "pieces" or "words", for the message of an error.
    """
    if not 1 <= perplexity < math.inf:
        raise ValueError(f"{perplexity} is not a perplexity, which is at least 1")
    return -math.log(perplexity) * _positive(count, unit)


# Input of the scores.


def in_nats(log_likelihood: float, base: str) -> float:
    """Converts a log-likelihood to natural logarithms.

    `base` is the base of its logarithms: "e", "2" or "10".
    """
    if base not in BASES:
        raise ValueError(f"the base of logarithms must be one of {', '.join(BASES)}, not {base!r}")
    return log_likelihood if base == "e" else log_likelihood * math.log(BASES[base])


LogLikelihood = float | Sequence[float]
"""One number for a document, or a number for each of its words or pieces."""


class Summed(NamedTuple):
    """The log-likelihood of a split, and the units whose log-likelihoods were added up."""

    log_likelihood: float
    unit: str  # "document", "piece", "word and end of line" or "word"


def covers_text(unit: str, normalisers: Normalisers) -> bool:
    """Returns whether log-likelihoods of each `unit` of a split are those of all its characters.

    Those of words leave out the line feeds and markers between words. A build that did not count its line
    feeds may have some.
    """
    return unit != "word" or normalisers.line_feeds == 0


def sum_log_likelihoods(
    rows: Iterable[tuple[int, LogLikelihood]], normalisers: Normalisers
) -> Summed:
    """Adds up the log-likelihoods of all documents of a split.

    Each document must occur exactly once, and lists must be complete. So omitted text cannot improve the
    score.

    Args:
      rows: (position of the document in the split, its log-likelihood). The log-likelihood is one number, or
        a list with a number for each piece, or for each word and, if the normalisers count them, line end.
      normalisers: the counts of the split.

    Raises ValueError for invalid rows, and if the rows do not cover the split.
    """
    seen = bytearray(normalisers.documents)
    listed = lists = 0

    def values() -> Iterator[float]:
        nonlocal listed, lists
        for document, given in rows:
            if not 0 <= document < len(seen):
                raise ValueError(
                    f"document {document}: the split has {len(seen):,} documents, numbered from 0"
                )
            if seen[document]:
                raise ValueError(f"document {document} occurs twice")
            seen[document] = 1
            if isinstance(given, (int, float)):
                yield _checked(given, document)
            else:
                lists += 1
                listed += len(given)
                yield from (_checked(value, document) for value in given)

    try:
        total = math.fsum(values())
    except OverflowError:
        raise ValueError("the sum of the log-likelihoods is infinite") from None
    if missing := seen.count(0):
        raise ValueError(
            f"{missing:,} of {len(seen):,} documents are missing, the first is {seen.index(0)}"
        )
    return Summed(total, _unit_of_lists(lists, listed, normalisers) if lists else "document")


def _unit_of_lists(lists: int, listed: int, normalisers: Normalisers) -> str:
    """Returns the unit of which the lists have one number each."""
    word = "word and end of line" if normalisers.ends else "word"
    counts = {word: normalisers.predicted_words, "piece": normalisers.pieces}
    if lists < normalisers.documents:
        raise ValueError(
            f"{lists:,} of {normalisers.documents:,} documents have lists of log-likelihoods: give lists for"
            " all documents or for none"
        )
    for unit, count in counts.items():
        if count and listed == count:
            return unit
    if listed == normalisers.words:
        raise ValueError(
            f"the lists have {listed:,} log-likelihoods, one per word, but none for the"
            f" {normalisers.ends:,} ends of lines (</S>, <eos>), which count as words: add the"
            " log-likelihood of the end of each line"
        )
    known = " or ".join(f"{count:,} (one per {unit})" for unit, count in counts.items() if count)
    raise ValueError(
        f"the lists have {listed:,} log-likelihoods in total; expected {known} for this split"
    )


def _checked(value: float, document: int) -> float:
    if not -math.inf < value <= 0:
        raise ValueError(f"document {document}: {value} is not a log-likelihood: {_RANGE}")
    return value


def read_normalisers(manifest: Mapping[str, Any], split: str) -> Normalisers:
    """Returns the counts of a split by which log-likelihoods are divided.

    They are in `manifest["stats"]`, the content of stats.json. For a build whose manifest has no "stats",
    `manifest` may be {"stats": <content of stats.json>}. Raises ValueError if counts are missing.
    """
    if "stats" not in manifest:
        raise ValueError(
            'the manifest has no key "stats": pass {"stats": <content of stats.json>} instead of the manifest'
            " (stats.json is in the same folder)"
        )
    stats = manifest["stats"] if isinstance(manifest["stats"], Mapping) else {}
    counts = stats.get(split)
    if split in _NO_SPLITS or not isinstance(counts, Mapping):
        splits = (
            name
            for name, of in stats.items()
            if isinstance(of, Mapping) and "words" in of and name not in _NO_SPLITS
        )
        raise ValueError(f"no such split: {split!r}; there are {', '.join(splits) or 'none'}")
    known = (unit for unit in (*_UNITS, *counts) if unit in counts and unit not in _OF_TEXT)
    unit = next(known, "articles")  # in stats.json, the documents are counted first
    lacking = {"characters", "words", unit} - {key for key, n in counts.items() if type(n) is int}
    if unit in lacking or lacking >= {"characters", "words"}:
        missing = ", ".join(name for name in ("characters", "words", unit) if name in lacking)
        raise ValueError(f"the counts of the split {split} lack the keys {missing}")
    ends = _ends_of_lines(stats, split)
    line_feeds = counts.get("line_feeds")
    if line_feeds is None:
        line_feeds = 0 if "with_hyperlink" in counts else ends or None
    return Normalisers(
        characters=0 if "characters" in lacking else counts["characters"],
        pieces=counts.get("pieces", 0),
        words=0 if "words" in lacking else counts["words"],
        documents=counts[unit],
        ends=ends,
        line_feeds=line_feeds,
        has_line_feeds=unit != "articles" or "line_feeds" not in counts,
        text_bytes=counts.get("text_bytes", 0),
    )


_UNITS = ("sentences", "books", "articles")  # names of rows; FLORES-101 also counts articles
_OF_TEXT = ("characters", "words", "text_bytes", "pieces")
_NO_SPLITS = ("total", "before_deduplication")


def _ends_of_lines(stats: Mapping[str, Any], split: str) -> int:
    """Returns the number of lines of a split if the paper of the corpus counts line ends as words, else 0."""
    if "heldout_shards" in stats:  # One Billion Word: one sentence per line
        return int(stats[split]["sentences"])
    size, of = ("simplebooks-2", "train") if split == "train_2" else ("simplebooks-92", split)
    sizes = stats.get(size, {}).get("splits", {})
    return int(sizes[of]["lines"]) if of in sizes else 0


_RANGE = "it must be finite and at most 0 (a loss has the other sign)"


def _loss(log_likelihood: float) -> float:
    if not -math.inf < log_likelihood <= 0:
        raise ValueError(f"{log_likelihood} is not a log-likelihood: {_RANGE}")
    return abs(log_likelihood)  # no -0.0


def _positive(count: int, what: str) -> int:
    if count > 0:
        return count
    if what == "pieces":
        raise ValueError(
            "the number of pieces is not known: the build has no SentencePiece model (it needs the"
            " package sentencepiece): give log-likelihoods instead"
        )
    raise ValueError(f"the text has {count} {what}: the score is undefined")


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
