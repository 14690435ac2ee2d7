"""Trains a SentencePiece model from word counts on one worker, and writes its files."""

from collections.abc import Iterable, Iterator

import apache_beam as beam

from ..files import counters
from ..files.distribution import transform
from ..files.read_files import InputError
from ..files.records import OutputFile
from ..files.scratch import fetch
from ..files.write_files import write_file, write_text
from . import subword_models
from .word_vocabulary import unpack_counts

TRAIN_PIECES = "train-pieces"
MODEL_KIND = "sentencepiece-model"
VOCABULARY_KIND = "sentencepiece-vocabulary"
NAME = "sentencepiece"


@transform
def TrainPieces(
    words: beam.PCollection, settings: subword_models.PieceSettings
) -> beam.PCollection:
    """Trains a model on word counts.

    PCollection[(bucket, reference to word counts in scratch)] → PCollection of one TrainedPieces. A bucket is
    a part of the words; each word is in one bucket. One worker trains, and holds all words in memory. Raises
    InputError if no model can be trained.
    """
    return (
        words
        | "OneKey" >> beam.WithKeys(0)
        | "GroupWords" >> beam.GroupByKey()
        | "Train" >> beam.Map(train_on_words, settings)
    )


def train_on_words(
    grouped: tuple[int, Iterable[tuple[int, bytes]]], settings: subword_models.PieceSettings
) -> subword_models.TrainedPieces:
    """Trains a model on all words, in the order of their buckets.

    A bucket is a part of the words. The first element of `grouped` is not used. The second one has (bucket,
    reference to its word counts in scratch) for each bucket.
    """
    parts = [unpack_counts(fetch(packed)) for _, packed in sorted(grouped[1])]
    words = sum(part.num_rows for part in parts)
    counters.count(TRAIN_PIECES, "begun", words)
    counters.flush()
    try:
        trained = subword_models.train_pieces(parts, settings)
    except subword_models.UntrainableError as error:
        raise InputError("cannot train a vocabulary on the sampled text", str(error)) from None
    counters.count(TRAIN_PIECES, "words", words)
    counters.flush()
    return trained


def write_pieces(trained: subword_models.TrainedPieces, folder: str) -> Iterator[OutputFile]:
    """Writes the model to `sentencepiece.model`, and a list of its pieces to `sentencepiece.vocab`."""
    return write_model(folder, NAME, trained.model, trained.pieces)


def write_model(folder: str, name: str, model: bytes, pieces: int) -> Iterator[OutputFile]:
    """Writes a model to `<name>.model`, and a readable list of its pieces to `<name>.vocab`.

    `pieces` is the number of pieces, for the manifest.
    """
    yield write_file(folder, f"{name}.model", [model], MODEL_KIND, pieces)
    yield write_text(folder, f"{name}.vocab", subword_models.vocabulary_of(model), VOCABULARY_KIND)
