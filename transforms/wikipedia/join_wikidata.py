"""Joins articles with Wikidata (page → item → classes), and screens them by class.

The first joins shuffle only page ids, titles and QIDs. Only the last join, with the facts about the pages,
shuffles the packed articles.

Links articles to Wikidata items by title, also through redirects that page moves have left.

Reads facts about pages from SQL tables and from the entity table.

The entity table has the classes and the page titles of Wikidata items (see read_entity_table.py). The facts
are the Wikidata items of pages, their classes, and the existence of pages.

Keeps or rejects articles by facts about their pages, such as the Wikidata item.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from ..files import counters
from ..files.counters import reject
from ..files.distribution import transform
from ..files.records import PackedArticle, Page, Reason
from . import wikidata
from .article_rows import from_bytes, to_bytes, unpack_text
from .dump_folder import date_in_names
from .mediawiki_xml import parse_id
from .read_dumps import ReadSqlDump
from .read_entity_table import EntityTable, FindClasses, PageToFacts, ReadSitelinks
from .screening import PageFacts, merge_facts, reason_to_reject_facts
from .split_pins import PinItems, PinPages

STAGE = "link-titles"
_MOVED = "moved"


@transform
def LinkTitles(
    articles: beam.PCollection,
    title_to_item: beam.PCollection,
    linked_by: str = "",
    redirects: beam.PCollection | None = None,
    is_case_sensitive: bool = False,
) -> beam.PCollection:
    """Links pages to items by title. PCollection[PackedArticle] → PCollection[(page id, PageFacts)].

    If the title of an item is now a redirect, the item is assigned to the target page, and the link is marked
    as made by a redirect. If redirects assign two items to one page, the page gets neither.

    Args:
      title_to_item: PCollection[(title, QID)].
      linked_by: value of the field `linked_by` for links by title, one of LINKED_BY.
      redirects: PCollection[Redirect] with the redirects left by page moves; None to follow no redirects.
      is_case_sensitive: True if the first letter of a title is case-sensitive in the wiki.
    """
    keyed = {
        "pages": articles | "PageOfTitle" >> beam.Map(title_and_page, is_case_sensitive),
        "items": title_to_item | "KeyItems" >> beam.MapTuple(_key, is_case_sensitive),
    }
    if redirects is not None:
        keyed["targets"] = redirects | "KeyRedirects" >> beam.MapTuple(_key, is_case_sensitive)
    found = (
        keyed
        | "JoinTitles" >> beam.CoGroupByKey()
        | "FactsOfTitle"
        >> beam.FlatMapTuple(facts_of_title, linked_by).with_outputs(_MOVED, main="facts")
    )
    if redirects is None:
        return found.facts
    target_to_item = found[_MOVED] | "KeyTargets" >> beam.MapTuple(_key, is_case_sensitive)
    moved = (
        {"pages": keyed["pages"], "items": target_to_item}
        | "JoinTargets" >> beam.CoGroupByKey()
        | "FactsOfTarget" >> beam.FlatMapTuple(facts_of_target)
    )
    return (found.facts, moved) | "ByTitleOrRedirect" >> beam.Flatten()


@transform
def OnePageOfItem(
    by_page: beam.PCollection, articles: beam.PCollection, by_title: beam.PCollection
) -> beam.PCollection:
    """Keeps only the most reliable link between each Wikidata item and a page.

    PCollection[(page id, PageFacts)] → the same. The input has links by page id. An item has only one page in
    a wiki, but its title may now belong to a different page, which is about something else. So a link by page
    id is better than a link by title.

    Args:
      articles: PCollection[PackedArticle]. A link by page id is ignored if the page is not an article.
      by_title: PCollection[(page id, PageFacts)] with links by title and by redirect.
    """
    present = {
        "pages": articles | "PageIds" >> beam.Map(lambda one: (one.page_id, None)),
        "facts": by_page,
    }
    of_present = (
        present
        | "JoinPages" >> beam.CoGroupByKey()
        | "Present" >> beam.FlatMapTuple(facts_of_present)
    )
    return (
        (of_present, by_title)
        | "Links" >> beam.Flatten()
        | "KeyByItem" >> beam.Map(lambda link: (link[1].qid, link))
        | "GroupByItem" >> beam.GroupByKey()
        | "BestLinks" >> beam.FlatMapTuple(best_links)
    )


def redirects_of_moves(page: Page, since: str) -> Iterator[wikidata.Redirect]:
    """Yields the redirect on a page, if a page move on or after the date `since` has left it."""
    if (redirect := wikidata.redirect_of_move(page, since)) is not None:
        counters.count(STAGE, "redirects")
        yield redirect


def _key(title: str, value: str, is_case_sensitive: bool = False) -> tuple[str, str]:
    return wikidata.title_key(title, is_case_sensitive), value


def title_and_page(article: PackedArticle, is_case_sensitive: bool = False) -> tuple[str, int]:
    """Returns (title in the form used for joins, page id).

    `is_case_sensitive` is True if the first letter of a title is case-sensitive in the wiki.
    """
    return wikidata.title_key(article.title, is_case_sensitive), article.page_id


def facts_of_title(
    _: str, found: Mapping[str, Iterable[Any]], linked_by: str = ""
) -> Iterator[Any]:
    """Links the pages with a certain title to the Wikidata items with the same title.

    The function is called once for each title, which is the unused key. Yields (page id, facts that name the
    item). If the title belongs only to a redirect, yields (target of the redirect, QID) on the output "moved"
    instead.

    Args:
      found: "pages" (ids of the pages with this title), "items" (QIDs of the items with this title), and
        "targets" (targets of the redirects with this title).
      linked_by: value of the field `linked_by` of the facts, one of LINKED_BY.
    """
    pages, items = list(found["pages"]), list(found["items"])
    for qid in items:
        for page in pages:
            yield int(page), PageFacts(qid=str(qid), linked_by=linked_by)
        for target in () if pages else found.get("targets", ()):
            yield beam.pvalue.TaggedOutput(_MOVED, (target, qid))


def facts_of_target(_: str, found: Mapping[str, Sequence[Any]]) -> Iterator[PageToFacts]:
    """Links the page with a certain title to the Wikidata item that it gets from redirects to this title.

    The function is called once for each title, which is the unused key. Yields (page id, facts that name the
    item). Yields nothing if the redirects assign several items.

    Args:
      found: "pages" (ids of the pages with this title) and "items" (QIDs that the redirects assign).
    """
    items = set(found["items"])
    if len(items) == 1:
        for page in found["pages"]:
            yield page, PageFacts(qid=min(items), linked_by=wikidata.REDIRECT)


def facts_of_present(page: int, found: Mapping[str, Iterable[Any]]) -> Iterator[PageToFacts]:
    """Yields (page id, facts) for each of the facts about a page, if the page is an article.

    `found` has two lists: "facts", the facts about the page, and "pages", which is empty if the page is not
    an article.
    """
    if any(True for _ in found["pages"]):
        for facts in found["facts"]:
            yield page, facts


def best_links(_: str, links: Iterable[PageToFacts]) -> Iterator[PageToFacts]:
    """Yields those links of an item that were made by the most reliable method.

    `links` are (page id, facts that name the item). The item is the unused key.
    """
    ranked = [(wikidata.LINKED_BY.index(facts.linked_by), (page, facts)) for page, facts in links]
    best = min(rank for rank, _ in ranked)
    yield from (link for rank, link in ranked if rank == best)


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

    def sources(self, table: EntityTable | None) -> tuple[wikidata.LinkSource, ...]:
        """Returns the tables that link pages to items, the most reliable first.

        The entity table is included if it is needed to link pages.
        """
        sql = {wikidata.PAGE_PROPS: self.page_props, wikidata.ITEMS_PER_SITE: self.items_per_site}
        dates = {name: date_in_names(paths) for name, paths in sql.items() if paths}
        return wikidata.choose_sources(
            self.dump_date, dates | ({wikidata.ENTITIES: table.date} if table else {})
        )


class Found(NamedTuple):
    """The outputs of FindItems: facts about pages as (page id, PageFacts), and malformed rows.

    There may be several facts about a page.
    """

    items: beam.PCollection  # facts that name an item
    pages: beam.PCollection  # facts without an item
    rejected: beam.PCollection  # of Rejected


@transform
def FindItems(
    articles: beam.PCollection,
    dbname: str,
    tables: WikiTables,
    table: EntityTable | None = None,
    redirects: beam.PCollection | None = None,
) -> Found:
    """Finds the Wikidata items of articles, and other facts about pages.

    PCollection[PackedArticle] → Found. The output also has facts about pages that are not articles. Only the
    ids and titles of the articles are used. Titles are needed because the SQL table items_per_site and the
    entity table name pages by title.

    Args:
      dbname: database name of the wiki, such as "ukwiki".
      tables: SQL dumps of tables of the wiki.
      table: entity table, or None. It is not used to link pages to items if one of `tables` links them and
        has the date of the wiki's dump (see wikidata.py).
      redirects: PCollection[Redirect] with the redirects that page moves have left since the date of the
        table that links pages by title (items_per_site or the entity table); None to follow no redirects.

    Raises ValueError if the entity table is needed to link pages but has no titles of the wiki.
    """
    root = articles.pipeline
    sources = {one.table: one for one in tables.sources(table)}
    by_page, by_title, pages, rejected = [], [], [], []
    read = functools.partial(ReadSqlDump, on_corrupt=tables.on_corrupt)

    def link_titles(titles: beam.PCollection, source: wikidata.LinkSource) -> beam.PTransform:
        moved = redirects if source.linked_by else None
        return LinkTitles(titles, source.linked_by, moved, tables.is_case_sensitive)

    if source := sources.get(wikidata.PAGE_PROPS):
        parse = functools.partial(fact_of_property, linked_by=source.linked_by)
        columns = ["pp_page", "pp_propname", "pp_value"]
        rows = read(tables.page_props, source.table, columns, parse, PageToFacts, "pages")
        found = root | "ReadPageProps" >> rows
        by_page.append(found.rows)
        pages.append(found.tagged)
        rejected.append(found.rejected)
    if source := sources.get(wikidata.ITEMS_PER_SITE):
        of_wiki = functools.partial(title_and_item, dbname=dbname)
        columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
        rows = read(tables.items_per_site, source.table, columns, of_wiki, tuple[str, str])
        found = root | "ReadItemsPerSite" >> rows
        by_title.append(articles | "ByTitle" >> link_titles(found.rows, source))
        rejected.append(found.rejected)
    if (source := sources.get(wikidata.ENTITIES)) and table is not None:
        titles = root | "ReadSitelinks" >> ReadSitelinks(table, dbname)
        by_title.append(articles | "BySitelink" >> link_titles(titles, source))
    if tables.pages:
        rows = read(tables.pages, "page", ["page_id"], fact_of_existence, PageToFacts)
        found = root | "ReadPageTable" >> rows
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


REPEATED = Reason("repeated-page", "the dump files overlap; the newest revision stays")


class Linked(NamedTuple):
    """The outputs of LinkPages: kept and rejected articles, malformed rows of the tables, and counts."""

    # of PackedArticle with its wikidata_id, and with its split if the split is pinned
    kept: beam.PCollection
    rejected: beam.PCollection  # of Rejected
    class_unknown: beam.PCollection  # of int, 1 for each kept article with an unknown entity
    unread: beam.PCollection  # of Rejected: malformed rows of the tables
    links: beam.PCollection  # of str, one of LINKED_BY for each article linked to an item


@transform
def ScreenFacts(
    articles: beam.PCollection,
    stage: str,
    page_to_facts: beam.PCollection,
    unread: beam.PCollection,
    has_page_table: bool,
    identity: str = "",
) -> Linked:
    """Assigns each article its identity, or rejects it because of the facts about its page.

    PCollection[PackedArticle] → Linked.

    Args:
      stage: name of the stage in rejections.
      page_to_facts: PCollection[(page id, PageFacts)] with any number of facts for each page.
      unread: PCollection[Rejected] with the malformed rows of the tables, for the output of this name.
      has_page_table: True if the facts show which pages exist; False to assume that all pages exist.
      identity: database name for identities like "ukwiki:<page id>"; "" to use the QID as identity.
    """
    joined = {
        "articles": articles | "KeyByPage" >> beam.Map(key_by_page),
        "facts": page_to_facts,
    } | "JoinFacts" >> beam.CoGroupByKey()
    screen = beam.FlatMap(_screen, stage, has_page_table, identity)
    screened = joined | "Screen" >> screen.with_output_types(PackedArticle).with_outputs(
        "rejected", "class_unknown", "links", main="kept"
    )
    return Linked(screened.kept, screened.rejected, screened.class_unknown, unread, screened.links)


def _screen(
    joined: tuple[int, Mapping[str, Iterable[Any]]],
    stage: str,
    has_page_table: bool,
    identity: str,
) -> Iterator[Any]:
    page_id, found = joined
    if not (articles := newest_first(found["articles"])):
        return
    newest, *older = articles
    for article in older:
        yield reject(page_id, article.title, stage, REPEATED)
    facts = merge_facts(found["facts"])
    if not has_page_table:
        facts = facts._replace(exists=True)
    if identity:
        facts = facts._replace(qid=f"{identity}:{page_id}", is_class_known=True)
    if facts.qid and not identity:
        yield beam.pvalue.TaggedOutput("links", facts.linked_by)
    if reason := reason_to_reject_facts(facts):
        yield reject(page_id, newest.title, stage, reason)
        return
    counters.count(stage, "linked")
    if not facts.is_class_known:
        yield beam.pvalue.TaggedOutput("class_unknown", 1)
    yield newest._replace(wikidata_id=facts.qid, split=facts.pinned_split, classes=facts.classes)


def key_by_page(article: PackedArticle) -> tuple[int, bytes]:
    """Returns (page id, packed article)."""
    return article.page_id, to_bytes(article)


def newest_first(of_one_page: Iterable[bytes]) -> list[PackedArticle]:
    """Returns the articles of one page, the newest revision first.

    A page has several articles if dump files overlap.
    """
    articles = [from_bytes(data) for data in of_one_page]
    if len(articles) > 1:  # otherwise no text needs to be read
        articles.sort(key=lambda a: (int(a.version_id), a.title, unpack_text(a)), reverse=True)
    return articles


_NO_TABLES = WikiTables()


@transform
def LinkPages(
    articles: beam.PCollection,
    dbname: str,
    tables: WikiTables = _NO_TABLES,
    table: EntityTable | None = None,
    pins: beam.PCollection | None = None,
    redirects: beam.PCollection | None = None,
) -> Linked:
    """Identifies articles by their Wikidata items, or, without tables that link pages to items, by their
    page ids.

    PCollection[PackedArticle] → Linked.

    If there are page tables, articles whose pages are not in them are rejected as deleted. In a wiki with
    links, articles without a QID are rejected, and so are articles about Wikimedia-internal items such as
    lists.

    Args:
      dbname: database name of the wiki, such as "ukwiki".
      tables: SQL dumps of tables of the wiki.
      table: entity table, or None. Without it, classes are unknown and no article is rejected because of its
        class. It also links pages to items by title, if no SQL table with the date of the dump links them.
      pins: output of ReadSplitPins, or None. Articles with a pinned item or page get its split; other pins
        have no effect.
      redirects: PCollection[Redirect] with the redirects that page moves have left since the date of the
        table that links pages by title (items_per_site or the entity table); None to follow no redirects.
    """
    is_linked = table or tables.page_props or tables.items_per_site
    find = FindItems(dbname, tables, table, redirects)
    found = articles | "FindItems" >> find
    about_items, further = found.items, []
    if table is not None:
        about_items |= "FindClasses" >> FindClasses(table)
    if pins is not None and is_linked:
        about_items |= "PinItems" >> PinItems(pins)
    elif pins is not None:
        further = [pins | "PinPages" >> PinPages(dbname)]
    stage, identity = ("join-wikidata", "") if is_linked else ("identify-by-page", dbname)
    page_to_facts = [about_items, found.pages, *further] | "Facts" >> beam.Flatten()
    screen = ScreenFacts(stage, page_to_facts, found.rejected, bool(tables.pages), identity)
    linked: Linked = articles | "ScreenFacts" >> screen
    return linked
