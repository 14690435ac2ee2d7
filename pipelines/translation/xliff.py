"""Writes and reads packets as XLIFF 2.0 or 1.2, the exchange formats of translation tools.

The rules are those of XLIFF Version 2.0, OASIS Standard, 2014, and of XLIFF Version 1.2, OASIS Standard,
2008. Versions 2.1, 2.2 and 1.1 do not differ in the parts used here. A `file` element is a split, a `group`
an article, a `unit` or `trans-unit` a sentence with one segment.

Parses XML of unknown origin into a tree of elements with line numbers.

A document type declaration is rejected before it is read, so no entities are expanded and nothing is
downloaded. Line numbers are taken from Expat, because they are correct even above 65,535.
"""

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from corpusmill.transforms.files.records import ReadError, SourceSentence
from corpusmill.transforms.files.text import grouped

from .packet_files import (
    NO_NAME,
    Lines,
    Packet,
    PacketLine,
    PacketName,
    Returned,
    format_name,
    parse_name,
)

_DEEPEST = 100  # nested elements: XLIFF has about 12, and readers of the tree are recursive


class Element(NamedTuple):
    """An XML element. A name that belongs to a namespace is preceded by the namespace and a space."""

    name: str
    attributes: dict[str, str]
    line: int  # line of its start tag, from 1
    content: list["Element | str"]

    @property
    def elements(self) -> list["Element"]:
        """Returns the child elements, without the texts between them."""
        return [piece for piece in self.content if isinstance(piece, Element)]


