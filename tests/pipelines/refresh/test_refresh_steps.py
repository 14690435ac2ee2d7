"""A refresh that is killed before any single change that it makes to files, one after the other.

The kills at random moments (test_refresh_kills) hit what takes long, the build; these hit what takes no time:
between the mark of a build and the name in CURRENT, between two files that are removed. Builds are copies.
"""

import multiprocessing
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.makers.wiki_builds import run_cli
from tests.pipelines.refresh.conftest import copy_builds
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.refresh.wiki_site import NEW, OLD, VERSION, Place, put_dump, tree

OLD_EDITION, NEW_EDITION = f"{OLD}-{VERSION}", f"{NEW}-{VERSION}"
LIMIT_SECONDS = 60
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.utime", "os.link"}

# A fresh process that has imported what a refresh needs, has no threads, and forks quickly.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.pipelines.refresh.conftest", "pipelines.wiki40b"])


def is_change(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether Python is about to change a file system; see its table of audit events.

    The copying of a build into the folder under construction is not what is tested here.
    """
    if event == "open":
        path, _, flags = arguments
        is_beside = path == os.devnull or ".building-" in str(path)
        return bool(flags & (os.O_WRONLY | os.O_RDWR)) and not is_beside
    return event in CHANGES


def run(config: str, followed: Place, kill_at: int, log: str, found: Any) -> None:
    """`corpusmill refresh`, killed before the change of that number; counts the changes in `found`."""
    copy_builds(pytest.MonkeyPatch(), followed, [])
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)

    lock = threading.Lock()  # files are downloaded at the same time

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if is_change(event, arguments):
            with lock:
                found.value += 1
                if found.value == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    os._exit(run_cli("refresh", "--config", config))


def refresh(place: Place, followed: Place, kill_at: int = 0) -> tuple[int, int]:
    """The exit status, and how many changes were made."""
    found = processes.Value("i", 0, lock=False)
    log = str(place.folder / "log")
    process = processes.Process(target=run, args=(str(place.config), followed, kill_at, log, found))
    process.start()
    process.join(LIMIT_SECONDS)
    assert process.exitcode is not None, Path(log).read_text("utf-8")
    return process.exitcode, found.value


def check(place: Place, followed: Place) -> None:
    """CURRENT names a whole edition."""
    assert place.current() in (OLD_EDITION, NEW_EDITION)
    for name in {place.current(), *place.finished()}:
        assert tree(place.editions / name) == tree(followed.editions / name), name


@pytest.fixture
def before(place: Place, site: DumpServer, followed: Place) -> Place:
    """A place with the old edition alone, and the new dump on the site; the old one is to be removed."""
    place.configure(site.url, "keep = 1")
    assert refresh(place, followed)[0] == 0
    put_dump(site, NEW)
    return place


def test_killed_before_any_change(before: Place, followed: Place, tmp_path: Path) -> None:
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(before.folder, undisturbed)
    status, changes = refresh(Place(undisturbed), followed)
    assert status == 0
    assert changes > 30
    for kill_at in range(1, changes + 1):
        folder = tmp_path / str(kill_at)
        shutil.copytree(before.folder, folder)
        place = Place(folder)
        assert refresh(place, followed, kill_at)[0] == -signal.SIGKILL
        check(place, followed)
        status, _ = refresh(place, followed)
        assert status == 0, (kill_at, (folder / "log").read_text("utf-8"))
        check(place, followed)
        assert (place.current(), place.finished()) == (NEW_EDITION, [NEW_EDITION])
        left = {path.name for path in place.editions.iterdir()}
        assert left == {NEW_EDITION, "CURRENT", "README.md"}, kill_at
        assert place.loaded() == [NEW_EDITION], kill_at
        assert {path.name for path in place.editions.parent.iterdir()} == {"uk", "README.md"}
        assert list(tree(place.downloads)) == [".refresh-lock"], kill_at
        assert list(place.folder.glob("*metrics*")) == [place.metrics], kill_at
        shutil.rmtree(folder)
