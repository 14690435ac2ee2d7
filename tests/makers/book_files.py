"""Writes files of Project Gutenberg's shape from texts, for tests and the bundled samples.

The lines by which a program finds the frame of a book are those of real files; the legal words between them
are short and our own. The same input gives the same bytes: no clock, no chance.
"""

import bz2
import csv
import io
import re
import tarfile
import textwrap
import zipfile
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH = 72  # columns of a line that the frame wraps
_LICENCE = """\
Updated editions will replace the previous one--the old editions will
be renamed.

*** START: FULL LICENSE ***

THE FULL PROJECT GUTENBERG LICENSE
PLEASE READ THIS BEFORE YOU DISTRIBUTE OR USE THIS WORK

This is a made-up book in a made-up file, and these few lines stand where
the Project Gutenberg-tm License has many. Whoever reads this electronic
work may copy it, give it away and use it again. The Project Gutenberg
Literary Archive Foundation has never seen it and answers for nothing in
it; donations are not asked for. Real books, and the real license, are
at www.gutenberg.org."""
_SMALL_PRINT = """\
***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***
Why is this "Small Print!" statement here?  Because the files that this
one is made to look like have it, and because a program must find its
end.  It says that this etext is made up, that nobody answers for it, and
that you may do with it as you like.

*BEFORE!* YOU USE OR READ THIS ETEXT
Nothing is asked of you.

LIMITED WARRANTY; DISCLAIMER OF DAMAGES
There is no warranty, and so it is as limited as can be.

DISTRIBUTION UNDER "PROJECT GUTENBERG-tm"
Copies may be given to anybody, with this "Small Print!" or without."""
_WELCOME = """\
Copyright laws are changing all over the world, be sure to check
the copyright laws for your country before posting these files!!

Please take a look at the important information in this header.

**Welcome To The World of Free Plain Vanilla Electronic Texts**

**Etexts Readable By Both Humans and By Computers, Since 1971**

Information on contacting Project Gutenberg to get Etexts, and
further information is included below.  We need your donations."""
_ANYONE = """\
This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.  You may copy it, give it away or
re-use it under the terms of the Project Gutenberg License included
with this eBook or online at www.gutenberg.org"""

HEADERS = {
    # Since 2021.
    "modern": """\
The Project Gutenberg eBook of {title}

This ebook is for the use of anyone anywhere in the United States and
most other parts of the world at no cost and with almost no restrictions
whatsoever. You may copy it, give it away or re-use it under the terms
of the Project Gutenberg License included with this ebook or online
at www.gutenberg.org.

{fields}

*** START OF THE PROJECT GUTENBERG EBOOK {upper_title} ***
""",
    # 2007, with the start line wrapped.
    "2007": """\
The Project Gutenberg eBook, {title_by_author}


{anyone}


{fields}


{start_2007}


{credits}
""",
    # 2004.
    "2004": """\
The Project Gutenberg EBook of {title_by_author}

{anyone}


{fields}

*** START OF THIS PROJECT GUTENBERG EBOOK {upper_title} ***




{credits}
""",
    # The late 1990s: one of a series, numbered with two blanks, its small print ends without an asterisk.
    "1999": """\
The Project Gutenberg Etext of {title_by_author}
#2 in our series by {author}


{welcome}


{title}

by {author}

{release_month}  [Etext #{number}]


The Project Gutenberg Etext of {title_by_author}
*****This file should be named {number}.txt or {number}.zip*****


{small_print}

*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.10/04/01*END*





{credits}
""",
    # 1993 to 1997.
    "small-print": """\
*The Project Gutenberg Etext of {title_by_author}*


{welcome}


{title}

by {author}

{release_month} [Etext #{number}]


*The Project Gutenberg Etext of {title_by_author}*
*****This file should be named {number}.txt or {number}.zip******


{small_print}

*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*


{credits}
""",
    # A text that has been stripped.
    "none": "",
}
FOOTERS = {
    "modern": """\
*** END OF THE PROJECT GUTENBERG EBOOK {upper_title} ***

{licence}
""",
    "2007": """\
{end_2007}


******* This file should be named {number}.txt or {number}.zip *******

{licence}
""",
    "2004": """\
End of the Project Gutenberg EBook of {title_by_author}

*** END OF THIS PROJECT GUTENBERG EBOOK {upper_title} ***

***** This file should be named {number}.txt or {number}.zip *****
This and all associated files of various formats will be found in:
        http://www.gutenberg.org/{folders}/{number}/

{licence}
""",
    "possessive": """\
End of Project Gutenberg's {title_by_author}

*** END OF THIS PROJECT GUTENBERG EBOOK {upper_title} ***

{licence}
""",
    "1999": "End of the Project Gutenberg Etext of {title_by_author}\n",
    "small-print": "End of Project Gutenberg Etext of {title_by_author}\n",
    "none": "",
}
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
        "anyone": _ANYONE,
        "welcome": _WELCOME,
        "small_print": _SMALL_PRINT,
        "licence": _LICENCE,
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
    if vocabulary == "RFC4646":
        described = (
            '<rdf:value rdf:datatype="http://purl.org/dc/terms/RFC4646">'
            f"{escape(value)}</rdf:value>"
        )
    else:
        described = (
            f'<dcam:memberOf rdf:resource="http://purl.org/dc/terms/{vocabulary}"/>'
            f"<rdf:value>{escape(value)}</rdf:value>"
        )
    return f"<dcterms:{element}><rdf:Description>{described}</rdf:Description></dcterms:{element}>"


def _rdf_bookshelf(shelf: str) -> str:
    return (
        '<pgterms:bookshelf><rdf:Description><dcam:memberOf rdf:resource="2009/pgterms/Bookshelf"/>'
        f"<rdf:value>{escape(shelf)}</rdf:value></rdf:Description></pgterms:bookshelf>"
    )


def tar_file(members: Mapping[str, bytes]) -> bytes:
    """A tar of files in the order of their names that says nothing of when and by whom it was made."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, contents in sorted(members.items()):
            member = tarfile.TarInfo(name)
            member.size = len(contents)
            archive.addfile(member, io.BytesIO(contents))
    return packed.getvalue()


def tar_bz2_file(members: Mapping[str, bytes]) -> bytes:
    """The same as a .tar.bz2."""
    return bz2.compress(tar_file(members))


def zip_file(members: Mapping[str, bytes]) -> bytes:
    """A zip of deflated files in the order of their names, all of 1980-01-01."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, contents in sorted(members.items()):
            member = zipfile.ZipInfo(name)  # its default time is the first that a zip can tell
            member.create_system = 3  # else the system that runs this decides
            archive.writestr(member, contents, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def zip_members(packed: bytes) -> dict[str, bytes]:
    """Returns the files in a zip, by name."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
