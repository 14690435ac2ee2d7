"""A build of One Billion Word that is killed in its last stage goes on there."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.makers.news_lines import recombined_lines, sample_lines
from tests.tools.golden_tree import tree_of
from tests.tools.pack_samples import SAMPLES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NEWS_BYTES = 3_000_000
SECONDS = 240


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some twenty thousand sentences in a hundred shards: the last stage takes long enough to be met."""
    path = tmp_path_factory.mktemp("news") / "news.2007.en.shuffled"
    lines = [line for of_year in sample_lines(SAMPLES / "news").values() for line in of_year]
    texts = [line for line in lines if _is_text(line)]
    with path.open("wb") as file:
        for block in recombined_lines(texts, NEWS_BYTES):
            file.write(b"\n".join([*block, b""]))
    return path


def _is_text(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def start(output: Path, news: Path, *flags: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "corpusmill", "lm1b", "--output", str(output)]
    with (output.parent / f"{output.name}.log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--input", str(news), *flags],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


def log_of(output: Path) -> str:
    return (output.parent / f"{output.name}.log").read_text("utf-8")


def wait(process: subprocess.Popen[bytes]) -> int:
    return process.wait(timeout=SECONDS)


def kill_in_last_stage(output: Path, news: Path, *flags: str) -> None:
    """Kills a build, and all its workers, as soon as it has written a shard."""
    left_over = set(output.glob("lm1b/en/.*.building-*"))
    process = start(output, news, *flags)
    end = time.monotonic() + SECONDS
    while not any(
        any(folder.glob("training-*/news.en-*"))
        for folder in set(output.glob("lm1b/en/.*.building-*")) - left_over
    ):
        assert process.poll() is None, log_of(output)
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    assert wait(process) == -signal.SIGKILL
    assert not list(output.glob("lm1b/en/*/COMPLETED"))


def inodes_of(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def undisturbed(news: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    output = tmp_path_factory.mktemp("undisturbed") / "corpora"
    assert wait(start(output, news, "--workers", "2")) == 0, log_of(output)
    return tree_of(output)


@pytest.fixture
def killed(news: Path, tmp_path: Path) -> Path:
    output = tmp_path / "corpora"
    kill_in_last_stage(output, news, "--workers", "2")
    return output


def stages_of(output: Path) -> Sequence[Path]:
    return sorted(output.glob("lm1b/en/.*.stages/01-sort-*"))


def test_it_does_not_sort_again_and_has_the_same_bytes(
    news: Path, killed: Path, undisturbed: dict[str, bytes]
) -> None:
    (stage,) = stages_of(killed)
    before = inodes_of(stage)
    assert any(name.startswith("ranges-") for name in before)
    kill_in_last_stage(killed, news, "--workers", "1")  # once more, with other workers
    assert "stage 1 of 2, sort: already finished" in log_of(killed)
    (stage_again,) = stages_of(killed)
    assert (stage_again, inodes_of(stage_again)) == (stage, before)
    assert wait(start(killed, news, "--workers", "1")) == 0, log_of(killed)
    assert "stage 1 of 2, sort: already finished" in log_of(killed)
    assert tree_of(killed) == undisturbed
    assert not list(killed.glob("lm1b/en/.*"))


def test_with_other_settings_or_afresh_it_sorts_again(news: Path, killed: Path) -> None:
    (stage,) = stages_of(killed)
    process = start(killed, news, "--workers", "1", "--fresh")
    end = time.monotonic() + SECONDS
    while stage.exists():
        assert process.poll() is None, log_of(killed)
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    wait(process)
    assert "already finished" not in log_of(killed)
