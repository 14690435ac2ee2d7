"""Chooses which build of each edition to use: the current build or, if there is none, the newest."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable

from corpusmill.pipelines.run.editions import read_current
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    age_of,
    find_folders,
    normalise,
    open_build,
)
from corpusmill.transforms.files.open_input import InputError


def choose_builds(
    folders: Iterable[str],
    is_wanted: Callable[[Build], bool] = lambda build: True,
    content: str = "documents",
    limited: bool = False,
) -> list[Build]:
    """Returns one build of each edition in `folders` and their subfolders, sorted by folder.

    A build made with `--limit` contains only a part of the corpus. It is left out unless `limited` is True or
    its own folder is in `folders`.

    Args:
      folders: Folders of builds, or folders above builds.
      is_wanted: Function that returns False for a build to leave out.
      content: What the wanted builds contain, for the error message.
      limited: Whether to choose builds made with `--limit` like all others.

    Raises InputError if no build is left, or if a build is damaged.
    """
    folders = list(folders)
    named = set(map(normalise, folders))
    builds = list(filter(is_wanted, map(open_build, find_folders(folders).finished)))
    if not builds:
        raise InputError(
            ", ".join(folders), f"no finished build with {content} in this folder or below"
        )
    of_edition = defaultdict(list)
    for build in builds:
        is_limited = "limit" in build.manifest.get("settings", {})
        if limited or not is_limited or build.folder in named:
            of_edition[posixpath.dirname(build.folder)].append(build)
    if not of_edition:
        raise InputError(
            ", ".join(folders),
            "all builds here were made with --limit; to share one, give its own folder",
        )
    return [_choose(edition, builds) for edition, builds in sorted(of_edition.items())]


def _choose(edition: str, builds: list[Build]) -> Build:
    current = read_current(edition)
    named = [one for one in builds if posixpath.basename(one.folder) == current]
    return (named or sorted(builds, key=age_of))[-1]