def parse_xml(data: bytes) -> Element:
    """Parses a document and returns its root element. Comments and processing instructions are dropped.

    The declared encoding may be UTF-8, UTF-16 or an encoding with one byte per character.

    Raises ReadError with the line number if the document is not well-formed, has another encoding, has a
    document type declaration, or has elements that are nested more than 100 deep.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    document = Element("", {}, 0, [])
    opened = [document]

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(name, attributes, parser.CurrentLineNumber, [])
        if len(opened) > _DEEPEST:
            message = f"expected at most {_DEEPEST} levels of nested elements, found more"
            raise ReadError(element.line, message)
        opened[-1].content.append(element)
        opened.append(element)

    def refuse(*_: object) -> NoReturn:
        message = "an XLIFF file must not have a document type declaration (DOCTYPE): remove it"
        raise ReadError(parser.CurrentLineNumber, message)

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: opened.pop()
    parser.CharacterDataHandler = lambda text: opened[-1].content.append(text)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise ReadError(error.lineno, message) from error
    except (LookupError, ValueError) as error:
        # Python's codecs raise these errors for encodings that Expat does not know.
        raise ReadError(1, str(error)) from error
    return document.elements[0]


_NAMESPACE = "urn:oasis:names:tc:xliff:document:2.0"  # also of version 2.1
_NAMESPACE_1 = "urn:oasis:names:tc:xliff:document:1.2"
_NAMESPACES = {  # namespace → beginning of the versions
    _NAMESPACE: "2.",
    "urn:oasis:names:tc:xliff:document:2.2": "2.",
    _NAMESPACE_1: "1.",
    "urn:oasis:names:tc:xliff:document:1.1": "1.",
}

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_XLIFF = re.compile("[\0\ud800-\udfff]")
_ID = re.compile(r"[\w.:-]+")  # a subset of NMTOKEN in all editions of XML

# Inline marks around text, without text of their own.
_TRANSPARENT = {"mrk", "sm", "em", "pc", "sc", "ec", "g"}
_CHANGED = ("translated", "reviewed", "final", "signed-off")


def write_xliff(packet: Packet) -> bytes:
    """Returns a packet as an XLIFF 2.0 document in UTF-8. Equal packets give equal bytes.

    The attribute `original` of each `file` element is the name of the packet. A sentence that already has a
    translation is marked as translated, unless the packet gives reasons to translate it again.

    Raises ValueError if the packet has no lines or no valid name, if an id is not an NMTOKEN or occurs twice,
    or if a text has a character that XLIFF cannot represent (NUL or a lone surrogate).
    """
    _check(packet, _NOT_IN_XLIFF)
    return "".join(f"{line}\n" for line in _document(packet)).encode()


def write_xliff_1(packet: Packet) -> bytes:
    """Returns a packet as an XLIFF 1.2 document in UTF-8, which older tools read.

    Raises ValueError as `write_xliff` does, and also for control characters.
    """
    _check(packet, _NOT_IN_XML)
    return "".join(f"{line}\n" for line in _document_1(packet)).encode()


def _check(packet: Packet, forbidden: re.Pattern[str]) -> None:
    seen: set[str] = set()
    for line in packet.lines:
        id_ = line.source.id
        if id_ in seen or not _ID.fullmatch(id_):
            raise ValueError(
                f"the id {id_!r} occurs twice, or has characters other than letters, digits, _ . : -"
            )
        seen.add(id_)
        for text in (line.source.text, line.target):
            if found := forbidden.search(text):
                raise ValueError(
                    f"{id_} has the character U+{ord(found[0]):04X}, which XLIFF cannot represent"
                )


def _document(packet: Packet) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    tag = quoteattr(packet.language.tag)
    yield f'<xliff xmlns="{_NAMESPACE}" version="2.0" srcLang="en" trgLang={tag}>'
    # Tools must not split a sentence or change its spaces.
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


def _document_1(packet: Packet) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<xliff xmlns="{_NAMESPACE_1}" version="1.2">'
    languages = f'source-language="en" target-language={quoteattr(packet.language.tag)}'
    original = f'original={quoteattr(format_name(packet))} datatype="plaintext"'
    for split, lines in _runs(packet.lines, "split"):
        yield f'<file {original} {languages} product-name={quoteattr(split)} xml:space="preserve">'
        yield "<body>"
        for article, members in _runs(lines, "article"):
            yield f"<group resname={quoteattr(_shown(article))}>"
            for line in members:
                done = bool(line.target) and not line.reasons
                yield f'<trans-unit id="{line.source.id}" resname="{line.source.id}">'
                yield f"<source>{_content(line.source.text)}</source>"
                if line.target:
                    state = "translated" if done else "needs-translation"
                    yield f'<target state="{state}">{_content(line.target)}</target>'
                for note in (*line.reasons, _context(line.source)):
                    yield f"<note>{escape(_shown(note))}</note>"
                yield "</trans-unit>"
            yield "</group>"
        yield "</body>"
        yield "</file>"
    yield "</xliff>"


def _runs(lines: Iterable[PacketLine], field: str) -> list[tuple[str, list[PacketLine]]]:
    """Groups the lines of a packet by a field of their source sentences, such as the split.

    Returns (value of the field, the lines with this value), in the order in which the values first occur.
    """
    value = attrgetter(f"source.{field}")
    return list(grouped((value(line), line) for line in lines).items())


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
    """Yields the lines of a `notes` element. Each note is (category, priority from 1 to 10, text)."""
    yield "<notes>"
    for category, priority, text in notes:
        yield f'<note category="{category}" priority="{priority}">{escape(_shown(text))}</note>'
    yield "</notes>"


def _shown(text: str) -> str:
    """Replaces characters that XML cannot represent by their code points, such as "U+0008".

    This is done only in texts that are read by people, not by programs.
    """
    return _NOT_IN_XML.sub(lambda sign: f"U+{ord(sign[0]):04X}", text)


def _content(text: str) -> str:
    # XML readers change an unescaped carriage return to a line feed.
    escaped = escape(text, {"\r": "&#13;"})
    return _NOT_IN_XML.sub(lambda sign: f'<cp hex="{ord(sign[0]):04X}"/>', escaped)


def read_xliff(data: bytes, file: str) -> Returned:
    """Reads the translations in a returned XLIFF document of version 1.1, 1.2, 2.0, 2.1 or 2.2.

    A unit is translated if it has a target with text, or an empty target with the state translated, reviewed,
    final or signed-off. The parts of a split unit are joined in the order of their `order` attributes. A part
    between segments (`ignorable`) that has no target is copied from the source. Marks and codes around text
    (`mrk`, `pc`, `sc`, `ec`, `g`) are removed and their text is kept. Elements of modules and of other
    namespaces next to the segments are ignored. The line number of a translation is that of its first target.

    A unit is a fault of the result in these cases: it has no id, its id occurs twice, only some of its
    segments are translated, or a text contains an element whose text is unknown (`ph` and unknown elements).

    Args:
      data: the content of the file.
      file: the name of the file, which is stored in each Translation.

    Raises ReadError if the document is not well-formed or not XLIFF, or if the `file` elements belong to
    different packets or languages.
    """
    root = parse_xml(data)
    _check_version(root)
    read = Lines(file)
    names: set[PacketName] = set()
    tags = {root.attributes.get("trgLang", "")}
    for part in root.elements:
        if _tag(part) != "file":
            continue
        names.add(parse_name(part.attributes.get("original", "")))
        tags.add(part.attributes.get("target-language", ""))
        for element in _units(part):
            id_ = element.attributes.get("id", "")
            try:
                line, source, text = _read_unit(element, id_)
                read.add(id_, line, source, text)
            except ReadError as error:
                read.refuse(id_, error.line, error.message)
    tags = {tag for tag in tags if tag.casefold() not in ("", "und")}  # und: undetermined
    for values, what in ((names - {NO_NAME}, "packet"), (tags, "target language")):
        if len(values) > 1:
            message = (
                f"the `file` elements belong to more than one {what}: use one document for each"
            )
            raise ReadError(root.line, message)
    return read.returned(max(names, default=NO_NAME), max(tags, default=""))


def _check_version(root: Element) -> None:
    namespace, _, name = root.name.rpartition(" ")
    version = root.attributes.get("version", "")
    if _tag(root) != "xliff":
        raise ReadError(
            root.line,
            f"expected an XLIFF document, found <{name}> of the namespace {namespace!r}",
        )
    if not version.startswith(_NAMESPACES[namespace]):
        known = "1.1, 1.2, 2.0, 2.1 or 2.2"
        raise ReadError(root.line, f"expected XLIFF {known}; found version {version!r}")


def _tag(element: Element) -> str:
    """Returns the name of an XLIFF core element, or "" for an element of another namespace."""
    namespace, _, name = element.name.rpartition(" ")
    return name if namespace in _NAMESPACES else ""


def _units(parent: Element) -> Iterator[Element]:
    for element in parent.elements:
        if _tag(element) in ("unit", "trans-unit"):
            yield element
        elif _tag(element) in ("group", "body"):
            yield from _units(element)


class _Part(NamedTuple):
    """A part of a unit: a segment, or the text between two segments."""

    place: int  # position of the part in the translation
    line: int  # line of the target
    source: str
    target: str | None  # None if it is not translated


def _read_unit(element: Element, id_: str) -> tuple[int, str, str | None]:
    """Returns the line of a sentence, its source, and its translation; None if it is not translated."""
    if _tag(element) == "trans-unit":
        part = _read_part(element, 0)
        return part.line, part.source, part.target
    pieces = [piece for piece in element.elements if _tag(piece) in ("segment", "ignorable")]
    parts = [_read_part(piece, place) for place, piece in enumerate(pieces, 1)]
    source = "".join(part.source for part in parts)
    done = [
        part
        for part, piece in zip(parts, pieces, strict=True)
        if part.target is not None and _tag(piece) == "segment"
    ]
    if not done:
        return element.line, source, None
    for part in parts:
        if part.target is None:
            raise ReadError(part.line, _HALF.format(id_))
    # Sorting is enough: a document that moves one part also moves the part in its new position.
    text = "".join(part.target or "" for part in sorted(parts, key=attrgetter("place")))
    return min(part.line for part in done), source, text


_HALF = "the unit {} is split, and this segment of it is not translated"


def _read_part(piece: Element, place: int) -> _Part:
    children = {_tag(child): child for child in piece.elements}
    source = _read_text(children["source"]) if "source" in children else ""
    if (target := children.get("target")) is None:
        return _Part(place, piece.line, source, source if _tag(piece) == "ignorable" else None)
    text = _read_text(target)
    state = piece.attributes.get("state") or target.attributes.get("state")
    is_changed = state in _CHANGED or _tag(piece) == "ignorable"
    if text and "seg-source" in children and any(_segments(target)):
        filled = {
            mark.attributes.get("mid") for mark in _segments(target) if _read_text(mark).strip()
        }
        for mark in _segments(children["seg-source"]):
            if mark.attributes.get("mid") not in filled:
                raise ReadError(target.line, _HALF.format(piece.attributes.get("id")))
    asked = target.attributes.get("order", "")
    return _Part(
        place=int(asked) if re.fullmatch("[1-9][0-9]{0,5}", asked) else place,
        line=target.line,
        source=source,
        target=text if text or is_changed else None,
    )


def _segments(element: Element) -> Iterator[Element]:
    """Yields the marks of segments in an element, also those within tags such as `<g>`."""
    for one in element.elements:
        if _tag(one) == "mrk" and one.attributes.get("mtype") == "seg":
            yield one
        else:
            yield from _segments(one)


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
    message = f"<{name}> stands for text that is not in the file: replace it by that text"
    raise ReadError(piece.line, message)


def _read_character(piece: Element) -> str:
    digits = piece.attributes.get("hex", "")
    code = int(digits, 16) if re.fullmatch("[0-9A-Fa-f]{1,6}", digits) else 0
    if not 0 < code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ReadError(piece.line, f"<cp hex={digits!r}> is not a character")
    return chr(code)
