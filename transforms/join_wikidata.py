"""Articles ⋈ Wikidata: page → item → classes, and the screening that needs them.

Everything is joined by key. What travels until the last join are page ids and QIDs; the text of an
article moves once, to meet the facts about its page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.close_classes import CloseOverSubclasses, InternalClasses
from transforms.find_items import FindItems, WikiTables
from transforms.screen_facts import ScreenFacts
from transforms.text.wikimedia.screening import PageFacts
from transforms.text.wikimedia.wikidata_json import Entity


class Linked(NamedTuple):
    """What JoinWikidata gives."""

    kept: beam.PCollection  # of PackedArticle with its wikidata_id
    rejected: beam.PCollection  # of Rejected
    class_unknown: beam.PCollection  # of str: kept QIDs whose entity was not to be had


class JoinWikidata(beam.PTransform):
    """Gives each article its QID; rejects those without, and those about Wikimedia's own things.

    Args:
      dbname: the wiki, "ukwiki", as sitelinks name it.
      tables: they link pages to items.
      entities: PCollection[Entity]; None leaves the classes unknown, and all of them kept.
    """

    STAGE = "join-wikidata"

    def __init__(self, dbname: str, tables: WikiTables, entities: beam.PCollection | None = None):
        super().__init__()
        if not tables.links_pages():
            raise ValueError("neither page_props nor items_per_site links pages to items")
        self.dbname = dbname
        self.tables = tables
        self.entities = entities

    def expand(self, articles: beam.PCollection) -> Linked:
        page_to_facts = articles | "FindItems" >> FindItems(self.dbname, self.tables)
        item_to_class = self._classes(articles.pipeline)
        page_to_classed_facts = (
            {"facts": page_to_facts | "KeyByItem" >> beam.Map(key_by_item), "class": item_to_class}
            | "JoinClasses" >> beam.CoGroupByKey()
            | "AddClass" >> beam.FlatMapTuple(add_class).with_output_types(tuple[int, PageFacts])
        )
        screen = ScreenFacts(self.STAGE, page_to_classed_facts, bool(self.tables.pages))
        screened = articles | "ScreenFacts" >> screen
        return Linked(screened.kept, screened.rejected, screened.class_unknown)

    def _classes(self, root: beam.Pipeline) -> beam.PCollection:
        if self.entities is None:
            return root | "NoClasses" >> beam.Create([])
        internal = self.entities | "CloseOverSubclasses" >> CloseOverSubclasses()
        return self.entities | "ClassOfItem" >> beam.Map(
            class_of_item, beam.pvalue.AsSingleton(internal)
        )


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


class IdentifyByPage(beam.PTransform):
    """Gives each article its page as identity, "ukwiki:1088", for builds without a link to Wikidata.

    Args:
      dbname: the wiki, "ukwiki".
      page_tables: <wiki>-<date>-page.sql.gz; a page not in them was deleted.
    """

    STAGE = "identify-by-page"

    def __init__(self, dbname: str, page_tables: Sequence[str] = ()):
        super().__init__()
        self.dbname = dbname
        self.tables = WikiTables(pages=page_tables)

    def expand(self, articles: beam.PCollection) -> Linked:
        root = articles.pipeline
        page_to_facts = None
        if self.tables.pages:
            page_to_facts = articles | "FindPages" >> FindItems(self.dbname, self.tables)
        screen = ScreenFacts(
            self.STAGE, page_to_facts, bool(self.tables.pages), identity=self.dbname
        )
        screened = articles | "ScreenFacts" >> screen
        unknown = root | "NoneUnknown" >> beam.Create([])
        return Linked(screened.kept, screened.rejected, unknown)
