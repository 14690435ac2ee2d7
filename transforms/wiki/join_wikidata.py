"""Articles ⋈ Wikidata: page → item → classes, and the screening that needs them.

Everything is joined by key. What travels until the last join are page ids and QIDs; the text of an
article moves once, to meet the facts about its page.
"""

from collections.abc import Sequence

import apache_beam as beam

from transforms.wiki.find_items import FindItems, WikiTables
from transforms.wiki.read_entity_table import EntityTable, FindClasses
from transforms.wiki.read_split_pins import PinFile, PinItems, PinPages, ReadSplitPins
from transforms.wiki.screen_facts import Linked, ScreenFacts


class LinkPages(beam.PTransform):
    """PCollection[PackedArticle] → Linked, by JoinWikidata, or by IdentifyByPage if no input links pages.

    Args:
      pins: files of pinned splits.
    """

    def __init__(
        self,
        dbname: str,
        tables: WikiTables,
        table: EntityTable | None,
        pins: Sequence[PinFile],
    ):
        super().__init__()
        self.dbname = dbname
        self.tables = tables
        self.table = table
        self.pins = pins

    def expand(self, articles: beam.PCollection) -> Linked:
        pins = None
        if self.pins:
            pins = articles.pipeline | "ReadSplitPins" >> ReadSplitPins(self.pins)
        if self.table or self.tables.links_pages():
            joined: Linked = articles | JoinWikidata(self.dbname, self.tables, self.table, pins)
            return joined
        identified: Linked = articles | IdentifyByPage(self.dbname, self.tables.pages, pins)
        return identified


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

    STAGE = "join-wikidata"

    def __init__(
        self,
        dbname: str,
        tables: WikiTables,
        table: EntityTable | None = None,
        pins: beam.PCollection | None = None,
    ):
        super().__init__()
        if table is None and not tables.links_pages():
            raise ValueError(
                "nothing links pages to items: neither page_props nor items_per_site nor an entity table"
            )
        self.find_items = FindItems(dbname, tables, table)
        self.has_page_table = bool(tables.pages)
        self.table = table
        self.pins = pins

    def expand(self, articles: beam.PCollection) -> Linked:
        found = articles | "FindItems" >> self.find_items
        about_items = found.items
        if self.table is not None:
            about_items = about_items | "FindClasses" >> FindClasses(self.table)
        if self.pins is not None:
            about_items = about_items | "PinItems" >> PinItems(self.pins)
        page_to_facts = (about_items, found.pages) | "Facts" >> beam.Flatten()
        screen = ScreenFacts(self.STAGE, page_to_facts, self.has_page_table)
        linked: Linked = articles | "ScreenFacts" >> screen
        return linked


class IdentifyByPage(beam.PTransform):
    """Gives each article its page as identity, "ukwiki:1088", for builds without a link to Wikidata.

    Args:
      dbname: the wiki, "ukwiki".
      page_tables: <wiki>-<date>-page.sql.gz; a page not in them was deleted.
      pins: what ReadSplitPins gives, for identities like "ukwiki:1088"; None where no split is pinned.
    """

    STAGE = "identify-by-page"

    def __init__(
        self,
        dbname: str,
        page_tables: Sequence[str] = (),
        pins: beam.PCollection | None = None,
    ):
        super().__init__()
        self.dbname = dbname
        self.tables = WikiTables(pages=page_tables)
        self.pins = pins

    def expand(self, articles: beam.PCollection) -> Linked:
        screen = ScreenFacts(
            self.STAGE, self._facts(articles), bool(self.tables.pages), identity=self.dbname
        )
        linked: Linked = articles | "ScreenFacts" >> screen
        return linked

    def _facts(self, articles: beam.PCollection) -> beam.PCollection | None:
        """(page id, PageFacts); None where nothing tells of pages, which spares a join."""
        facts = []
        if self.tables.pages:
            found = articles | "FindPages" >> FindItems(self.dbname, self.tables)
            facts.append(found.pages)
        if self.pins is not None:
            facts.append(self.pins | "PinPages" >> PinPages(self.dbname))
        return facts | "Facts" >> beam.Flatten() if facts else None
