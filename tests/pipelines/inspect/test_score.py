"""`corpusmill score`: from a log-likelihood to a score that names its corpus."""

import bz2
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from pipelines.builds.provenance import VERSION
from pipelines.inspect.score import score
from tests.makers.finished_builds import make_build, manifest_of, seal
from tests.makers.wiki_builds import Command
from transforms.files.open_input import InputError
from transforms.text.builds.build_manifest import to_json

IDS = {"train": [["Q1"]], "validation": [["Q2"]], "test": [["Q3", "Q4", "Q5"]]}
TEST = {"articles": 3, "words": 200, "characters": 1000, "pieces": 250}


def stats(**of_test: int) -> dict[str, dict[str, int]]:
    one = {"articles": 1, "words": 5, "characters": 0, "pieces": 9}
    return {"train": one, "validation": one, "test": TEST | of_test}


@pytest.fixture
def uk(tmp_path: Path) -> Path:
    return make_build(tmp_path, "uk", IDS, stats=stats())


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys, "score")


def digest(build: Path) -> str:
    return hashlib.sha256((build / "manifest.json").read_bytes()).hexdigest()[:8]


def test_bits_per_character_and_all_they_were_made_of(uk: Path, run: Command) -> None:
    assert run("bpc", "--corpus", uk, "--pieces-log-likelihood", -1000 * math.log(2)).out == (
        "corpus                          wiki40b|lang:uk|dump:20260101|v:1.0.0\n"
        "split                           test\n"
        "log-likelihood                  -693.147 nats\n"
        "characters                      1,000\n"
        "pieces                          250\n"
        "words                           200\n"
        "articles                        3\n"
        "bits per character              1.0000\n"
        "that is, word-level perplexity  32.0000\n"
        "that is, perplexity per piece   16.0000\n"
        "\n"
        "bpc|wiki40b|lang:uk|dump:20260101|v:1.0.0|split:test|chars:1000"
        f"|manifest:{digest(uk)}|corpusmill:{VERSION} = 1.0000\n"
    )


def test_word_level_perplexity(uk: Path, run: Command) -> None:
    shown = run("perplexity", "--corpus", uk, "--pieces-log-likelihood", -1000, "--base", 2).out
    assert "\nword-level perplexity          32.0000\n" in shown
    assert "\nthat is, bits per character    1.0000\n" in shown
    assert shown.endswith(
        "perplexity|wiki40b|lang:uk|dump:20260101|v:1.0.0|split:test|words:200"
        f"|manifest:{digest(uk)}|corpusmill:{VERSION} = 32.0000\n"
    )


@pytest.mark.parametrize("number", ["-300", "-300.0", "-3e2", "-3.0E+2", "-.3e3", "-3000e-1"])
def test_numbers_may_be_written_in_any_way(uk: Path, number: str, run: Command) -> None:
    assert run(
        "bpc", "--corpus", uk, "--pieces-log-likelihood", number, "--base", "10"
    ).out.endswith(f" = {0.3 * math.log2(10):.4f}\n")


def test_a_perplexity_over_the_pieces_of_the_build(uk: Path, run: Command) -> None:
    assert run("bpc", "--corpus", uk, "--perplexity-per-piece", 16).out.endswith(" = 1.0000\n")


@pytest.mark.parametrize(("lines", "each"), [(3, -100), (250, -1.2)])
def test_a_number_for_each_article_or_piece(
    uk: Path, tmp_path: Path, lines: int, each: float
) -> None:
    path = tmp_path / "scores.bz2"
    path.write_bytes(bz2.compress(f"{each}\n".encode() * lines))
    found = score("bpc", str(uk), "test", log_likelihood=str(path))
    assert found.log_likelihood == pytest.approx(-300)
    assert found.value == pytest.approx(0.3 / math.log(2))


def test_the_numbers_may_be_in_several_files(uk: Path, tmp_path: Path) -> None:
    (tmp_path / "part-1.txt").write_text("-100\n-100\n")
    (tmp_path / "part-2.txt").write_text("-100")
    found = score("bpc", str(uk), "test", log_likelihood=f"{tmp_path}/part-*.txt")
    assert found.log_likelihood == -300


