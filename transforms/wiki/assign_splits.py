"""Articles → articles that know their split."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.records import PackedArticle
from transforms.text.fingerprint import split_of


class Assigned(NamedTuple):
    """The outputs of AssignSplits."""

    articles: beam.PCollection  # of PackedArticle with its split
    pinned: beam.PCollection  # of (moved, articles): those whose split was set


class AssignSplits(beam.PTransform):
    """The split depends on the Wikidata id alone: an entity is in the same one in every language.

    A split that is set already stays: an earlier release has the entity in it. Such articles are counted,
    as moved where the hash would have put them into another split.
    """

    def expand(self, articles: beam.PCollection) -> Assigned:
        assign = beam.FlatMap(assign_split).with_output_types(PackedArticle)
        assigned = articles | assign.with_outputs("pinned", main="articles")
        pinned = assigned.pinned | "CountPinned" >> beam.combiners.Count.PerElement()
        return Assigned(assigned.articles, pinned)


def assign_split(article: PackedArticle) -> Iterator[Any]:
    """The article with its split; and whether it was moved, on "pinned", if its split was set."""
    split = split_of(article.wikidata_id)
    if article.split:
        yield beam.pvalue.TaggedOutput("pinned", article.split != split)
    yield article._replace(split=article.split or split)
