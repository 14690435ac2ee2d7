"""A refresh that is killed before any single change that it makes to files, one after the other.

The kills at random moments (test_refresh_kills) hit what takes long, the build; these hit what takes no time:
between the mark of a build and the name in CURRENT, between two files that are removed. Builds are copies.
One run is recorded: what a process that is killed leaves is what the disk has at that moment.
"""

import multiprocessing
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.makers.wiki_builds import run_cli
from tests.pipelines.refresh.conftest import copy_builds
from tests.pipelines.refresh.wiki_site import NEW, OLD, VERSION, Place, put_dump, tree

pytestmark = pytest.mark.slow

OLD_EDITION, NEW_EDITION = f"{OLD}-{VERSION}", f"{NEW}-{VERSION}"
LIMIT_SECONDS = 60
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.utime", "os.link"}

# A fresh process that has imported what a refresh needs, has no threads, and forks quickly.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    ["tests.pipelines.refresh.conftest", "corpusmill.pipelines.wiki40b"]
)


def is_change(event: str, arguments: tuple[Any, ...]) -> bool:
    """Returns True if Python is about to change a file system; see its table of audit events.

    The copying of a build into the folder under construction is not what is tested here.
    """
    if event == "open":
        path, _, flags = arguments
        is_beside = path == os.devnull or ".building-" in str(path)
        return bool(flags & (os.O_WRONLY | os.O_RDWR)) and not is_beside
    return event in CHANGES


def record(place: Place, followed: Place, moments: Path) -> None:
    """`corpusmill refresh`; the place as it is before each change is copied."""
    copy_builds(pytest.MonkeyPatch(), followed, [])
    taken, is_copying = 0, False

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal taken, is_copying
        if is_change(event, arguments) and not is_copying:
            taken, is_copying = taken + 1, True
            shutil.copytree(place.folder, moments / f"{taken:03}")
            is_copying = False

    sys.addaudithook(watch)
    os._exit(run_cli("refresh", "--config", place.config))


def check(place: Place, followed: Place) -> None:
    """CURRENT names a whole edition."""
    assert place.current() in (OLD_EDITION, NEW_EDITION)
    for name in {place.current(), *place.finished()}:
        assert tree(place.editions / name) == tree(followed.editions / name), name


@pytest.fixture
def moments(place: Place, followed: Place, tmp_path: Path) -> list[Path]:
    """The place before each change of a refresh that follows a new dump and removes the old edition."""
    # Of two files at once, one would go on changing while the place is copied.
    place.configure(place.site.url, "keep = 1\nconnections = 1")
    place.refresh()
    put_dump(place.site, NEW)
    folder = tmp_path / "moments"
    process = processes.Process(target=record, args=(Place(place.folder), followed, folder))
    process.start()
    process.join(LIMIT_SECONDS)
    assert process.exitcode == 0
    return sorted(folder.iterdir())


def test_killed_before_any_change(place: Place, followed: Place, moments: list[Path]) -> None:
    assert len(moments) > 30
    for moment in moments:
        shutil.rmtree(place.folder)
        moment.rename(place.folder)  # notes and states may name where they are
        check(place, followed)
        place.refresh()
        check(place, followed)
        assert (place.current(), place.finished()) == (NEW_EDITION, [NEW_EDITION]), moment
        left = {path.name for path in place.editions.iterdir()}
        assert left == {NEW_EDITION, "CURRENT", "README.md"}, moment
        assert place.loaded() == [NEW_EDITION], moment
        assert {path.name for path in place.editions.parent.iterdir()} == {
            "uk-no-wiki-templates",
            "README.md",
        }
        assert list(tree(place.downloads)) == [".refresh-lock"], moment
        assert list(place.folder.glob("*metrics*")) == [place.metrics], moment
