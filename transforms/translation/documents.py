"""Reads the user's own documents: JSON Lines with the fields id, url, title, date, licence and text."""

import datetime
import re
from typing import NamedTuple

import msgspec

from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.records import Reason
from corpusmill.transforms.files.translation_records import DOMAINS
from corpusmill.transforms.translation.passages import Paragraph, choose_passage
from corpusmill.transforms.translation.selection import Candidate
from corpusmill.transforms.translation.topics import topic_of

MAX_LINE_BYTES = 1 << 24
MAX_CHARACTERS = {"id": 200, "url": 2_000, "title": 1_000, "licence": 200}

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_URL = re.compile(r"https?://[^\s/]\S*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


class Document(NamedTuple):
    """One of the user's own documents."""

    id: str  # unique in its domain
    url: str
    title: str
    date: str  # date of publication, "2026-05-04"
    licence: str  # "CC BY 4.0"
    text: str  # paragraphs separated by empty lines


class _Line(msgspec.Struct):
    id: str
    url: str
    title: str
    date: str
    licence: str
    text: str


def check_domain(name: str) -> None:
    """Raises ValueError if `name` cannot be the name of a domain of the user's documents."""
    if name in DOMAINS:
        raise ValueError(
            f"the set of documents {name!r} has the name of a Wikimedia site; choose another name, such as"
            " 'my_news'"
        )
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"the set of documents {name!r} has an invalid name: expected a lower-case letter (a to z),"
            " then at most 31 lower-case letters, digits or _"
        )


def parse_document(line: bytes) -> Document:
    """Parses one line of JSON. Unknown fields are ignored.

    Raises ValueError in these cases: the line is not a JSON object in UTF-8; a field is missing, empty, too
    long or not a string; a field other than the text has a line break; or the url or date is invalid.
    """
    try:
        found = msgspec.json.decode(line.decode("utf-8"), type=_Line)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: invalid byte at offset {error.start} of the line") from None
    except RecursionError:
        raise ValueError("not a JSON object: nested too deeply") from None
    document = Document(*(getattr(found, name).strip() for name in Document._fields))
    for name, value in document._asdict().items():
        _check(name, value)
    return document._replace(date=_parse_date(document.date))


def _check(name: str, value: str) -> None:
    if not value:
        raise ValueError(f"the {name} is empty")
    if name == "text":
        return
    if len(value) > MAX_CHARACTERS.get(name, len(value)):
        raise ValueError(
            f"the {name} has {len(value):,} characters; the limit is {MAX_CHARACTERS[name]:,}"
        )
    if _BREAKS.search(value):
        raise ValueError(f"the {name} {value!r} has a line break or another control character")
    if name == "url" and not _URL.fullmatch(value):
        raise ValueError(f"the url is {value!r}; expected one like 'https://…'")


def _parse_date(text: str) -> str:
    if not is_day(text[:10]) or not _TIME.fullmatch(text[10:]):
        raise ValueError(f"the date is {text!r}; expected one like '2026-05-04'")
    return text[:10]


def is_day(text: str) -> bool:
    """Returns True if the text is a valid date like "2026-05-04"."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def read_paragraphs(text: str) -> list[Paragraph]:
    """Splits a text into paragraphs at empty lines. Line breaks within a paragraph become spaces."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return [
        Paragraph(" ".join(one.split()), ()) for one in _BLANK_LINES.split(lines) if one.strip()
    ]


def find_candidate(document: Document, domain: str, seed: int) -> Candidate | Reason:
    """Chooses a passage of a document. Returns a Candidate, or the reason why there is no passage.

    The document's topic is guessed from its title, by the rules for Wikinews.

    Args:
      document: the document.
      domain: the name of its domain.
      seed: the seed of all random choices.
    """
    key = f"{seed} {domain} {document.id}"
    paragraphs = read_paragraphs(document.text)
    passage = choose_passage(paragraphs, key)
    if isinstance(passage, Reason):
        return passage
    return Candidate(
        domain=domain,
        page_id=document.id,
        title=document.title,
        url=document.url,
        topic=topic_of("wikinews", document.title, ()),
        has_image=False,
        rank=fingerprint(key),
        passage=passage,
        digest=fingerprint("\n".join(paragraph.text for paragraph in paragraphs)),
        licence=document.licence,
    )
