"""Articles ⋈ Wikidata: page → item → classes, and the screening that needs them.

Everything is joined by key. What travels until the last join are page ids and QIDs; the text of an
article moves once, to meet the facts about its page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import apache_beam as beam

from transforms.wiki.find_items import FindItems, WikiTables
from transforms.wiki.read_entity_table import EntityTable, FindClasses
from transforms.wiki.read_split_pins import PinFile, PinItems, PinPages, ReadSplitPins
from transforms.wiki.screen_facts import Linked, ScreenFacts


@dataclass(eq=False, repr=False)
class LinkPages(beam.PTransform):
    """PCollection[PackedArticle] → Linked, by JoinWikidata, or by IdentifyByPage if no input links pages.

    Args:
      pins: files of pinned splits.
    """

    dbname: str
    tables: WikiTables
    table: EntityTable | None
    pins: Sequence[PinFile]

    def expand(self, articles: beam.PCollection) -> Linked:
        pins = None
        if self.pins:
            pins = articles.pipeline | "ReadSplitPins" >> ReadSplitPins(self.pins)
        link: JoinWikidata | IdentifyByPage = IdentifyByPage(self.dbname, self.tables.pages, pins)
        if self.table or self.tables.links_pages():
            link = JoinWikidata(self.dbname, self.tables, self.table, pins)
        return Linked(*(articles | link))


@dataclass(eq=False, repr=False)
class JoinWikidata(beam.PTransform):
    """Gives each article its QID; rejects those without, and those about Wikimedia's own things.

    Args:
      dbname: the wiki, "ukwiki", as sitelinks name it.
      tables: they link pages to items.
      table: of entities; None leaves the classes unknown, and all of them kept. Where `tables` link no
        pages, the titles in it do.
      pins: what ReadSplitPins gives; None where no split is pinned. Articles about a pinned item have
        its split; pins of other items have no effect.
    """

    dbname: str
    tables: WikiTables
    table: EntityTable | None = None
    pins: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        found = articles | "FindItems" >> FindItems(self.dbname, self.tables, self.table)
        about_items = found.items
        if self.table is not None:
            about_items = about_items | "FindClasses" >> FindClasses(self.table)
        if self.pins is not None:
            about_items = about_items | "PinItems" >> PinItems(self.pins)
        page_to_facts = (about_items, found.pages) | "Facts" >> beam.Flatten()
        screen = ScreenFacts("join-wikidata", page_to_facts, bool(self.tables.pages))
        return Linked(*(articles | "ScreenFacts" >> screen))


@dataclass(eq=False, repr=False)
class IdentifyByPage(beam.PTransform):
    """Gives each article its page as identity, "ukwiki:1088", for builds without a link to Wikidata.

    Args:
      dbname: the wiki, "ukwiki".
      page_tables: <wiki>-<date>-page.sql.gz; a page not in them was deleted.
      pins: what ReadSplitPins gives, for identities like "ukwiki:1088"; None where no split is pinned.
    """

    dbname: str
    page_tables: Sequence[str] = ()
    pins: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        facts = []  # (page id, PageFacts); where nothing tells of pages, there is no join
        if self.page_tables:
            find = FindItems(self.dbname, WikiTables(pages=self.page_tables))
            facts.append((articles | "FindPages" >> find).pages)
        if self.pins is not None:
            facts.append(self.pins | "PinPages" >> PinPages(self.dbname))
        page_to_facts = facts | "Facts" >> beam.Flatten() if facts else None
        screen = ScreenFacts("identify-by-page", page_to_facts, bool(self.page_tables), self.dbname)
        return Linked(*(articles | "ScreenFacts" >> screen))
