"""Joins articles with Wikidata (page → item → classes), and screens them by class.

All joins are by key. Only page ids and QIDs are shuffled until the last join; the text of an article is
shuffled once, to join the facts about its page.
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
    class_unknown: beam.PCollection  # of int, 1 for each kept article with an unknown entity
    unread: beam.PCollection  # of Rejected: malformed rows of the tables
    links: beam.PCollection  # of str, one of LINKED_BY for each article linked to an item


@dataclass(eq=False, repr=False)
class LinkPages(beam.PTransform):
    """PCollection[PackedArticle] → Linked, by JoinWikidata, or by IdentifyByPage if no input links pages.

    Args:
      pins: files of pinned splits.
      redirects: of Redirect, see FindItems.
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
    """Assigns each article its QID. Rejects articles without a QID, and articles about Wikimedia-internal
    items.

    Args:
      dbname: the wiki, "ukwiki", as in sitelinks.
      tables: link pages to items.
      table: of entities. Without it, classes are unknown and no article is rejected by class. Its titles link
        pages if no SQL table of the date of the dump does.
      pins: output of ReadSplitPins, or None. Articles about a pinned item get its split; other pins have no
        effect.
      redirects: of Redirect, see FindItems.
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
    """Assigns each article its page as identity, "ukwiki:1088", for builds without a link to Wikidata.

    Args:
      dbname: the wiki, "ukwiki".
      tables: of the wiki. Only page tables are read; pages that are not in them were deleted.
      pins: output of ReadSplitPins for identities like "ukwiki:1088", or None.
    """

    dbname: str
    tables: WikiTables = _NO_TABLES
    pins: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Linked:
        facts = []  # (page id, PageFacts); without any there is no join
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
