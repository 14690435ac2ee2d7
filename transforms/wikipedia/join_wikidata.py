"""Joins articles with Wikidata (page → item → classes), and screens them by class.

The first joins shuffle only page ids, titles and QIDs. Only the last join, with the facts about the pages,
shuffles the packed articles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam

from corpusmill.transforms.wikipedia.find_items import FindItems, WikiTables
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable, FindClasses
from corpusmill.transforms.wikipedia.read_split_pins import (
    PinFile,
    PinItems,
    PinPages,
    ReadSplitPins,
)
from corpusmill.transforms.wikipedia.screen_facts import ScreenFacts


class Linked(NamedTuple):
    """The outputs of LinkPages: kept and rejected articles, malformed rows of the tables, and counts."""

    # of PackedArticle with its wikidata_id, and with its split if the split is pinned
    kept: beam.PCollection
    rejected: beam.PCollection  # of Rejected
    class_unknown: beam.PCollection  # of int, 1 for each kept article with an unknown entity
    unread: beam.PCollection  # of Rejected: malformed rows of the tables
    links: beam.PCollection  # of str, one of LINKED_BY for each article linked to an item


@dataclass(eq=False, repr=False)
class LinkPages(beam.PTransform):
    """Links articles to Wikidata items. If no table links pages to items, articles are identified by their
    page ids.

    PCollection[PackedArticle] → Linked. Applies JoinWikidata or IdentifyByPage.

    Args:
      dbname: database name of the wiki, such as "ukwiki".
      tables: SQL dumps of tables of the wiki.
      table: entity table, or None.
      pins: files of pinned splits.
      redirects: PCollection[Redirect] with the redirects that page moves have left since the date of the
        table that links pages by title (items_per_site or the entity table); None to follow no redirects.
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
    """Assigns each article the QID of its Wikidata item.

    Articles without a QID are rejected, and so are articles about Wikimedia-internal items such as lists.

    Args:
      dbname: database name of the wiki, such as "ukwiki".
      tables: tables that link pages to items.
      table: entity table. Without it, classes are unknown and no article is rejected because of its class.
        It also links pages to items by title, if no SQL table with the date of the dump links them.
      pins: output of ReadSplitPins, or None. Articles about a pinned item get its split; other pins have no
        effect.
      redirects: PCollection[Redirect] with the redirects that page moves have left since the date of the
        table that links pages by title (items_per_site or the entity table); None to follow no redirects.
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
    """Assigns each article the identity of its page, such as "ukwiki:1088".

    It is used by builds that have no links to Wikidata.

    Args:
      dbname: database name of the wiki, such as "ukwiki".
      tables: tables of the wiki. Only page tables are read. If there are any, articles whose pages are not in
        them are rejected as deleted.
      pins: output of ReadSplitPins for identities like "ukwiki:1088", or None.
    """

    dbname: str
    tables: WikiTables = _NO_TABLES
    pins: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        facts = []  # PCollections of (page id, PageFacts); if there are none, there is no join
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
