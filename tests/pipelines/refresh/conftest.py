"""Fixtures that the tests of the refresh share."""

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.inspect.compare import EditionChanges
from corpusmill.pipelines.inspect.edition_changes import SplitChanges
from corpusmill.pipelines.refresh import refresh_corpus
from corpusmill.pipelines.run import publish
from corpusmill.pipelines.run.editions import write_cards
from tests.conftest import make_once
from tests.makers.wiki_builds import Command, run_cli
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.refresh.wiki_site import NEW, OLD, Place, put_dump


def follow(folder: Path) -> None:
    place = Place(folder)
    with DumpServer() as site:
        put_dump(site, OLD)
        place.configure(site.url)
        assert run_cli("refresh", "--config", place.config) == 0
        put_dump(site, NEW)
        assert run_cli("refresh", "--config", place.config) == 0


@pytest.fixture(scope="session")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place that has followed a site from the old dump to the new one, with all that is real."""
    return Place(make_once(tmp_path_factory, "followed", follow))


@pytest.fixture
def site() -> Iterator[DumpServer]:
    """A site with the old dump."""
    with DumpServer() as site:
        put_dump(site, OLD)
        yield site


@pytest.fixture
def mirror() -> Iterator[DumpServer]:
    """Another site, which has nothing."""
    with DumpServer() as mirror:
        yield mirror


NOTHING_CHANGED = EditionChanges(
    "old",
    "new",
    "articles",
    splits={"train": SplitChanges(old=19, new=19, unchanged=19)},
)
Build = Callable[[], None]


def copy_builds(monkeypatch: pytest.MonkeyPatch, followed: Place, calls: list[Build]) -> None:
    """Lets builds be copies of those in `followed`, and found good; `calls` are made meanwhile."""

    def launch(corpus: Any, output: str, **_: object) -> None:
        target = Path(output, *corpus.path)
        with publish.building(str(target)) as folder:
            for call in calls:
                call()
            ready = followed.edition(corpus.config.dump_date)
            no_mark = shutil.ignore_patterns("COMPLETED")
            shutil.copytree(ready, folder, dirs_exist_ok=True, ignore=no_mark)
        write_cards([str(target)])

    monkeypatch.setattr(refresh_corpus, "launch", launch)
    monkeypatch.setattr(refresh_corpus, "check_edition", lambda *_: "")
    monkeypatch.setattr(refresh_corpus, "compare_builds", lambda *_, **__: NOTHING_CHANGED)


@pytest.fixture
def during_build(monkeypatch: pytest.MonkeyPatch, followed: Place) -> list[Build]:
    """Builds are copies, see `copy_builds`; what is in the list is called meanwhile."""
    calls: list[Build] = []
    copy_builds(monkeypatch, followed, calls)
    return calls


@pytest.fixture
def place(
    tmp_path: Path,
    site: DumpServer,
    during_build: list[Build],
    capsys: pytest.CaptureFixture[str],
) -> Place:
    """An empty place whose configuration names the site; builds are those of `during_build`."""
    place = Place(tmp_path / "place")
    place.configure(site.url)
    place.site = site
    place.refresh = Command(capsys, "refresh", "--config", place.config)
    return place


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """A file system of that size at a new folder; gives what changes its size."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program to mount file systems with")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")

    def resize(size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)

    try:
        yield resize
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
