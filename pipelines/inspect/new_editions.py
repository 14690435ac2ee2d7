"""Removes documents or passages that a search has found, by writing new editions of finished builds."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from corpusmill.pipelines.inspect.cleaned_build import CleanedBuild, CleanedConfig, check_removable
from corpusmill.pipelines.inspect.text_sources import find_named_builds
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.builds.finished_builds import Build
from corpusmill.transforms.files.builds.plausibility import DOUBTS

LOG = logging.getLogger(__name__)


def find_builds_of(arguments: Sequence[str], *, passages: bool) -> list[Build]:
    """Returns the builds that command-line arguments name.

    Checks that documents or passages can be removed from these builds.

    Args:
      arguments: Folders of builds.
      passages: Whether only passages will be removed, not whole documents.

    Raises ValueError for arguments that are not builds, and for builds from which nothing can be removed.
    """
    builds = [build for argument in arguments for build in find_named_builds(argument)]
    for build in builds:
        check_removable(build, passages=passages)
    return builds


def write_editions(
    builds: Iterable[Build], found: str, output: str, *, as_json: bool = False, **how: Any
) -> None:
    """Writes a new edition of each build in which a search has found something to remove.

    A new edition that already exists is not made again if it was made from the same findings.

    Args:
      found: The output folder of a finished search.
      output: The parent folder of the new editions.
      as_json: Whether to print the summary of each new edition as JSON.
      how: The settings `side` and `passages` of CleanedConfig, and keyword arguments for `launch`.

    Raises TargetError if a different build exists in the folder of a new edition. Raises InputError,
    ValueError or BuildError as `launch` does.
    """
    settings = {name: how.pop(name) for name in ("side", "passages") if name in how}
    for build in builds:
        cleaned = CleanedBuild(CleanedConfig(build.folder, found, **settings))
        if not cleaned.has_removals():
            LOG.info("%s: nothing to remove, so there is no new edition", build.folder)
        elif cleaned.is_finished(output):
            LOG.info("%s: the new edition is finished already", build.folder)
        else:
            launch(cleaned, output, as_json=as_json, accept=DOUBTS, is_sample=True, **how)
