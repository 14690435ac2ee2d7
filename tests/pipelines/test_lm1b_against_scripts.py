"""`corpusmill lm1b` beside the benchmark's own scripts, on the same lines.

Set CORPUSMILL_LM1B_SCRIPTS to the folder scripts/ of ciprian-chelba's repository
1-billion-word-language-modeling-benchmark; without it, or without Perl, these tests are skipped.
"""

import gzip
import os
import shutil
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import main
from tests.makers.news_lines import YEARS, read_odd_lines, sample_lines
from tests.tools import original_scripts
from tests.tools.pack_samples import NEWS_ARCHIVE, SAMPLES
from tests.tools.real_data import DATA, needs_real_data

SCRIPTS = os.environ.get("CORPUSMILL_LM1B_SCRIPTS", "")
TIMEOUT_SECONDS = 300

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


def checkpoint(folder: Path, name: str) -> bytes:
    """A file between two steps: one of the scripts', parts of a build's."""
    parts = sorted(folder.glob(f"{name}-*-of-*")) or [folder / name]
    return b"".join(part.read_bytes() for part in parts)


def assert_same(reference: Path, built: Path) -> None:
    """Compares all shards, and what is before them."""
    for name in (original_scripts.SORTED, original_scripts.TOKENIZED):
        assert checkpoint(built, name) == checkpoint(reference, name), name
    theirs, ours = (original_scripts.shards_of(folder) for folder in (reference, built))
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
    original_scripts.run_scripts(Path(SCRIPTS), texts, folder, TIMEOUT_SECONDS)
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
    original_scripts.run_scripts(Path(SCRIPTS), texts, folder, TIMEOUT_SECONDS)
    assert_same(folder, build(tmp_path / "build", *paths, workers=2))
