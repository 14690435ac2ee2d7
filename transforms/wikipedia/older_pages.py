"""Checks and describes the pages that a build drops because they are old.

Old pages are the pages of an older dump, or all pages up to a given page id.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.builds.ledger import REJECTED, Ledger, NothingLeftError
from corpusmill.transforms.files.dates import checked_date
from corpusmill.transforms.wikipedia.dump_layouts import date_in_name

STAGE = "drop-older-pages"
IN_OLDER_DUMP, OLDER_ID = "in-older-dump", "older-page-id"  # reasons of rejections
NEWER_THAN = "newer-than"  # role of the files of an older dump
UNDATED = "undated"

_PAGE_ID = re.compile(r"\d{1,18}", re.ASCII)


class OlderPages(NamedTuple):
    """The older pages that a build drops: the pages of another dump, or all pages up to a given page id."""

    dbname: str  # "elwiki"
    date: str  # "20230501" or "undated"; "" if a page id is given
    pages: int  # pages of the older dump in all namespaces; 0 if a page id is given
    largest_id: int  # largest page id of the older dump, or the given page id
    largest_read_id: int  # largest page id of the dump that is built from
    is_dated: bool  # both dumps have dates in their names, which were compared before the build

    def __str__(self) -> str:
        """Returns "elwiki 20230501 (933 pages, largest page id 1088)" or "page id 1088 of elwiki"."""
        if not self.date:
            return f"page id {self.largest_id} of {self.dbname}"
        counted = f"{self.pages:,} pages, largest page id {self.largest_id}"
        return f"{self.dbname} {self.date} ({counted})"


def parse_page_id(values: Sequence[str]) -> int:
    """Parses the setting `newer_than`, which is one page id or a list of file names.

    Returns the page id, or 0 if all values are file names.

    Raises ValueError if the page id is 0, or if there are other values besides a page id.
    """
    ids = [value for value in values if _PAGE_ID.fullmatch(value)]
    if not ids:
        return 0
    if len(values) > 1:
        raise ValueError(
            f"newer_than must be either one page id or the files of an older dump, got {' '.join(values)}"
        )
    if not int(ids[0]):
        raise ValueError("newer_than: found page id 0, but page ids begin with 1")
    return int(ids[0])


def name_older(values: Sequence[str]) -> str:
    """Returns the part of a corpus edition's name that says which older pages were dropped.

    `values` is the setting `newer_than`: either the files of an older dump, or one page id. The result is:
    - for the files of a dump, the newest date in their names ("20230501"), or "undated" if there is none;
    - for a page id, a name such as "page-1088";
    - "" if `values` is empty.
    """
    if page_id := parse_page_id(values):
        return f"page-{page_id}"
    return (date_of_dump(values) or UNDATED) if values else ""


def date_of_dump(paths: Iterable[str]) -> str:
    """Returns the newest date in the names of a dump's files, such as "20230501".

    Returns "" if no name has a date.
    """
    return max((checked_date(date_in_name(path)) for path in paths), default="")


def check_older(older: OlderPages) -> None:
    """Checks that an older dump has pages, and is older than the dump from which the build is made.

    If both dumps have dates in their names, the dates were compared before the build. Otherwise, this
    function compares the largest page ids of the two dumps.

    Raises NothingLeftError if the older dump has no pages. If at least one of the dumps has no date, also
    raises it if the largest page id of the older dump is greater than that of the other dump.
    """
    if older.date and not older.pages:
        raise NothingLeftError((NEWER_THAN,), "the older dump has no pages")
    if not older.is_dated and older.date and older.largest_id > older.largest_read_id:
        raise NothingLeftError(
            (NEWER_THAN,),
            f"{older} is not older: the dump of this build has page ids only up to"
            f" {older.largest_read_id}. To compare dates, give both dumps names with dates,"
            f" {older.dbname}-20230501-…",
        )


def dropped_pages(ledger: Ledger, prefix: str = "") -> int:
    """Returns the number of pages that a build dropped because they are old.

    `ledger` contains the counts of the build. `prefix` comes before the name of the stage that dropped the
    pages, for example the name of a site and "/".
    """
    rejections = ledger.values(REJECTED)
    return sum(count for (stage, _), count in rejections if stage == f"{prefix}{STAGE}")


def say_newer(older: OlderPages, read: int, dropped: int) -> str:
    """Returns a sentence for the dataset card about the older pages and the number of new pages.

    `read` is the number of pages read, `dropped` the number of pages dropped. On the card, the sentence is
    followed by NEWER_NOTE.
    """
    new = f"{read - dropped:,} of {read:,} pages read are new"
    if older.date:
        return f"All pages are absent from {older}: {new}."
    return f"All pages have ids above {older.largest_id} in {older.dbname}: {new}."


NEWER_NOTE = (
    "A page is known by its id, whatever its title: what was split from an older page, copied, imported, or"
    " deleted and written again has a new id, however old its text is. A dump has no ids of the namespaces"
    " that it leaves out, so an article that was moved from there is absent from the dump, too."
)


def as_finding(older: OlderPages, read: int, dropped: int) -> dict[str, Any]:
    """Returns the manifest's entry about the older pages and the number of new pages.

    The entry has the fields of `older`, "pages_read" and "new_pages". `read` is the number of pages read,
    `dropped` the number of pages dropped.
    """
    return {**older._asdict(), "pages_read": read, "new_pages": read - dropped}
