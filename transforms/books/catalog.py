"""Reads the catalogue of Project Gutenberg as one CSV table, `pg_catalog.csv`.

The table is described at https://www.gutenberg.org/ebooks/offline_catalogs.html. It has a header line, then
one row per ebook. Fields with commas, quotation marks or line feeds are quoted. Several values of a field are
separated by semicolons. Columns are found by their names in the header, since exports differ in their order.

Reads the catalogue of Project Gutenberg as RDF/XML, with one document per ebook: `cache/epub/84/pg84.rdf`.

The documents are described at https://www.gutenberg.org/ebooks/offline_catalogs.html. The elements of an
ebook are in no fixed order. If a person is named twice, the second element may refer to the first
(`rdf:resource`).

Converts names of languages in the heads of Project Gutenberg files to ISO 639 codes.

Reads metadata.csv, which DeepMind released with PG-19. It has one line per book and no header line.

A line has id, title, year of publication and link: "84,Frankenstein by Mary
Shelley,1823,http://www.gutenberg.org/ebooks/84". Fields are not quoted: commas were removed from the titles,
and quotation marks belong to the title.

Returns the splits of the PG-19 release, and reads splits from a user's table.

Replaces the words of a list by the mark `<DW>`, as PG-19 does with discriminatory words.

See Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", 2020. Their list was never
released, so users must provide their own.
"""

import collections
import csv
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ..files.markup import (
    MalformedTableError,
    check_split,
    decode_lines,
    read_columns,
    read_toml,
)
from ..files.records import Author, CatalogEntry, ReleasedBook

NUMBER = "Text#"
COLUMNS = (NUMBER, "Type", "Title", "Language", "Authors", "Subjects", "Bookshelves")
"""The columns that are read; other columns are ignored."""

_BETWEEN_VALUES = ";"
_DETAIL_CHARACTERS = 100
_ID = re.compile(r"[1-9][0-9]{0,9}")
_ROLE = re.compile(r"(.*\S) \[([^][]*)\]", re.DOTALL)  # "Doe, John, 1743-1826 [Translator]"
# "1810", "1810?", "ca. 1810", "1810 or 1811"; a second year is that of the other guess.
_ABOUT = r"(?:ca\.?|circa|c\.|approximately|about|before|after) ?"
_YEAR = rf"(?:{_ABOUT})?([0-9]{{1,4}})(?: ?(?:or|/) ?([0-9]{{1,4}}))?\??( BCE| B\.C\.)?"
_LIFE = re.compile(  # "Doe, John, 1743?-1826", "Doe, John, d. 1826"
    rf"(.*\S), (?:(?:{_YEAR})?[-–](?:{_YEAR})?|(?:b\.|born) {_YEAR}|(?:d\.|died) {_YEAR})",
    re.DOTALL,
)
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:-[A-Za-z0-9-]+)?")  # "en", "nah", "zh-TW"


class BadRow(NamedTuple):
    """An invalid row of the catalogue table."""

    line: int  # its first line; the header is line 1
    message: str


class NotACatalogError(Exception):
    """Raised if a file does not begin with the header of the catalogue."""


def read_catalog_lines(lines: Iterable[bytes]) -> Iterator[CatalogEntry | BadRow]:
    """Yields the entries of the catalogue table. `lines` must include the line ends.

    After a missing or superfluous quotation mark, one BadRow may stand for several rows: the row with the
    mistake, and the rows after it.

    Raises NotACatalogError if the first line is not the header.
    """
    rows = _read_rows(lines)
    _, names = next(rows, (1, ()))
    if isinstance(names, str):
        raise NotACatalogError(f"the first line is not the header of the catalogue: {names}")
    places = _find_columns(names)
    for line, row in rows:
        if isinstance(row, str):
            yield BadRow(line, row)
        elif len(row) != len(names):
            yield BadRow(line, f"expected {len(names)} fields as in the header, found {len(row)}")
        elif not _ID.fullmatch(row[places[NUMBER]]):
            shown = row[places[NUMBER]][:_DETAIL_CHARACTERS]
            yield BadRow(line, f"{NUMBER} must be a positive number, not {shown!r}")
        else:
            yield _entry_of({name: row[place] for name, place in places.items()})


def parse_authors(field: str) -> tuple[Author, ...]:
    """Parses a list of authors such as "Shelley, Mary, 1797-1851; Doe, John [Translator]".

    Repeated authors are dropped.
    """
    return tuple(dict.fromkeys(map(parse_author, split_values(field))))


def parse_author(text: str) -> Author:
    """Parses one person, such as "Shelley, Mary, 1797-1851".

    Words other than the years of life and the role remain in the name.

    A question mark after a year and words such as "ca." are ignored. Of two guesses, the earlier year of
    birth and the later year of death are returned. If the year of death is BC, so is the year of birth.
    """
    with_role = _ROLE.fullmatch(text)
    name, role = with_role.groups() if with_role else (text, "")
    life = _LIFE.fullmatch(name)
    if life is None or not any(life.groups()[1:]):
        return Author(name, role=role)
    birth, _, born_before_christ = life.group(2, 3, 4) if life[2] else life.group(8, 9, 10)
    first, other, died_before_christ = life.group(5, 6, 7) if life[5] else life.group(11, 12, 13)
    return Author(
        name=life[1],
        birth_year=_year(birth, bool(born_before_christ or died_before_christ)),
        death_year=_year(_later(first, other), bool(died_before_christ)),
        role=role,
    )


