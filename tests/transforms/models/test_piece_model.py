import functools
import io
import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sentencepiece

from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.models.subword_models import (
    NORMALIZATIONS,
    PieceCounter,
    PieceSettings,
    PieceStats,
    UntrainableError,
    add_piece_stats,
    load_model,
    train_pieces,
)
from corpusmill.transforms.models.word_vocabulary import SCHEMA, count_words
from tests.makers.spm_models import SENTENCES
from tests.tools.case_tables import read_cases

SMALL = PieceSettings(300)


def words_of(*sentences: str) -> pa.RecordBatch:
    return count_words(block_of([sentence.encode() for sentence in sentences]))


def pieces_of(model: bytes) -> list[str]:
    processor = load_model(model)
    return [processor.id_to_piece(number) for number in range(processor.get_piece_size())]


def encode(model: bytes, text: str) -> list[str]:
    found: list[str] = load_model(model).encode(text, out_type=str)
    return found


@functools.cache
def model() -> bytes:
    return train_pieces([words_of(*SENTENCES)], SMALL).model


def test_words_are_enough() -> None:
    """The same pieces as of the trainer that reads whole sentences, three times each."""
    theirs = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=theirs,
        vocab_size=300,
        character_coverage=0.9995,
        hard_vocab_limit=False,
        input_sentence_size=0,
        num_threads=8,
        minloglevel=2,
    )
    thrice = words_of(*SENTENCES * 3)
    own = train_pieces([thrice], SMALL)
    assert sorted(pieces_of(own.model)) == sorted(pieces_of(theirs.getvalue()))
    for sentence in SENTENCES:
        assert encode(own.model, sentence) == encode(theirs.getvalue(), sentence)
    words = Counter(word for sentence in SENTENCES for word in sentence.split())
    assert (own.words, own.occurrences, own.rare_words) == (len(words), 3 * words.total(), 0)
    assert own.pieces == len(pieces_of(own.model)) <= 300


def test_the_order_of_words_does_not_count() -> None:
    counts = words_of(*SENTENCES)
    order = list(range(counts.num_rows))
    random.Random(3).shuffle(order)
    assert train_pieces([counts.take(np.array(order))], SMALL).model == model()


def test_rare_words_are_passed_over() -> None:
    counts = words_of("море море море", "вода вода", "xyz")
    trained = train_pieces([counts], PieceSettings(300, min_count=2))
    assert (trained.words, trained.occurrences, trained.rare_words) == (2, 5, 1)
    assert set("".join(pieces_of(trained.model))) & set("xyz") == set()


def test_what_no_piece_covers_is_unknown_or_spelled_in_bytes() -> None:
    plain = PieceCounter(model()).count(["The ferry Ж鬱"])
    assert (plain.lines, plain.characters, plain.in_bytes) == (1, 12, 0)
    with_bytes = train_pieces([words_of(*SENTENCES)], PieceSettings(600, byte_fallback=True))
    in_bytes = PieceCounter(with_bytes.model).count(["The ferry Ж鬱"])
    assert "Ж" not in "".join(SENTENCES)
    assert plain.unknown == 1  # a run of two
    assert (in_bytes.unknown, in_bytes.in_bytes) == (0, 2 + 3)


def test_normalisation() -> None:
    assert encode(model(), "Ｔｈｅ　ferry") == encode(model(), "The  ferry ")
    identity = train_pieces([words_of(*SENTENCES)], PieceSettings(300, normalization="identity"))
    assert encode(identity.model, "Ｔｈｅ") != encode(identity.model, "The")
    for rule in NORMALIZATIONS:
        trained = train_pieces([words_of(*SENTENCES)], PieceSettings(200, normalization=rule))
        assert trained.pieces > 100


def test_a_word_of_a_script_without_blanks_is_cut() -> None:
    trained = train_pieces([words_of("渡船港" * 5000)], PieceSettings(20))
    assert "渡船港" in "".join(pieces_of(trained.model))


def test_nothing_to_learn_from() -> None:
    empty = pa.record_batch([pa.array([], pa.binary()), pa.array([], pa.int64())], schema=SCHEMA)
    with pytest.raises(UntrainableError, match="no text"):
        train_pieces([empty], SMALL)
    with pytest.raises(UntrainableError, match="no text"):
        train_pieces([words_of("once")], PieceSettings(300, min_count=2))
    with pytest.raises(UntrainableError, match="SentencePiece cannot train a model"):
        train_pieces([words_of(*SENTENCES)], PieceSettings(20))  # less than the characters


@pytest.mark.parametrize(
    ("settings", "message"), read_cases("models/piece_model", "settings_that_cannot_be")
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PieceSettings(**settings)


def test_counts() -> None:
    counter = PieceCounter(model())
    whole = counter.count(SENTENCES)
    assert whole == add_piece_stats(counter.count([sentence]) for sentence in SENTENCES)
    assert whole.lines == len(SENTENCES)
    assert whole.characters == sum(map(len, SENTENCES))
    assert whole.pieces == sum(len(encode(model(), sentence)) for sentence in SENTENCES)
    assert whole.characters_per_piece == whole.characters / whole.pieces
    assert counter.count([]) == PieceStats() == add_piece_stats([])
    assert counter.count(["  The ferry\u3000"]) == counter.count(["The ferry"])
    assert PieceStats(1, 9, 4, 1).unknown_rate == 0.25
    assert (PieceStats().unknown_rate, PieceStats().characters_per_piece) == (0.0, 0.0)
