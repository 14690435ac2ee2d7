"""Articles ⋈ Wikidata: page → item → classes, and the screening that needs them.

Everything is joined by key. What travels until the last join are page ids and QIDs; the text of an
article moves once, to meet the facts about its page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from transforms import counters
from transforms.close_classes import CloseOverSubclasses, InternalClasses
from transforms.find_items import FindItems, WikiTables
from transforms.pack_articles import pack_article, unpack_article
from transforms.read_entities import ReadEntities
from transforms.records import Article, Reason
from transforms.screen import reject
from transforms.text.wikimedia.screening import PageFacts, merge_facts, reason_to_reject_facts
from transforms.text.wikimedia.wikidata_json import Entity

REPEATED = Reason("repeated-page", "the dump files overlap; the newest revision stays")


class Linked(NamedTuple):
    """What JoinWikidata gives."""

    kept: beam.PCollection  # of Article with its wikidata_id
    rejected: beam.PCollection  # of Rejected
    unreadable: beam.PCollection  # of Rejected: lines of the entity dump
    class_unknown: beam.PCollection  # of str: kept QIDs whose entity was not to be had


class JoinWikidata(beam.PTransform):
    """Gives each article its QID; rejects those without, and those about Wikimedia's own things.

    Args:
      dbname: the wiki, "ukwiki", as sitelinks name it.
      tables: they link pages to items.
      entities: files of the entity dump; () leaves the classes unknown, and all of them kept.
    """

    STAGE = "join-wikidata"

    def __init__(self, dbname: str, tables: WikiTables, entities: Sequence[str] = ()):
        super().__init__()
        if not tables.links_pages():
            raise ValueError("neither page_props nor items_per_site links pages to items")
        self.dbname = dbname
        self.tables = tables
        self.entities = list(entities)

    def expand(self, articles: beam.PCollection) -> Linked:
        page_to_facts = articles | "FindItems" >> FindItems(self.dbname, self.tables)
        item_to_class, unreadable = self._classes(articles.pipeline)
        page_to_classed_facts = (
            {"facts": page_to_facts | "KeyByItem" >> beam.Map(key_by_item), "class": item_to_class}
            | "JoinClasses" >> beam.CoGroupByKey()
            | "AddClass" >> beam.FlatMapTuple(add_class).with_output_types(tuple[int, PageFacts])
        )
        page_to_text = articles | "KeyByPage" >> beam.Map(key_by_page).with_output_types(
            tuple[int, bytes]
        )
        joined = (
            {"text": page_to_text, "facts": page_to_classed_facts}
            | "JoinFacts" >> beam.CoGroupByKey()
            | "ScreenEntities"
            >> beam.ParDo(_ScreenEntities(has_page_table=bool(self.tables.pages)))
            .with_output_types(Article)
            .with_outputs("rejected", "class_unknown", main="kept")
        )
        return Linked(joined.kept, joined.rejected, unreadable, joined.class_unknown)

    def _classes(self, root: beam.Pipeline) -> tuple[beam.PCollection, beam.PCollection]:
        if not self.entities:
            return _nothing(root)
        read = root | "ReadEntities" >> ReadEntities(self.entities)
        internal = read.entities | "CloseOverSubclasses" >> CloseOverSubclasses()
        item_to_class = read.entities | "ClassOfItem" >> beam.Map(
            class_of_item, beam.pvalue.AsSingleton(internal)
        )
        return item_to_class, read.rejected


def class_of_item(entity: Entity, internal: InternalClasses) -> tuple[str, PageFacts]:
    """(QID, facts about its class). Where several classes are internal, disambiguation counts first."""
    classes = sorted(
        internal.all.intersection(entity.instance_of),
        key=lambda name: (name not in internal.disambiguation, name),
    )
    name = classes[0] if classes else ""
    facts = PageFacts(
        internal_class=name,
        is_disambiguation=name in internal.disambiguation,
        is_class_known=True,
    )
    return entity.qid, facts


def key_by_item(page_and_facts: tuple[int, PageFacts]) -> tuple[str, tuple[int, PageFacts]]:
    """(QID, (page id, facts)). Facts that name no item are keyed by their page: a key must not be hot."""
    page_id, facts = page_and_facts
    return facts.qid or f"page {page_id}", page_and_facts


def key_by_page(article: Article) -> tuple[int, bytes]:
    """(page id, packed article)."""
    return article.page_id, pack_article(article)


def add_class(_: str, found: Mapping[str, Iterable[Any]]) -> Iterator[tuple[int, PageFacts]]:
    """The facts of the pages of one item, with what the entity dump says of its class."""
    classes = list(found["class"])
    for page_id, facts in found["facts"]:
        if classes:
            # An entity stands once in a dump; of several dumps given, one that calls it internal decides.
            decisive = max(classes)
            facts = facts._replace(
                internal_class=decisive.internal_class,
                is_disambiguation=facts.is_disambiguation or decisive.is_disambiguation,
                is_class_known=True,
            )
        yield page_id, facts


class _ScreenEntities(beam.DoFn):
    def __init__(self, has_page_table: bool):
        self.has_page_table = has_page_table

    def process(self, element: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterable[Any]:
        _, found = element
        articles = newest_first(found["text"])
        if not articles:
            return
        newest, *older = articles
        for article in older:
            yield reject(article.page_id, article.title, JoinWikidata.STAGE, REPEATED)
        facts = merge_facts(found["facts"])
        if not self.has_page_table:
            facts = facts._replace(exists=True)
        reason = reason_to_reject_facts(facts)
        if reason:
            yield reject(newest.page_id, newest.title, JoinWikidata.STAGE, reason)
            return
        counters.count(JoinWikidata.STAGE, "linked")
        if not facts.is_class_known:
            yield beam.pvalue.TaggedOutput("class_unknown", facts.qid)
        yield newest._replace(wikidata_id=facts.qid)


class IdentifyByPage(beam.PTransform):
    """Gives each article its page as identity, "ukwiki:1088", for builds without a link to Wikidata."""

    def __init__(self, dbname: str):
        super().__init__()
        self.dbname = dbname

    def expand(self, articles: beam.PCollection) -> Linked:
        split = (
            articles
            | "KeyByPage" >> beam.Map(key_by_page).with_output_types(tuple[int, bytes])
            | "GroupByPage" >> beam.GroupByKey()
            | "Identify"
            >> beam.ParDo(_Identify(self.dbname))
            .with_output_types(Article)
            .with_outputs("rejected", main="kept")
        )
        return Linked(split.kept, split.rejected, *_nothing(articles.pipeline))


class _Identify(beam.DoFn):
    STAGE = "identify-by-page"

    def __init__(self, dbname: str):
        self.dbname = dbname

    def process(self, element: tuple[int, Iterable[bytes]]) -> Iterable[Any]:
        page_id, packed = element
        newest, *older = newest_first(packed)
        for article in older:
            yield reject(page_id, article.title, self.STAGE, REPEATED)
        counters.count(self.STAGE, "identified")
        yield newest._replace(wikidata_id=f"{self.dbname}:{page_id}")


def _nothing(root: beam.Pipeline) -> tuple[beam.PCollection, beam.PCollection]:
    """Two empty collections, for what a build without these inputs does not have."""
    return root | "NoneUnreadable" >> beam.Create([]), root | "NoneUnknown" >> beam.Create([])


def newest_first(packed: Iterable[bytes]) -> list[Article]:
    """The articles of one page, the newest revision first. More than one come from files that overlap."""
    articles = [unpack_article(one) for one in packed]
    return sorted(articles, key=lambda article: (int(article.version_id), article), reverse=True)
