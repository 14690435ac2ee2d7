"""Packets as XLIFF 2, the format that the tools of translators share.

Rules: XLIFF Version 2.0, OASIS Standard, 2014, which 2.1 and 2.2 keep in what is used here. A file of the
document is a split, a group an article, a unit a sentence with one segment.
"""

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from transforms.text.translation.packets.records import (
    NO_NAME,
    Packet,
    PacketLine,
    PacketName,
    Returned,
    format_name,
    parse_name,
)
from transforms.text.translation.packets.xml_tree import Element, parse_xml
from transforms.text.translation.records import ReadError, SourceSentence, Translation

_NAMESPACE = "urn:oasis:names:tc:xliff:document:2.0"  # of 2.1 too
_NAMESPACES = (_NAMESPACE, "urn:oasis:names:tc:xliff:document:2.2")
_NAMESPACE_1 = re.compile(r"urn:oasis:names:tc:xliff:document:1\.\d")

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_XLIFF = re.compile("[\0\ud800-\udfff]")
_ID = re.compile(r"[\w.:-]+")  # what all of XML's editions take for a NMTOKEN is more

_TRANSPARENT = {"mrk", "sm", "em", "pc", "sc", "ec"}  # marks a stretch of text, and is none itself
_CHANGED = ("translated", "reviewed", "final")


def write_xliff(packet: Packet) -> bytes:
    """The document, in UTF-8: the same packet, the same bytes.

    `original` of its files names the packet. Sentences with something in `target` are to be done again where
    there are reasons, and done where there are none. Raises ValueError for a packet without lines or name,
    for an id that is not an NMTOKEN or is there twice, and for what not even XLIFF can hold: NUL and lone
    surrogates.
    """
    _check(packet)
    return "".join(f"{line}\n" for line in _document(packet)).encode()


def _check(packet: Packet) -> None:
    if not packet.lines:
        raise ValueError("a packet without lines")
    seen: set[str] = set()
    for line in packet.lines:
        id_ = line.source.id
        if id_ in seen or not _ID.fullmatch(id_):
            raise ValueError(f"{id_!r} is there twice, or is not an id")
        seen.add(id_)
        for text in (line.source.text, line.target):
            found = _NOT_IN_XLIFF.search(text)
            if found:
                raise ValueError(f"{id_} has U+{ord(found[0]):04X}, which XLIFF cannot hold")


def _document(packet: Packet) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    tag = quoteattr(packet.language.tag)
    yield f'<xliff xmlns="{_NAMESPACE}" version="2.0" srcLang="en" trgLang={tag}>'
    # Nobody is to cut a sentence in two, or to tidy its blanks.
    manner = 'canResegment="no" xml:space="preserve"'
    if packet.language.is_right_to_left:
        manner += ' srcDir="ltr" trgDir="rtl"'
    original = quoteattr(format_name(packet))
    for split, lines in _runs(packet.lines, "split"):
        yield f"<file id={quoteattr(split)} original={original} {manner}>"
        for number, (article, members) in enumerate(_runs(lines, "article"), 1):
            yield f'<group id="a{number}" name={quoteattr(_shown(article))}>'
            yield from _notes([("context", 2, _context(members[0].source))])
            for line in members:
                yield from _unit(line)
            yield "</group>"
        yield "</file>"
    yield "</xliff>"


def _runs(lines: Iterable[PacketLine], field: str) -> list[tuple[str, list[PacketLine]]]:
    """(value of a field of the source, the lines that have it), in the order of the first of them."""
    value = attrgetter(f"source.{field}")
    runs: dict[str, list[PacketLine]] = {}
    for line in lines:
        runs.setdefault(value(line), []).append(line)
    return list(runs.items())


def _unit(line: PacketLine) -> Iterator[str]:
    is_done = bool(line.target) and not line.reasons
    yield f'<unit id="{line.source.id}">'
    notes = [("reason", 1, reason) for reason in line.reasons]
    yield from _notes([*notes, ("context", 2, _context(line.source))])
    yield f'<segment state="{"translated" if is_done else "initial"}">'
    yield f"<source>{_content(line.source.text)}</source>"
    if line.target:
        yield f"<target>{_content(line.target)}</target>"
    yield "</segment>"
    yield "</unit>"


def _context(source: SourceSentence) -> str:
    return f"{source.domain}, {source.topic}: {source.url}"


def _notes(notes: Iterable[tuple[str, int, str]]) -> Iterator[str]:
    """Notes of (category, priority from 1 to 10, text)."""
    yield "<notes>"
    for category, priority, text in notes:
        note = escape(_shown(text))
        yield f'<note category="{category}" priority="{priority}">{note}</note>'
    yield "</notes>"


def _shown(text: str) -> str:
    """For people to read, so that what XML cannot hold may be shown instead."""
    return _NOT_IN_XML.sub(lambda sign: f"U+{ord(sign[0]):04X}", text)


def _content(text: str) -> str:
    # A reader takes a bare carriage return for a line feed.
    escaped = escape(text, {"\r": "&#13;"})
    return _NOT_IN_XML.sub(lambda sign: f'<cp hex="{ord(sign[0]):04X}"/>', escaped)


