"""Learns a SentencePiece vocabulary from a corpus, and counts the vocabulary's pieces in the corpus."""

from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.models.subwords import SubwordSettings
from corpusmill.transforms.wikipedia.count_subwords import CountSubwords, count_article
from corpusmill.transforms.wikipedia.train_subwords import TrainSubwords, write_subwords


class Vocabulary(NamedTuple):
    """The outputs of LearnVocabulary: the vocabulary, its files, and piece counts.

    All are empty if no vocabulary was requested.
    """

    subwords: beam.PCollection  # of one TrainedSubwords
    files: beam.PCollection  # of OutputFile
    stats: beam.PCollection  # of (split, SubwordStats)


class LearnVocabulary(beam.PTransform):
    """Learns a SentencePiece vocabulary from articles, and counts its pieces.

    PCollection[PackedArticle] → Vocabulary.

    Args:
      settings: settings of the vocabulary; None to learn no vocabulary.
      folder: output folder of the build.
      name: file name without suffix, such as "uk-32000".
    """

    def __init__(self, settings: SubwordSettings | None, folder: str, name: str):
        super().__init__()
        self.settings = settings
        self.folder = folder
        self.name = name

    def expand(self, corpus: beam.PCollection) -> Vocabulary:
        if self.settings is None:
            nothing = corpus.pipeline | "None" >> beam.Create([])
            return Vocabulary(nothing, nothing, nothing)
        subwords = corpus | "TrainSubwords" >> TrainSubwords(self.settings)
        return Vocabulary(
            subwords=subwords,
            files=subwords
            | "WriteSubwords" >> beam.FlatMap(write_subwords, self.folder, self.name),
            stats=corpus | "CountSubwords" >> CountSubwords(count_article, AsSingleton(subwords)),
        )
