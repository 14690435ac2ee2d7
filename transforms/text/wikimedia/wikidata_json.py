"""Items of a Wikidata JSON dump: one entity a line, inside one JSON array.

Source of the rules: Wikibase, docs/topics/json.md ("Wikibase JSON format"), and dumps of 2014 to
2025.
"""

import re
from typing import Any, NamedTuple

import orjson


class Entity(NamedTuple):
    """What the corpora need of an item."""

    qid: str  # "Q64"
    instance_of: tuple[str, ...]  # the classes that P31 names
    subclass_of: tuple[str, ...]  # the classes that P279 names
    sitelinks: tuple[tuple[str, str], ...]  # (site, page title): ("dewiki", "Berlin")


class MalformedEntityError(ValueError):
    """A line that is no entity; `reason` is a slug, `detail` says more."""

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail

    def __reduce__(self) -> tuple[object, ...]:
        return MalformedEntityError, (self.reason, self.detail)


_ITEM_ID = re.compile(r"[Qq][1-9][0-9]*")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_AROUND_AN_OBJECT = b"[], \t\r\n"


def parse_entity(line: bytes) -> Entity | None:
    """The item that a line of a dump holds; None for a line without one.

    Without an item are blank lines, the brackets of the array (which may also stand beside an
    entity, or miss), entities of another type (property, lexeme, mediainfo) and redirects
    ({"entity": …, "redirect": …}; the target has a line of its own). Where page data stand before
    the entity, as in pages saved through a redirect, "title" may differ from "id"; the entity is
    what "id" says. PHP writes an empty object as `[]`.

    Raises MalformedEntityError with a reason: not-json, not-an-object, no-id, bad-id, bad-claims,
    bad-sitelinks.
    """
    text = line.removeprefix(_BYTE_ORDER_MARK).strip(_AROUND_AN_OBJECT)
    if not text:
        return None
    try:
        entity = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MalformedEntityError("not-json", str(error)) from error
    if not isinstance(entity, dict):
        raise MalformedEntityError("not-an-object", type(entity).__name__)
    if entity.get("type", "item") != "item" or "redirect" in entity:
        return None
    claims = _read_object(entity, "claims")
    return Entity(
        qid=_read_id(entity),
        instance_of=_read_classes(claims, "P31"),
        subclass_of=_read_classes(claims, "P279"),
        sitelinks=_read_sitelinks(_read_object(entity, "sitelinks")),
    )


def _read_id(entity: dict[str, Any]) -> str:
    qid = entity.get("id")
    if qid is None:
        raise MalformedEntityError("no-id", ", ".join(sorted(entity))[:100])
    if not isinstance(qid, str) or not _ITEM_ID.fullmatch(qid):
        raise MalformedEntityError("bad-id", str(qid)[:100])
    return qid.upper()


def _read_object(entity: dict[str, Any], key: str) -> dict[str, Any]:
    value = entity.get(key) or {}
    if not isinstance(value, dict):
        raise MalformedEntityError(f"bad-{key}", f"{key} is a {type(value).__name__}")
    return value


def _read_classes(claims: dict[str, Any], property_id: str) -> tuple[str, ...]:
    """The items that statements of a property name, each once, in the order of the dump.

    Deprecated statements do not count. Normal ones count even beside preferred ones: a preferred
    rank says which statement is best, not that the others are false, and to know a Wikimedia page
    any true statement is enough. Statements without a value (novalue, somevalue) name nothing.
    """
    try:
        values = [
            statement["mainsnak"]["datavalue"]["value"]
            for statement in claims.get(property_id, ())
            if statement.get("rank") != "deprecated"
            and statement["mainsnak"].get("snaktype", "value") == "value"
        ]
        names = (_item_of(value) for value in values if value.get("entity-type", "item") == "item")
        return tuple(dict.fromkeys(names))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MalformedEntityError("bad-claims", f"{property_id}: {error!r}") from error


def _item_of(value: dict[str, Any]) -> str:
    """The item that a value names: by "id" since 2017, before that only by "numeric-id"."""
    name = value["id"] if "id" in value else f"Q{value['numeric-id']}"
    if not _ITEM_ID.fullmatch(name):
        raise ValueError(name)
    return str(name).upper()


def _read_sitelinks(sitelinks: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    try:
        links = tuple((site, link["title"]) for site, link in sitelinks.items())
    except (KeyError, TypeError) as error:
        raise MalformedEntityError("bad-sitelinks", repr(error)) from error
    for site, title in links:
        if not isinstance(title, str):
            raise MalformedEntityError("bad-sitelinks", f"title of {site}")
    return links
