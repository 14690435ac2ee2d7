"""Fixtures and settings that several test modules share: a build takes seconds, so it is made once."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

# A busy machine must not fail a test; each law bounds its examples instead.
hypothesis.settings.register_profile("corpusmill", deadline=None)
hypothesis.settings.load_profile("corpusmill")

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and it is the width of what is printed


PROGRAM = Path(sys.executable).with_name("corpusmill")
"""As it is installed."""


def environment() -> dict[str, str]:
    """In which the installed program runs the code of this folder."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / ".package")}


# A job in the background of a script ignores it, and so would the builds that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Returns more processes than cores for `-n auto`, because tests often wait for servers and builds."""
    return max((os.cpu_count() or 1) * 3 // 2, 1)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without real data, the tests that read it are skipped."""
    if item.get_closest_marker("real_data") and not os.environ.get("CORPUSMILL_DATA"):
        pytest.skip("CORPUSMILL_DATA does not name a folder of real dumps")


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Returns a folder that the first process which runs tests has made, and the others only read."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    output, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(output)
            done.touch()
    return output


def make_demo(output: Path) -> None:
    command = [str(PROGRAM), "demo", "--output", str(output)]
    subprocess.run(command, env=environment(), check=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `corpusmill demo` has built, once for all processes that run tests; or one that
    CORPUSMILL_DEMO names, in which it has built before.
    """
    if "CORPUSMILL_DEMO" in os.environ:
        return Path(os.environ["CORPUSMILL_DEMO"])
    return make_once(tmp_path_factory, "demo", make_demo)
