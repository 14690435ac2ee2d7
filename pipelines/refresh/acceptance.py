"""Conditions that an edition must meet before it becomes the current one."""

from collections.abc import Mapping
from typing import Any

from corpusmill.pipelines.inspect.compare import EditionChanges
from corpusmill.pipelines.inspect.verify import verify
from corpusmill.transforms.files.builds.plausibility import Usual, find_small
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.runners import IN_PROCESS


def check_edition(target: str, engine: Mapping[str, Any], report: str) -> str:
    """Returns a description of the first damage in an edition; "" if the edition is undamaged.

    The caller removes a damaged edition, and the next run builds it again. If an id is in two splits, a new
    build would have the same error, so this function raises BuildError instead. It also raises BuildError if
    files cannot be read at the moment.

    Args:
      target: folder of the edition.
      engine: the runner, the number of workers and the flags for Beam, from `Settings.engine`.
      report: path of a file for the report, on a file system that all workers can access. The in-process
        runner does not use it.
    """
    is_here = engine["runner"] == IN_PROCESS
    verdict = verify([target], **engine, report="" if is_here else report)
    if verdict.is_sound:
        return ""
    if verdict.faults:
        return f"{verdict.faults[0].path}: {verdict.faults[0].message}"
    name, where = verdict.conflicts[0]
    raise BuildError(f"{target} is not accepted: {name} is in two splits: {where}")


def count_changes(changes: EditionChanges) -> dict[str, int]:
    """Returns the number of documents for each kind of change: added, removed, changed, unchanged, moved."""
    counts = changes.total._asdict()
    fates = {fate: counts[fate] for fate in ("added", "removed", "changed", "unchanged")}
    return {**fates, "moved": sum(changes.moved.values())}


def find_want(manifest: Mapping[str, Any], unit: str, usual: Usual) -> str:
    """Returns the reasons why an edition has too few documents to become the current one.

    Too many rejected documents are a reason, too. Returns "" if there is no reason.

    Args:
      manifest: the manifest of the edition.
      unit: name of the documents, such as "articles".
      usual: the limits on the number of documents and the shares of rejected documents.
    """
    remarks = "; ".join(find_small(manifest, unit, usual))
    if not remarks:
        return ""
    return f"{remarks}; to accept the edition, set `min_documents` or `max_rejected_shares` in its [[corpus]]"


def find_fault(changes: EditionChanges, allow_moves: bool, max_removed_share: float) -> str:
    """Returns the reason why an edition must not replace the current one; "" if it may replace it.

    Args:
      changes: the differences between the current edition and the new one.
      allow_moves: whether documents may be in another split than in the current edition.
      max_removed_share: largest accepted share of removed documents, from 0 to 1.
    """
    total, moved = changes.total, sum(changes.moved.values())
    if not (changes.is_sound or allow_moves):
        return (
            f"{moved:,} {changes.unit} are in another split than before;"
            " set allow_moves = true to accept this"
        )
    if total.removed > max_removed_share * total.old:
        return (
            f"{total.removed:,} of {total.old:,} {changes.unit} are gone, but max_removed_share is"
            f" {max_removed_share:g}; set a larger share to accept this"
        )
    return ""
