"""Reads the catalogue of Project Gutenberg as RDF/XML, with one document per ebook: `cache/epub/84/pg84.rdf`.

The documents are described at https://www.gutenberg.org/ebooks/offline_catalogs.html. The elements of an
ebook are in no fixed order. If a person is named twice, the second element may refer to the first
(`rdf:resource`).
"""

import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from corpusmill.transforms.books.catalog import in_order, one_line, parse_language
from corpusmill.transforms.files.records import Author, CatalogEntry

MAX_RDF_BYTES = 1 << 22
"""Largest size of a document. Real documents have some ten thousand bytes, or more for many files."""

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_TERMS = "{http://purl.org/dc/terms/}"
_MEMBERSHIP = "{http://purl.org/dc/dcam/}memberOf"
_GUTENBERG = "{http://www.gutenberg.org/2009/pgterms/}"
_RELATORS = "{http://id.loc.gov/vocabulary/relators/}"
_CLASSIFICATION = "/LCC"  # end of the names of vocabularies of class marks, which are not subjects
_AGENT = f"{_GUTENBERG}agent"

_EBOOK = re.compile(r"(?:.*/)?ebooks/([1-9][0-9]{0,9})")
_YEAR = re.compile(r"-?[0-9]{1,4}")

_ROLES = {
    "adp": "Adapter",
    "aft": "Author of afterword, colophon, etc.",
    "ann": "Annotator",
    "arr": "Arranger",
    "art": "Artist",
    "aui": "Author of introduction, etc.",
    "aut": "",
    "clb": "Collaborator",
    "cmm": "Commentator",
    "cmp": "Composer",
    "cnd": "Conductor",
    "com": "Compiler",
    "cre": "",
    "ctb": "Contributor",
    "dub": "Dubious author",
    "edt": "Editor",
    "egr": "Engraver",
    "ill": "Illustrator",
    "lbt": "Librettist",
    "oth": "Other",
    "pbl": "Publisher",
    "pht": "Photographer",
    "prf": "Performer",
    "prt": "Printer",
    "res": "Researcher",
    "sng": "Singer",
    "trc": "Transcriber",
    "trl": "Translator",
    "unk": "Unknown role",
}
"""Relator codes of MARC (https://www.loc.gov/marc/relators/relaterm.html) → roles as in the CSV catalogue.

Other codes are used as roles unchanged.
"""


class MalformedRdfError(ValueError):
    """Raised if a document is not well-formed XML in UTF-8, or describes no ebook."""


def parse_catalog_rdf(data: bytes) -> CatalogEntry:
    """Parses a document and returns the catalogue entry of its ebook.

    Raises MalformedRdfError if the document is invalid. A DOCTYPE is an error, too, since it could define
    entities that expand without limit.
    """
    root = _parse_xml(data)
    ebook = root.find(f"{_GUTENBERG}ebook")
    if ebook is None:
        raise MalformedRdfError("the document does not describe an ebook")
    about = ebook.get(f"{_RDF}about", "")
    number = _EBOOK.fullmatch(about)
    if number is None:
        raise MalformedRdfError(
            f"the ebook has the id {about[:100]!r}; expected one with a positive number"
        )
    return CatalogEntry(
        book_id=int(number[1]),
        kind=next(iter(in_order(_values_of(ebook, f"{_TERMS}type"))), ""),
        title=next(iter(in_order(_texts_of(ebook, f"{_TERMS}title"))), ""),
        authors=tuple(dict.fromkeys(_authors_of(ebook, _agents_of(root)))),
        languages=in_order(map(parse_language, _values_of(ebook, f"{_TERMS}language"))),
        subjects=in_order(_values_of(ebook, f"{_TERMS}subject")),
        bookshelves=in_order(_values_of(ebook, f"{_GUTENBERG}bookshelf")),
    )


def _parse_xml(data: bytes) -> Element:
    try:
        # Decoded here: an XML declaration could name an encoding that hides "<!DOCTYPE".
        text = data.decode("utf-8-sig")
        if "\0" in text:  # Expat would read UTF-16, and miss the check for a DOCTYPE
            raise MalformedRdfError("not UTF-8: the document has zero bytes, as UTF-16 does")
        if "<!DOCTYPE" in text:
            raise MalformedRdfError(
                "found a DOCTYPE, which is not allowed; entities are not expanded"
            )
        return ElementTree.fromstring(text)
    except UnicodeDecodeError as error:
        raise MalformedRdfError(f"not UTF-8: {error}") from None
    except ElementTree.ParseError as error:
        raise MalformedRdfError(f"not well-formed XML: {error}") from None


def _texts_of(parent: Element, tag: str) -> Iterator[str]:
    """Yields the texts of the child elements with a given tag, without line breaks.

    Empty texts are omitted.
    """
    for child in parent.iterfind(tag):
        text = one_line(child.text or "")
        if text:
            yield text


def _values_of(ebook: Element, tag: str) -> Iterator[str]:
    """Yields the values of an ebook's elements with a given tag, such as its subjects.

    Class marks of the Library of Congress, such as "PR", are left out.
    """
    for description in ebook.iterfind(f"{tag}/{_RDF}Description"):
        vocabulary = description.find(_MEMBERSHIP)
        name = "" if vocabulary is None else vocabulary.get(f"{_RDF}resource", "")
        if not name.endswith(_CLASSIFICATION):
            yield from _texts_of(description, f"{_RDF}value")


def _agents_of(root: Element) -> Mapping[str, Element]:
    return {agent.get(f"{_RDF}about", ""): agent for agent in root.iter(_AGENT)}


def _authors_of(ebook: Element, agents: Mapping[str, Element]) -> Iterator[Author]:
    """Yields the authors, then the persons with other roles, in the order of the document.

    `agents` maps an address to the element of a person. An `rdf:resource` refers to a person by this address.
    """
    for creator in ebook.iterfind(f"{_TERMS}creator"):
        yield from _persons_of(creator, "", agents)
    for child in ebook:
        if child.tag.startswith(_RELATORS):
            code = child.tag.removeprefix(_RELATORS)
            yield from _persons_of(child, _ROLES.get(code, code), agents)


def _persons_of(relation: Element, role: str, agents: Mapping[str, Element]) -> Iterator[Author]:
    agent = relation.find(_AGENT)
    if agent is None:
        agent = agents.get(relation.get(f"{_RDF}resource", ""))
    if agent is None:
        return
    name = next(_texts_of(agent, f"{_GUTENBERG}name"), "")
    if name:
        yield Author(name, _year_of(agent, "birthdate"), _year_of(agent, "deathdate"), role)


def _year_of(agent: Element, kind: str) -> int:
    text = next(_texts_of(agent, f"{_GUTENBERG}{kind}"), "")
    return int(text) if _YEAR.fullmatch(text) else 0
