"""A small SentencePiece model of texts of our own, in several scripts."""

import functools
import io

import sentencepiece

from tests.tools.case_tables import read_cases

SENTENCES = tuple(read_cases("models/sentences_to_learn_from", "sentences"))


@functools.cache
def small_model(size: int = 300) -> bytes:
    """The bytes of a model with so many pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()
