"""XML from strangers → a tree of elements with their lines.

A document type declaration is refused before anything in it is read, so there are no entities to expand and
nothing is fetched. Lines are counted by Expat, which knows them beyond the 65,535th.
"""

from typing import NamedTuple, NoReturn
from xml.parsers import expat

from transforms.text.translation.records import ReadError

_DEEPEST = 100  # elements in each other; XLIFF has a dozen, and what walks the tree calls itself


class Element(NamedTuple):
    """An element. The names of elements and attributes in a namespace are "namespace name"."""

    name: str
    attributes: dict[str, str]
    line: int  # that its tag begins in, from 1
    content: list["Element | str"]

    @property
    def elements(self) -> list["Element"]:
        """The elements right below."""
        return [piece for piece in self.content if isinstance(piece, Element)]


def parse_xml(data: bytes) -> Element:
    """The root of a document. Comments and processing instructions are left out.

    The encoding is what the document declares: UTF-8, UTF-16, or one with a byte for a character. Raises
    ReadError with the line where it is not well-formed, is in another encoding, has a document type
    declaration, or more than 100 elements in each other.
    """
    builder = _Builder()
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise ReadError(error.lineno, message) from error
    except (LookupError, ValueError) as error:
        # Of Python's codecs, for what Expat does not know itself.
        raise ReadError(1, str(error)) from error
    return builder.root


class _Builder:
    """Handlers of one document."""

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
            raise ReadError(element.line, f"more than {_DEEPEST} nested elements")
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
        raise ReadError(line, "a document type declaration, which XLIFF does not have")
