"""`corpusmill lm1b` beside the benchmark's own scripts, on the same lines.

Set CORPUSMILL_LM1B_SCRIPTS to the folder scripts/ of ciprian-chelba's repository
1-billion-word-language-modeling-benchmark; without it, or without Perl, these tests are skipped.
"""

import gzip
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import main
from tests.makers.news_lines import YEARS, read_odd_lines, sample_lines
from tests.tools.pack_samples import NEWS_ARCHIVE, SAMPLES
from tests.tools.real_data import DATA, needs_real_data

SCRIPTS = os.environ.get("CORPUSMILL_LM1B_SCRIPTS", "")
TIMEOUT_SECONDS = 300
TRAINING = "training-monolingual.tokenized.shuffled"
HELD_OUT = "heldout-monolingual.tokenized.shuffled"
SORTED = "training-monolingual.tokenized/news.20XX.en.shuffled.sorted"
TOKENIZED = SORTED + ".tokenized"

pytestmark = [
    pytest.mark.skipif(
        not SCRIPTS, reason="CORPUSMILL_LM1B_SCRIPTS does not name the scripts of the original"
    ),
    pytest.mark.skipif(not shutil.which("perl"), reason="there is no Perl"),
]


def build(output: Path, *inputs: Path, workers: int = 1) -> Path:
    """Builds as a user does, and keeps what the original leaves between its steps."""
    arguments = ["lm1b", "--output", str(output), "--workers", str(workers), "--checkpoints"]
    assert main([*arguments, "--input", *map(str, inputs)]) == 0
    (completed,) = output.rglob("COMPLETED")
    return completed.parent


def run_scripts(texts: Mapping[int, Iterable[bytes]], folder: Path) -> None:
    """Runs get-data.sh in `folder` on the texts of the years; its output stays there. Lines that are not
    UTF-8 make the scripts hang.
    """
    raw = folder / "training-monolingual"
    raw.mkdir(parents=True)
    for year in YEARS:
        with (raw / f"news.{year}.en.shuffled").open("wb") as stream:
            stream.writelines(texts.get(year, ()))
    shutil.copytree(SCRIPTS, folder / "scripts")
    for script in (folder / "scripts").glob("*.perl"):
        script.chmod(0o755)  # get-data.sh calls them by name
    # timeout ends bash's children too.
    command = ["timeout", "-s", "KILL", str(TIMEOUT_SECONDS), "bash", "scripts/get-data.sh"]
    with (folder / "get-data.log").open("wb") as log:
        subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True
        )


def shards_of(folder: Path) -> dict[str, bytes]:
    """Name below the folder → the text shards that the scripts, or a build, have left there."""
    paths = [path for name in (TRAINING, HELD_OUT) for path in (folder / name).iterdir()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def checkpoint(folder: Path, name: str) -> bytes:
    """A file between two steps: one of the scripts', parts of a build's."""
    parts = sorted(folder.glob(f"{name}-*-of-*")) or [folder / name]
    return b"".join(part.read_bytes() for part in parts)


def assert_same(reference: Path, built: Path) -> None:
    """Compares all shards, and what is before them."""
    for name in (SORTED, TOKENIZED):
        assert checkpoint(built, name) == checkpoint(reference, name), name
    theirs, ours = (shards_of(folder) for folder in (reference, built))
    assert len(theirs) == 150
    assert ours.keys() == theirs.keys()
    assert [name for name in theirs if ours[name] != theirs[name]] == []


@pytest.fixture(scope="module")
def sample_shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the sample with the scripts; its malformed lines would make them hang."""
    rejected = {odd.line for odd in read_odd_lines(SAMPLES / "news") if odd.is_rejected}
    texts = {
        year: [line + b"\n" for line in lines if line not in rejected]
        for year, lines in sample_lines(SAMPLES / "news").items()
    }
    folder = tmp_path_factory.mktemp("scripts") / "sample"
    run_scripts(texts, folder)
    return folder


@pytest.mark.parametrize("workers", [1, 2])
def test_the_sample_gives_the_shards_of_the_scripts(
    sample_shards: Path, tmp_path: Path, workers: int
) -> None:
    inputs = [*(SAMPLES / "news").glob("news.20*"), SAMPLES / "news" / NEWS_ARCHIVE]
    assert len(inputs) == len(YEARS)
    assert_same(sample_shards, build(tmp_path, *inputs, workers=workers))


@needs_real_data
def test_real_news_gives_the_shards_of_the_scripts(tmp_path: Path) -> None:
    paths = sorted((DATA / "news").glob("news.20*.en.shuffled.gz"))
    texts = {
        year: [gzip.decompress(path.read_bytes())] for year, path in zip(YEARS, paths, strict=True)
    }
    folder = tmp_path / "scripts"
    run_scripts(texts, folder)
    assert_same(folder, build(tmp_path / "build", *paths, workers=2))
