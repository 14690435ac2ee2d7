"""Tables that link pages to items if their date differs from that of the dump: which are used, and in which
order.

The right table depends on what happened to a page between the two dates:

  page …               link by page id   link by title
  is moved             right             missing; right if its old title has become a redirect to it
  swaps titles         right             wrong: each page gets the item of the other page
  takes over a title   missing if new    wrong; missing if the item is known to be another page's
  is deleted and made  missing           right
  is new               missing           right if the table is younger than the page, else missing
  gets another item    wrong             wrong if the table is older, else right

So page ids are used first, then titles, then redirects. Of several tables with titles, the one with the
nearest date is used.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.records import Page
from transforms.text.files.dates import days_between

PAGE_ID, TITLE, REDIRECT = "page id", "title", "redirect"
LINKED_BY = ("", PAGE_ID, TITLE, REDIRECT)
"""The ways in which pages are linked, the most reliable first.

"" is an SQL table with the date of the dump.
"""

LINKED_FROM = "linked_from"
"""Setting in the manifest: the tables that link pages, unless all have the date of the dump."""

PAGE_PROPS, ITEMS_PER_SITE, ENTITIES = "page_props", "wb_items_per_site", "entities"

_LINK = re.compile(r"\[\[([^\]|]*)")
_LINK_BEGINS_WITHIN = 300  # characters at the start of the page, as in PageScreening


class LinkSource(NamedTuple):
    """A table that links pages to items."""

    table: str  # PAGE_PROPS, ITEMS_PER_SITE or ENTITIES
    by: str  # PAGE_ID or TITLE
    date: str  # "20261001"; "" if unknown
    is_exact: bool  # an SQL table, unless its date is known to differ from that of the dump

    @property
    def linked_by(self) -> str:
        """The way in which the table links pages: one of LINKED_BY."""
        return "" if self.is_exact else self.by


class Redirect(NamedTuple):
    """A redirect page."""

    title: str
    target: str


def choose_sources(dump_date: str, dates: Mapping[str, str]) -> tuple[LinkSource, ...]:
    """Returns the tables that link the pages, the most reliable first.

    Args:
      dump_date: "20261101"; "" if unknown, and then every SQL table is assumed to have the date of the dump.
      dates: table → its date, "" if unknown, for all tables that are given. The entity table is not used if
        an SQL table is
        exact.
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
    """Returns True if the date of a table is known to differ from that of the dump."""
    return any(days_between(source.date, dump_date) for source in sources)


def describe_sources(sources: Sequence[LinkSource]) -> dict[str, Any]:
    """Returns the entry about the tables for the manifest; {} if all tables are exact."""
    if all(source.is_exact for source in sources):
        return {}
    return {
        LINKED_FROM: [
            {"table": source.table, "by": source.by, "date": source.date or None}
            for source in sources
        ]
    }


def redirects_since(sources: Sequence[LinkSource]) -> str:
    """Returns the date from which redirects are followed: the date of the table with titles.

    Returns "" if there is none.

    If a title was already a redirect at that date and still has an item, it has the item on purpose
    ("sitelink to redirect") or for a long time, and the item is not about the target.
    """
    return next((one.date for one in sources if one.linked_by == TITLE), "")


def redirect_of_move(page: Page, since: str) -> Redirect | None:
    """Returns the redirect if the page is one that a move has left since the date `since`; else None.

    For a move MediaWiki creates a page with one revision, without a parent. The redirect leads to the whole
    target, not to a section, and the comment, in any language, has both titles as links: "moved page
    [[title]] to [[target]]". An article that was merged into another one keeps its older revisions, and often
    leads to a section. A redirect made by a person has at most the target in its comment.
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
    """Returns a title in the form that MediaWiki stores, for joins: NFC, single spaces, and a capital first
    letter.

    Args:
      is_case_sensitive: the wiki does not change the first letter.
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
