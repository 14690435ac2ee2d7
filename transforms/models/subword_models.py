"""Trains SentencePiece vocabularies reproducibly, and counts the pieces of texts.

As in Guo et al. 2020 (Wiki-40B), section 3, the model is a unigram model. Each marker of the article layout,
with its line feeds, is one piece: "each marker occupies only one time step" (section 2.3). Encoding is
lossless, so that bits per character can be computed from the likelihoods of pieces. The only exception is
U+2581, which SentencePiece uses in place of a space: it counts as one character and is decoded to a space.

Trains SentencePiece models for spBLEU, with pieces for many languages, and counts unknown tokens.

Goyal et al. 2022 (FLORES-101, section 5.2) use 256,000 pieces and a character coverage of 0.9995. All other
settings are the defaults of `spm_train`: a unigram model over text normalised by nmt_nfkc, with a space
before the first word. The paper reports unknown tokens (3.8 % in Tagalog). So here, too, characters outside
the coverage are unknown, unless `byte_fallback` encodes them as bytes.

These models cannot restore every text from its pieces. They only need to split a translation and its
reference in the same way. With `lossless`, models for many languages are like those for one Wikipedia.
"""

import dataclasses
import functools
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sentencepiece

from ..files.line_blocks import lines_of
from ..files.records import SubwordStats
from ..wikitext.article_markers import MARKERS_WITH_LINE_FEEDS, count_characters
from . import word_vocabulary

BLANK = "\u2581"  # SentencePiece's sign for a space
RESERVED = "\u2585"  # the trainer skips words with this character
SENTENCE = 5_000  # maximum length of a training sentence, in characters
META_PIECES = 3  # <unk>, <s>, </s>
BYTES = 256

# Beginnings of the paragraphs of an article. No piece spans a marker.
_STARTS = re.compile("(?=\\n_START_|_NEWLINE_)")
_LINE_FEED = "\0"  # stands for a line feed where a text is in one line
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

# Settings of the trainer for all models.
COMMON: Mapping[str, Any] = {
    # A small corpus gives a small vocabulary, not an error.
    "hard_vocab_limit": False,
    # Train on all words, of any length, because the trainer's own sample would be random.
    "input_sentence_size": 0,
    "max_sentence_length": 1 << 20,  # bytes
    # Each thread adds up its own words, so the number of threads changes the last bits of the sums and with
    # them the model. The number of cores has no effect.
    "num_threads": 8,
}
TRAINER: Mapping[str, Any] = {
    "model_type": "unigram",
    # The text is encoded unchanged: no normalisation, no spaces added or removed.
    "normalization_rule_name": "identity",
    "add_dummy_prefix": False,
    "remove_extra_whitespaces": False,
    # Rare characters are encoded as bytes, so they are not lost. A space needs a piece of its own, because
    # otherwise it would be decoded to U+2581.
    "byte_fallback": True,
    "required_chars": BLANK,
    **COMMON,
}


class UntrainableError(ValueError):
    """Raised if it is impossible to train a vocabulary on the given texts."""


@dataclasses.dataclass(frozen=True)
class SubwordSettings:
    """The settings that, together with the text, determine a vocabulary.

    Raises ValueError for invalid settings.
    """

    vocabulary_size: int = 32_000  # maximum number of pieces, including markers and bytes
    sample_articles: int = 100_000  # number of articles from the split train of each language
    character_coverage: float = 0.9999  # share of the text with pieces for its characters

    def __post_init__(self) -> None:
        least = META_PIECES + len(MARKERS_WITH_LINE_FEEDS) + BYTES
        if self.vocabulary_size <= least:
            raise ValueError(
                f"vocabulary_size must be above {least}, the number of pieces for markers and bytes,"
                f" not {self.vocabulary_size}"
            )
        if self.sample_articles < 1:
            raise ValueError(f"sample_articles must be positive, not {self.sample_articles}")
        check_coverage(self.character_coverage)

    def as_dict(self) -> dict[str, Any]:
        """Returns all settings for the manifest, including those of the trainer that cannot be changed."""
        return dataclasses.asdict(self) | dict(TRAINER)


class TrainedSubwords(NamedTuple):
    """A trained vocabulary, and the size and checksum of the sample of articles it was trained on."""

    model: bytes  # a SentencePiece model; b"" if none could be trained
    vocabulary_size: int  # number of pieces; 0 without a model
    sampled_articles: int
    # checksum of the lines "<wikidata id>\t<version id>\n" of the sampled articles, in order
    sample_sha256: str
    reason: str = ""  # why there is no model

    def summary(self) -> dict[str, Any]:
        """Returns the vocabulary's entry in the manifest: all fields except the model."""
        return {name: value for name, value in self._asdict().items() if name != "model"}


