"""Keeps or rejects articles by facts about their pages, such as the Wikidata item."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import reject
from corpusmill.transforms.files.records import PackedArticle, Reason
from corpusmill.transforms.wikipedia.pack_articles import from_bytes, to_bytes, unpack_text
from corpusmill.transforms.wikipedia.screening import merge_facts, reason_to_reject_facts

REPEATED = Reason("repeated-page", "the dump files overlap; the newest revision stays")


class ScreenedFacts(NamedTuple):
    """The outputs of ScreenFacts: kept and rejected articles, and counts."""

    # of PackedArticle with its wikidata_id, and with its split if the split is pinned
    kept: beam.PCollection
    rejected: beam.PCollection  # of Rejected
    class_unknown: beam.PCollection  # of int, 1 for each kept article with an unknown entity
    links: beam.PCollection  # of str, one of LINKED_BY for each article linked to an item


@dataclass(eq=False, repr=False)
class ScreenFacts(beam.PTransform):
    """Assigns each article its identity, or rejects it because of the facts about its page.

    PCollection[PackedArticle] → ScreenedFacts.

    Args:
      stage: name of the stage in rejections.
      page_to_facts: PCollection[(page id, PageFacts)] with any number of facts for each page; None if no
        facts are known.
      has_page_table: True if the facts show which pages exist; False to assume that all pages exist.
      identity: database name for identities like "ukwiki:<page id>"; "" to use the QID as identity.
    """

    stage: str
    page_to_facts: beam.PCollection | None
    has_page_table: bool
    identity: str = ""

    def expand(self, articles: beam.PCollection) -> ScreenedFacts:
        page_to_article = articles | "KeyByPage" >> beam.Map(key_by_page)
        if self.page_to_facts is None:
            grouped = page_to_article | "GroupByPage" >> beam.GroupByKey()
            joined = grouped | "WithoutFacts" >> beam.MapTuple(without_facts)
        else:
            sides = {"articles": page_to_article, "facts": self.page_to_facts}
            joined = sides | "JoinFacts" >> beam.CoGroupByKey()
        screen = beam.FlatMap(_screen, self.stage, self.has_page_table, self.identity)
        screened = joined | "Screen" >> screen.with_output_types(PackedArticle).with_outputs(
            "rejected", "class_unknown", "links", main="kept"
        )
        return ScreenedFacts(
            screened.kept, screened.rejected, screened.class_unknown, screened.links
        )


def _screen(
    joined: tuple[int, Mapping[str, Iterable[Any]]],
    stage: str,
    has_page_table: bool,
    identity: str,
) -> Iterator[Any]:
    page_id, found = joined
    articles = newest_first(found["articles"])
    if not articles:
        return
    newest, *older = articles
    for article in older:
        yield reject(page_id, article.title, stage, REPEATED)
    facts = merge_facts(found["facts"])
    if not has_page_table:
        facts = facts._replace(exists=True)
    if identity:
        facts = facts._replace(qid=f"{identity}:{page_id}", is_class_known=True)
    if facts.qid and not identity:
        yield beam.pvalue.TaggedOutput("links", facts.linked_by)
    reason = reason_to_reject_facts(facts)
    if reason:
        yield reject(page_id, newest.title, stage, reason)
        return
    counters.count(stage, "linked")
    if not facts.is_class_known:
        yield beam.pvalue.TaggedOutput("class_unknown", 1)
    yield newest._replace(wikidata_id=facts.qid, split=facts.pinned_split, classes=facts.classes)


def without_facts(
    page_id: int, articles: Iterable[bytes]
) -> tuple[int, Mapping[str, Iterable[Any]]]:
    """Returns (page id, {"articles": the articles of the page, "facts": ()}).

    This is what a join with facts would return for a page without facts. It is used if no facts are known.
    """
    return page_id, {"articles": articles, "facts": ()}


def key_by_page(article: PackedArticle) -> tuple[int, bytes]:
    """Returns (page id, packed article)."""
    return article.page_id, to_bytes(article)


def newest_first(of_one_page: Iterable[bytes]) -> list[PackedArticle]:
    """Returns the articles of one page, the newest revision first.

    A page has several articles if dump files overlap.
    """
    articles = [from_bytes(data) for data in of_one_page]
    if len(articles) > 1:  # otherwise no text needs to be read
        articles.sort(key=_revision, reverse=True)
    return articles


def _revision(article: PackedArticle) -> tuple[int, str, str]:
    return int(article.version_id), article.title, unpack_text(article)
