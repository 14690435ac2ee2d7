"""Tables of the wiki → page id → what they say: the item of a page, that it exists, what it is."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam

from transforms.read_sql_dumps import ReadSqlDump
from transforms.records import PackedArticle
from transforms.text.wikimedia.screening import PageFacts

Row = tuple[bytes | None, ...]


class WikiTables(NamedTuple):
    """SQL dumps that tell about the pages of a wiki; () for those that are not given."""

    page_props: Sequence[str] = ()  # <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # wikidatawiki-<date>-wb_items_per_site.sql.gz
    pages: Sequence[str] = ()  # <wiki>-<date>-page.sql.gz

    def links_pages(self) -> bool:
        """Whether they tell the item of a page."""
        return bool(self.page_props or self.items_per_site)


class FindItems(beam.PTransform):
    """PCollection[PackedArticle] → PCollection[(page id, PageFacts)], several for a page.

    Of the articles it takes id and title alone: items_per_site names pages by title.
    """

    def __init__(self, dbname: str, tables: WikiTables):
        super().__init__()
        self.dbname = dbname
        self.tables = tables

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        root = articles.pipeline
        facts = []
        if self.tables.page_props:
            facts.append(self._by_property(root))
        if self.tables.items_per_site:
            facts.append(self._by_title(root, articles))
        if self.tables.pages:
            facts.append(self._by_existence(root))
        return facts | beam.Flatten()

    def _by_property(self, root: beam.Pipeline) -> beam.PCollection:
        columns = ["pp_page", "pp_propname", "pp_value"]
        return (
            root
            | "ReadPageProps" >> ReadSqlDump(self.tables.page_props, "page_props", columns)
            | "FactOfProperty" >> beam.FlatMap(fact_of_property)
        )

    def _by_title(self, root: beam.Pipeline, articles: beam.PCollection) -> beam.PCollection:
        columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
        title_to_item = (
            root
            | "ReadItemsPerSite"
            >> ReadSqlDump(self.tables.items_per_site, "wb_items_per_site", columns)
            | "ItemsOfSite"
            >> beam.FlatMap(title_and_item, self.dbname).with_output_types(tuple[str, str])
        )
        title_to_page = articles | "PageOfTitle" >> beam.Map(title_and_page).with_output_types(
            tuple[str, int]
        )
        return (
            {"pages": title_to_page, "items": title_to_item}
            | "JoinTitles" >> beam.CoGroupByKey()
            | "FactOfTitle" >> beam.FlatMapTuple(facts_of_title)
        )

    def _by_existence(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "ReadPageTable" >> ReadSqlDump(self.tables.pages, "page", ["page_id"])
            | "FactOfExistence" >> beam.Map(fact_of_existence)
        )


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
