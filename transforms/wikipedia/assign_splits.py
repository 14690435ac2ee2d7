"""Assigns articles to splits."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.files.fingerprint import split_of
from corpusmill.transforms.files.records import PackedArticle


class Assigned(NamedTuple):
    """The outputs of AssignSplits: the articles with their splits, and counts of pinned articles.

    A pinned article is one whose split was already set, to that of an earlier release.
    """

    articles: beam.PCollection  # of PackedArticle with its split
    pinned: beam.PCollection  # of (True if moved, number of pinned articles)


class AssignSplits(beam.PTransform):
    """Assigns articles to splits by their Wikidata ids. PCollection[PackedArticle] → Assigned.

    The split depends only on the Wikidata id, so an entity is in the same split in every language. A split
    that is already set is kept. Such articles are pinned to the split of an earlier release, and are counted.
    A pinned article counts as moved if the hash of its id would give another split.
    """

    def expand(self, articles: beam.PCollection) -> Assigned:
        assign = beam.FlatMap(assign_split).with_output_types(PackedArticle)
        assigned = articles | assign.with_outputs("pinned", main="articles")
        pinned = assigned.pinned | "CountPinned" >> beam.combiners.Count.PerElement()
        return Assigned(assigned.articles, pinned)


def assign_split(article: PackedArticle) -> Iterator[Any]:
    """Yields an article with its split.

    If the split was already set (the article is pinned), it is kept. In this case, also yields a bool on the
    output "pinned": True if the hash of the article's id would give another split.
    """
    split = split_of(article.wikidata_id)
    if article.split:
        yield beam.pvalue.TaggedOutput("pinned", article.split != split)
    yield article._replace(split=article.split or split)
