"""The two layouts of Wikimedia's dumps, and how they write dates: 20261101 and 2026-11-01 are one date.

dumps    ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, with dumpstatus.json
exports  MediaWiki Content File Exports: ukwiki/2026-11-01/xml/bzip2/ukwiki-2026-11-01-p1p412.xml.bz2, with
         SHA256SUMS
"""

import posixpath
import re

ANY, DUMPS, EXPORTS = LAYOUTS = ("any", "dumps", "exports")
"""Of one date, a dump comes before an export: it has tables of the same date, and half the bytes."""

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_IN_NAME = re.compile(r"wik\w+-(\d{8}|\d{4}-\d\d-\d\d|latest)-")


def plain_date(date: str) -> str:
    """The date without hyphens: "20261101". Any other text, such as "latest" or "2007-2011", is unchanged."""
    return date.replace("-", "") if _ISO.fullmatch(date) else date


def iso_date(date: str) -> str:
    """The date with hyphens: "2026-11-01". Any other text is unchanged."""
    return f"{date[:4]}-{date[4:6]}-{date[6:]}" if re.fullmatch(r"\d{8}", date) else date


def date_in_name(path: str) -> str:
    """The date in the name of a file of a wiki, without hyphens, or "latest"; "" where there is none."""
    found = _IN_NAME.search(posixpath.basename(path))
    return plain_date(found[1]) if found else ""