def test_a_file_that_leaves_text_out(uk: Path, tmp_path: Path, run: Command) -> None:
    path = tmp_path / "scores.txt"
    path.write_text("-1\n" * 249)
    assert run("bpc", "--corpus", uk, "--pieces-log-likelihood", path, status=2).err == (
        f"corpusmill: error: {path}: 249 log-likelihoods are given, and the split has 250 pieces or"
        " 3 articles: give one for each, or the sum of all\n"
    )


@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--pieces-log-likelihood", "300"], 2, "300.0 is no log-likelihood: it is finite and not"),
        (["--pieces-log-likelihood", "nan"], 2, "nan is no log-likelihood"),
        (["--pieces-log-likelihood", "/no/file"], 1, "/no/file: no number, and no such file"),
        (["--perplexity-per-piece", "0.5"], 2, "0.5 is no perplexity: it is 1 at least"),
        (
            ["--pieces-log-likelihood", "-1", "--split", "validation"],
            2,
            "there are 0 characters: nothing to divide by",
        ),
        (["--pieces-log-likelihood", "-1", "--split", "dev"], 2, "invalid choice: 'dev'"),
        (["--pieces-log-likelihood", "-1", "--base", "7"], 2, "invalid choice: '7'"),
        (["--pieces-log-likelihood"], 2, "expected one argument"),
        ([], 2, "one of the arguments --pieces-log-likelihood --perplexity-per-piece is required"),
    ],
)
def test_what_cannot_be_scored(
    uk: Path, flags: list[str], status: int, message: str, run: Command
) -> None:
    assert message in run("bpc", "--corpus", uk, *flags, status=status).err


def test_an_unfinished_build(uk: Path, run: Command) -> None:
    (uk / "COMPLETED").unlink()
    message = f"corpusmill: error: {uk}: no finished build: there is no file COMPLETED\n"
    assert run("bpc", "--corpus", uk, "--pieces-log-likelihood", -1, status=1).err == message


# Builds whose manifest has no counts: those of stats.json.


def without_stats(uk: Path, of_test: dict[str, Any]) -> Path:
    manifest = manifest_of(uk)
    del manifest["stats"]
    seal(uk, manifest)
    (uk / "stats.json").write_text(to_json(stats() | {"test": of_test}))
    return uk


def test_counts_beside_the_manifest(uk: Path) -> None:
    before = score("bpc", str(uk), "test", log_likelihood="-300")
    after = score("bpc", str(without_stats(uk, TEST)), "test", log_likelihood="-300")
    assert after.value == before.value
    assert after.normalisers == before.normalisers


def test_a_build_without_pieces(uk: Path, run: Command) -> None:
    without_stats(uk, {name: count for name, count in TEST.items() if name != "pieces"})
    assert run("bpc", "--corpus", uk, "--perplexity-per-piece", 16, status=2).err == (
        "corpusmill: error: the number of pieces is not known: the build has no SentencePiece model"
        " (it needs the package sentencepiece)\n"
    )
    shown = run("bpc", "--corpus", uk, "--pieces-log-likelihood", -300).out
    assert "\npieces                          – (no SentencePiece model)\n" in shown
    assert "per piece" not in shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(stats(articles=4)), "has 4 articles of test, 3 were kept"),
        ("{", "no JSON: "),
        ("[" * 100_000, "no JSON: "),
        ("[]", "no such split: 'test'"),
        ('{"test": {"words": "x"}}', "the counts of test lack characters, words, articles"),
        (None, "no such file"),
    ],
)
def test_counts_that_do_not_fit(uk: Path, content: str | None, message: str) -> None:
    without_stats(uk, TEST)
    (uk / "stats.json").unlink()
    if content:
        (uk / "stats.json").write_text(content)
    with pytest.raises(InputError) as raised:
        score("bpc", str(uk), "test", log_likelihood="-300")
    assert str(raised.value).startswith(f"{uk}/stats.json: {message}")


def test_a_build_of_the_demo_can_be_scored(demo: Path) -> None:
    [folder] = (demo / "wiki40b" / "uk").glob("2*")
    found = score("bpc", str(folder), "train", log_likelihood="-5000")
    counts = json.loads((folder / "stats.json").read_text("utf-8"))["train"]
    assert found.normalisers.characters == counts["characters"] > 1000
    assert found.value == pytest.approx(5000 / math.log(2) / counts["characters"])
