"""Chooses which build of each edition to share: the current build or, if there is none, the newest."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable

from pipelines.builds.editions import read_current
from transforms.builds.finished_builds import Build, age_of, find_folders, normalise, open_build
from transforms.files.open_input import InputError


def choose_builds(folders: Iterable[str]) -> list[Build]:
    """Returns one build of each edition in `folders` and their subfolders, sorted by folder.

    A build with `--limit`, which is only a first look, is left out unless its own folder is in `folders`.

    Args:
      folders: Folders of builds, or folders above builds.

    Raises InputError if there is no build, or if a build is damaged.
    """
    folders = list(folders)
    named = set(map(normalise, folders))
    of_edition = defaultdict(list)
    for folder in find_folders(folders).finished:
        build = open_build(folder)
        if folder in named or "limit" not in build.manifest.get("settings", {}):
            of_edition[posixpath.dirname(folder)].append(build)
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
