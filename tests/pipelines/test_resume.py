"""A build of One Billion Word that is killed in its last stage goes on there."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.makers.news_lines import recombined_lines, sample_lines
from tests.makers.wiki_builds import run_cli
from tests.tools.golden_tree import tree_of
from tests.tools.pack_samples import SAMPLES
from tests.tools.processes import kill_when

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NEWS_BYTES = 3_000_000


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


def command(output: Path, news: Path, *flags: object) -> list[str]:
    given = ["lm1b", "--output", output, "--input", news, *flags]
    return [sys.executable, "-m", "corpusmill", *map(str, given)]


def log_of(output: Path) -> str:
    return (output.parent / f"{output.name}.log").read_text("utf-8")


def kill_when_it_has_come(
    has_come: Callable[[], bool], output: Path, news: Path, *flags: object
) -> None:
    with (output.parent / f"{output.name}.log").open("wb") as log:
        kill_when(has_come, command(output, news, *flags), cwd=ROOT, stderr=log)
    assert not list(output.glob("lm1b/en/*/COMPLETED"))


def kill_in_last_stage(output: Path, news: Path, *flags: object) -> None:
    """Kills a build as soon as it has written a shard."""
    left_over = set(output.glob("lm1b/en/.*.building-*"))
    kill_when_it_has_come(
        lambda: any(
            any(folder.glob("training-*/news.en-*"))
            for folder in set(output.glob("lm1b/en/.*.building-*")) - left_over
        ),
        output,
        news,
        *flags,
    )


def inodes_of(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def undisturbed(news: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    output = tmp_path_factory.mktemp("undisturbed") / "corpora"
    assert run_cli(*command(output, news, "--workers", 2)[3:]) == 0
    return tree_of(output)


@pytest.fixture
def killed(news: Path, tmp_path: Path) -> Path:
    output = tmp_path / "corpora"
    kill_in_last_stage(output, news, "--workers", 2)
    return output


def stages_of(output: Path) -> Sequence[Path]:
    return sorted(output.glob("lm1b/en/.*.stages/01-sort-*"))


def test_it_does_not_sort_again_and_has_the_same_bytes(
    news: Path, killed: Path, undisturbed: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    (stage,) = stages_of(killed)
    before = inodes_of(stage)
    assert any(name.startswith("ranges-") for name in before)
    kill_in_last_stage(killed, news, "--workers", 1)  # once more, with other workers
    assert "stage 1 of 2, sort: already finished" in log_of(killed)
    (stage_again,) = stages_of(killed)
    assert (stage_again, inodes_of(stage_again)) == (stage, before)
    with caplog.at_level("INFO"):
        assert run_cli(*command(killed, news, "--workers", 1)[3:]) == 0
    assert "stage 1 of 2, sort: already finished" in caplog.text
    assert tree_of(killed) == undisturbed
    assert not list(killed.glob("lm1b/en/.*"))
