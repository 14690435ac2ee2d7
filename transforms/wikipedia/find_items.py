"""Reads facts about pages from SQL tables and from the entity table.

The entity table has the classes and the page titles of Wikidata items (see read_entity_table.py). The facts
are the Wikidata items of pages, their classes, and the existence of pages.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.wikipedia.dump_layouts import date_in_names
from corpusmill.transforms.wikipedia.link_sources import (
    ENTITIES,
    ITEMS_PER_SITE,
    PAGE_PROPS,
    LinkSource,
    choose_sources,
)
from corpusmill.transforms.wikipedia.link_titles import LinkTitles, OnePageOfItem
from corpusmill.transforms.wikipedia.mediawiki_xml import parse_id
from corpusmill.transforms.wikipedia.read_entity_table import (
    EntityTable,
    PageToFacts,
    ReadSitelinks,
)
from corpusmill.transforms.wikipedia.read_sql_dumps import ReadSqlDump
from corpusmill.transforms.wikipedia.screening import PageFacts

Row = tuple[bytes | None, ...]

_QID = re.compile("[Qq][1-9][0-9]{0,17}")  # at most 18 digits, so that the number fits in 64 bits
_SHOWN = 40  # characters of a value in a message


class WikiTables(NamedTuple):
    """Paths of SQL dumps of tables about the pages of a wiki; () for tables that are not given."""

    page_props: Sequence[str] = ()  # <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # wikidatawiki-<date>-wb_items_per_site.sql.gz
    pages: Sequence[str] = ()  # <wiki>-<date>-page.sql.gz
    on_corrupt: str = "fail"  # "fail" or "keep-good", for malformed rows
    dump_date: str = ""  # date of the wiki's dump, "20261101"; "" if unknown
    is_case_sensitive: bool = False  # True if titles of the wiki may begin with a lower-case letter

    def links_pages(self) -> bool:
        """True if the tables link pages to items."""
        return bool(self.page_props or self.items_per_site)

    def sources(self, table: EntityTable | None) -> tuple[LinkSource, ...]:
        """Returns the tables that link pages to items, the most reliable first.

        The entity table is included if it is needed to link pages.
        """
        sql = {PAGE_PROPS: self.page_props, ITEMS_PER_SITE: self.items_per_site}
        dates = {name: date_in_names(paths) for name, paths in sql.items() if paths}
        return choose_sources(self.dump_date, dates | ({ENTITIES: table.date} if table else {}))

    def by_role(self) -> Mapping[str, Sequence[str]]:
        """Returns {role of input files: their paths}. The roles have names such as "page-props"."""
        return {
            "page-props": self.page_props,
            "items-per-site": self.items_per_site,
            "page-table": self.pages,
        }


class Found(NamedTuple):
    """The outputs of FindItems: facts about pages as (page id, PageFacts), and malformed rows.

    There may be several facts about a page.
    """

    items: beam.PCollection  # facts that name an item
    pages: beam.PCollection  # facts without an item
    rejected: beam.PCollection  # of Rejected


@dataclass(eq=False, repr=False)
class FindItems(beam.PTransform):
    """Finds the Wikidata items of articles, and other facts about pages.

    PCollection[PackedArticle] → Found. The output also has facts about pages that are not articles. Only the
    ids and titles of the articles are used. Titles are needed because the SQL table items_per_site and the
    entity table name pages by title.

    Args:
      dbname: database name of the wiki, such as "ukwiki".
      tables: SQL dumps of tables of the wiki.
      table: entity table, or None. It is not used to link pages to items if one of `tables` links them and
        has the date of the wiki's dump (see link_sources.py).
      redirects: PCollection[Redirect] with the redirects that page moves have left since the date of the
        table that links pages by title (items_per_site or the entity table); None to follow no redirects.

    Raises ValueError if the entity table is needed to link pages but has no titles of the wiki.
    """

    dbname: str
    tables: WikiTables
    table: EntityTable | None = None
    redirects: beam.PCollection | None = None

    def expand(self, articles: beam.PCollection) -> Found:
        root = articles.pipeline
        sources = {one.table: one for one in self.tables.sources(self.table)}
        by_page: list[beam.PCollection] = []
        by_title: list[beam.PCollection] = []
        pages: list[beam.PCollection] = []
        rejected: list[beam.PCollection] = []
        if source := sources.get(PAGE_PROPS):
            parse = functools.partial(fact_of_property, linked_by=source.linked_by)
            columns = ["pp_page", "pp_propname", "pp_value"]
            read = self._read(self.tables.page_props, columns, source.table, parse, "pages")
            found = root | "ReadPageProps" >> read
            by_page.append(found.rows)
            pages.append(found.tagged)
            rejected.append(found.rejected)
        if source := sources.get(ITEMS_PER_SITE):
            of_wiki = functools.partial(title_and_item, dbname=self.dbname)
            columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
            read = self._read(self.tables.items_per_site, columns, source.table, of_wiki)
            found = root | "ReadItemsPerSite" >> read
            by_title.append(articles | "ByTitle" >> self._link_titles(found.rows, source))
            rejected.append(found.rejected)
        if (source := sources.get(ENTITIES)) and self.table is not None:
            title_to_item = root | "ReadSitelinks" >> ReadSitelinks(self.table, self.dbname)
            by_title.append(articles | "BySitelink" >> self._link_titles(title_to_item, source))
        if self.tables.pages:
            read = self._read(self.tables.pages, ["page_id"], "page", fact_of_existence)
            found = root | "ReadPageTable" >> read
            pages.append(found.rows)
            rejected.append(found.rejected)
        items = [*by_page, *by_title]
        if len(items) > 1 and any(source.linked_by for source in sources.values()):
            items = [by_page[0] | "OnePageOfItem" >> OnePageOfItem(articles, by_title[0])]
        return Found(
            items | "Items" >> beam.Flatten(pipeline=root),
            pages | "Pages" >> beam.Flatten(pipeline=root),
            rejected | "Rejected" >> beam.Flatten(pipeline=root),
        )

    def _read(
        self,
        paths: Sequence[str],
        columns: Sequence[str],
        table: str,
        parse: Callable[[Row], Iterator[Any]],
        tag: str = "tagged",
    ) -> ReadSqlDump:
        of = tuple[str, str] if table == ITEMS_PER_SITE else PageToFacts
        return ReadSqlDump(paths, table, columns, parse, of, tag, self.tables.on_corrupt)

    def _link_titles(self, title_to_item: beam.PCollection, source: LinkSource) -> LinkTitles:
        redirects = self.redirects if source.linked_by else None
        return LinkTitles(title_to_item, source.linked_by, redirects, self.tables.is_case_sensitive)


def fact_of_property(row: Row, linked_by: str = "") -> Iterator[Any]:
    """Yields (page id, facts) for a row (page, property, value) of the table page_props.

    There are two kinds of facts: the item of the page, and that the page is a disambiguation page. Facts of
    the second kind are yielded on the output "pages". Other properties yield nothing.

    `linked_by` is the value of the field `linked_by` of facts that name an item, one of LINKED_BY.

    Raises ValueError for an invalid page or item.
    """
    page, name, value = row
    if name == b"wikibase_item" and value:
        qid = value.decode("ascii")
        if not _QID.fullmatch(qid):
            raise ValueError(f"the item is {qid[:_SHOWN]!r}; expected one like 'Q64'")
        yield parse_id(page or b"", "page"), PageFacts(qid=qid, linked_by=linked_by)
    elif name == b"disambiguation":
        fact = parse_id(page or b"", "page"), PageFacts(is_disambiguation=True)
        yield beam.pvalue.TaggedOutput("pages", fact)


def title_and_item(row: Row, dbname: str) -> Iterator[tuple[str, str]]:
    """Yields (title, QID) for a row (item number, site, title) of items_per_site, if the site is the wiki
    `dbname`.

    Raises ValueError for an invalid item, and for a title that is not UTF-8.
    """
    item, site, title = row
    if item and title and site == dbname.encode():
        yield title.decode("utf-8").replace("_", " "), f"Q{parse_id(item, 'item')}"


def fact_of_existence(row: Row) -> Iterator[PageToFacts]:
    """Yields the fact that the page in a row of the page table exists.

    Raises ValueError for an invalid page.
    """
    yield parse_id(row[0] or b"", "page"), PageFacts(exists=True)
