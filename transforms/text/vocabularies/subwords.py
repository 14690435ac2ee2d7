"""SentencePiece vocabularies: training them, the same bytes every time, and counting a text in their pieces.

Guo et al. 2020, section 3: a unigram model, each marker of the layout, with its line feeds, one piece: "each
marker occupies only one time step" (section 2.3). Encoding loses nothing: the pieces of a text spell that
text again, so that bits per character can be computed from the likelihoods of its pieces. The one exception
is U+2581, SentencePiece's own sign for a space: it counts as the one character that it is, and comes back
as a space.
"""

import dataclasses
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import sentencepiece

from transforms.records import SubwordStats
from transforms.text.wikimedia.article_markers import MARKERS_WITH_LINE_FEEDS, count_characters

BLANK = "\u2581"  # what SentencePiece writes for a blank
RESERVED = "\u2585"  # the trainer passes over any word that holds this one
SENTENCE = 5_000  # characters that are learned from as one, at most
META_PIECES = 3  # <unk>, <s>, </s>
BYTES = 256

# Where the paragraphs of an article begin. No piece reaches over a marker.
_STARTS = re.compile("(?=\\n_START_|_NEWLINE_)")
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

# Settings of the trainer that decide about any model.
COMMON: Mapping[str, Any] = {
    # A small corpus gives a small vocabulary, not an error.
    "hard_vocab_limit": False,
    # All words, whatever their length: a sample of the trainer's own would be left to chance.
    "input_sentence_size": 0,
    "max_sentence_length": 1 << 20,  # bytes
    # Each thread adds up its words by itself, so their number decides about the last bits of a sum,
    # and with them about the model. The number of cores does not.
    "num_threads": 8,
}
TRAINER: Mapping[str, Any] = {
    "model_type": "unigram",
    # The text is encoded as it stands: no other form of a letter, no blank put in front, none taken away.
    "normalization_rule_name": "identity",
    "add_dummy_prefix": False,
    "remove_extra_whitespaces": False,
    # Rare characters are spelled in bytes, not lost. Without a piece of its own, a blank would be
    # spelled as its sign, and come back as that.
    "byte_fallback": True,
    "required_chars": BLANK,
    **COMMON,
}


class UntrainableError(ValueError):
    """No vocabulary can be learned from the texts."""


@dataclasses.dataclass(frozen=True)
class SubwordSettings:
    """The settings that determine a vocabulary, beside the text."""

    vocabulary_size: int = 32_000  # pieces, at most; with the markers and the bytes
    sample_articles: int = 100_000  # of train, of each language
    character_coverage: float = 0.9999  # share of the text with pieces for its characters

    def __post_init__(self) -> None:
        least = META_PIECES + len(MARKERS_WITH_LINE_FEEDS) + BYTES
        if self.vocabulary_size <= least:
            raise ValueError(
                f"vocabulary_size is {self.vocabulary_size}; {least} pieces are taken by markers and bytes"
            )
        if self.sample_articles < 1:
            raise ValueError(f"sample_articles is {self.sample_articles}, and must be positive")
        check_coverage(self.character_coverage)

    def as_dict(self) -> dict[str, Any]:
        """All settings, for the manifest."""
        return dataclasses.asdict(self) | dict(TRAINER)


class TrainedSubwords(NamedTuple):
    """A vocabulary, and what it was learned from."""

    model: bytes  # a SentencePiece model; b"" where none could be trained
    vocabulary_size: int  # pieces; 0 without a model
    sampled_articles: int
    sample_sha256: str  # of "<wikidata id>\t<version id>\n" of each article, in their order
    reason: str = ""  # why there is no model

    def summary(self) -> dict[str, Any]:
        """Returns the entry for the manifest."""
        return {name: value for name, value in self._asdict().items() if name != "model"}


def check_coverage(character_coverage: float) -> None:
    """Raises ValueError for what the trainer does not take."""
    if not 0.98 <= character_coverage <= 1:
        raise ValueError(f"character_coverage is {character_coverage}, and must be from 0.98 to 1")


def add_subword_stats(stats: Iterable[SubwordStats]) -> SubwordStats:
    """The sum of several counts."""
    return SubwordStats(*(sum(column) for column in zip(SubwordStats(), *stats, strict=True)))