def read_xliff(data: bytes, file: str) -> Returned:
    """The translations of a document that came back, of XLIFF 2.0, 2.1 or 2.2.

    A unit has a translation where a target has text, or is empty and called translated, reviewed or final.
    The parts of a unit that was cut up are joined, in the order that they ask for; what is between
    segments (`ignorable`) and has no target stays as it is in the source. Marks and codes around text (`mrk`,
    `pc`, `sc`, `ec`) go, their text stays. Elements of modules and of other namespaces beside the
    segments are passed over. The line of a translation is that of its first target.

    Raises ReadError for what is not well-formed or no XLIFF 2, a unit without id or with one that is there
    twice, or of which only some segments are translated, files of two packets, and for what stands for
    something that is not there to read (`ph`, an unknown element) in a text.
    """
    root = parse_xml(data)
    _check_version(root)
    translations, sources = [], {}
    names: set[PacketName] = set()
    for part in root.elements:
        if _tag(part) != "file":
            continue
        names.add(parse_name(part.attributes.get("original", "")))
        for element in _units(part):
            unit = _read_unit(element, file)
            if unit.id in sources:
                raise ReadError(element.line, f"unit {unit.id} is there twice")
            sources[unit.id] = unit.source
            translations += unit.translation
    names.discard(NO_NAME)
    if len(names) > 1:
        raise ReadError(root.line, "files of more than one packet")
    return Returned(*(names.pop() if names else NO_NAME), tuple(translations), sources)


def _check_version(root: Element) -> None:
    namespace, _, name = root.name.rpartition(" ")
    version = root.attributes.get("version", "")
    if name == "xliff" and _NAMESPACE_1.fullmatch(namespace):
        message = f"XLIFF {version}, and packets are XLIFF 2: save it as XLIFF 2.0 or 2.1"
        raise ReadError(root.line, message)
    if _tag(root) != "xliff":
        raise ReadError(root.line, f"not XLIFF, but <{name}> of {namespace or 'nothing'}")
    if not version.startswith("2."):
        raise ReadError(root.line, f"XLIFF of version {version!r}, not 2.0, 2.1 or 2.2")


def _tag(element: Element) -> str:
    """The name of an element of XLIFF itself; "" for one of a module, or somebody's own."""
    namespace, _, name = element.name.rpartition(" ")
    return name if namespace in _NAMESPACES else ""


def _units(parent: Element) -> Iterator[Element]:
    for element in parent.elements:
        if _tag(element) == "unit":
            yield element
        elif _tag(element) == "group":
            yield from _units(element)


class _Unit(NamedTuple):
    """A sentence as a document has it."""

    id: str
    source: str
    translation: list[Translation]  # one, or none


class _Part(NamedTuple):
    """A segment, or what is between two."""

    place: int  # in the translation
    line: int  # of the target
    source: str
    target: str | None  # None where it is still to be done


def _read_unit(element: Element, file: str) -> _Unit:
    id_ = element.attributes.get("id", "")
    if not id_:
        raise ReadError(element.line, "a unit without id")
    pieces = [piece for piece in element.elements if _tag(piece) in ("segment", "ignorable")]
    parts = [_read_part(piece, place) for place, piece in enumerate(pieces, 1)]
    source = "".join(part.source for part in parts)
    done = [
        part
        for part, piece in zip(parts, pieces, strict=True)
        if part.target is not None and _tag(piece) == "segment"
    ]
    if not done:
        return _Unit(id_, source, [])
    for part in parts:
        if part.target is None:
            message = f"unit {id_} is cut up, and this part of it is not translated"
            raise ReadError(part.line, message)
    # Where one part is moved, the one that it takes the place of is moved too.
    text = "".join(part.target or "" for part in sorted(parts, key=attrgetter("place")))
    return _Unit(id_, source, [Translation(id_, text, file, min(part.line for part in done))])


def _read_part(piece: Element, place: int) -> _Part:
    children = {_tag(child): child for child in piece.elements}
    source = _read_text(children["source"]) if "source" in children else ""
    target = children.get("target")
    if target is None:
        is_between = _tag(piece) == "ignorable"
        return _Part(place, piece.line, source, source if is_between else None)
    text = _read_text(target)
    is_changed = piece.attributes.get("state") in _CHANGED or _tag(piece) == "ignorable"
    asked = target.attributes.get("order", "")
    return _Part(
        place=int(asked) if re.fullmatch("[1-9][0-9]{0,5}", asked) else place,
        line=target.line,
        source=source,
        target=text if text or is_changed else None,
    )


def _read_text(element: Element) -> str:
    return "".join(_read_piece(piece) for piece in element.content)


def _read_piece(piece: Element | str) -> str:
    if isinstance(piece, str):
        return piece
    tag = _tag(piece)
    if tag == "cp":
        return _read_character(piece)
    if tag in _TRANSPARENT:
        return _read_text(piece)
    name = piece.name.rpartition(" ")[2]
    message = f"<{name}> in a text stands for something that cannot be read: write it out"
    raise ReadError(piece.line, message)


def _read_character(piece: Element) -> str:
    digits = piece.attributes.get("hex", "")
    code = int(digits, 16) if re.fullmatch("[0-9A-Fa-f]{1,6}", digits) else 0
    if not 0 < code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ReadError(piece.line, f"<cp hex={digits!r}> is not a character")
    return chr(code)