def check_coverage(character_coverage: float) -> None:
    """Raises ValueError if the trainer would not accept this character coverage (see SubwordSettings)."""
    if not 0.98 <= character_coverage <= 1:
        raise ValueError(f"character_coverage must be from 0.98 to 1, not {character_coverage}")


def add_subword_stats(stats: Iterable[SubwordStats]) -> SubwordStats:
    """Adds up several SubwordStats, field by field."""
    return SubwordStats(*(sum(column) for column in zip(SubwordStats(), *stats, strict=True)))


def train_model(
    texts: Iterable[str], settings: SubwordSettings, tell: Callable[[int], None] = lambda _: None
) -> bytes:
    """Trains a SentencePiece model on texts.

    Only the distinct words of the texts are kept in memory. The trainer needs 13 bytes of memory per byte of
    text. It processes the text in blocks of 500 MB, so it never needs more than about 7 GB.

    The same texts always give the same model, byte for byte, in any order and on any number of cores.

    Args:
      texts: the texts.
      settings: the settings of the vocabulary.
      tell: function that is called before the training, with the number of different words.

    Raises UntrainableError if there is no text, or if the vocabulary is too small for the characters in the
    texts.
    """
    parts = _parts_of(count_words(texts))
    tell(sum(part.num_rows for part in parts))
    coverage = settings.character_coverage
    lossless = PieceSettings(settings.vocabulary_size, coverage, "identity", True, 1, True)
    return train_pieces(parts, lossless).model


def run_trainer(lines: Iterator[str], fixed: Mapping[str, Any], **settings: Any) -> bytes:
    """Trains a model on word counts.

    Args:
      lines: the word counts. Each line is a word, a tab and the word's count.
      fixed: settings of the trainer that are the same for all models of a kind.
      settings: all other settings of the trainer.

    Raises UntrainableError if training fails.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=lines,
            input_format="tsv",
            model_writer=model,
            minloglevel=2,  # log only errors, which are also raised
            **fixed,
            **settings,
        )
    except RuntimeError as error:
        raise UntrainableError(f"SentencePiece cannot train a model: {error}") from None
    return model.getvalue()


def count_words(texts: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Counts the words of texts. A vocabulary depends only on these counts, because no piece spans a space.

    Returns the counts of the words after a space, and of the others, which are at the start of a sentence.
    The trainer can count words too, but it keeps the whole text in memory and takes twice the time.
    """
    after_blank: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for text in texts:
        for sentence in sentences_of(text):
            word, *words = sentence.split(" ")
            others[word] += 1
            after_blank.update(words)
    del others[""]
    return after_blank, others


def _parts_of(counts: Iterable[Mapping[str, int]]) -> list[pa.RecordBatch]:
    """Returns the counts of words after a space, which then begin with it, and of other words."""
    return [
        pa.record_batch(
            [[f"{blank}{word}".encode() for word in words], [*words.values()]],
            schema=word_vocabulary.SCHEMA,
        )
        for blank, words in zip((" ", ""), counts, strict=True)
    ]


def sentences_of(text: str) -> Iterator[str]:
    """Yields the paragraphs of an article with their markers, cut into parts of at most 5,000 characters.

    In scripts without spaces, a whole paragraph counts as one word. For a word of a million characters, the
    trainer would need minutes, and its sums would overflow.
    """
    plain = text.replace(RESERVED, "").replace(BLANK, " ").replace("\t", " ")
    for paragraph in _STARTS.split(plain):
        for at in range(0, len(paragraph), SENTENCE):
            yield paragraph[at : at + SENTENCE]


def count_words_of_articles(block: bytes) -> pa.RecordBatch:
    """Counts the words of articles for a lossless model, as `count_words` does.

    A word after a space begins with this space. `block` has one article on a line (see `on_one_line`).
    """
    articles = (from_one_line(line.decode("utf-8")) for line in lines_of(block))
    return word_vocabulary.add_counts(_parts_of(count_words(articles)))


def on_one_line(text: str) -> str:
    """Returns a text in one line, with null characters in place of line feeds."""
    return text.replace("\n", _LINE_FEED)


def from_one_line(line: str) -> str:
    """Returns the text that `on_one_line` has put on one line."""
    return line.replace(_LINE_FEED, "\n")


def vocabulary_of(model: bytes) -> str:
    """Returns a readable list of a model's pieces and their scores, one per line.

    The line number, counted from 0, is the id of the piece. The format is that of the .vocab files of
    `spm_train`, except that a backslash, line feed, carriage return or tab in a piece is escaped as in C, so
    that each piece is on one line.
    """
    processor = load_model(model)
    return "".join(
        f"{processor.id_to_piece(piece).translate(_ESCAPES)}\t{processor.get_score(piece):g}\n"
        for piece in range(processor.get_piece_size())
    )


