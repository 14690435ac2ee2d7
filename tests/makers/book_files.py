"""Writes files of Project Gutenberg's shape from texts, for tests and the bundled samples.

The lines by which a program finds the frame of a book are those of real files; the legal words between them
are short and our own. The same input gives the same bytes: no clock, no chance.
"""

import bz2
import csv
import io
import pathlib
import re
import tarfile
import textwrap
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape

from tests.makers.tar_files import pack_tar
from tests.makers.zip_files import pack_zip

_WIDTH = 72  # columns of a line that the frame wraps
_FRAMES = tomllib.loads(pathlib.Path(__file__).with_name("book_frames.toml").read_text("utf-8"))
HEADERS: dict[str, str] = _FRAMES["headers"]
FOOTERS: dict[str, str] = _FRAMES["footers"]
_DECLARED = {
    "ascii": "ASCII",
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "latin-1": "ISO-8859-1",
    "cp1252": "Windows-1252",
}


def make_book(
    text: str,
    number: int,
    title: str,
    author: str = "Edith Marrow",
    *,
    header: str = "modern",
    footer: str = "",
    language: str = "English",
    encoding: str = "utf-8",
    declared: str | None = None,
    credits: str = "Produced by Ivy Teague and the Distributed Proofreaders of Harl",
    original_publication: str = "",
    release_date: str = "May 10, 2004",
    notes: str = "",
    end_notes: str = "",
    line_end: str = "\r\n",
) -> bytes:
    """The bytes of a file that holds `text`, with lines that end in LF, in a frame of Gutenberg's.

    `header` and `footer` name forms in HEADERS and FOOTERS; no footer is the one of the header.
    `encoding` is Python's name ("utf-8-sig" for a byte order mark), `declared` what the header says it
    is: as it stands, "" for no such line, None for the truth. Headers before 2002 declare none, and
    name neither language nor original publication. `notes` stand between header and text, `end_notes`
    between text and footer. `language` "" leaves that line out.
    """
    if header not in HEADERS or (footer and footer not in FOOTERS):
        raise ValueError(f"no such frame: header {header!r}, footer {footer!r}")
    if declared is None:
        declared = _DECLARED[encoding]
    values = {
        "title": title,
        "upper_title": title.upper(),
        "title_by_author": f"{title}, by {author}" if author else title,
        "author": author or "Anonymous",
        "number": number,
        "release_month": re.sub(r" \d+,", ",", release_date),  # "May, 2004"
        "folders": "/".join(str(number)[:-1]),
        "credits": credits,
        "fields": _fields(
            title,
            author,
            f"{release_date} [{'eBook' if header == 'modern' else 'EBook'} #{number}]",
            language,
            original_publication,
            declared if header != "modern" else "",
            credits if header == "modern" else "",
        ),
        "start_2007": _stars(f"START OF THE PROJECT GUTENBERG EBOOK {title.upper()}"),
        "end_2007": _stars(f"END OF THE PROJECT GUTENBERG EBOOK {title.upper()}"),
        **_FRAMES["words"],
    }
    parts = (
        _wrap_title(HEADERS[header].format_map(values)),
        notes,
        text,
        end_notes,
        _wrap_title(FOOTERS[footer or header].format_map(values)),
    )
    whole = "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
    return whole.replace("\n", line_end).encode(encoding)


def _fields(
    title: str,
    author: str,
    release: str,
    language: str,
    original_publication: str,
    declared: str,
    credits: str,
) -> str:
    lines = {
        "Title": title,
        "Author": author,
        "Release Date": release,
        "Language": language,
        "Original publication": original_publication,
        "Character set encoding": declared,
        "Credits": credits,
    }
    return "\n\n".join(f"{name}: {value}" for name, value in lines.items() if value)


def _wrap_title(frame: str) -> str:
    """The frame with its lines of title and author wrapped."""
    return re.sub(
        r"(?m)^(?:\*?The Project Gutenberg|End of).*",
        lambda line: textwrap.fill(line[0], _WIDTH),
        frame,
    )


def _stars(line: str) -> str:
    return textwrap.fill(f"***{line}***", _WIDTH)


class CatalogRow(NamedTuple):
    """The row of a book in the catalogue, in the words of pg_catalog.csv."""

    number: int
    kind: str
    issued: str  # "2004-05-10"
    title: str  # a line feed stands between title and subtitle
    languages: str = "en"
    authors: str = ""  # "Marrow, Edith, 1851-1913; Teague, Ivy [Illustrator]"
    subjects: str = ""
    classes: str = "PZ"
    bookshelves: str = ""


_COLUMNS = "Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves"


