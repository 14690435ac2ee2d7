"""Selects the pages that are articles about real-world entities.

The rules follow Guo et al. 2020, section 2.1. They reject redirects, deleted pages, disambiguation pages,
pages without a Wikidata entity, and pages about Wikimedia's own entities (lists, categories, templates). For
a rejected page, the reason is returned, such as "redirect".

Checks and describes the pages that a build drops because they are old.

Old pages are the pages of an older dump, or all pages up to a given page id.

Stores sets of page ids as compressed bitmaps.

There is one bitmap for each block, that is, for 65,536 consecutive ids. The ids of all pages of enwiki take
about 10 MB.

A set can be built from parts in any order. A whole set fits in the memory of each worker.
"""

import dataclasses
import functools
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..files.builds.ledger import REJECTED, Ledger, NothingLeftError
from ..files.records import Page, Reason
from ..files.text import checked_date
from ..wikitext.article_markers import find_marker
from ..wikitext.language import Language, normalise_name
from .dump_folder import date_in_name
from .entity_table import DISAMBIGUATION, INTERNAL, KINDS
from .wikidata import LINKED_BY, PAGE_ID, TITLE

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


STAGE = "drop-older-pages"
IN_OLDER_DUMP, OLDER_ID = "in-older-dump", "older-page-id"  # reasons of rejections
NEWER_THAN = "newer-than"  # role of the files of an older dump
UNDATED = "undated"

_PAGE_ID = re.compile(r"\d{1,18}", re.ASCII)


class OlderPages(NamedTuple):
    """The older pages that a build drops: the pages of another dump, or all pages up to a given page id."""

    dbname: str  # "elwiki"
    date: str  # "20230501" or "undated"; "" if a page id is given
    pages: int  # pages of the older dump in all namespaces; 0 if a page id is given
    largest_id: int  # largest page id of the older dump, or the given page id
    largest_read_id: int  # largest page id of the dump that is built from
    is_dated: bool  # both dumps have dates in their names, which were compared before the build

    def __str__(self) -> str:
        """Returns "elwiki 20230501 (933 pages, largest page id 1088)" or "page id 1088 of elwiki"."""
        if not self.date:
            return f"page id {self.largest_id} of {self.dbname}"
        counted = f"{self.pages:,} pages, largest page id {self.largest_id}"
        return f"{self.dbname} {self.date} ({counted})"


def parse_page_id(values: Sequence[str]) -> int:
    """Parses the setting `newer_than`, which is one page id or a list of file names.

    Returns the page id, or 0 if all values are file names.

    Raises ValueError if the page id is 0, or if there are other values besides a page id.
    """
    if not (ids := [value for value in values if _PAGE_ID.fullmatch(value)]):
        return 0
    if len(values) > 1:
        raise ValueError(
            f"newer_than must be either one page id or the files of an older dump, got {' '.join(values)}"
        )
    if not int(ids[0]):
        raise ValueError("newer_than: found page id 0, but page ids begin with 1")
    return int(ids[0])


def name_older(values: Sequence[str]) -> str:
    """Returns the part of a corpus edition's name that says which older pages were dropped.

    `values` is the setting `newer_than`: either the files of an older dump, or one page id. The result is:
    - for the files of a dump, the newest date in their names ("20230501"), or "undated" if there is none;
    - for a page id, a name such as "page-1088";
    - "" if `values` is empty.
    """
    if page_id := parse_page_id(values):
        return f"page-{page_id}"
    return (date_of_dump(values) or UNDATED) if values else ""


def date_of_dump(paths: Iterable[str]) -> str:
    """Returns the newest date in the names of a dump's files, such as "20230501".

    Returns "" if no name has a date.
    """
    return max((checked_date(date_in_name(path)) for path in paths), default="")


def check_older(older: OlderPages) -> None:
    """Checks that an older dump has pages, and is older than the dump from which the build is made.

    If both dumps have dates in their names, the dates were compared before the build. Otherwise, this
    function compares the largest page ids of the two dumps.

    Raises NothingLeftError if the older dump has no pages. If at least one of the dumps has no date, also
    raises it if the largest page id of the older dump is greater than that of the other dump.
    """
    if older.date and not older.pages:
        raise NothingLeftError((NEWER_THAN,), "the older dump has no pages")
    if not older.is_dated and older.date and older.largest_id > older.largest_read_id:
        raise NothingLeftError(
            (NEWER_THAN,),
            f"{older} is not older: the dump of this build has page ids only up to"
            f" {older.largest_read_id}. To compare dates, give both dumps names with dates,"
            f" {older.dbname}-20230501-…",
        )


