"""Trains SentencePiece models for spBLEU, with pieces for many languages, and counts unknown tokens.

Goyal et al. 2022 (FLORES-101, section 5.2) use 256,000 pieces and a character coverage of 0.9995. All other
settings are the defaults of `spm_train`: a unigram model over text normalised by nmt_nfkc, with a space
before the first word. The paper reports unknown tokens (3.8 % in Tagalog). So here, too, characters outside
the coverage are unknown, unless `byte_fallback` encodes them as bytes.

Unlike the models of subwords.py, these models cannot restore every text from its pieces. They only need to
split a translation and its reference in the same way.
"""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.models.subwords import (
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
"""If the distinct words have this many bytes or more, the trainer must use 64-bit counts."""

TRAINER: Mapping[str, Any] = {
    "model_type": "unigram",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    **COMMON,
}


@dataclasses.dataclass(frozen=True)
class PieceSettings:
    """The settings that, together with the text, determine a model.

    Raises ValueError for invalid settings.
    """

    size: int = 256_000  # maximum number of pieces
    character_coverage: float = 0.9995  # share of the text with pieces for its characters
    normalization: str = "nmt_nfkc"  # one of NORMALIZATIONS
    byte_fallback: bool = False  # True to encode characters without a piece as bytes
    min_count: int = 1  # less frequent words are ignored

    def __post_init__(self) -> None:
        least = META_PIECES + (BYTES if self.byte_fallback else 0)
        if self.size <= least:
            raise ValueError(
                f"size must be above {least}, the number of reserved pieces, not {self.size}"
            )
        check_coverage(self.character_coverage)
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(
                f"normalization: expected one of {', '.join(NORMALIZATIONS)}; found {self.normalization!r}"
            )
        if self.min_count < 1:
            raise ValueError(f"min_count must be positive, not {self.min_count}")


class TrainedPieces(NamedTuple):
    """A trained model, with counts of the words in its training data."""

    model: bytes
    pieces: int
    words: int  # distinct words that the model was trained on
    occurrences: int  # number of occurrences of these words
    rare_words: int  # distinct words ignored because they occur less than min_count times


class PieceStats(NamedTuple):
    """Counts of lines, their characters and their pieces."""

    lines: int = 0
    characters: int = 0  # Unicode code points, including spaces
    pieces: int = 0
    unknown: int = 0  # unknown pieces; a run of unknown characters is one piece
    in_bytes: int = 0  # pieces that represent a byte of a character

    @property
    def characters_per_piece(self) -> float:
        """The mean number of characters per piece, or 0 if there are no pieces."""
        return self.characters / self.pieces if self.pieces else 0.0

    @property
    def unknown_rate(self) -> float:
        """The fraction of pieces that are unknown, or 0 if there are no pieces."""
        return self.unknown / self.pieces if self.pieces else 0.0


def add_piece_stats(stats: Iterable[PieceStats]) -> PieceStats:
    """Adds up several PieceStats, field by field."""
    return PieceStats(*(sum(column) for column in zip(PieceStats(), *stats, strict=True)))


def train_pieces(parts: Sequence[pa.RecordBatch], settings: PieceSettings) -> TrainedPieces:
    """Trains a model on the word counts of a corpus.

    Word counts are sufficient, because no piece contains a space between words. The same counts always give
    the same model, byte for byte; the order of words within a part has no effect.

    The trainer first expands the counts: it writes each word as often as it occurs, in blocks of 500 MB. A
    block takes about 20 s on two cores, so the time grows with the length of the corpus. This step needs less
    than about 7 GB of memory.

    Args:
      parts: the word counts in several parts (see word_counts.py). Each word is in only one part, and the
        order of the parts must be fixed.
      settings: the settings of the model.

    Raises:
      UntrainableError: there is no word, or the vocabulary is too small for the characters.
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
    """Yields the lines that the trainer reads. Each is a word, a tab and the word's count.

    Long words are split into several lines.
    """
    for part in parts:
        ordered = part.take(pc.sort_indices(part["word"]))
        for word, count in zip(*(column.to_pylist() for column in ordered.columns), strict=True):
            text = word.decode("utf-8")
            for at in range(0, len(text), SENTENCE):
                yield f"{text[at : at + SENTENCE]}\t{count}"


class PieceCounter:
    """Counts the pieces into which a model splits lines."""

    def __init__(self, model: bytes):
        self._processor = load_model(model)
        pieces = range(self._processor.get_piece_size())
        self._is_byte = np.array([self._processor.is_byte(piece) for piece in pieces])

    def count(self, lines: Iterable[str]) -> PieceStats:
        """Counts the pieces of `lines`, after removing the spaces around each line."""
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
    """Returns the counter for a model. Counters are cached in each process."""
    return PieceCounter(model)
