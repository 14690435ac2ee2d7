"""Conditions that an edition must meet before it becomes the current one."""

from collections.abc import Mapping
from typing import Any

from pipelines.engines.errors import BuildError
from pipelines.engines.runners import IN_PROCESS
from pipelines.inspect.compare import EditionChanges
from pipelines.inspect.verify import verify
from transforms.text.builds.plausibility import Usual, find_small


def check_edition(target: str, engine: Mapping[str, Any], report: str) -> str:
    """The first thing that is damaged in an edition; "" where nothing is.

    Raises BuildError for ids in two splits, which a build of the same dump would have again, and for files
    that cannot be read just now.

    Args:
      engine: of `Settings`.
      report: file on a file system that the workers share; not needed by the in-process runner.
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
    """Documents by what became of them, for the state and the metrics."""
    counts = changes.total._asdict()
    fates = {fate: counts[fate] for fate in ("added", "removed", "changed", "unchanged")}
    return {**fates, "moved": sum(changes.moved.values())}


def find_want(manifest: Mapping[str, Any], unit: str, usual: Usual) -> str:
    """Returns the reasons why an edition is too small to become the current one; "" if it is not."""
    remarks = "; ".join(find_small(manifest, unit, usual))
    if not remarks:
        return ""
    return (
        f"{remarks}; min_documents and max_rejected_shares of its [[corpus]] say what is accepted"
    )


def find_fault(changes: EditionChanges, allow_moves: bool, max_removed_share: float) -> str:
    """Returns the reason why an edition must not follow the other; "" if it may."""
    total, moved = changes.total, sum(changes.moved.values())
    if not (changes.is_sound or allow_moves):
        return (
            f"{moved:,} {changes.unit} are in another split than before;"
            " allow_moves = true would accept that"
        )
    if total.removed > max_removed_share * total.old:
        return (
            f"{total.removed:,} of {total.old:,} {changes.unit} are gone, and max_removed_share is"
            f" {max_removed_share:g}"
        )
    return ""
