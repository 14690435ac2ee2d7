"""Describes the two layouts of Wikimedia's dumps, and finds dates in the names of their files.

dumps    ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, with dumpstatus.json

exports  MediaWiki Content File Exports: ukwiki/2026-11-01/xml/bzip2/ukwiki-2026-11-01-p1p412.xml.bz2, with
         SHA256SUMS
"""

import posixpath
import re
from collections.abc import Iterable

from transforms.text.files.dates import checked_date, plain_date

ANY, DUMPS, EXPORTS = LAYOUTS = ("any", "dumps", "exports")
"""A dump is preferred to an export of the same date: it has tables of that date, and half the bytes."""

_IN_NAME = re.compile(r"wik\w+-(\d{8}|\d{4}-\d\d-\d\d|latest)-")


def date_in_name(path: str) -> str:
    """Returns the date in the name of a dump file, without hyphens, or "latest".

    Returns "" if the name has neither.
    """
    found = _IN_NAME.search(posixpath.basename(path))
    return plain_date(found[1]) if found else ""


def date_in_names(names: Iterable[str]) -> str:
    """Returns the date that all file names contain, such as "20261101" in
    "elwiki-20261101-page_props.sql.gz".

    Returns "" if they contain no date or different dates.
    """
    dates = {checked_date(date_in_name(name)) for name in names}
    return dates.pop() if len(dates) == 1 else ""
