"""Chooses the tables that link pages to Wikidata items, and their order.

A link assigns an item to a page. Links can be wrong or missing if the table and the dump have different
dates. Whether a link is right depends on what happened to the page between these two dates:

  the page …                 link by page id               link by title
  was moved                  right                         missing; right if the old title redirects to it
  swapped titles             right                         wrong: each page gets the item of the other page
  took another page's title  right; missing for new pages  wrong; missing if the item is linked by page id
  was recreated              missing                       right
  was created                missing                       right; missing if the table is older than the page
  was given another item     wrong                         right; wrong if the table is older than the dump

So links by page id are used first, then links by title, then links through redirects. If several tables
contain titles, the one whose date is nearest to that of the dump is used.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.dates import days_between
from corpusmill.transforms.files.records import Page

PAGE_ID, TITLE, REDIRECT = "page id", "title", "redirect"
LINKED_BY = ("", PAGE_ID, TITLE, REDIRECT)
"""The ways in which pages are linked to items, the most reliable first.

"" stands for a link from an SQL table with the date of the dump.
"""

LINKED_FROM = "linked_from"
"""Key of the manifest for the tables that link pages. It is set if a table has another date than the dump."""

PAGE_PROPS, ITEMS_PER_SITE, ENTITIES = "page_props", "wb_items_per_site", "entities"

_LINK = re.compile(r"\[\[([^\]|]*)")
_LINK_BEGINS_WITHIN = 300  # characters at the start of the page, as in PageScreening


class LinkSource(NamedTuple):
    """A table that links pages to Wikidata items."""

    table: str  # PAGE_PROPS, ITEMS_PER_SITE or ENTITIES
    by: str  # PAGE_ID or TITLE
    date: str  # "20261001"; "" if unknown
    is_exact: bool  # an SQL table, unless its date is known to differ from that of the dump

    @property
    def linked_by(self) -> str:
        """The way in which the table links pages, one of LINKED_BY.

        It is "" (the most reliable way) for an SQL table, unless its date is known to differ from that of the
        dump. Otherwise, it is PAGE_ID or TITLE.
        """
        return "" if self.is_exact else self.by


class Redirect(NamedTuple):
    """A redirect from one title to another."""

    title: str
    target: str


def choose_sources(dump_date: str, dates: Mapping[str, str]) -> tuple[LinkSource, ...]:
    """Returns the tables to use for linking pages to items, the most reliable first.

    The SQL tables are PAGE_PROPS and ITEMS_PER_SITE. The table ENTITIES, which comes from a Wikidata dump, is
    not used if an SQL table has the date of the dump.

    Args:
      dump_date: the date of the dump, "20261101". If it is "" (unknown), every SQL table is assumed to have
        the same date as the dump.
      dates: name of each available table → its date, such as "20261001", or "" if the date is unknown.
    """
    tables = [
        LinkSource(table, by, dates[table], table != ENTITIES and not days_between(date, dump_date))
        for table, by in ((PAGE_PROPS, PAGE_ID), (ITEMS_PER_SITE, TITLE), (ENTITIES, TITLE))
        if (date := dates.get(table)) is not None
    ]
    if any(source.is_exact for source in tables):
        chosen = [source for source in tables if source.table != ENTITIES]
    else:
        by_title = [source for source in tables if source.by == TITLE]
        by_title.sort(key=lambda source: abs(days_between(source.date, dump_date)))
        chosen = [source for source in tables if source.by == PAGE_ID] + by_title[:1]
    return tuple(sorted(chosen, key=lambda source: LINKED_BY.index(source.linked_by)))


def is_of_another_date(sources: Iterable[LinkSource], dump_date: str) -> bool:
    """Returns True if one of the tables is known to have another date than the dump."""
    return any(days_between(source.date, dump_date) for source in sources)


def describe_sources(sources: Sequence[LinkSource]) -> dict[str, Any]:
    """Returns the manifest's entry with the name, kind of link and date of each table that links pages.

    Returns {} if all of them are SQL tables with the date of the dump.
    """
    if all(source.is_exact for source in sources):
        return {}
    return {
        LINKED_FROM: [
            {"table": source.table, "by": source.by, "date": source.date or None}
            for source in sources
        ]
    }


def redirects_since(sources: Sequence[LinkSource]) -> str:
    """Returns the date of the table that links pages by title. Older redirects are not followed.

    The date has the form "20261001". The result is "", so that no redirects are followed, in these cases:
    - No table links pages by title.
    - The date of the table is unknown.
    - The table is an SQL table that is not known to have another date than the dump.

    Even if the table has an item for the title of an older redirect, the redirect is not followed. Such an
    item is not about the target of the redirect: its link to the redirect is either intended
    ("sitelink to redirect") or outdated.
    """
    return next((one.date for one in sources if one.linked_by == TITLE), "")


def redirect_of_move(page: Page, since: str) -> Redirect | None:
    """Returns the redirect on this page if it was created by a page move, otherwise None.

    Also returns None if the page was created before the date `since`, or if `since` is "".

    When a page is moved, MediaWiki creates a redirect at its old title. The redirect has a single revision,
    which has no parent. It leads to the whole target page, not to a section. In every language, the comment
    of the revision contains links to both titles: "moved page [[title]] to [[target]]".

    Other redirects look different. If an article was merged into another one, its redirect keeps the older
    revisions, and often leads to a section. The comment of a redirect written by hand contains at most the
    target.
    """
    created = page.created[:10].replace("-", "")
    if page.namespace or not page.redirect_target or not since or created < since:
        return None
    link = _LINK.search(page.text[:_LINK_BEGINS_WITHIN])
    named = (f"[[{title}]]" in page.comment for title in (page.title, page.redirect_target))
    if link is None or "#" in link[1] or not all(named):
        return None
    return Redirect(page.title, page.redirect_target)


def title_key(title: str, is_case_sensitive: bool = False) -> str:
    """Returns a title in the form that MediaWiki stores, as a key for joins.

    This form has NFC characters, single spaces and a capital first letter.

    Args:
      is_case_sensitive: True if the wiki does not capitalise the first letter.
    """
    key = title
    if not key.isascii():
        key = unicodedata.normalize("NFC", key)
    if "_" in key or "  " in key or key != key.strip(" "):
        key = " ".join(filter(None, key.replace("_", " ").split(" ")))
    if is_case_sensitive or not key[:1].islower():
        return key
    capital = key[0].upper()
    # MediaWiki does not change ß, which has no single capital letter, and Georgian letters.
    return key if len(capital) > 1 or "ა" <= key[0] <= "ჿ" else capital + key[1:]
