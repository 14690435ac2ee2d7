"""Tables of the wiki → page id → what they say: the item of a page, that it exists, what it is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam

from transforms.records import PackedArticle
from transforms.text.wikimedia.screening import PageFacts
from transforms.wiki.read_entity_table import EntityTable, ReadSitelinks
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


class FindItems(beam.PTransform):
    """PCollection[PackedArticle] → what the tables say of pages, of these and others.

    Of the articles it takes id and title alone: items_per_site names pages by title. So does the entity
    table, which is asked only where no SQL dump links pages: it is of another day than the dump of the
    wiki, and a page that was moved in between is not found by its title.

    Raises ValueError where the entity table has to link pages, and has no titles of the wiki.
    """

    def __init__(self, dbname: str, tables: WikiTables, table: EntityTable | None = None):
        super().__init__()
        self.dbname = dbname
        self.tables = tables
        self.sitelinks = None
        if table is not None and not tables.links_pages():
            self.sitelinks = ReadSitelinks(table, dbname)

    def expand(self, articles: beam.PCollection) -> Found:
        root = articles.pipeline
        items: list[beam.PCollection] = []
        pages: list[beam.PCollection] = []
        if self.tables.page_props:
            by_property = self._by_property(root)
            items.append(by_property.items)
            pages.append(by_property.pages)
        if self.tables.items_per_site:
            items.append(articles | "ByTitle" >> _JoinTitles(self._items_of_titles(root)))
        if self.sitelinks is not None:
            title_to_item = root | "ReadSitelinks" >> self.sitelinks
            items.append(articles | "BySitelink" >> _JoinTitles(title_to_item))
        if self.tables.pages:
            pages.append(self._by_existence(root))
        return Found(
            items | "Items" >> beam.Flatten(pipeline=root),
            pages | "Pages" >> beam.Flatten(pipeline=root),
        )

    def _by_property(self, root: beam.Pipeline) -> Found:
        columns = ["pp_page", "pp_propname", "pp_value"]
        found = (
            root
            | "ReadPageProps" >> ReadSqlDump(self.tables.page_props, "page_props", columns)
            | "FactOfProperty"
            >> beam.ParDo(_FactOfProperty())
            .with_output_types(tuple[int, PageFacts])
            .with_outputs("pages", main="items")
        )
        return Found(found.items, found.pages)

    def _items_of_titles(self, root: beam.Pipeline) -> beam.PCollection:
        columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
        return (
            root
            | "ReadItemsPerSite"
            >> ReadSqlDump(self.tables.items_per_site, "wb_items_per_site", columns)
            | "ItemsOfSite"
            >> beam.FlatMap(title_and_item, self.dbname).with_output_types(tuple[str, str])
        )

    def _by_existence(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "ReadPageTable" >> ReadSqlDump(self.tables.pages, "page", ["page_id"])
            | "FactOfExistence" >> beam.Map(fact_of_existence)
        )


class _JoinTitles(beam.PTransform):
    """PCollection[PackedArticle] ⋈ (title, QID) → PCollection[(page id, PageFacts)]."""

    def __init__(self, title_to_item: beam.PCollection):
        super().__init__()
        self.title_to_item = title_to_item

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        title_to_page = articles | "PageOfTitle" >> beam.Map(title_and_page).with_output_types(
            tuple[str, int]
        )
        return (
            {"pages": title_to_page, "items": self.title_to_item}
            | "JoinTitles" >> beam.CoGroupByKey()
            | "FactOfTitle" >> beam.FlatMapTuple(facts_of_title)
        )


class _FactOfProperty(beam.DoFn):
    def process(self, row: Row) -> Iterable[tuple[int, PageFacts] | beam.pvalue.TaggedOutput]:
        for page_and_facts in fact_of_property(row):
            if page_and_facts[1].qid:
                yield page_and_facts
            else:
                yield beam.pvalue.TaggedOutput("pages", page_and_facts)


def fact_of_property(row: Row) -> Iterator[tuple[int, PageFacts]]:
    """What a row (page, property, value) of page_props says of its page."""
    page, name, value = row
    if name == b"wikibase_item" and value:
        yield int(page or 0), PageFacts(qid=value.decode("ascii"))
    elif name == b"disambiguation":
        yield int(page or 0), PageFacts(is_disambiguation=True)


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
) -> Iterator[tuple[int, PageFacts]]:
    """The item of each page that has the title."""
    for page in found["pages"]:
        for qid in found["items"]:
            yield int(page), PageFacts(qid=str(qid))


def fact_of_existence(row: Row) -> tuple[int, PageFacts]:
    """A row of the page table says that its page exists."""
    return int(row[0] or 0), PageFacts(exists=True)
