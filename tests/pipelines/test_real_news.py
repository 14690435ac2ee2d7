"""Real news sentences: the shards are those of the original scripts, by the list of their checksums."""

import gzip
import json
import lzma
import random
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.cli import main
from tests.pipelines.test_ngrams import KENLM, check_figures, make
from tests.tools.real_data import DATA, needs_real_data

pytestmark = needs_real_data

MD5 = DATA / "expected" / "lm1b.md5"


def build(output: Path, *arguments: str) -> Path:
    """Builds as a user does."""
    assert main(["lm1b", "--output", str(output), *arguments]) == 0
    (completed,) = output.rglob("COMPLETED")
    return completed.parent


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pattern = str(DATA / "news" / "news.20??.en.shuffled.gz")
    output = tmp_path_factory.mktemp("news")
    return build(output, "--input", pattern, "--checkpoints", "--workers", "1")


def test_all_files_are_those_of_the_scripts(news: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(MD5.read_text().splitlines()) == 152
    assert main(["verify", str(news), "--md5", str(MD5), "--workers", "1"]) == 0
    assert "match the list: 152 of the 152 files" in capsys.readouterr().out


def test_the_figures_are_those_of_the_original(news: Path) -> None:
    stats = json.loads((news / "stats.json").read_text("utf-8"))
    expected = json.loads((DATA / "expected" / "lm1b-stats.json").read_text("utf-8"))
    for name, value in expected.items():
        if isinstance(value, dict):
            assert {key: stats[name][key] for key in value} == value, name
        else:
            assert stats[name] == value, name


@pytest.mark.parametrize("figures", KENLM["news"], ids=lambda one: one["flags"])
def test_a_model_is_that_of_kenlm(figures: dict[str, Any], news: Path, tmp_path: Path) -> None:
    given = {"min_count": 1, "prune": figures["prune"]}
    check_figures(make(tmp_path, news, workers=2, **given), figures)


def test_two_workers_make_the_same_of_lines_in_any_order_and_any_pieces(
    news: Path, tmp_path: Path
) -> None:
    paths = sorted((DATA / "news").glob("*.gz"))
    lines = [line for path in paths for line in gzip.decompress(path.read_bytes()).splitlines(True)]
    random.Random(5).shuffle(lines)
    for piece, start in enumerate(range(0, len(lines), 30_011)):
        pack = (bytes, gzip.compress, lambda data: lzma.compress(data, preset=0))[piece % 3]
        path = tmp_path / f"{piece * 7 % 10}.news.2009.en.shuffled.part"
        path.write_bytes(pack(b"".join(lines[start : start + 30_011])))
    again = build(tmp_path / "again", "--input", str(tmp_path / "*.part"), "--workers", "2")
    assert (again / "md5sums").read_bytes() == (news / "md5sums").read_bytes()
    assert (again / "vocabulary.tsv").read_bytes() == (news / "vocabulary.tsv").read_bytes()


def test_a_changed_line_is_shown(
    news: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "training-monolingual.tokenized.shuffled/news.en-00042-of-00100"
    shard = news / name
    before = shard.read_bytes()
    (tmp_path / shard.name).write_bytes(before)
    lines = before.split(b"\n")
    lines[100] += b" indeed"
    try:
        shard.write_bytes(b"\n".join(lines))
        how = ["--md5", str(MD5), "--reference", str(tmp_path), "--workers", "1"]
        assert main(["verify", str(news), *how]) == 1
    finally:
        shard.write_bytes(before)
    shown = capsys.readouterr().out
    assert name in shown
    assert "line 101" in shown
    assert "indeed" in shown
