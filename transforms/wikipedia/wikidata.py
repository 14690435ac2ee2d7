"""Parses items of a Wikidata JSON dump, which has one entity on each line inside one JSON array.

The format is described in Wikibase, docs/topics/json.md ("Wikibase JSON format"). Dumps of 2014 to 2025 were
examined as well. A line has about ten thousand bytes, of which only a few hundred are needed. A typed decoder
builds objects only for these, and checks only the syntax of the other bytes. This is four times as fast as a
parser that builds all objects.

Chooses the tables that link pages to Wikidata items, and their order.

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
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..files.records import Page
from ..files.text import days_between


class Entity(NamedTuple):
    """The parts of an item that are needed to build corpora. Ids are numbers: 64 is Q64."""

    numeric_id: int
    instance_of: tuple[int, ...]  # values of P31
    subclass_of: tuple[int, ...]  # values of P279
    sitelinks: tuple[tuple[str, str], ...]  # (site, page title): ("dewiki", "Berlin")


class MalformedEntityError(ValueError):
    """Raised if a line is not a valid entity. `reason` is a short code, `detail` describes the error."""

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail

    def __reduce__(self) -> tuple[object, ...]:
        return MalformedEntityError, (self.reason, self.detail)


class _Value(msgspec.Struct, gc=False):
    id: str | msgspec.UnsetType = msgspec.UNSET
    numeric_id: int | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="numeric-id")
    entity_type: str = msgspec.field(default="item", name="entity-type")


class _DataValue(msgspec.Struct, gc=False):
    value: _Value


class _Snak(msgspec.Struct, gc=False):
    snaktype: str = "value"
    datavalue: _DataValue | None = None


class _Statement(msgspec.Struct, gc=False):
    mainsnak: _Snak
    rank: str = "normal"


class _Claims(msgspec.Struct):
    P31: list[_Statement] = []
    P279: list[_Statement] = []


class _Sitelink(msgspec.Struct, gc=False):
    title: str


# PHP writes an empty object as `[]`.
_ClaimsField = _Claims | list[msgspec.Raw] | None
_SitelinksField = dict[str, _Sitelink] | list[msgspec.Raw] | None


class _Line(msgspec.Struct):
    id: str | None = None
    type: str = "item"
    redirect: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    claims: _ClaimsField = None
    sitelinks: _SitelinksField = None


class _LooseLine(msgspec.Struct):
    """A line of a dump, whose fields may have values of any type. It is used to find the error in a line."""

    id: Any = None
    type: Any = "item"
    redirect: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    claims: msgspec.Raw = msgspec.Raw(b"null")
    sitelinks: msgspec.Raw = msgspec.Raw(b"null")


_LINE = msgspec.json.Decoder(_Line)
_LOOSE_LINE = msgspec.json.Decoder(_LooseLine)
_CLAIMS: msgspec.json.Decoder[_ClaimsField] = msgspec.json.Decoder(_ClaimsField)
_SITELINKS: msgspec.json.Decoder[_SitelinksField] = msgspec.json.Decoder(_SitelinksField)

_ITEM_ID = re.compile(r"[Qq]([1-9][0-9]{0,17})")  # fits an int64; Wikidata is at nine digits
_MAX_NUMERIC_ID = 10**18 - 1
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_AROUND_AN_OBJECT = b"[], \t\r\n"
_DETAIL_CHARACTERS = 100

_T = TypeVar("_T")


def parse_entity(line: bytes) -> Entity | None:
    """Returns the item in a line of a dump, or None if the line contains no item.

    Lines without an item are empty lines, the brackets of the array, entities of another type (property,
    lexeme, mediainfo), and redirects ({"entity": …, "redirect": …}). The target of a redirect has its own
    line. The brackets may also be on the line of an entity, or be missing.

    The object in a line may also have fields about the wiki page of the item, such as "title". If a redirect
    leads to the item, "title" may be the id of the redirect. The item's own id is always in the field "id".

    Raises:
      MalformedEntityError: the line is invalid, with the reason not-json, not-an-object, no-id, bad-id,
        bad-claims or bad-sitelinks.
    """
    if not (text := line.removeprefix(_BYTE_ORDER_MARK).strip(_AROUND_AN_OBJECT)):
        return None
    try:
        if not text.isascii():
            text.decode()  # the decoder does not check the UTF-8 of skipped values
        entity = _LINE.decode(text)
    except msgspec.ValidationError as error:
        if (problem := _find_problem(text)) is None:
            return None
        raise problem from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedEntityError("not-json", str(error)) from error
    if entity.type != "item" or entity.redirect is not msgspec.UNSET:
        return None
    claims = _object_or_none(entity.claims, "claims") or _Claims()
    sitelinks = _object_or_none(entity.sitelinks, "sitelinks") or {}
    return Entity(
        numeric_id=_read_id(entity.id, text),
        instance_of=_read_classes(claims.P31, "P31"),
        subclass_of=_read_classes(claims.P279, "P279"),
        sitelinks=tuple((site, link.title) for site, link in sitelinks.items()),
    )


def begins_entities(head: bytes) -> bool:
    """Returns True if the first bytes of a file may be the beginning of an entity dump.

    An entity dump begins with a JSON object, either alone or in an array.
    """
    first = head.removeprefix(_BYTE_ORDER_MARK).strip(_AROUND_AN_OBJECT)
    return not first or first.startswith(b"{")


def _find_problem(text: bytes) -> MalformedEntityError | None:
    """Returns the error because of which a line could not be parsed as an item.

    Returns None if there is no error, because the line is an entity of another type.
    """
    try:
        entity = _LOOSE_LINE.decode(text)
    except msgspec.ValidationError as error:
        return MalformedEntityError("not-an-object", str(error))
    except (msgspec.DecodeError, RecursionError) as error:
        return MalformedEntityError("not-json", str(error))  # error after a value of another type
    if entity.type != "item" or entity.redirect is not msgspec.UNSET:
        return None
    try:
        _read_id(entity.id, text)
        _CLAIMS.decode(entity.claims)
    except MalformedEntityError as error:
        return error
    except msgspec.ValidationError as error:
        return MalformedEntityError("bad-claims", str(error))
    try:
        _SITELINKS.decode(entity.sitelinks)
    except msgspec.ValidationError as error:
        return MalformedEntityError("bad-sitelinks", str(error))
    raise AssertionError("unreachable: all fields of _Line have been checked before this line")


def _read_id(name: Any, text: bytes) -> int:
    if name is None:
        raise MalformedEntityError("no-id", text[:_DETAIL_CHARACTERS].decode("utf-8", "replace"))
    found = _ITEM_ID.fullmatch(name) if isinstance(name, str) else None
    if not found:
        raise MalformedEntityError("bad-id", str(name)[:_DETAIL_CHARACTERS])
    return int(found[1])


def _object_or_none(value: _T | list[msgspec.Raw] | None, key: str) -> _T | None:
    if not isinstance(value, list):
        return value
    if value:
        raise MalformedEntityError(f"bad-{key}", f"{key} is an array, but must be an object")
    return None


def _read_classes(statements: Iterable[_Statement], property_id: str) -> tuple[int, ...]:
    """Returns the ids of the items that are values of a property, without repetitions, in dump order.

    An id is a number: 5 is Q5. `property_id`, such as "P31", is used in error messages.

    Deprecated statements are skipped. Normal statements are used even if there are preferred ones: the
    preferred rank marks the best statement, but normal statements are true, too. Any true statement can
    identify a Wikimedia page. Statements without a value (novalue, somevalue) are skipped.
    """
    numbers = dict.fromkeys(
        _item_of(statement.mainsnak.datavalue, property_id)
        for statement in statements
        if statement.rank != "deprecated" and statement.mainsnak.snaktype == "value"
    )
    numbers.pop(0, None)
    return tuple(numbers)


def _item_of(datavalue: _DataValue | None, property_id: str) -> int:
    """Returns the id of the item in a statement's value, or 0 if the value is an entity of another type.

    The id is returned as a number: 5 is Q5. Since 2017 it is in the field "id"; older dumps have it only in
    "numeric-id".
    """
    if datavalue is None:
        raise MalformedEntityError("bad-claims", f"{property_id}: a statement has no value")
    value = datavalue.value
    if value.entity_type != "item":
        return 0
    if isinstance(value.id, str):
        if found := _ITEM_ID.fullmatch(value.id):
            return int(found[1])
    elif isinstance(value.numeric_id, int) and 0 < value.numeric_id <= _MAX_NUMERIC_ID:
        return value.numeric_id
    named = str(msgspec.to_builtins(value))[:_DETAIL_CHARACTERS]
    raise MalformedEntityError("bad-claims", f"{property_id}: the value is not an item: {named}")


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
