"""A refresh may be killed at any time: there is the old edition or the new one, and the same again ends it.

Everything is real here: the site, the download, the build, the check and the comparison. A run is a session
of its own, all processes of which are killed at once. Kills at named steps, and hundreds of runs, are the
matter of `python -m tests.tools.kills`, whose results are in kills.md beside it.
"""

import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corpusmill.pipelines.inspect.verify import verify
from tests.makers.wiki_builds import run_cli
from tests.pipelines.refresh.dump_server import DumpServer, Slow
from tests.pipelines.refresh.wiki_site import NEW, OLD, VERSION, Place, dump_path, put_dump, tree

pytestmark = pytest.mark.slow

KILLS = 4
SEED = 20261120
DOWNLOAD_SECONDS = 1
LIMIT_SECONDS = 300

# A fresh process that has imported what a refresh needs, has no threads, and forks quickly.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    [
        "corpusmill.pipelines.refresh.refresh",
        "corpusmill.pipelines.wiki40b",
        "tests.makers.wiki_builds",
    ]
)


class Undisturbed(NamedTuple):
    """A run without a kill: its start, its duration, and its results."""

    before: Place
    seconds: float
    old: dict[str, bytes]  # the tree of the edition
    new: dict[str, bytes]


def run(config: str, log: str) -> None:
    """`corpusmill refresh` as a process and leader of a session."""
    os.setsid()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os._exit(run_cli("refresh", "--config", config))


def start(place: Place, site: DumpServer) -> Any:
    if dump_path(NEW) in site.files:
        size = len(site.files[dump_path(NEW)].content)
        site.fail(dump_path(NEW), Slow(size // DOWNLOAD_SECONDS))
    process = processes.Process(target=run, args=(str(place.config), str(place.folder / "log")))
    process.start()
    return process


def log_of(place: Place) -> str:
    return (place.folder / "log").read_text("utf-8")


def finish(process: Any, place: Place) -> None:
    process.join(LIMIT_SECONDS)
    assert process.exitcode == 0, log_of(place)


@pytest.fixture(scope="module")
def site() -> Iterator[DumpServer]:
    with DumpServer() as site:
        put_dump(site, OLD)
        yield site


@pytest.fixture(scope="module")
def undisturbed(site: DumpServer, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    before = Place(tmp_path_factory.mktemp("before") / "place")
    before.configure(site.url)
    finish(start(before, site), before)
    assert before.current() == f"{OLD}-{VERSION}"
    put_dump(site, NEW)
    after = copy_of(before, tmp_path_factory.mktemp("after") / "place")
    begin = time.monotonic()
    finish(start(after, site), after)
    seconds = time.monotonic() - begin
    assert after.current() == f"{NEW}-{VERSION}"
    assert verify([str(after.editions)], workers=1).is_sound  # both editions
    return Undisturbed(before, seconds, tree(after.edition(OLD)), tree(after.edition(NEW)))


def copy_of(place: Place, folder: Path) -> Place:
    shutil.copytree(place.folder, folder)
    return Place(folder)


def kill_moments() -> list[float]:
    """Shares of a run, one in each part of it."""
    chance = random.Random(SEED)
    return [(part + chance.random()) / KILLS for part in range(KILLS)]


def check_what_there_is(place: Place, undisturbed: Undisturbed) -> None:
    """The current edition is one of the two, whole to the last byte; no other is taken for finished."""
    expected = {f"{OLD}-{VERSION}": undisturbed.old, f"{NEW}-{VERSION}": undisturbed.new}
    assert place.current() in expected
    assert place.current() in place.finished()
    for name in place.finished():
        assert tree(place.editions / name) == expected[name], name


def kill_all(process: Any) -> None:
    """Kills a run and all that it has started, at once."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # it is over, or so young that it leads no group yet
        process.kill()
    process.join()


def killed_after(seconds: float, site: DumpServer, before: Place, folder: Path) -> Place:
    """A copy of a place in which a run was killed, sooner if it had ended by then: the machine may have been
    busier when the time was taken.
    """
    for attempt in range(8):
        place = copy_of(before, folder / f"place-{attempt}")
        process = start(place, site)
        time.sleep(seconds * 0.75**attempt)
        kill_all(process)
        if process.exitcode == -signal.SIGKILL:
            return place
    raise AssertionError("the run always ends before it is killed")


@pytest.mark.parametrize("moment", kill_moments())
def test_killed_at_a_random_moment(
    moment: float, site: DumpServer, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    place = killed_after(moment * undisturbed.seconds, site, undisturbed.before, tmp_path)
    check_what_there_is(place, undisturbed)
    finish(start(place, site), place)
    check_what_there_is(place, undisturbed)
    assert place.current() == f"{NEW}-{VERSION}"
    assert place.finished() == [f"{OLD}-{VERSION}", f"{NEW}-{VERSION}"]
    assert not list(place.editions.glob(".*"))  # nothing that was begun is left
    assert list(tree(place.downloads)) == [".refresh-lock"]


def test_terminated_in_good_order(
    site: DumpServer, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    place = copy_of(undisturbed.before, tmp_path / "place")
    process = start(place, site)
    end = time.monotonic() + LIMIT_SECONDS
    while log_of(place).count("stage 2 of 2") < 2:  # the log begins with that of the run before
        assert process.is_alive(), log_of(place)
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    process.join(LIMIT_SECONDS)
    assert process.exitcode == 128 + signal.SIGTERM, log_of(place)
    metrics = place.metrics.read_text()
    assert "corpusmill_refresh_run_exit_status 143.0" in metrics
    assert 'corpusmill_refresh_failures_total{name="wiki40b-uk"} 1.0' in metrics
    check_what_there_is(place, undisturbed)
    finish(start(place, site), place)
    assert tree(place.edition(NEW)) == undisturbed.new
