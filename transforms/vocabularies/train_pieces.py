"""Word counts → a SentencePiece model, trained by one worker, and its files."""

from collections.abc import Iterable, Iterator

import apache_beam as beam

from transforms.files import counters
from transforms.files.open_input import InputError
from transforms.files.scratch import fetch
from transforms.files.write_files import HashedFile, write_text
from transforms.records import OutputFile
from transforms.text.vocabularies.piece_model import PieceSettings, TrainedPieces, train_pieces
from transforms.text.vocabularies.subwords import UntrainableError, vocabulary_of
from transforms.text.vocabularies.word_counts import unpack_counts
from transforms.vocabularies.train_subwords import MODEL_KIND, VOCABULARY_KIND

STAGE = "train-pieces"

NAME = "sentencepiece"


class TrainPieces(beam.PTransform):
    """PCollection[(bucket, word counts put away)] → one TrainedPieces.

    One worker trains, and holds all words. Raises InputError where no model can be trained.
    """

    def __init__(self, settings: PieceSettings):
        super().__init__()
        self.settings = settings

    def expand(self, words: beam.PCollection) -> beam.PCollection:
        return (
            words
            | "OneKey" >> beam.Map(under_one_key)
            | "GroupWords" >> beam.GroupByKey()
            | "Train" >> beam.Map(train_on_words, self.settings)
        )


class WritePieces(beam.PTransform):
    """PCollection[TrainedPieces] → PCollection[OutputFile]: `sentencepiece.model` and `.vocab`."""

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, trained: beam.PCollection) -> beam.PCollection:
        return trained | beam.FlatMap(write_pieces, self.folder)


def under_one_key(part: tuple[int, bytes]) -> tuple[int, tuple[int, bytes]]:
    """(0, part)."""
    return 0, part


def train_on_words(
    grouped: tuple[int, Iterable[tuple[int, bytes]]], settings: PieceSettings
) -> TrainedPieces:
    """Trains on all words, in the order of their buckets."""
    parts = [unpack_counts(fetch(packed)) for _, packed in sorted(grouped[1])]
    words = sum(part.num_rows for part in parts)
    counters.count(STAGE, "begun", words)
    counters.flush()
    try:
        trained = train_pieces(parts, settings)
    except UntrainableError as error:
        raise InputError("the sampled sentences", str(error)) from None
    counters.count(STAGE, "words", words)
    counters.flush()
    return trained


def write_pieces(trained: TrainedPieces, folder: str) -> Iterator[OutputFile]:
    """Writes the model, and its pieces for people."""
    with HashedFile.in_folder(folder, f"{NAME}.model") as file:
        file.write(trained.model)
    yield file.output_file(f"{NAME}.model", "", MODEL_KIND, trained.pieces)
    vocabulary = vocabulary_of(trained.model)
    yield write_text(folder, f"{NAME}.vocab", vocabulary, VOCABULARY_KIND)
