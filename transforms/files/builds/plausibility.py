"""Detects implausible results of builds, which suggest damaged, mismatched or incomplete input.

Such a result is called a doubt. It makes the build fail, unless the user accepts the doubt by its name. A
build that is only smaller than usual succeeds with a remark, but the command `refresh` must not publish it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

EMPTY_TRAIN, FEW_LINKS = "empty-train", "few-links"
OTHER_FORMAT, OTHER_LANGUAGE = "other-format", "other-language"
DOUBTS = {
    EMPTY_TRAIN: "no document is in the split train",
    FEW_LINKS: "a table of items was given, and nearly no article has an item",
    OTHER_FORMAT: "a file is a table, JSON or markup, where sentences are expected",
    OTHER_LANGUAGE: "the text is in another language than the one named",
}
"""Name of a doubt → its meaning."""

# Nearly all articles of a Wikipedia have an item. The limit is low: a table made by hand may cover 11 of 520.
_MIN_LINKED_SHARE = 0.01
_MIN_ARTICLES = 50  # builds with fewer articles are not checked
_BY_PAGE = "page id"  # name of the kind of article ids if no table of items was given
NOT_LINKED = "join-wikidata/no-entity"
"""The reason for rejecting pages that have no item."""
_NOT_LOOKED_UP = ("join-wikidata/deleted", "join-wikidata/repeated-page")
_AFTER_CLEANING = ("join-wikidata/", "drop-duplicates/")


class Doubt(NamedTuple):
    """An implausible input or result of a build, which suggests damaged or mismatched input."""

    name: str  # a key of DOUBTS
    message: str


class Usual(NamedTuple):
    """The usual values of builds of a corpus.

    A build with fewer documents than usual was probably made from a sample or a part of the input.
    """

    documents: int = 0  # smallest usual number of documents
    shares: Mapping[str, float] = {}
    """ "stage/reason", or the name of a count in the manifest → its largest usual share.

    The share is of the documents that were kept, or lost for one of these reasons.
    """


def find_doubts(manifest: Mapping[str, Any]) -> Iterator[Doubt]:
    """Yields the implausible results (doubts) of a finished build."""
    counts = manifest["counts"]
    kept = counts.get("kept", {})
    if manifest["settings"].get("identity", _BY_PAGE) != _BY_PAGE:
        yield from _find_few_links(counts)
    if kept.get("train") == 0:
        others = f"; the other splits have {kept['total']:,} documents" if kept["total"] else ""
        yield Doubt(EMPTY_TRAIN, f"the split train is empty{others}; {_often(counts)}")


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
            f"of {looked_up:,} cleaned articles only {linked:,} have an item: the table of items is truncated"
            ", or from another wiki than the dump; without a table, articles are identified by their page id",
        )


def _often(counts: Mapping[str, Any]) -> str:
    reasons = {reason: n for reason, n in counts["rejected"].items() if reason != "total"}
    if not reasons:
        return "nothing was rejected"
    often = max(reasons, key=lambda reason: reasons[reason])
    return f"the most frequent reason for rejection is {often} ({reasons[often]:,} times)"


def find_small(manifest: Mapping[str, Any], unit: str, usual: Usual) -> Iterator[str]:
    """Yields remarks about a build that has fewer documents, or greater losses, than usual.

    Args:
      manifest: the manifest of the build.
      unit: noun for the documents in the remarks, such as "articles".
      usual: the usual values of the corpus.
    """
    counts = manifest["counts"]
    kept = counts.get("kept", {}).get("total", counts.get("rows", 0))
    if kept < usual.documents:
        yield f"there are only {kept:,} {unit}, expected at least {usual.documents:,}"
    rejected = counts.get("rejected", {})
    lost = {reason: rejected.get(reason, counts.get(reason, 0)) for reason in usual.shares}
    whole = kept + sum(lost.values())
    for reason, largest in usual.shares.items():
        if lost[reason] > largest * whole:
            yield (
                f"{lost[reason]:,} of {whole:,} {unit} are lost to {reason}, expected at most a share of"
                f" {largest:g}"
            )
