"""Articles → articles that know their split."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.records import PackedArticle
from transforms.text.fingerprint import split_of


class Assigned(NamedTuple):
    """What AssignSplits gives."""

    articles: beam.PCollection  # of PackedArticle with its split
    pinned: beam.PCollection  # of (moved, articles): those whose split was set


class AssignSplits(beam.PTransform):
    """The split depends on the Wikidata id alone: an entity is in the same one in every language.

    A split that is set already stays: an earlier release has the entity in it. Such articles are counted,
    as moved where the hash would have put them into another split.
    """

    def expand(self, articles: beam.PCollection) -> Assigned:
        assigned = articles | beam.ParDo(_AssignSplit()).with_output_types(
            PackedArticle
        ).with_outputs("pinned", main="articles")
        pinned = assigned.pinned | "CountPinned" >> beam.combiners.Count.PerElement()
        return Assigned(assigned.articles, pinned)


class _AssignSplit(beam.DoFn):
    def process(self, article: PackedArticle) -> Iterable[Any]:
        if article.split:
            moved = article.split != split_of(article.wikidata_id)
            yield beam.pvalue.TaggedOutput("pinned", moved)
        yield assign_split(article)


def assign_split(article: PackedArticle) -> PackedArticle:
    """The article with its split."""
    return article._replace(split=article.split or split_of(article.wikidata_id))
