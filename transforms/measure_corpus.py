"""Articles → statistics per split."""

import apache_beam as beam

from transforms.records import Article
from transforms.text.corpus_stats import CorpusStats, add_stats, measure_article


class MeasureCorpus(beam.PTransform):
    """PCollection[Article] → PCollection[(split, CorpusStats)]."""

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "MeasureArticle"
            >> beam.Map(split_and_stats).with_output_types(tuple[str, CorpusStats])
            | "AddUp" >> beam.CombinePerKey(add_stats)
        )


def split_and_stats(article: Article) -> tuple[str, CorpusStats]:
    """(split, counts of the article)."""
    return article.split, measure_article(article.text)
