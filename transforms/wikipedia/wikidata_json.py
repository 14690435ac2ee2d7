"""Parses items of a Wikidata JSON dump, which has one entity on each line inside one JSON array.

The format is described in Wikibase, docs/topics/json.md ("Wikibase JSON format"). Dumps of 2014 to 2025 were
examined as well. A line has about ten thousand bytes, of which only a few hundred are needed. A typed decoder
builds objects only for these, and checks only the syntax of the other bytes. This is four times as fast as a
parser that builds all objects.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec


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
    text = line.removeprefix(_BYTE_ORDER_MARK).strip(_AROUND_AN_OBJECT)
    if not text:
        return None
    try:
        if not text.isascii():
            text.decode()  # the decoder does not check the UTF-8 of skipped values
        entity = _LINE.decode(text)
    except msgspec.ValidationError as error:
        problem = _find_problem(text)
        if problem is None:
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
        beginning = text[:_DETAIL_CHARACTERS].decode("utf-8", "replace")
        raise MalformedEntityError("no-id", beginning)
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
        found = _ITEM_ID.fullmatch(value.id)
        if found:
            return int(found[1])
    elif isinstance(value.numeric_id, int) and 0 < value.numeric_id <= _MAX_NUMERIC_ID:
        return value.numeric_id
    named = str(msgspec.to_builtins(value))[:_DETAIL_CHARACTERS]
    raise MalformedEntityError("bad-claims", f"{property_id}: the value is not an item: {named}")
