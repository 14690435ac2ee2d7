"""Articles ⋈ Wikidata: page → item → classes, and the screening that needs them.

Everything is joined by key. What travels until the last join are page ids and QIDs; the text of an
article moves once, to meet the facts about its page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam

from transforms.wiki.find_items import FindItems, WikiTables
from transforms.wiki.read_entity_table import EntityTable, FindClasses
from transforms.wiki.read_split_pins import PinFile, PinItems, PinPages, ReadSplitPins
from transforms.wiki.screen_facts import ScreenFacts


class Linked(NamedTuple):
    """The outputs of LinkPages."""

    kept: beam.PCollection  # of PackedArticle with its wikidata_id; and its split, if pinned
    rejected: beam.PCollection  # of Rejected
    class_unknown: beam.PCollection  # of int, 1 for each that is kept and whose entity is not known
    unread: beam.PCollection  # of Rejected: malformed rows of the tables
    links: beam.PCollection  # of str, one of LINKED_BY for each that is linked to an item


@dataclass(eq=False, repr=False)
class LinkPages(beam.PTransform):
    """PCollection[PackedArticle] → Linked, by JoinWikidata, or by IdentifyByPage if no input links pages.

    Args:
      pins: files of pinned splits.
      redirects: of Redirect, as FindItems takes them.
    """

    dbname: str
    tables: WikiTables
    table: EntityTable | None
    pins: Sequence[PinFile]
    redirects: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        pins = None
        if self.pins:
            pins = articles.pipeline | "ReadSplitPins" >> ReadSplitPins(self.pins)
        link: JoinWikidata | IdentifyByPage = IdentifyByPage(self.dbname, self.tables, pins)
        if self.table or self.tables.links_pages():
            link = JoinWikidata(self.dbname, self.tables, self.table, pins, self.redirects)
        return Linked(*(articles | link))


@dataclass(eq=False, repr=False)
class JoinWikidata(beam.PTransform):
    """Gives each article its QID; rejects those without, and those about Wikimedia's own things.

    Args:
      dbname: the wiki, "ukwiki", as sitelinks name it.
      tables: they link pages to items.
      table: of entities; None leaves the classes unknown, and all of them kept. The titles in it link
        pages where no SQL table of the dump's own date does.
      pins: what ReadSplitPins gives; None where no split is pinned. Articles about a pinned item have
        its split; pins of other items have no effect.
      redirects: of Redirect, as FindItems takes them.
    """

    dbname: str
    tables: WikiTables
    table: EntityTable | None = None
    pins: beam.PCollection | None = None
    redirects: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        find = FindItems(self.dbname, self.tables, self.table, self.redirects)
        found = articles | "FindItems" >> find
        about_items = found.items
        if self.table is not None:
            about_items = about_items | "FindClasses" >> FindClasses(self.table)
        if self.pins is not None:
            about_items = about_items | "PinItems" >> PinItems(self.pins)
        page_to_facts = (about_items, found.pages) | "Facts" >> beam.Flatten()
        screen = ScreenFacts("join-wikidata", page_to_facts, bool(self.tables.pages))
        kept, rejected, class_unknown, links = articles | "ScreenFacts" >> screen
        return Linked(kept, rejected, class_unknown, found.rejected, links)


_NO_TABLES = WikiTables()


@dataclass(eq=False, repr=False)
class IdentifyByPage(beam.PTransform):
    """Gives each article its page as identity, "ukwiki:1088", for builds without a link to Wikidata.

    Args:
      dbname: the wiki, "ukwiki".
      tables: of the wiki, of which only those of pages are read; a page not in them was deleted.
      pins: what ReadSplitPins gives, for identities like "ukwiki:1088"; None where no split is pinned.
    """

    dbname: str
    tables: WikiTables = _NO_TABLES
    pins: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        facts = []  # (page id, PageFacts); where nothing tells of pages, there is no join
        if self.tables.pages:
            only_pages = WikiTables(pages=self.tables.pages, on_corrupt=self.tables.on_corrupt)
            found = articles | "FindPages" >> FindItems(self.dbname, only_pages)
            facts.append(found.pages)
            unread = found.rejected
        else:
            unread = articles.pipeline | "NoneUnread" >> beam.Create([])
        if self.pins is not None:
            facts.append(self.pins | "PinPages" >> PinPages(self.dbname))
        page_to_facts = facts | "Facts" >> beam.Flatten() if facts else None
        screen = ScreenFacts(
            "identify-by-page", page_to_facts, bool(self.tables.pages), self.dbname
        )
        kept, rejected, class_unknown, links = articles | "ScreenFacts" >> screen
        return Linked(kept, rejected, class_unknown, unread, links)
