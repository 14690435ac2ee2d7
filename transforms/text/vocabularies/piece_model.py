"""A SentencePiece model for measuring translations: pieces for many languages, and what they do not know.

Goyal et al. 2022 (FLORES-101), section 5.2: 256,000 pieces, character coverage 0.9995. What the paper does
not say is as `spm_train` has it by default: a unigram model over text normalised by nmt_nfkc, with a space
before the first word. The paper has unknown tokens (3.8 % in Tagalog), so characters beyond the coverage are
not spelled in bytes; with `byte_fallback` they are.

Encoding loses more than that of subwords.py, whose models must spell every text again: these have only
to cut translation and reference in the same way.
"""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.text.vocabularies.subwords import (
    BYTES,
    COMMON,
    META_PIECES,
    SENTENCE,
    UntrainableError,
    check_coverage,
    load_model,
    run_trainer,
    vocabulary_size_of,
)

NORMALIZATIONS = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
LARGE_CORPUS = 1 << 30
"""Characters of different words from which on the trainer must count in 64 bits."""

TRAINER: Mapping[str, Any] = {
    "model_type": "unigram",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    **COMMON,
}


@dataclasses.dataclass(frozen=True)
class PieceSettings:
    """The settings that determine a model, beside the sentences. Invalid settings raise ValueError."""

    size: int = 256_000  # pieces, at most
    character_coverage: float = 0.9995  # share of the text with pieces for its characters
    normalization: str = "nmt_nfkc"  # of NORMALIZATIONS
    byte_fallback: bool = False  # spell characters without a piece in bytes
    min_count: int = 1  # words that occur less often are not learned from

    def __post_init__(self) -> None:
        least = META_PIECES + (BYTES if self.byte_fallback else 0)
        if self.size <= least:
            raise ValueError(f"size is {self.size}; {least} pieces are taken already")
        check_coverage(self.character_coverage)
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(
                f"normalization is one of {NORMALIZATIONS}, not {self.normalization!r}"
            )
        if self.min_count < 1:
            raise ValueError(f"min_count is {self.min_count}, and must be positive")


class TrainedPieces(NamedTuple):
    """A model, and what it was learned from."""

    model: bytes
    pieces: int
    words: int  # different ones that it was learned from
    occurrences: int  # of them
    rare_words: (
        int  # different ones that were passed over, for they occur less than min_count times
    )


class PieceStats(NamedTuple):
    """Counts of lines cut into pieces."""

    lines: int = 0
    characters: int = 0  # Unicode code points, blanks too
    pieces: int = 0
    unknown: int = 0  # of the pieces; a run of unknown characters is one
    in_bytes: int = 0  # of the pieces, those that are a byte of a character

    @property
    def characters_per_piece(self) -> float:
        """0 where there is no text."""
        return self.characters / self.pieces if self.pieces else 0.0

    @property
    def unknown_rate(self) -> float:
        """Share of unknown tokens. 0 where there is no text."""
        return self.unknown / self.pieces if self.pieces else 0.0


def add_piece_stats(stats: Iterable[PieceStats]) -> PieceStats:
    """The sum of several counts."""
    return PieceStats(*(sum(column) for column in zip(PieceStats(), *stats, strict=True)))


def train_pieces(parts: Sequence[pa.RecordBatch], settings: PieceSettings) -> TrainedPieces:
    """The model of the words of a corpus. No piece reaches over a space, so their counts are all it takes.

    Args:
      parts: word counts (see word_counts.py), each word in one of them, in an order that does not
        depend on chance.

    For its first candidates the trainer writes each word out as often as it counts, 500 MB at a time, some
    20 s each on two cores: time goes by the occurrences of words, memory stays below some 7 GB for them.

    The same words give the same bytes, in whatever order they are in each part. Raises UntrainableError where
    there is no word, or where the vocabulary has no room for the characters.
    """
    frequent = [part.filter(pc.greater_equal(part["count"], settings.min_count)) for part in parts]
    words = sum(part.num_rows for part in frequent)
    if not words:
        raise UntrainableError("there is no text to learn from")
    length = sum(pc.sum(pc.binary_length(part["word"])).as_py() or 0 for part in frequent)
    model = run_trainer(
        _lines_of(frequent),
        TRAINER,
        vocab_size=settings.size,
        character_coverage=settings.character_coverage,
        normalization_rule_name=settings.normalization,
        byte_fallback=settings.byte_fallback,
        train_extremely_large_corpus=length >= LARGE_CORPUS,
    )
    return TrainedPieces(
        model=model,
        pieces=vocabulary_size_of(model),
        words=words,
        occurrences=sum(pc.sum(part["count"]).as_py() or 0 for part in frequent),
        rare_words=sum(part.num_rows for part in parts) - words,
    )


def _lines_of(parts: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """Yields the lines for the trainer: a word, a tab and its count. A long word is cut."""
    for part in parts:
        ordered = part.take(pc.sort_indices(part["word"]))
        for word, count in zip(*(column.to_pylist() for column in ordered.columns), strict=True):
            text = word.decode("utf-8")
            for at in range(0, len(text), SENTENCE):
                yield f"{text[at : at + SENTENCE]}\t{count}"


class PieceCounter:
    """Counts lines in the pieces of a model."""

    def __init__(self, model: bytes):
        self._processor = load_model(model)
        pieces = range(self._processor.get_piece_size())
        self._is_byte = np.array([self._processor.is_byte(piece) for piece in pieces])

    def count(self, lines: Iterable[str]) -> PieceStats:
        """Counts lines, spaces around which are not part of them."""
        stripped = [line.strip() for line in lines]
        encoded = self._processor.encode(stripped)
        ids = np.array([piece for line in encoded for piece in line], np.int64)
        return PieceStats(
            lines=len(stripped),
            characters=sum(map(len, stripped)),
            pieces=len(ids),
            unknown=int(np.sum(ids == self._processor.unk_id())),
            in_bytes=int(np.sum(self._is_byte[ids])),
        )


@functools.lru_cache(maxsize=2)
def piece_counter(model: bytes) -> PieceCounter:
    """The counter of a model, loaded once in a process."""
    return PieceCounter(model)
