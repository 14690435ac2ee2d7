"""Articles → statistics per split."""

import apache_beam as beam

from transforms.records import CorpusStats, PackedArticle
from transforms.text.wikimedia.corpus_stats import add_stats


class MeasureCorpus(beam.PTransform):
    """PCollection[PackedArticle] → PCollection[(split, CorpusStats)]."""

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "StatsOfSplit" >> beam.Map(split_and_stats).with_output_types(tuple[str, CorpusStats])
            | "AddUp" >> beam.CombinePerKey(add_stats)
        )


def split_and_stats(article: PackedArticle) -> tuple[str, CorpusStats]:
    """(split, counts of the article)."""
    return article.split, article.stats
