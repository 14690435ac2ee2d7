"""Describes the older texts that were excluded from each domain of a benchmark.

The descriptions are for the dataset card and the manifest of the benchmark.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from corpusmill.transforms.files.builds.ledger import REJECTED, Ledger
from corpusmill.transforms.wikipedia.older_pages import (
    NEWER_NOTE,
    OlderPages,
    as_finding,
    check_older,
    dropped_pages,
    say_newer,
)

DROP_DOCUMENTS = "drop-older-documents"  # stage that drops documents that are not new


class NewerDocuments(NamedTuple):
    """The dates of the first and the last document of a domain, after older documents were dropped."""

    newer_than: str  # documents of this day or earlier are dropped; "" if none are dropped
    first_day: str  # "2026-05-04"; "" if no document is left
    last_day: str


def describe_newer(
    ledger: Ledger, read: Mapping[str, int]
) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Describes the older texts that were excluded from each domain.

    Returns the lines for the dataset card, and domain → its entry in the manifest. Both are empty if no
    domain is limited to newer texts.

    Args:
      ledger: the ledger of the build. It has an entry (domain, OlderPages or NewerDocuments) under
        "newer_than" for each domain that is limited to newer texts.
      read: domain → number of pages or documents read.

    Raises:
      NothingLeftError: the dump given as older is not older than the dump from which the build is made.
    """
    known = ledger.pairs("newer_than")
    lines, findings, note = [], {}, []
    for domain in (name for name in read if name in known):
        newer = known[domain]
        if isinstance(newer, OlderPages):
            check_older(newer)
            dropped = dropped_pages(ledger, f"{domain}/")
            said, note = say_newer(newer, read[domain], dropped), ["", NEWER_NOTE]
            findings[domain] = as_finding(newer, read[domain], dropped)
        else:
            said = _say_documents(newer, read[domain], _dropped_documents(ledger, domain))
            findings[domain] = newer._asdict()
        lines.append(f"- {domain}: {said}")
    return (["## Newer than what", "", *lines, *note, ""] if lines else []), findings


def _dropped_documents(ledger: Ledger, domain: str) -> int:
    stage = f"{domain}/{DROP_DOCUMENTS}"
    return sum(count for (its, _), count in ledger.values(REJECTED) if its == stage)


def _say_documents(newer: NewerDocuments, read: int, dropped: int) -> str:
    days = f"of {newer.first_day} to {newer.last_day}" if newer.first_day else "none"
    if not newer.newer_than:
        return f"Documents {days}."
    later = f"{read - dropped:,} of {read:,} documents read are later"
    return f"All documents are later than {newer.newer_than}: {later}, {days}."
