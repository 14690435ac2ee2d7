"""A wiki at two dates: pages were moved, swapped, merged … in between; and how well they are linked.

Every article has a made item, so that the right link is known.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apache_beam as beam

from corpusmill.transforms.files.records import Article, Page
from corpusmill.transforms.wikipedia.article_rows import pack_article
from corpusmill.transforms.wikipedia.join_wikidata import (
    Linked,
    LinkPages,
    WikiTables,
    redirects_of_moves,
)
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable
from corpusmill.transforms.wikipedia.wikidata import redirects_since
from tests.makers import dump_files
from tests.makers.entity_tables import Item, write_entity_table
from tests.tools.run_pipeline import run_inputs

WIKI = "elwiki"
EARLIER, LATER = "20261001", "20261101"
BETWEEN, LONG_AGO = "2026-10-12T08:00:00Z", "2014-03-01T08:00:00Z"
_BY_HAND = "Redirected page to [[{target}]]"
_FIRST_ITEM, _FIRST_PAGE = 1_000, 10_000_000  # of those that are made


class State(NamedTuple):
    """The wiki at one date."""

    articles: dict[int, str]  # page id → title
    items: dict[int, str]  # page id → QID
    redirects: list[Page]
    sitelinks: dict[str, str]  # QID → title, of titles that are redirects on purpose

    def titles(self) -> dict[str, str]:
        """QID → title."""
        return {item: self.articles[page] for page, item in self.items.items()} | self.sitelinks


class Wiki:
    """Applies changes to articles, and notes which pages are of which kind of change."""

    def __init__(self) -> None:
        self.before = State({}, {}, [], {})
        self.after = State({}, {}, [], {})
        self.kinds: dict[int, str] = {}
        self._pages = itertools.count(_FIRST_PAGE)
        self._items = itertools.count(_FIRST_ITEM)

    def change(self, kind: str, titles: Sequence[str]) -> None:
        """Adds the articles to the state before, and what has become of them to the state after."""
        for at, title in enumerate(titles):
            CHANGES[kind](self, title, titles[at - 1])
        for page in (*self.before.articles, *self.after.articles):
            self.kinds.setdefault(page, kind)

    def put(self, state: State, title: str, page: int = 0, item: str = "-") -> tuple[int, str]:
        """Adds an article with a new page id and a new item, if not told others; "" is no item."""
        page = page or next(self._pages)
        item = f"Q{next(self._items)}" if item == "-" else item
        state.articles[page] = title
        if item:
            state.items[page] = item
        return page, item

    def redirect(
        self,
        title: str,
        target: str,
        *,
        comment: str = "moved page [[{title}]] to [[{target}]]: better",
        created: str = BETWEEN,
        section: str = "",
    ) -> None:
        """Adds a redirect to the state after; `created` is "" of a page with more revisions."""
        text = f"#REDIRECT [[{target}{section}]]"
        comment = comment.format(title=title, target=target)
        page = Page(next(self._pages), 0, title, 1, "wikitext", True, False, text, target)
        self.after.redirects.append(page._replace(created=created, comment=comment))


def _unchanged(wiki: Wiki, title: str, _: str) -> None:
    wiki.put(wiki.after, title, *wiki.put(wiki.before, title))


def _moved(wiki: Wiki, title: str, _: str, has_redirect: bool = True) -> None:
    wiki.put(wiki.after, f"{title} (new)", *wiki.put(wiki.before, title))
    if has_redirect:
        wiki.redirect(title, f"{title} (new)")


def _moved_twice(wiki: Wiki, title: str, _: str) -> None:
    """A bot has led the first redirect to the second title."""
    wiki.put(wiki.after, f"{title} (newest)", *wiki.put(wiki.before, title))
    wiki.redirect(title, f"{title} (newest)", created="", comment="double redirect")
    wiki.redirect(f"{title} (new)", f"{title} (newest)")


def _swapped(wiki: Wiki, title: str, other: str) -> None:
    wiki.put(wiki.after, other, *wiki.put(wiki.before, title))


def _title_taken(wiki: Wiki, title: str, _: str) -> None:
    """The page was moved, and its title has a new page about something else."""
    wiki.put(wiki.after, f"{title} (new)", *wiki.put(wiki.before, title))
    wiki.put(wiki.after, title)


def _deleted(wiki: Wiki, title: str, _: str) -> None:
    wiki.put(wiki.before, title)


def _made_anew(wiki: Wiki, title: str, _: str) -> None:
    """Deleted and written again, about the same."""
    wiki.put(wiki.after, title, item=wiki.put(wiki.before, title)[1])


def _new(wiki: Wiki, title: str, _: str) -> None:
    wiki.put(wiki.after, title)


def _merged(wiki: Wiki, title: str, _: str, created: str = "", section: str = "") -> None:
    """The article became a redirect to another one, that has no item yet.

    If `created` is given, the article was deleted before. The redirect may lead to a section.
    """
    wiki.put(wiki.before, title)
    wiki.put(wiki.after, f"{title} and others", item="")
    how = {"comment": _BY_HAND, "created": created, "section": section.format(title=title)}
    wiki.redirect(title, f"{title} and others", **how)


def _redirect_on_purpose(wiki: Wiki, title: str, _: str) -> None:
    """A move left the redirect long ago, and an item has it on purpose; the target has no item."""
    page, _item = wiki.put(wiki.before, f"{title} and others", item="")
    wiki.put(wiki.after, f"{title} and others", page, item="")
    item = f"Q{next(wiki._items)}"
    wiki.before.sitelinks[item] = wiki.after.sitelinks[item] = title
    wiki.redirect(title, f"{title} and others", created=LONG_AGO)


def _items_merged(wiki: Wiki, title: str, _: str) -> None:
    """The item of the page was merged into another one."""
    wiki.put(wiki.after, title, wiki.put(wiki.before, title)[0])


CHANGES: Mapping[str, Callable[[Wiki, str, str], None]] = {
    "unchanged": _unchanged,
    "moved": _moved,
    "moved without redirect": partial(_moved, has_redirect=False),
    "moved twice": _moved_twice,
    "titles swapped": _swapped,
    "title taken over": _title_taken,
    "deleted": _deleted,
    "made anew": _made_anew,
    "new": _new,
    "merged by an edit": _merged,
    "deleted, redirect to a section": partial(_merged, created=BETWEEN, section="#{title}"),
    "deleted, redirect to a page": partial(_merged, created=BETWEEN),
    "redirect has an item on purpose": _redirect_on_purpose,
    "items merged": _items_merged,
}
"""Kind → applies it to the article of a title; the second title is that of another article of the kind."""


class Method(NamedTuple):
    """A way to link the pages of the dump, which is of the later date by default."""

    name: str
    page_props: str = ""  # date
    titles: str = ""  # date of the entity table
    follows_redirects: bool = True
    dump: str = LATER


METHODS = (
    Method("page_props of the date", LATER),
    Method("earlier page_props", EARLIER),
    Method("earlier titles, no redirects", "", EARLIER, False),
    Method("earlier titles", "", EARLIER),
    Method("earlier page_props and titles", EARLIER, EARLIER),
    Method("earlier page_props, titles of the date", EARLIER, LATER),
    Method("later page_props", LATER, dump=EARLIER),
    Method("later titles", "", LATER, dump=EARLIER),
    Method("later page_props and titles", LATER, LATER, dump=EARLIER),
)


class Fault(NamedTuple):
    """A page that is not linked as it should be."""

    kind: str
    title: str
    linked: str  # "" where the link is missing
    right: str  # "" where there should be none


def find_faults(wiki: Wiki, method: Method, folder: Path) -> Iterator[Fault]:
    """The pages of the dump that the method links wrongly, or not at all."""
    states = {EARLIER: wiki.before, LATER: wiki.after}
    dump = states[method.dump]
    tables, table = WikiTables(dump_date=method.dump), None
    if method.page_props:
        path = folder / f"{WIKI}-{method.page_props}-page_props.sql.gz"
        items = states[method.page_props].items.items()
        dump_files.write_page_props(
            path, [(page, "wikibase_item", qid) for page, qid in items], WIKI
        )
        tables = tables._replace(page_props=[str(path)])
    if method.titles:
        table = _entity_table(folder / method.name, states[method.titles], method.titles)
    linked = _link(dump, tables, table, method.follows_redirects)
    for page, title in dump.articles.items():
        if linked.get(page, "") != (right := dump.items.get(page, "")):
            yield Fault(wiki.kinds[page], title, linked.get(page, ""), right)


def _entity_table(folder: Path, state: State, date: str) -> EntityTable:
    items = [Item(int(qid[1:]), (), {WIKI: title}) for qid, title in state.titles().items()]
    groups = {"rows_per_group": 1 << 12, "groups_per_file": 64}
    return write_entity_table(folder, items, {}, [WIKI], **groups)._replace(date=date)


def _link(
    dump: State, tables: WikiTables, table: EntityTable | None, follows_redirects: bool
) -> Mapping[int, str]:
    """Page id → QID."""
    articles = (Article(page, title, "1", "") for page, title in dump.articles.items())
    since = redirects_since(tables.sources(table)) if follows_redirects else ""

    def join(articles: beam.PCollection, pages: beam.PCollection) -> Linked:
        redirects = pages | beam.FlatMap(redirects_of_moves, since) if since else None
        joined: Linked = articles | LinkPages(WIKI, tables, table, None, redirects)
        return joined

    outcome = run_inputs(join, articles=map(pack_article, articles), pages=dump.redirects)
    return {article.page_id: article.wikidata_id for article in outcome.elements["kept"]}
