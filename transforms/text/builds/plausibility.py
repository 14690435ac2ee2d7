"""Results that a build can have, and that show damaged or mismatched input, or only little of it.

A doubt ends a build, unless it is accepted by name. What is merely small is a remark, or a reason not to
publish an edition.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

EMPTY_TRAIN, FEW_LINKS, OTHER_LANGUAGE = "empty-train", "few-links", "other-language"
DOUBTS = {
    EMPTY_TRAIN: "no document is in the split train",
    FEW_LINKS: "a table of items was given, and nearly no article has an item",
    OTHER_LANGUAGE: "the text is in another language than the one named",
}
"""Name → meaning."""

# Nearly all articles of a Wikipedia have an item. A table that somebody assembled for 11 of 520 passes.
_MIN_LINKED_SHARE = 0.01
_MIN_ARTICLES = 50  # fewer say little
_BY_PAGE = "page id"  # identity of articles where no table of items was given
NOT_LINKED = "join-wikidata/no-entity"
"""Of the reasons of a wiki's pages, the one that says that a page has no item."""
_NOT_LOOKED_UP = ("join-wikidata/deleted", "join-wikidata/repeated-page")
_AFTER_CLEANING = ("join-wikidata/", "drop-duplicates/")


class Doubt(NamedTuple):
    """A result that shows damaged or mismatched input."""

    name: str  # of DOUBTS
    message: str


class Usual(NamedTuple):
    """The least that builds of a corpus usually have; less is a sample, or a part."""

    documents: int = 0
    shares: Mapping[str, float] = {}
    """ "stage/reason", or a count of the manifest → the largest share of documents that are lost to it, of
    those that are kept or lost to one of these reasons."""


def find_doubts(manifest: Mapping[str, Any]) -> Iterator[Doubt]:
    """The doubts about a build that is finished."""
    counts = manifest["counts"]
    kept = counts.get("kept", {})
    if manifest["settings"].get("identity", _BY_PAGE) != _BY_PAGE:
        yield from _find_few_links(counts)
    if kept.get("train") == 0:
        others = f": {kept['total']:,} are in the others" if kept["total"] else ""
        yield Doubt(EMPTY_TRAIN, f"the split train is empty{others}, and {_often(counts)}")


def _find_few_links(counts: Mapping[str, Any]) -> Iterator[Doubt]:
    rejected = counts["rejected"]
    looked_up = counts["kept"]["total"] + sum(
        count
        for reason, count in rejected.items()
        if reason.startswith(_AFTER_CLEANING) and reason not in _NOT_LOOKED_UP
    )
    linked = looked_up - rejected.get(NOT_LINKED, 0)
    if looked_up >= _MIN_ARTICLES and linked < _MIN_LINKED_SHARE * looked_up:
        yield Doubt(
            FEW_LINKS,
            f"of {looked_up:,} cleaned articles {linked:,} have an item: the table of items is cut off, or of"
            " another wiki than the dump",
        )


def _often(counts: Mapping[str, Any]) -> str:
    reasons = {reason: n for reason, n in counts["rejected"].items() if reason != "total"}
    if not reasons:
        return "nothing was rejected"
    often = max(reasons, key=lambda reason: reasons[reason])
    return f"most of what was rejected, {reasons[often]:,}, is {often}"


def find_small(manifest: Mapping[str, Any], unit: str, usual: Usual) -> Iterator[str]:
    """Remarks on a build that has less than is usual.

    Args:
      unit: of documents, "articles".
    """
    counts = manifest["counts"]
    kept = counts.get("kept", {}).get("total", counts.get("rows", 0))
    if kept < usual.documents:
        yield f"{kept:,} {unit} are few, usual are at least {usual.documents:,}"
    rejected = counts.get("rejected", {})
    lost = {reason: rejected.get(reason, counts.get(reason, 0)) for reason in usual.shares}
    whole = kept + sum(lost.values())
    for reason, largest in usual.shares.items():
        if lost[reason] > largest * whole:
            yield (
                f"{lost[reason]:,} of {whole:,} {unit} are lost to {reason}, usual is a share of"
                f" {largest:g} at most"
            )
