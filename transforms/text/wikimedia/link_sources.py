"""Links of pages to items where the tables are of another date than the dump: which are used, and how.

What happens to a page between the two dates decides which table is right:

  a page               by page id        by title
  is moved             right             missing; right if its old title redirects to it since then
  swaps titles         right             wrong: each page gets the item of the other
  takes over a title   missing if new    wrong; missing where the item is seen to be another page's
  is made anew         missing           right
  is new               missing           right if the table is younger than the page, else missing
  gets another item    wrong             wrong if the table is older, else right

So page ids come first, then titles, then redirects; and of several tables by title, that of the nearest date.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.records import Page
from transforms.text.files.dates import days_between

PAGE_ID, TITLE, REDIRECT = "page id", "title", "redirect"
LINKED_BY = ("", PAGE_ID, TITLE, REDIRECT)
"""The ways in which pages are linked, the most reliable first; "" is by an SQL table of the dump's own
date.
"""

LINKED_FROM = "linked_from"
"""Setting in the manifest: the tables that link pages, where not all are of the date of the dump."""

PAGE_PROPS, ITEMS_PER_SITE, ENTITIES = "page_props", "wb_items_per_site", "entities"

_LINK = re.compile(r"\[\[([^\]|]*)")
_LINK_BEGINS_WITHIN = 300  # characters of the page, as in the screening of redirects


class LinkSource(NamedTuple):
    """A table that links pages to items."""

    table: str  # PAGE_PROPS, ITEMS_PER_SITE or ENTITIES
    by: str  # PAGE_ID or TITLE
    date: str  # "20261001"; "" where it is not known
    is_exact: bool  # an SQL table that is not known to be of another date than the dump

    @property
    def linked_by(self) -> str:
        """One of LINKED_BY."""
        return "" if self.is_exact else self.by


class Redirect(NamedTuple):
    """A redirect page."""

    title: str
    target: str


def choose_sources(dump_date: str, dates: Mapping[str, str]) -> tuple[LinkSource, ...]:
    """The tables that link the pages, the most reliable first.

    Args:
      dump_date: "20261101"; "" where it is not known, and then every SQL table is taken to be of that date.
      dates: table → its date or "", of the tables that are given. The entity table is of no use where an SQL
        table is exact.
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
    """Returns True if a table that links pages is known to be of another date."""
    return any(days_between(source.date, dump_date) for source in sources)


def describe_sources(sources: Sequence[LinkSource]) -> dict[str, Any]:
    """Returns the entry of the tables in the manifest, unless all are exact."""
    if all(source.is_exact for source in sources):
        return {}
    return {
        LINKED_FROM: [
            {"table": source.table, "by": source.by, "date": source.date or None}
            for source in sources
        ]
    }


def redirects_since(sources: Sequence[LinkSource]) -> str:
    """The date from which on redirects are followed; "" where none is.

    It is that of the titles. A title that was a redirect at that date, and has an item nevertheless, has it
    on purpose ("sitelink to redirect"), or since long ago: the item is not about the target.
    """
    return next((one.date for one in sources if one.linked_by == TITLE), "")


def redirect_of_move(page: Page, since: str) -> Redirect | None:
    """The redirect that a page is, if a move has left it since a date.

    MediaWiki leaves a new page with one revision, which has no parent, leads to the whole of the target, and
    says in the comment, in whatever language: "moved page [[title]] to [[target]]". An article that is merged
    into another keeps its older revisions, and leads often to a section; a person who makes a redirect names
    at most the target.
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
    """A title as MediaWiki stores it, for joins: NFC, single spaces, and the first letter a capital.

    Args:
      is_case_sensitive: the wiki leaves the first letter as it is.
    """
    key = title
    if not key.isascii():
        key = unicodedata.normalize("NFC", key)
    if "_" in key or "  " in key or key != key.strip(" "):
        key = " ".join(filter(None, key.replace("_", " ").split(" ")))
    if is_case_sensitive or not key[:1].islower():
        return key
    capital = key[0].upper()
    # MediaWiki leaves ß, which has no single capital, and Georgian letters.
    return key if len(capital) > 1 or "ა" <= key[0] <= "ჿ" else capital + key[1:]