def vocabulary_size_of(model: bytes) -> int:
    """Returns the number of pieces in a model."""
    return int(load_model(model).get_piece_size())


class SubwordCounter:
    """Counts the pieces into which a model splits texts. The model must be made by `train_model`."""

    def __init__(self, model: bytes):
        self._processor = load_model(model)
        pieces = range(self._processor.get_piece_size())
        self._byte_characters = np.array([self._starts_bytes(piece) for piece in pieces])
        own = np.array([self._own_characters(piece) for piece in pieces])
        self._known_characters = own + self._byte_characters

    def count(self, text: str) -> SubwordStats:
        """Counts the pieces and characters of a text."""
        ids = self._processor.encode(text, return_type="numpy")
        characters = count_characters(text)
        return SubwordStats(
            pieces=len(ids),
            characters=characters,
            unknown_characters=characters - int(self._known_characters[ids].sum()),
            byte_characters=int(self._byte_characters[ids].sum()),
        )

    def _own_characters(self, piece: int) -> int:
        """Returns the number of characters in the piece with this id.

        Returns 0 for bytes, control pieces and the unknown piece.
        """
        processor = self._processor
        if processor.is_unknown(piece) or processor.is_control(piece) or processor.is_byte(piece):
            return 0
        written = processor.id_to_piece(piece)
        return 1 if written in MARKERS_WITH_LINE_FEEDS else len(written)

    def _starts_bytes(self, piece: int) -> int:
        """Returns 1 if a piece is the first byte of a UTF-8 character, such as "<0xE5>", otherwise 0."""
        if not self._processor.is_byte(piece):
            return 0
        byte = int(self._processor.id_to_piece(piece)[1:-1], 16)
        return int(byte & 0b1100_0000 != 0b1000_0000)


def load_model(model: bytes) -> Any:
    """Loads a model and returns a SentencePieceProcessor."""
    return sentencepiece.SentencePieceProcessor(model_proto=model)


NORMALIZATIONS = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")

PIECES_TRAINER: Mapping[str, Any] = {
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
    lossless: bool = False  # True for models of articles, like those for one Wikipedia

    def __post_init__(self) -> None:
        least = META_PIECES + (BYTES if self.byte_fallback else 0)
        least += len(MARKERS_WITH_LINE_FEEDS) if self.lossless else 0
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
      parts: the word counts in several parts (see word_vocabulary.py). Each word is in only one part, and the
        order of the parts must be fixed.
      settings: the settings of the model.

    Raises:
      UntrainableError: there is no word, or the vocabulary is too small for the characters.
    """
    frequent = [part.filter(pc.greater_equal(part["count"], settings.min_count)) for part in parts]
    if not (words := sum(part.num_rows for part in frequent)):
        raise UntrainableError("there is no text to learn from")
    markers = {"user_defined_symbols": list(MARKERS_WITH_LINE_FEEDS)}
    model = run_trainer(
        _lines_of_counts(frequent),
        {
            "normalization_rule_name": settings.normalization,
            "byte_fallback": settings.byte_fallback,
            **({**TRAINER, **markers} if settings.lossless else PIECES_TRAINER),
        },
        vocab_size=settings.size,
        character_coverage=settings.character_coverage,
    )
    return TrainedPieces(
        model=model,
        pieces=vocabulary_size_of(model),
        words=words,
        occurrences=sum(pc.sum(part["count"]).as_py() or 0 for part in frequent),
        rare_words=sum(part.num_rows for part in parts) - words,
    )


def _lines_of_counts(parts: Iterable[pa.RecordBatch]) -> Iterator[str]:
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


piece_counter = functools.lru_cache(maxsize=2)(PieceCounter)
"""Returns the counter for a model. Counters are cached in each process."""

counter_of = functools.lru_cache(maxsize=4)(SubwordCounter)
"""Returns the counter for a model. Counters are cached in each process.

The cache finds a counter by the hash of its model. Python stores this hash in the bytes object. All calls in
a Beam bundle pass the same object, so the hash is computed only once per bundle.
"""


def count_in_articles(model: bytes, articles: Iterable[str]) -> SubwordStats:
    """Counts the pieces of articles, each of which is on one line (see `on_one_line`)."""
    return add_subword_stats(map(counter_of(model).count, map(from_one_line, articles)))


def count_in_sentences(model: bytes, sentences: Iterable[str]) -> PieceStats:
    """Counts the pieces of sentences."""
    return piece_counter(model).count(sentences)