def train_model(texts: Iterable[str], settings: SubwordSettings) -> bytes:
    """The SentencePiece model of the texts.

    Of the texts only the distinct words are held. The trainer takes 13 bytes of memory for each byte of
    text, up to some 7 GB: of more text it takes 500 MB at a time.

    The same texts give the same bytes, in any order and on any number of cores. Raises
    UntrainableError where there is no text, or where the vocabulary has no room for its characters.
    """
    counts = count_words(texts)
    if not any(counts):
        raise UntrainableError("there is no text to learn from")
    return run_trainer(
        _lines_of(counts),
        TRAINER,
        vocab_size=settings.vocabulary_size,
        character_coverage=settings.character_coverage,
        user_defined_symbols=list(MARKERS_WITH_LINE_FEEDS),
    )


def run_trainer(lines: Iterator[str], fixed: Mapping[str, Any], **settings: Any) -> bytes:
    """The model of lines of a word, a tab and its count. Raises UntrainableError."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=lines,
            input_format="tsv",
            model_writer=model,
            minloglevel=2,  # errors, which are raised as well
            **fixed,
            **settings,
        )
    except RuntimeError as error:
        raise UntrainableError(f"SentencePiece trains no model: {error}") from None
    return model.getvalue()


class WordCounts(NamedTuple):
    """Words between spaces, and how often each is there."""

    after_blank: Mapping[str, int]
    others: Mapping[str, int]  # at the start of a sentence


def count_words(texts: Iterable[str]) -> WordCounts:
    """Counts words: no piece reaches over a space, so a vocabulary depends on nothing else.

    The trainer would count them as well, but hold the whole text to do so, and take twice the time.
    """
    after_blank: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for text in texts:
        for sentence in sentences_of(text):
            word, *words = sentence.split(" ")
            others[word] += 1
            after_blank.update(words)
    del others[""]
    return WordCounts(after_blank, others)


def _lines_of(counts: WordCounts) -> Iterator[str]:
    """Yields the lines for the trainer. It depends on the order of the words, so they are sorted."""
    for blank, words in ((" ", counts.after_blank), ("", counts.others)):
        for word in sorted(words):
            yield f"{blank}{word}\t{words[word]}"


def sentences_of(text: str) -> Iterator[str]:
    """The paragraphs with their markers, the longest of them cut.

    Scripts without spaces have nothing else to cut a text at. Of a run of a million characters the
    trainer takes minutes to find the repeated parts, and its sums overflow.
    """
    plain = text.replace(RESERVED, "").replace(BLANK, " ").replace("\t", " ")
    for paragraph in _STARTS.split(plain):
        for at in range(0, len(paragraph), SENTENCE):
            yield paragraph[at : at + SENTENCE]


def vocabulary_of(model: bytes) -> str:
    """The pieces and their scores, a line each, for people: the number of the line is the id, from 0.

    As `spm_train` writes it, but for backslash, line feed, carriage return and tab in a piece, which
    are escaped as in C, so that lines are lines.
    """
    processor = load_model(model)
    pieces = range(processor.get_piece_size())
    return "".join(
        f"{processor.id_to_piece(piece).translate(_ESCAPES)}\t{processor.get_score(piece):g}\n"
        for piece in pieces
    )


def vocabulary_size_of(model: bytes) -> int:
    """The number of pieces."""
    return int(load_model(model).get_piece_size())


class SubwordCounter:
    """Counts texts in the pieces of a model that `train_model` has made."""

    def __init__(self, model: bytes):
        self._processor = load_model(model)
        pieces = range(self._processor.get_piece_size())
        self._byte_characters = np.array([self._starts_bytes(piece) for piece in pieces])
        own = np.array([self._own_characters(piece) for piece in pieces])
        self._known_characters = own + self._byte_characters

    def count(self, text: str) -> SubwordStats:
        """Counts one text."""
        ids = self._processor.encode(text, return_type="numpy")
        characters = count_characters(text)
        return SubwordStats(
            pieces=len(ids),
            characters=characters,
            unknown_characters=characters - int(self._known_characters[ids].sum()),
            byte_characters=int(self._byte_characters[ids].sum()),
        )

    def _own_characters(self, piece: int) -> int:
        """The characters that a piece stands for."""
        processor = self._processor
        if processor.is_unknown(piece) or processor.is_control(piece) or processor.is_byte(piece):
            return 0
        written = processor.id_to_piece(piece)
        return 1 if written in MARKERS_WITH_LINE_FEEDS else len(written)

    def _starts_bytes(self, piece: int) -> int:
        """1 for a byte that a character of UTF-8 begins with, "<0xE5>"."""
        if not self._processor.is_byte(piece):
            return 0
        byte = int(self._processor.id_to_piece(piece)[1:-1], 16)
        return int(byte & 0b1100_0000 != 0b1000_0000)


def load_model(model: bytes) -> Any:
    """The processor of a model."""
    return sentencepiece.SentencePieceProcessor(model_proto=model)
