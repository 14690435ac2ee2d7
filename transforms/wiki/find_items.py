"""Tables of the wiki → page id → what they say: the item of a page, that it exists, what it is."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.records import PackedArticle
from transforms.text.wikimedia.mediawiki_xml import parse_id
from transforms.text.wikimedia.screening import PageFacts
from transforms.wiki.read_entity_table import EntityTable, PageToFacts, ReadSitelinks
from transforms.wiki.read_sql_dumps import ReadSqlDump

Row = tuple[bytes | None, ...]

_QID = re.compile("[Qq][1-9][0-9]{0,17}")  # fits 64 bits
_SHOWN = 40  # characters of a value in a message


class WikiTables(NamedTuple):
    """SQL dumps that tell about the pages of a wiki; () for those that are not given."""

    page_props: Sequence[str] = ()  # <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # wikidatawiki-<date>-wb_items_per_site.sql.gz
    pages: Sequence[str] = ()  # <wiki>-<date>-page.sql.gz
    on_corrupt: str = "fail"  # or "keep-good": what to do about malformed rows

    def links_pages(self) -> bool:
        """Whether they tell the item of a page."""
        return bool(self.page_props or self.items_per_site)

    def by_role(self) -> Mapping[str, Sequence[str]]:
        """Role of an input → paths."""
        return {
            "page-props": self.page_props,
            "items-per-site": self.items_per_site,
            "page-table": self.pages,
        }


class Found(NamedTuple):
    """What FindItems gives: (page id, PageFacts), none or several for a page, and malformed rows."""

    items: beam.PCollection  # facts that name an item
    pages: beam.PCollection  # those about the page alone
    rejected: beam.PCollection  # of Rejected


@dataclass(eq=False, repr=False)
class FindItems(beam.PTransform):
    """PCollection[PackedArticle] → what the tables say of pages, of these and others.

    Of the articles it takes id and title alone: items_per_site names pages by title. So does the entity
    table, which is asked only where no SQL dump links pages: it is of another day than the dump of the
    wiki, and a page that was moved in between is not found by its title.

    Raises ValueError where the entity table has to link pages, and has no titles of the wiki.
    """

    dbname: str
    tables: WikiTables
    table: EntityTable | None = None

    def expand(self, articles: beam.PCollection) -> Found:
        root = articles.pipeline
        items: list[beam.PCollection] = []
        pages: list[beam.PCollection] = []
        rejected: list[beam.PCollection] = []
        read = functools.partial(ReadSqlDump, on_corrupt=self.tables.on_corrupt)
        if self.tables.page_props:
            columns = ["pp_page", "pp_propname", "pp_value"]
            facts = fact_of_property, PageToFacts, "pages"
            found = root | "ReadPageProps" >> read(
                self.tables.page_props, "page_props", columns, *facts
            )
            items.append(found.rows)
            pages.append(found.tagged)
            rejected.append(found.rejected)
        if self.tables.items_per_site:
            columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
            of_wiki = functools.partial(title_and_item, dbname=self.dbname), tuple[str, str]
            found = root | "ReadItemsPerSite" >> read(
                self.tables.items_per_site, "wb_items_per_site", columns, *of_wiki
            )
            items.append(articles | "ByTitle" >> _JoinTitles(found.rows))
            rejected.append(found.rejected)
        if self.table is not None and not self.tables.links_pages():
            title_to_item = root | "ReadSitelinks" >> ReadSitelinks(self.table, self.dbname)
            items.append(articles | "BySitelink" >> _JoinTitles(title_to_item))
        if self.tables.pages:
            existence = fact_of_existence, PageToFacts
            found = root | "ReadPageTable" >> read(
                self.tables.pages, "page", ["page_id"], *existence
            )
            pages.append(found.rows)
            rejected.append(found.rejected)
        return Found(
            items | "Items" >> beam.Flatten(pipeline=root),
            pages | "Pages" >> beam.Flatten(pipeline=root),
            rejected | "Rejected" >> beam.Flatten(pipeline=root),
        )


@dataclass(eq=False, repr=False)
class _JoinTitles(beam.PTransform):
    """PCollection[PackedArticle] ⋈ (title, QID) → PCollection[(page id, PageFacts)]."""

    title_to_item: beam.PCollection

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        title_to_page = articles | "PageOfTitle" >> beam.Map(title_and_page)
        return (
            {"pages": title_to_page, "items": self.title_to_item}
            | "JoinTitles" >> beam.CoGroupByKey()
            | "FactOfTitle" >> beam.FlatMapTuple(facts_of_title)
        )


def fact_of_property(row: Row) -> Iterator[Any]:
    """What a row (page, property, value) of page_props says of its page: its item, or else on "pages".

    Raises ValueError for what is no page or no item.
    """
    page, name, value = row
    if name == b"wikibase_item" and value:
        qid = value.decode("ascii")
        if not _QID.fullmatch(qid):
            raise ValueError(f"the item is {qid[:_SHOWN]!r}, not like 'Q64'")
        yield parse_id(page or b"", "page"), PageFacts(qid=qid)
    elif name == b"disambiguation":
        fact = parse_id(page or b"", "page"), PageFacts(is_disambiguation=True)
        yield beam.pvalue.TaggedOutput("pages", fact)


def title_and_item(row: Row, dbname: str) -> Iterator[tuple[str, str]]:
    """(title, QID) of a row (item number, site, title) that is about the wiki.

    Raises ValueError for what is no item, and a title that is not UTF-8.
    """
    item, site, title = row
    if item and title and site == dbname.encode():
        yield title.decode("utf-8").replace("_", " "), f"Q{parse_id(item, 'item')}"


def title_and_page(article: PackedArticle) -> tuple[str, int]:
    """(title, page id)."""
    return article.title, article.page_id


def facts_of_title(
    _: str, found: dict[str, Sequence[int] | Sequence[str]]
) -> Iterator[PageToFacts]:
    """The item of each page that has the title."""
    for page in found["pages"]:
        for qid in found["items"]:
            yield int(page), PageFacts(qid=str(qid))


def fact_of_existence(row: Row) -> Iterator[PageToFacts]:
    """A row of the page table says that its page exists. Raises ValueError for what is no page."""
    yield parse_id(row[0] or b"", "page"), PageFacts(exists=True)
