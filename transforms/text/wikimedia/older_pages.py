"""Pages that a build leaves out because they are not new: what it is newer than, checked and in words."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from transforms.text.builds.ledger import REJECTED, Ledger, NothingLeftError
from transforms.text.files.dates import checked_date
from transforms.text.wikimedia.dump_layouts import date_in_name

STAGE = "drop-older-pages"
IN_OLDER_DUMP, OLDER_ID = "in-older-dump", "older-page-id"  # reasons of rejections
NEWER_THAN = "newer-than"  # role of the files of an older dump
UNDATED = "undated"

_PAGE_ID = re.compile(r"\d{1,18}", re.ASCII)


class OlderPages(NamedTuple):
    """The older pages with which a dump is compared: those of another dump, or up to a page id."""

    dbname: str  # "elwiki"
    date: str  # "20230501", "undated"; "" where it is a page id
    pages: int  # of the older dump, of all namespaces; 0 where it is a page id
    largest_id: int  # of them, or the page id itself
    largest_read_id: int  # of the dump that is built from
    is_dated: bool  # both dumps have dates in their names, which were compared before the build

    def __str__(self) -> str:
        """ "elwiki 20230501 (933 pages, largest page id 1088)", "page id 1088 of elwiki"."""
        if not self.date:
            return f"page id {self.largest_id} of {self.dbname}"
        counted = f"{self.pages:,} pages, largest page id {self.largest_id}"
        return f"{self.dbname} {self.date} ({counted})"


def parse_page_id(values: Sequence[str]) -> int:
    """The page id that is the only value; 0 for names of files. Raises ValueError for page id 0 and a mix."""
    ids = [value for value in values if _PAGE_ID.fullmatch(value)]
    if not ids:
        return 0
    if len(values) > 1:
        raise ValueError(f"newer_than is one page id, or files; not {' '.join(values)}")
    if not int(ids[0]):
        raise ValueError("newer_than is page id 0, and page ids begin with 1")
    return int(ids[0])


def name_older(values: Sequence[str]) -> str:
    """A part of the name of an edition: "20230501", "undated", "page-1088"; "" where nothing is given."""
    if page_id := parse_page_id(values):
        return f"page-{page_id}"
    return (date_of_dump(values) or UNDATED) if values else ""


def date_of_dump(paths: Iterable[str]) -> str:
    """The newest date in the names of the files of a dump, "20230501"; "" where none has one."""
    return max((checked_date(date_in_name(path)) for path in paths), default="")


def check_older(older: OlderPages) -> None:
    """Raises NothingLeftError where the older dump is empty, or has larger page ids than the other one."""
    if older.date and not older.pages:
        raise NothingLeftError((NEWER_THAN,), "no page in the older dump")
    if not older.is_dated and older.date and older.largest_id > older.largest_read_id:
        raise NothingLeftError(
            (NEWER_THAN,),
            f"{older} is not older: the dump that is built from has page ids up to"
            f" {older.largest_read_id}. Dates in the names of both, {older.dbname}-20230501-…, would decide",
        )


def dropped_pages(ledger: Ledger, prefix: str = "") -> int:
    """Returns the number of pages that were rejected because they are not new; stages may begin with the
    site.
    """
    rejections = ledger.values(REJECTED)
    return sum(count for (stage, _), count in rejections if stage == f"{prefix}{STAGE}")


def say_newer(older: OlderPages, read: int, dropped: int) -> str:
    """The sentence of a card that says what is newer than what, before NEWER_NOTE."""
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
    """Returns the entry for the manifest."""
    return {**older._asdict(), "pages_read": read, "new_pages": read - dropped}
