"""Counts the vocabulary pieces of held-out sentences and of evaluation files, by language."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.open_input import InputError, read_input
from corpusmill.transforms.models.piece_accounts import EVALUATED, HELD_OUT
from corpusmill.transforms.models.piece_model import (
    PieceStats,
    TrainedPieces,
    add_piece_stats,
    piece_counter,
)
from corpusmill.transforms.models.read_sentences import SentenceBlock
from corpusmill.transforms.models.sentence_choice import Choice, is_held_out

STAGE = "count-pieces"

StatsKey = tuple[str, str]  # HELD_OUT or EVALUATED, language


class EvaluationFile(NamedTuple):
    """A file of evaluation sentences, one per line. Their pieces are counted, but not used for training."""

    language: str
    path: str


class CountPieces(beam.PTransform):
    """Counts the pieces into which a model splits held-out sentences and evaluation files.

    PCollection[SentenceBlock] → PCollection[((kind, language), PieceStats)]. The kind is HELD_OUT or
    EVALUATED.

    Args:
      trained: side input with one TrainedPieces, which contains the model.
      choices: side input with one mapping {language: Choice}. A Choice says which sentences are held out.
      files: evaluation files.
    """

    def __init__(
        self,
        trained: beam.PCollection,
        choices: beam.PCollection,
        files: tuple[EvaluationFile, ...],
    ):
        super().__init__()
        self.trained = trained
        self.choices = choices
        self.files = files

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        trained, choices = AsSingleton(self.trained), AsSingleton(self.choices)
        counted = (
            blocks | "CountBlocks" >> beam.FlatMap(count_held_out, trained, choices),
            blocks.pipeline
            | "Files" >> beam.Create(self.files)
            | "CountFiles" >> beam.Map(count_file, trained),
        )
        return counted | "Both" >> beam.Flatten() | "AddUp" >> beam.CombinePerKey(add_piece_stats)


def count_held_out(
    block: SentenceBlock, trained: TrainedPieces, choices: Mapping[str, Choice]
) -> Iterator[tuple[StatsKey, PieceStats]]:
    """Yields ((HELD_OUT, language), counts of pieces) for the held-out sentences of a block.

    Yields nothing if no sentence of the block is held out.

    Args:
      block: sentences of one language.
      trained: contains the model that splits sentences into pieces.
      choices: language → Choice, which says which sentences are held out.
    """
    lines = block.lines()
    if not block.is_held_out:
        places = np.flatnonzero(is_held_out(block.ranks(), choices[block.language]))
        lines = [lines[place] for place in places]
    if lines:
        counters.count(STAGE, "sentences", len(lines))
        counters.flush()
        sentences = [line.decode("utf-8") for line in lines]
        yield (HELD_OUT, block.language), piece_counter(trained.model).count(sentences)


def count_file(file: EvaluationFile, trained: TrainedPieces) -> tuple[StatsKey, PieceStats]:
    """Returns ((EVALUATED, language), counts of the pieces in the lines of a file).

    Raises InputError if the file is not UTF-8.
    """
    data = read_input(file.path)
    try:
        lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(file.path, f"not UTF-8: {error.reason}", error.start) from None
    return (EVALUATED, file.language), piece_counter(trained.model).count(lines)
