"""Reads lists of articles that are left out of a build on request. A list has one id per line."""

import functools
import re
from collections.abc import Callable, Sequence

from corpusmill.transforms.files.open_input import InputError, read_input
from corpusmill.transforms.files.records import PackedArticle, Reason
from corpusmill.transforms.wikipedia.row_columns import HUMAN

LEFT_OUT_STAGE = "leave-out"
LISTED = Reason("listed", "somebody has asked for it")
MOST_IDS = 100_000  # limited, because all workers hold the ids in memory
_ID = re.compile(r"(Q[1-9]\d{0,17}|\w+wiki:[1-9]\d{0,17})(?:\s.*)?", re.ASCII | re.DOTALL)


def read_ids(paths: Sequence[str]) -> frozenset[str]:
    """Reads the ids in files: "Q42" for an item, "ukwiki:1088" for a page.

    Text after a space or # is a comment. Raises InputError for a line that is not an id, and for more than
    MOST_IDS ids.
    """
    ids: set[str] = set()
    for path in paths:
        try:
            lines = read_input(path).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(path, f"not UTF-8: {error.reason}", error.start) from None
        for number, line in enumerate(lines, 1):
            text = line.partition("#")[0].strip()
            if not text:
                continue
            found = _ID.fullmatch(text)
            if not found:
                raise InputError(
                    path,
                    f"line {number}: {text!r} is not an id like Q42 (item) or ukwiki:1088 (page)",
                )
            ids.add(found[1])
    if len(ids) > MOST_IDS:
        raise InputError(
            ", ".join(paths), f"{len(ids):,} ids, but at most {MOST_IDS:,} can be left out"
        )
    return frozenset(ids)


def leave_out(ids: frozenset[str], dbname: str) -> Callable[[PackedArticle], Reason | None]:
    """Returns a screening rule that rejects the listed articles.

    The rule must be applied after articles are linked to items.
    """
    return functools.partial(reason_to_leave_out, ids, dbname)


def reason_to_leave_out(ids: frozenset[str], dbname: str, article: PackedArticle) -> Reason | None:
    """Returns the reason LISTED if the item or page of an article is in the list, otherwise None."""
    names = article.wikidata_id, f"{dbname}:{article.page_id}"
    return None if ids.isdisjoint(names) else LISTED


def is_about_a_person(article: PackedArticle) -> bool:
    """Returns True if an article is about a human, living or dead, according to its known classes."""
    return HUMAN in article.classes
