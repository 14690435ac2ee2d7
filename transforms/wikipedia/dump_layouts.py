"""Describes the two file layouts in which Wikimedia publishes wikis, and finds dates in file names.

dumps    ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, with dumpstatus.json

exports  MediaWiki Content File Exports: ukwiki/2026-11-01/xml/bzip2/ukwiki-2026-11-01-p1p412.xml.bz2, with
         SHA256SUMS
"""

import posixpath
import re
from collections.abc import Iterable

from corpusmill.transforms.files.dates import checked_date, plain_date

ANY, DUMPS, EXPORTS = LAYOUTS = ("any", "dumps", "exports")
"""The layouts. "any" accepts both.

A dump is preferred to an export of the same date, because it has SQL tables of that date and half the size.
"""

_IN_NAME = re.compile(r"wik\w+-(\d{8}|\d{4}-\d\d-\d\d|latest)-")


def date_in_name(path: str) -> str:
    """Returns the date in the name of a dump file, without hyphens, or "latest".

    Returns "" if the name has neither.
    """
    found = _IN_NAME.search(posixpath.basename(path))
    return plain_date(found[1]) if found else ""


def date_in_names(names: Iterable[str]) -> str:
    """Returns the date that all the file names have in common.

    For example, the date in "elwiki-20261101-page_props.sql.gz" is "20261101". Returns "" if a name has no
    date, or if the dates differ.
    """
    dates = {checked_date(date_in_name(name)) for name in names}
    return dates.pop() if len(dates) == 1 else ""