def parse_language(code: str) -> str:
    """Returns the ISO 639 code of a language tag: "zh" for "zh-TW". Other texts are returned unchanged."""
    found = _LANGUAGE.fullmatch(code)
    return found[1].lower() if found else code


def split_values(field: str) -> list[str]:
    """Splits a field at semicolons. Returns the values without line breaks; empty values are omitted."""
    return list(filter(None, map(one_line, field.split(_BETWEEN_VALUES))))


def one_line(text: str) -> str:
    """Replaces each run of white space by one space."""
    return " ".join(text.split())


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Returns the values sorted and without repetitions, since their order in the catalogue has no
    meaning.
    """
    return tuple(sorted(set(values)))


def _later(year: str | None, other: str | None) -> str | None:
    """Returns the second of two guesses such as "1877" and "1878", or "1877" and "8"."""
    return year[: -len(other)] + other if year and other else year


def _year(digits: str | None, is_before_christ: bool) -> int:
    year = int(digits or 0)
    return -year if is_before_christ else year


def _entry_of(row: dict[str, str]) -> CatalogEntry:
    return CatalogEntry(
        book_id=int(row[NUMBER]),
        kind=one_line(row["Type"]),
        title=one_line(row["Title"]),
        authors=parse_authors(row["Authors"]),
        languages=in_order(map(parse_language, split_values(row["Language"]))),
        subjects=in_order(split_values(row["Subjects"])),
        bookshelves=in_order(split_values(row["Bookshelves"])),
    )


def _find_columns(header: Sequence[str]) -> dict[str, int]:
    for name in COLUMNS:
        if header.count(name) != 1:
            shown = ",".join(header)[:_DETAIL_CHARACTERS]
            message = (
                f"the first line is not the header of the catalogue: expected one column {name},"
                f" found {shown!r}"
            )
            raise NotACatalogError(message)
    return {name: header.index(name) for name in COLUMNS}


def _read_rows(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str] | str]]:
    """Yields (line number, fields) for each row, or (line number, message) if the row is invalid.

    The number is that of the row's first line, counted from 1. Empty lines are skipped.
    """
    decoded = (line.decode("utf-8", "surrogateescape") for line in lines)
    header = next(decoded, "").removeprefix("\ufeff")
    reader = csv.reader(itertools.chain([header], decoded), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
            "".join(row).encode("utf-8")
        except StopIteration:
            return
        except csv.Error as error:
            yield line, str(error)
        except UnicodeEncodeError:
            yield line, "not UTF-8"
        else:
            if row:
                yield line, row


MAX_RDF_BYTES = 1 << 22
"""Largest size of a document. Real documents have some ten thousand bytes, or more for many files."""

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_TERMS = "{http://purl.org/dc/terms/}"
_MEMBERSHIP = "{http://purl.org/dc/dcam/}memberOf"
_GUTENBERG = "{http://www.gutenberg.org/2009/pgterms/}"
_RELATORS = "{http://id.loc.gov/vocabulary/relators/}"
_CLASSIFICATION = "/LCC"  # end of the names of vocabularies of class marks, which are not subjects
_AGENT = f"{_GUTENBERG}agent"
_MARC_YEAR = f"{_GUTENBERG}marc906"

_EBOOK = re.compile(r"(?:.*/)?ebooks/([1-9][0-9]{0,9})")
_RDF_YEAR = re.compile(r"-?[0-9]{1,4}")

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
    agents = {agent.get(f"{_RDF}about", ""): agent for agent in root.iter(_AGENT)}
    return CatalogEntry(
        book_id=int(number[1]),
        kind=next(iter(in_order(_values_of(ebook, f"{_TERMS}type"))), ""),
        title=next(iter(in_order(_texts_of(ebook, f"{_TERMS}title"))), ""),
        authors=tuple(dict.fromkeys(_authors_of(ebook, agents))),
        languages=in_order(map(parse_language, _values_of(ebook, f"{_TERMS}language"))),
        subjects=in_order(_values_of(ebook, f"{_TERMS}subject")),
        bookshelves=in_order(_values_of(ebook, f"{_GUTENBERG}bookshelf")),
        rights=" ".join(in_order(_texts_of(ebook, f"{_TERMS}rights"))),
        imprint=" ".join(in_order(_texts_of(ebook, f"{_GUTENBERG}marc260"))),
        year=next(
            (int(text) for text in _texts_of(ebook, _MARC_YEAR) if _RDF_YEAR.fullmatch(text)), 0
        ),
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
    return int(text) if _RDF_YEAR.fullmatch(text) else 0


_TABLE = "language_names.toml"
_BETWEEN = re.compile(r"\s*(?:[,;/&]|\band\b)\s*", re.IGNORECASE)


def parse_languages(names: str) -> tuple[str, ...]:
    """Converts a list such as "English, Spanish and Tagalog" to language codes, without repetitions.

    An unknown name is returned as it is.
    """
    whole = _code_of(names)
    if whole:
        return (whole,)
    parts = [part for part in _BETWEEN.split(names.strip(" .")) if part]
    return tuple(dict.fromkeys(_code_of(part) or part for part in parts))


def _code_of(name: str) -> str:
    """Returns the code of a language name, or "" if the name is unknown. `name` may be a code itself."""
    name = " ".join(name.lower().split()).strip(" .")
    table = read_toml(__package__, _TABLE)
    return table.get(name) or (name if name in table.values() else "")


_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """Yields the books in the lines of metadata.csv, in order.

    Raises MalformedTableError for an invalid line. Each line must end with the id of its book, as part of the
    link, so truncated lines are detected.
    """
    for number, text in enumerate(decode_lines(lines), start=1):
        found = _LINE.fullmatch(text)
        if found is None:
            message = (
                f"line {number}: expected id,title,year,link, and a link that ends with the id"
            )
            raise MalformedTableError(f"{message}, found {text[:_DETAIL_CHARACTERS]!r}")
        book_id, title, year, url = found.groups()
        yield ReleasedBook(int(book_id), title, int(year), url)


BOOK_ID, SPLIT = "book_id", "split"

_SPLITS_TABLE = "released_splits.toml"


@functools.cache
def released_splits() -> Mapping[int, str]:
    """Returns ebook number → "validation" or "test", for the 150 books that are not in the train split.

    The books of the train split are the other books in metadata.csv.
    """
    table = read_toml(__package__, _SPLITS_TABLE)
    return {book_id: split for split, book_ids in table.items() for book_id in book_ids}


def read_split_lines(lines: Iterable[bytes]) -> Mapping[int, str]:
    """Reads a TSV or CSV file with the columns book_id and split. Returns ebook number → split.

    Other columns are ignored. "dev" and "valid" mean validation. Raises MalformedTableError for an unknown
    split, and for a book with two different splits.
    """
    splits: dict[int, str] = {}
    for line, (name, given) in read_columns(lines, BOOK_ID, SPLIT):
        if not _ID.fullmatch(name):
            problem = f"{BOOK_ID} must be a positive number, not {name[:_DETAIL_CHARACTERS]!r}"
            raise MalformedTableError(f"line {line}: {problem}")
        book_id, split = int(name), check_split(given, f"line {line}")
        if (known := splits.setdefault(book_id, split)) != split:
            problem = f"book {book_id} is in {split}, but an earlier line has it in {known}"
            raise MalformedTableError(f"line {line}: {problem}")
    return splits


MARK = "<DW>"
_WORD = re.compile(r"\w+")


def read_words(lines: Iterable[str]) -> tuple[str, ...]:
    """Parses a list of words to mask, one entry per line.

    Returns the entries in lower case, sorted, each once.

    Empty lines are skipped. An entry may have several words, or a hyphen. Raises ValueError for an entry
    without a letter or digit, and for an empty list.
    """
    entries = {" ".join(line.split()).lower() for line in lines}
    entries.discard("")
    wordless = sorted(entry for entry in entries if not _WORD.search(entry))
    if wordless:
        raise ValueError(f"the entry {wordless[0]!r} has no letter or digit")
    if not entries:
        raise ValueError("the list has no words")
    return tuple(sorted(entries))


def mask_words(text: str, entries: Sequence[str]) -> tuple[str, int]:
    """Replaces words of a text by `<DW>`. Returns the new text and the number of replacements.

    `entries` are the words or phrases to replace, from `read_words`. They match whole words in any case.
    Between the words of an entry there may be any white space, including line ends. If several entries begin
    with the same word, the longest match is replaced.
    """
    by_first_word = _by_first_word(tuple(entries))
    if by_first_word.keys().isdisjoint(_WORD.findall(text.lower())):
        return text, 0
    parts, done, replaced = [], 0, 0
    for word in _WORD.finditer(text):
        for before, pattern in by_first_word.get(word[0].lower(), ()):
            start = word.start() - before
            if start >= done and (found := pattern.match(text, start)):
                parts += [text[done:start], MARK]
                done = found.end()
                replaced += 1
                break
    return "".join([*parts, text[done:]]), replaced


@functools.lru_cache(maxsize=1)
def _by_first_word(entries: Sequence[str]) -> Mapping[str, Sequence[tuple[int, re.Pattern[str]]]]:
    """Groups the entries by their first word.

    Returns first word → [(offset of the first word in the entry, pattern of the entry), …], with the longest
    entry first. The offset is not 0 if the entry begins with punctuation. The entries are grouped for speed:
    a single pattern for twenty thousand entries would take seconds per book.
    """
    found = collections.defaultdict(list)
    for entry in sorted(entries, key=len, reverse=True):
        first = _WORD.search(entry)
        assert first is not None  # `read_words` checks this
        words = r"\s+".join(map(re.escape, entry.split()))
        pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
        found[first[0]].append((first.start(), pattern))
    return dict(found)
