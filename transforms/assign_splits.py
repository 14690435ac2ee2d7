"""Articles → articles that know their split."""

import apache_beam as beam

from transforms.records import PackedArticle
from transforms.text.fingerprint import split_of


class AssignSplits(beam.PTransform):
    """The split depends on the Wikidata id alone: an entity is in the same one in every language."""

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return articles | beam.Map(assign_split)


def assign_split(article: PackedArticle) -> PackedArticle:
    """The article with its split."""
    return article._replace(split=split_of(article.wikidata_id))