def dropped_pages(ledger: Ledger, prefix: str = "") -> int:
    """Returns the number of pages that a build dropped because they are old.

    `ledger` contains the counts of the build. `prefix` comes before the name of the stage that dropped the
    pages, for example the name of a site and "/".
    """
    rejections = ledger.values(REJECTED)
    return sum(count for (stage, _), count in rejections if stage == f"{prefix}{STAGE}")


def say_newer(older: OlderPages, read: int, dropped: int) -> str:
    """Returns a sentence for the dataset card about the older pages and the number of new pages.

    `read` is the number of pages read, `dropped` the number of pages dropped. On the card, the sentence is
    followed by NEWER_NOTE.
    """
    new = f"{read - dropped:,} of {read:,} pages read are new"
    if older.date:
        return f"All pages are absent from {older}: {new}."
    return f"All pages have ids above {older.largest_id} in {older.dbname}: {new}."


NEWER_NOTE = (
    "A page is known by its id, whatever its title: what was split from an older page, copied, imported, or"
    " deleted and written again has a new id, however old its text is. A dump has no ids of the namespaces"
    " that it leaves out, so an article that was moved from there is absent from the dump, too."
)


def as_finding(older: OlderPages, read: int, dropped: int) -> dict[str, Any]:
    """Returns the manifest's entry about the older pages and the number of new pages.

    The entry has the fields of `older`, "pages_read" and "new_pages". `read` is the number of pages read,
    `dropped` the number of pages dropped.
    """
    return {**older._asdict(), "pages_read": read, "new_pages": read - dropped}


BLOCK_IDS = 1 << 16
_BLOCK_BYTES = BLOCK_IDS // 8
_BLOCKS_AT_ONCE = 64  # kept uncompressed, 512 KiB: the ids of a dump are almost in order

Block = tuple[int, bytes]
"""Number of a block, and the compressed bitmap of its ids."""


class Extent(NamedTuple):
    """The number of page ids in a set, and the largest id."""

    ids: int = 0
    largest_id: int = 0


def pack_ids(ids: Iterable[int]) -> Iterator[Block]:
    """Yields the given page ids as blocks: (number of the block, compressed bitmap of its ids).

    A block may be yielded several times, each time with different ids. `merge_blocks` merges the bitmaps.
    """
    bitmaps: dict[int, bytearray] = {}
    for one in ids:
        number, place = divmod(one, BLOCK_IDS)
        if (bitmap := bitmaps.get(number)) is None:
            if len(bitmaps) == _BLOCKS_AT_ONCE:
                yield from _pack(bitmaps)
                bitmaps.clear()
            bitmap = bitmaps[number] = bytearray(_BLOCK_BYTES)
        bitmap[place >> 3] |= 1 << (place & 7)
    yield from _pack(bitmaps)


def _pack(bitmaps: Mapping[int, bytearray]) -> Iterator[Block]:
    return ((number, zlib.compress(bitmap)) for number, bitmap in bitmaps.items())


def merge_blocks(packed: Iterable[bytes]) -> bytes:
    """Returns the union of several compressed bitmaps of the same block."""
    merged = 0
    for one in packed:
        merged |= int.from_bytes(zlib.decompress(one), "little")
    return zlib.compress(merged.to_bytes(_BLOCK_BYTES, "little"))


def has_id(blocks: Mapping[int, bytes], page_id: int) -> bool:
    """Returns True if a page id is in a set.

    `blocks` maps the number of each block to its compressed bitmap.
    """
    number, place = divmod(page_id, BLOCK_IDS)
    packed = blocks.get(number)
    return packed is not None and bool(_unpack(packed)[place >> 3] >> (place & 7) & 1)


_unpack = functools.lru_cache(maxsize=_BLOCKS_AT_ONCE)(zlib.decompress)


def measure_block(block: Block) -> Extent:
    """Returns the number of ids in a block and the largest id. A block is never empty."""
    number, packed = block
    bits = int.from_bytes(zlib.decompress(packed), "little")
    return Extent(bits.bit_count(), number * BLOCK_IDS + bits.bit_length() - 1)


def add_extents(extents: Iterable[Extent]) -> Extent:
    """Returns the extent of the union of several sets. The sets must have no ids in common."""
    known = list(extents)
    return Extent(sum(one.ids for one in known), max((one.largest_id for one in known), default=0))
