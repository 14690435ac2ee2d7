"""Computes statistics of articles per split."""

import apache_beam as beam

from corpusmill.transforms.files.builds.lengths import length_class
from corpusmill.transforms.files.records import CorpusStats, PackedArticle
from corpusmill.transforms.wikitext.corpus_stats import add_stats


class MeasureCorpus(beam.PTransform):
    """Counts articles and their texts by split.

    PCollection[PackedArticle] → PCollection[(split, CorpusStats)].
    """

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "StatsOfSplit" >> beam.Map(split_and_stats).with_output_types(tuple[str, CorpusStats])
            | "AddUp" >> beam.CombinePerKey(add_stats)
        )


class MeasureLengths(beam.PTransform):
    """Counts articles by split and length.

    PCollection[PackedArticle] → PCollection[((split, length class), number of articles)]. A length class is
    a range of lengths, in characters.
    """

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "LengthOf" >> beam.Map(split_and_length).with_output_types(tuple[str, int])
            | "Count" >> beam.combiners.Count.PerElement()
        )


def split_and_length(article: PackedArticle) -> tuple[str, int]:
    """Returns (split, length class) of an article. A length class is a range of lengths, in characters."""
    return article.split, length_class(article.stats.characters)


def split_and_stats(article: PackedArticle) -> tuple[str, CorpusStats]:
    """Returns (split, counts of the article)."""
    return article.split, article.stats
