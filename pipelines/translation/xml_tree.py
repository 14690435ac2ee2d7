"""Parses XML of unknown origin into a tree of elements with line numbers.

A document type declaration is rejected before it is read, so no entities are expanded and nothing is
downloaded. Line numbers are taken from Expat, because they are correct even above 65,535.
"""

from typing import NamedTuple, NoReturn
from xml.parsers import expat

from corpusmill.transforms.files.translation_records import ReadError

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
    builder = _Builder()
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise ReadError(error.lineno, message) from error
    except (LookupError, ValueError) as error:
        # Python's codecs raise these errors for encodings that Expat does not know.
        raise ReadError(1, str(error)) from error
    return builder.root


class _Builder:
    """Builds the tree of one document. Its methods are the handlers that Expat calls."""

    def __init__(self) -> None:
        self._open: list[Element] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = Element(name, attributes, self.parser.CurrentLineNumber, [])
        if len(self._open) == _DEEPEST:
            raise ReadError(
                element.line, f"expected at most {_DEEPEST} levels of nested elements, found more"
            )
        if self._open:
            self._open[-1].content.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, name: str) -> None:
        self._open.pop()

    def _text(self, data: str) -> None:
        self._open[-1].content.append(data)

    def _doctype(self, *_: object) -> NoReturn:
        line = self.parser.CurrentLineNumber
        raise ReadError(
            line, "an XLIFF file must not have a document type declaration (DOCTYPE): remove it"
        )
