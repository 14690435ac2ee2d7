"""Tables of the wiki → page id → what they say: the item of a page, that it exists, what it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.records import PackedArticle
from transforms.text.wikimedia.screening import PageFacts
from transforms.wiki.read_entity_table import EntityTable, PageToFacts, ReadSitelinks
from transforms.wiki.read_sql_dumps import ReadSqlDump

Row = tuple[bytes | None, ...]


class WikiTables(NamedTuple):
    """SQL dumps that tell about the pages of a wiki; () for those that are not given."""

    page_props: Sequence[str] = ()  # <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # wikidatawiki-<date>-wb_items_per_site.sql.gz
    pages: Sequence[str] = ()  # <wiki>-<date>-page.sql.gz

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
    """What FindItems gives: (page id, PageFacts), none or several for a page."""

    items: beam.PCollection  # those that name an item
    pages: beam.PCollection  # those about the page alone


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
        if self.tables.page_props:
            columns = ["pp_page", "pp_propname", "pp_value"]
            read = ReadSqlDump(self.tables.page_props, "page_props", columns)
            facts = beam.FlatMap(fact_of_property).with_output_types(PageToFacts)
            found = (
                root
                | "ReadPageProps" >> read
                | "FactOfProperty" >> facts.with_outputs("pages", main="items")
            )
            items.append(found.items)
            pages.append(found.pages)
        if self.tables.items_per_site:
            columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
            read = ReadSqlDump(self.tables.items_per_site, "wb_items_per_site", columns)
            rows = root | "ReadItemsPerSite" >> read
            title_to_item = rows | "ItemsOfSite" >> beam.FlatMap(title_and_item, self.dbname)
            items.append(articles | "ByTitle" >> _JoinTitles(title_to_item))
        if self.table is not None and not self.tables.links_pages():
            title_to_item = root | "ReadSitelinks" >> ReadSitelinks(self.table, self.dbname)
            items.append(articles | "BySitelink" >> _JoinTitles(title_to_item))
        if self.tables.pages:
            rows = root | "ReadPageTable" >> ReadSqlDump(self.tables.pages, "page", ["page_id"])
            pages.append(rows | "FactOfExistence" >> beam.Map(fact_of_existence))
        return Found(
            items | "Items" >> beam.Flatten(pipeline=root),
            pages | "Pages" >> beam.Flatten(pipeline=root),
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
    """What a row (page, property, value) of page_props says of its page: its item, or else on "pages"."""
    page, name, value = row
    if name == b"wikibase_item" and value:
        yield int(page or 0), PageFacts(qid=value.decode("ascii"))
    elif name == b"disambiguation":
        fact = int(page or 0), PageFacts(is_disambiguation=True)
        yield beam.pvalue.TaggedOutput("pages", fact)


def title_and_item(row: Row, dbname: str) -> Iterator[tuple[str, str]]:
    """(title, QID) of a row (item number, site, title) that is about the wiki."""
    item, site, title = row
    if item and title and site == dbname.encode():
        yield title.decode("utf-8").replace("_", " "), f"Q{item.decode('ascii')}"


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


def fact_of_existence(row: Row) -> PageToFacts:
    """A row of the page table says that its page exists."""
    return int(row[0] or 0), PageFacts(exists=True)