def catalog_csv(rows: Iterable[CatalogRow]) -> bytes:
    """pg_catalog.csv: UTF-8, lines end in LF, fields are quoted where they must be."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS.split(","))
    writer.writerows(rows)
    return text.getvalue().encode()


def rdf_member(row: CatalogRow) -> tuple[str, bytes]:
    """Name and contents of the file that rdf-files.tar.bz2 has for the same book.

    Authors' years are elements of their own there, and those who did not write the book have a
    relator code of MARC in place of "creator"; only these few are known here.
    """
    parts = [
        f"<dcterms:title>{escape(row.title)}</dcterms:title>",
        *(_rdf_agent(author, place) for place, author in enumerate(_listed(row.authors))),
        *(_rdf_value("language", code, "RFC4646") for code in _listed(row.languages)),
        *(_rdf_value("subject", subject, "LCSH") for subject in _listed(row.subjects)),
        *(_rdf_value("subject", letters, "LCC") for letters in _listed(row.classes)),
        *(_rdf_bookshelf(shelf) for shelf in _listed(row.bookshelves)),
        _rdf_value("type", row.kind, "DCMIType"),
        '<dcterms:issued rdf:datatype="http://www.w3.org/2001/XMLSchema#date">'
        f"{row.issued}</dcterms:issued>",
    ]
    body = "\n".join("    " + part for part in parts)
    xml = f"""\
<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xml:base="http://www.gutenberg.org/"
  xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:dcam="http://purl.org/dc/dcam/"
  xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:marcrel="http://id.loc.gov/vocabulary/relators/"
>
  <pgterms:ebook rdf:about="ebooks/{row.number}">
    <dcterms:publisher>Project Gutenberg</dcterms:publisher>
{body}
  </pgterms:ebook>
</rdf:RDF>
"""
    return f"cache/epub/{row.number}/pg{row.number}.rdf", xml.encode()


def _listed(text: str) -> list[str]:
    return [part for part in text.split("; ") if part]


_AGENT = re.compile(
    r"(?P<name>.+?)(?:, (?P<birth>\d{4})?-(?P<death>\d{4})?)?(?: \[(?P<role>\w+)\])?"
)
_RELATORS = {
    None: "dcterms:creator",
    "Editor": "marcrel:edt",
    "Illustrator": "marcrel:ill",
    "Translator": "marcrel:trl",
}


def _rdf_agent(author: str, place: int) -> str:
    found = _AGENT.fullmatch(author)
    if not found:
        raise ValueError(f"no author: {author!r}")
    relator = _RELATORS[found["role"]]
    years = "".join(
        f'<pgterms:{which}date rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">'
        f"{found[which]}</pgterms:{which}date>"
        for which in ("birth", "death")
        if found[which]
    )
    return (
        f'<{relator}><pgterms:agent rdf:about="2009/agents/9000{place}">'
        f"<pgterms:name>{escape(found['name'])}</pgterms:name>{years}"
        f"</pgterms:agent></{relator}>"
    )


def _rdf_value(element: str, value: str, vocabulary: str) -> str:
    uri = f"http://purl.org/dc/terms/{vocabulary}"
    if vocabulary == "RFC4646":
        described = f'<rdf:value rdf:datatype="{uri}">{escape(value)}</rdf:value>'
    else:
        member = f'<dcam:memberOf rdf:resource="{uri}"/>'
        described = f"{member}<rdf:value>{escape(value)}</rdf:value>"
    return f"<dcterms:{element}><rdf:Description>{described}</rdf:Description></dcterms:{element}>"


def _rdf_bookshelf(shelf: str) -> str:
    return (
        '<pgterms:bookshelf><rdf:Description><dcam:memberOf rdf:resource="2009/pgterms/Bookshelf"/>'
        f"<rdf:value>{escape(shelf)}</rdf:value></rdf:Description></pgterms:bookshelf>"
    )


def tar_file(members: Mapping[str, bytes]) -> bytes:
    """A tar of files in the order of their names that says nothing of when and by whom it was made."""
    return pack_tar(sorted(members.items()), tarfile.USTAR_FORMAT, folder="")


def tar_bz2_file(members: Mapping[str, bytes]) -> bytes:
    """The same as a .tar.bz2."""
    return bz2.compress(tar_file(members))


def zip_file(members: Mapping[str, bytes]) -> bytes:
    """A zip of deflated files in the order of their names, all of 1980-01-01."""
    return pack_zip(sorted(members.items()), folder="")


def zip_members(packed: bytes) -> dict[str, bytes]:
    """Returns the files in a zip, by name."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
