"""Links articles to Wikidata items by title, also through redirects that page moves have left."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import PackedArticle, Page
from corpusmill.transforms.wikipedia.link_sources import (
    LINKED_BY,
    REDIRECT,
    Redirect,
    redirect_of_move,
    title_key,
)
from corpusmill.transforms.wikipedia.read_entity_table import PageToFacts
from corpusmill.transforms.wikipedia.screening import PageFacts

STAGE = "link-titles"
_MOVED = "moved"


@dataclass(eq=False, repr=False)
class FindRedirects(beam.PTransform):
    """Finds the redirects that page moves have left on or after the date `since`.

    PCollection[Page] → PCollection[Redirect].
    """

    since: str

    def expand(self, pages: beam.PCollection) -> beam.PCollection:
        return pages | "LeftByMoves" >> beam.FlatMap(
            redirects_of_moves, self.since
        ).with_output_types(Redirect)


@dataclass(eq=False, repr=False)
class LinkTitles(beam.PTransform):
    """Links pages to items by title. PCollection[PackedArticle] → PCollection[(page id, PageFacts)].

    If the title of an item is now a redirect, the item is assigned to the target page, and the link is marked
    as made by a redirect. If redirects assign two items to one page, the page gets neither.

    Args:
      title_to_item: PCollection[(title, QID)].
      linked_by: value of the field `linked_by` for links by title, one of LINKED_BY.
      redirects: PCollection[Redirect] with the redirects left by page moves; None to follow no redirects.
      is_case_sensitive: True if the first letter of a title is case-sensitive in the wiki.
    """

    title_to_item: beam.PCollection
    linked_by: str = ""
    redirects: beam.PCollection | None = None
    is_case_sensitive: bool = False

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        keyed = {
            "pages": articles | "PageOfTitle" >> beam.Map(title_and_page, self.is_case_sensitive),
            "items": self.title_to_item | "KeyItems" >> beam.MapTuple(_key, self.is_case_sensitive),
        }
        if self.redirects is not None:
            keyed["targets"] = self.redirects | "KeyRedirects" >> beam.MapTuple(
                _key, self.is_case_sensitive
            )
        found = (
            keyed
            | "JoinTitles" >> beam.CoGroupByKey()
            | "FactsOfTitle"
            >> beam.FlatMapTuple(facts_of_title, self.linked_by).with_outputs(_MOVED, main="facts")
        )
        if self.redirects is None:
            return found.facts
        target_to_item = found[_MOVED] | "KeyTargets" >> beam.MapTuple(_key, self.is_case_sensitive)
        moved = (
            {"pages": keyed["pages"], "items": target_to_item}
            | "JoinTargets" >> beam.CoGroupByKey()
            | "FactsOfTarget" >> beam.FlatMapTuple(facts_of_target)
        )
        return (found.facts, moved) | "ByTitleOrRedirect" >> beam.Flatten()


@dataclass(eq=False, repr=False)
class OnePageOfItem(beam.PTransform):
    """Keeps only the most reliable link between each Wikidata item and a page.

    PCollection[(page id, PageFacts)] → the same. The input has links by page id. An item has only one page in
    a wiki, but its title may now belong to a different page, which is about something else. So a link by page
    id is better than a link by title.

    Args:
      articles: PCollection[PackedArticle]. A link by page id is ignored if the page is not an article.
      by_title: PCollection[(page id, PageFacts)] with links by title and by redirect.
    """

    articles: beam.PCollection
    by_title: beam.PCollection

    def expand(self, by_page: beam.PCollection) -> beam.PCollection:
        present = {
            "pages": self.articles | "PageIds" >> beam.Map(lambda one: (one.page_id, None)),
            "facts": by_page,
        }
        of_present = (
            present
            | "JoinPages" >> beam.CoGroupByKey()
            | "Present" >> beam.FlatMapTuple(facts_of_present)
        )
        return (
            (of_present, self.by_title)
            | "Links" >> beam.Flatten()
            | "KeyByItem" >> beam.Map(lambda link: (link[1].qid, link))
            | "GroupByItem" >> beam.GroupByKey()
            | "BestLinks" >> beam.FlatMapTuple(best_links)
        )


def redirects_of_moves(page: Page, since: str) -> Iterator[Redirect]:
    """Yields the redirect on a page, if a page move on or after the date `since` has left it."""
    redirect = redirect_of_move(page, since)
    if redirect is not None:
        counters.count(STAGE, "redirects")
        yield redirect


def _key(title: str, value: str, is_case_sensitive: bool = False) -> tuple[str, str]:
    return title_key(title, is_case_sensitive), value


def title_and_page(article: PackedArticle, is_case_sensitive: bool = False) -> tuple[str, int]:
    """Returns (title in the form used for joins, page id).

    `is_case_sensitive` is True if the first letter of a title is case-sensitive in the wiki.
    """
    return title_key(article.title, is_case_sensitive), article.page_id


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
            yield page, PageFacts(qid=min(items), linked_by=REDIRECT)


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
    ranked = [(LINKED_BY.index(facts.linked_by), (page, facts)) for page, facts in links]
    best = min(rank for rank, _ in ranked)
    yield from (link for rank, link in ranked if rank == best)
