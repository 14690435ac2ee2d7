"""Selects the pages that are articles about real-world entities.

The rules follow Guo et al. 2020, section 2.1. They reject redirects, deleted pages, disambiguation pages,
pages without a Wikidata entity, and pages about Wikimedia's own entities (lists, categories, templates). For
a rejected page, the reason is returned, such as "redirect".
"""

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from corpusmill.transforms.files.records import Page, Reason
from corpusmill.transforms.wikipedia.class_tree import DISAMBIGUATION, INTERNAL, KINDS
from corpusmill.transforms.wikipedia.link_sources import LINKED_BY, PAGE_ID, TITLE
from corpusmill.transforms.wikitext.article_markers import find_marker
from corpusmill.transforms.wikitext.language import Language, normalise_name

ARTICLE_NAMESPACE = 0

_TEMPLATE_NAME = re.compile(r"\{\{([^{}|\[\]<>]{1,100})[|}]")
_DISAMBIGUATION_SWITCH = "__DISAMBIG__"


@dataclasses.dataclass(frozen=True)
class PageScreening:
    """The rules that need only the page itself, without SQL tables or entities.

    If `uses_template_names` is True, disambiguation pages are detected by their templates. This is for builds
    that have neither page properties nor entities.
    """

    language: Language
    uses_template_names: bool = False

    def reason_to_reject(self, page: Page) -> Reason | None:
        """Returns the first reason to reject the page, or None if none of these rules rejects it."""
        return next(self._reasons(page), None)

    def _reasons(self, page: Page) -> Iterator[Reason]:
        if page.namespace != ARTICLE_NAMESPACE:
            yield Reason("other-namespace", str(page.namespace))
        if page.is_deleted:
            yield Reason("deleted", "text suppressed")
        if page.is_redirect:
            yield Reason("redirect")
        start = page.text[:100].lstrip().casefold()  # dumps before 2010 have no <redirect> element
        if start.startswith("#") and "[[" in page.text[:300]:
            word = re.sub(r"^#\s*", "#", start)
            if word.startswith(self.language.redirect_words):
                yield Reason("redirect", "by its text")
        if page.content_model != "wikitext":
            yield Reason("not-wikitext", page.content_model)
        if not page.text.strip():
            yield Reason("empty-source")
        if marker := find_marker(page.title) or find_marker(page.text):
            yield Reason("marker-in-source", marker)
        if not self.uses_template_names:
            return
        if _DISAMBIGUATION_SWITCH in page.text:
            yield Reason("disambiguation", _DISAMBIGUATION_SWITCH)
        if name := find_template(page.text, self.language.disambiguation_templates):
            yield Reason("disambiguation", f"template {name}")


def find_template(wikitext: str, names: Collection[str]) -> str | None:
    """Returns the name of the first template on a page that is one of `names`, or None if there is none.

    Both `names` and the result are normalised names.
    """
    for match in _TEMPLATE_NAME.finditer(wikitext):
        name = normalise_name(match.group(1).rpartition(":")[2])
        if name in names:
            return name
    return None


class PageFacts(NamedTuple):
    """Facts about a page, from one or several tables of the wiki and of Wikidata."""

    qid: str = ""  # "" if no table links the page to an item
    exists: bool = False  # in the page table
    is_disambiguation: bool = False  # by page property
    internal_kind: str = ""  # one of KINDS; "" for an entity that is a thing in the world
    internal_class: str = ""  # "Q13406463": the class that makes the entity internal
    is_class_known: bool = False  # the entity is in the entity table
    pinned_split: str = ""  # the split of the article in an earlier release
    linked_by: str = ""  # one of LINKED_BY
    classes: tuple[int, ...] = ()  # of the entity, 5 for Q5


def merge_facts(parts: Iterable[PageFacts]) -> PageFacts:
    """Merges the facts about one page from several tables.

    If several tables link the page to an item, the most reliable link is used. If several links are equally
    reliable, the one with the smallest QID is used. A page has only one item at any time, so different links
    come from dumps of different days. The fixed rule makes the result reproducible.

    Facts about the item are taken from the same table as the link. These facts are its classes and the split
    that it has in an earlier release. Facts about the page are combined.
    """
    parts = sorted(
        parts, key=lambda part: (not part.qid, _doubt(part), len(part.qid), part.qid, part)
    )
    if not parts:
        return PageFacts()
    first = parts[0]
    return first._replace(
        exists=any(part.exists for part in parts),
        is_disambiguation=any(part.is_disambiguation for part in parts),
        pinned_split=max(part.pinned_split for part in parts if part.qid in ("", first.qid)),
    )


def _doubt(facts: PageFacts) -> tuple[int, bool, int]:
    """Returns the sort key of the link from a page to an item. More reliable links have smaller keys.

    The key is (rank of the link, True if its item is missing in the entity table, second rank). The ranks
    depend on `facts.linked_by`. Links by page id and by title have the same first rank.

    The second element is True only for these two kinds of link, which may come from a table with another date
    than the dump. If the item is missing, it was probably merged into another item, which now has the title
    of the page.
    """
    rank = LINKED_BY.index(facts.linked_by)
    if facts.linked_by in (PAGE_ID, TITLE):
        return 1, not facts.is_class_known, rank
    return rank, False, rank


def find_internal_class(classes: Iterable[int], kinds: Mapping[int, str]) -> tuple[str, str]:
    """Returns (kind, QID) of the internal class of an entity, or ("", "") if it has no internal class.

    An entity with an internal class is one of Wikimedia's own, such as a list or a category. If several
    classes are internal, returns the class whose kind is first in KINDS. Among classes of this kind, it
    returns the one with the smallest id.

    Args:
      classes: the Wikidata ids of the entity's classes, as numbers: 5 is Q5.
      kinds: id of each internal class → its kind, one of KINDS.
    """
    internal = [(KINDS.index(kinds[number]), number) for number in classes if number in kinds]
    if not internal:
        return "", ""
    kind, number = min(internal)
    return KINDS[kind], f"Q{number}"


def reason_to_reject_facts(facts: PageFacts) -> Reason | None:
    """Returns the first reason in `facts` to reject a page, or None if there is no such reason."""
    if not facts.exists:
        return Reason("deleted", "not in the page table")
    if facts.is_disambiguation and facts.internal_kind != DISAMBIGUATION:
        return Reason("disambiguation", "page property")
    if not facts.qid:
        return Reason("no-entity")
    if facts.internal_kind:
        slug = "internal-entity" if facts.internal_kind == INTERNAL else facts.internal_kind
        return Reason(slug, f"{facts.qid} is a {facts.internal_class}")
    return None
