"""Models beside those of KenLM, by the command."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.ngrams import Ngrams
from corpusmill.pipelines.ngrams_settings import SMOOTHINGS, NgramsConfig
from corpusmill.pipelines.run.forecast import Forecast
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.read_files import InputError
from tests.makers.ngram_models import (
    StupidReference,
    check_arpa,
    read_arpa,
    sentences_of,
)
from tests.makers.text_builds import make_text_build
from tests.makers.wiki_builds import run_cli
from tests.tools.golden_tree import GOLDEN, tree_of
from tests.transforms.models.test_kneser_ney import TOYS

ROOT = Path(__file__).parents[2]
KENLM = tomllib.loads((ROOT / "tests/transforms/models/kenlm.toml").read_text("utf-8"))
NEWS = next((GOLDEN / "lm1b").glob("*/2*"))
DIGITS = 1e-6  # of the figures, relatively: KenLM computes in 32 bits


def plain_lines(pattern: str) -> list[str]:
    """Lines of the golden build without those that have control characters."""
    texts = (path.read_text("utf-8", "replace") for path in sorted(NEWS.glob(pattern)))
    lines = (line for text in texts for line in text.split("\n")[:-1])
    return [line for line in lines if not re.search(r"[\x00-\x1f\x7f]", line)]


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lines that the figures of KenLM are of, as a build."""
    train = plain_lines("training*/*")
    texts = {
        "train": [train[:500], train[500:]],
        "test": [plain_lines("heldout*/*heldout-0*")],
    }
    stats = {
        split: {
            "sentences": sum(map(len, files)),
            "words": sum(len(line.split()) for lines in files for line in lines),
            "characters": sum(len(line) for lines in files for line in lines),
        }
        for split, files in texts.items()
    }
    output = tmp_path_factory.mktemp("news")
    return make_text_build(output, "lm1b", "text", texts, {**stats, "heldout_shards": []})


def make(output: Path, build: Path, *, workers: int = 1, **settings: Any) -> Path:
    corpus = Ngrams(NgramsConfig(str(build), **settings))
    launch(corpus, str(output), workers=workers)
    return output.joinpath(*corpus.path)


def stats_of(made: Path) -> dict[str, Any]:
    stats: dict[str, Any] = json.loads((made / "stats.json").read_text("utf-8"))
    return stats


def scores_of_test(made: Path) -> list[list[dict[str, Any]]]:
    """Returns the rows of each file with log-likelihoods of the split test."""
    files = sorted(made.glob("log-likelihoods/test-*.parquet"))
    return [pq.read_table(file).to_pylist() for file in files]


def test_the_cost_depends_on_the_text_not_on_the_stored_bytes(news: Path) -> None:
    size = sum(len(line.encode()) for line in plain_lines("training*/*"))
    assert Ngrams(NgramsConfig(str(news))).text_bytes == pytest.approx(size, rel=0.05)


def test_a_small_disk_is_reported_although_the_input_is_a_build(
    news: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    corpus = Ngrams(NgramsConfig(str(news)))
    monkeypatch.setattr(
        "corpusmill.transforms.files.stores.free_bytes", lambda _: 20 * corpus.text_bytes
    )
    Forecast(corpus, str(tmp_path), workers=1).warn_of_small_disk()
    assert "of disk space" in caplog.text


@pytest.mark.parametrize("figures", KENLM["sample"][2:], ids=lambda one: one["flags"])
def test_a_model_is_that_of_kenlm(figures: dict[str, Any], news: Path, tmp_path: Path) -> None:
    made = make(tmp_path, news, min_count=1, order=figures["order"], prune=figures["prune"])
    check_figures(made, figures)
    for order, discounts in enumerate(figures["discounts"], 1):
        assert stats_of(made)["orders"][str(order)]["discounts"] == pytest.approx(
            discounts, rel=1e-5
        )


def check_figures(made: Path, figures: dict[str, Any]) -> None:
    stats = stats_of(made)
    assert [one["ngrams"] for one in stats["orders"].values()] == figures["grams"]
    score = stats["scores"]["test"]
    assert (score["tokens"], score["unknown_words"]) == (figures["tokens"], figures["unknown"])
    assert score["perplexity"] == pytest.approx(figures["perplexity"], rel=DIGITS)
    without = score["perplexity_without_unknown"]
    assert without == pytest.approx(figures["without_unknown"], rel=DIGITS)


@pytest.mark.parametrize(
    "toy", [TOYS[84], TOYS[100], TOYS[154]], ids=["shorter than the order", "<unk>", "odd words"]
)
def test_a_model_of_a_small_text_is_that_of_kenlm(toy: dict[str, Any], tmp_path: Path) -> None:
    lines = toy["text"].removesuffix("\n").split("\n")
    texts = {"train": [lines[:5], lines[5:]], "test": [["One a\tb hello ."]]}
    build = make_text_build(tmp_path, "lm1b", "text", texts)
    made = make(tmp_path, build, min_count=1, order=toy["order"], prune=toy["prune"])
    if "arpa" in toy:
        check_arpa((made / "model.arpa").read_text("utf-8"), toy)
    assert ("lmplz refuses" in (made / "README.md").read_text("utf-8")) == bool(toy["refused"])


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_any_workers_and_buckets_make_the_same_bytes(
    smoothing: str, news: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make(tmp_path / "1", news, order=3, smoothing=smoothing)
    monkeypatch.setattr("corpusmill.pipelines.ngrams.BUCKET_BYTES", 2_000)
    two = make(tmp_path / "2", news, order=3, smoothing=smoothing, workers=2)
    assert tree_of(one) == tree_of(two)


@pytest.mark.slow
def test_log_likelihoods_are_what_score_takes(
    news: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--order", 2, "--workers", 1, "--quiet"]
    assert run_cli("ngrams", "--corpus", news, "--output", tmp_path, *flags) == 0
    (rows,) = tmp_path.rglob("log-likelihoods/test-*.parquet")
    perplexity = stats_of(rows.parents[1])["scores"]["test"]["perplexity"]
    assert f"test: perplexity {perplexity:.4f} of 3,027 words" in capsys.readouterr().out
    assert run_cli("score", "perplexity", "--corpus", news, "--log-likelihood", rows) == 0
    assert re.search(rf"word-level perplexity +{perplexity:.4f}\n", capsys.readouterr().out)
    assert run_cli("verify", tmp_path) == 0


TRAIN = [
    "the cat sat on the mat",
    "the dog sat on the cat",
    "a cat saw the dog on a mat",
    "the the the",
    "the cat sat",
    "on the mat the dog ran",
]
HELD_OUT = ["the dog saw a cat", "the bird sat", "a a the mat on the cat", "mat"]


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize(("prune", "min_count"), [([], 1), ([0, 1], 2)])
def test_stupid_backoff_is_that_of_its_definition(
    order: int, prune: list[int], min_count: int, tmp_path: Path
) -> None:
    texts = {"train": [TRAIN, TRAIN[:2]], "test": [HELD_OUT[:3], [], HELD_OUT[3:]]}
    build = make_text_build(tmp_path, "lm1b", "text", texts)
    given = {"order": order, "prune": prune[:order], "min_count": min_count}
    made = make(tmp_path, build, smoothing="stupid-backoff", **given)
    train = sentences_of("".join(f"{line}\n" for line in [*TRAIN, *TRAIN[:2]]).encode())
    counts = Counter(word for words in train for word in words)
    known = {word for word, count in counts.items() if count >= min_count}
    mapped = [[word if word in known else "<unk>" for word in words] for words in train]
    reference = StupidReference(mapped, order, prune[:order])
    parts = scores_of_test(made)
    assert [[row["document"] for row in part] for part in parts] == [[0, 1, 2], [], [3]]
    rows = [row for part in parts for row in part]
    for row, words in zip(rows, sentences_of("\n".join(HELD_OUT).encode()), strict=True):
        of_model = [word if word in known else "<unk>" for word in words]
        expected = reference.log_likelihood(of_model)
        assert sum(row["log_likelihood"]) == pytest.approx(expected, rel=1e-6)
    arpa = read_arpa((made / "model.arpa").read_text("utf-8"))
    assert all(float(one[0]) <= 0 for lines in arpa.values() for one in lines.values())
    assert "discounts" not in stats_of(made)["orders"]["1"]


BOOK = "CHAPTER I\n\nThe ship\nsailed at  dawn.\n\n\nThe sea was calm.\n"
ARTICLE = "\n_START_ARTICLE_\nMoon\n_START_PARAGRAPH_\nThe Moon is small.\n"
TEXTS = [  # corpus, column, text, sentences, words
    ("pg19", "book_text", BOOK, 3, 11),
    ("wiki40b", "text", ARTICLE, 4, 7),
    ("simplebooks", "text", "The ship .\n\nThe sea .\n", 3, 6),
    ("lm1b", "text", "The ship .", 1, 3),
]


@pytest.mark.parametrize(("corpus", "column", "text", "sentences", "words"), TEXTS)
def test_sentences_of_each_corpus(
    corpus: str, column: str, text: str, sentences: int, words: int, tmp_path: Path
) -> None:
    unknown = text.replace("The", "Never The", 1)
    texts = {"train": [[text] * 5], "validation": [[text]], "test": [[text], [unknown]]}
    made = make(tmp_path, make_text_build(tmp_path, corpus, column, texts), order=2)
    stats = stats_of(made)
    assert (stats["train"]["sentences"], stats["train"]["words"]) == (5 * sentences, 5 * words)
    assert stats["scores"]["validation"]["tokens"] == sentences + words
    rows = [row for part in scores_of_test(made) for row in part]
    assert [row["document"] for row in rows] == [0, 1]
    given = rows[1]["log_likelihood"]
    is_open = corpus in ("wiki40b", "pg19")
    card = (made / "README.md").read_text("utf-8")
    assert ("are `<unk>`, which costs less" in card) == is_open
    if not is_open:
        assert len(given) == sentences + words + 1
        given = sum(given)
    known = stats["scores"]["validation"]["log_likelihood"]
    assert given + known == pytest.approx(stats["scores"]["test"]["log_likelihood"])


def test_a_split_that_the_build_does_not_have_is_refused(news: Path) -> None:
    message = "no such split: dev; en/20260101-1.0.0 has the splits test, train"
    with pytest.raises(ValueError, match=message):
        Ngrams(NgramsConfig(str(news), splits=["dev"]))


def test_builds_that_no_model_is_made_of(news: Path, tmp_path: Path) -> None:
    texts: Any = {"train": [[]], "test": [["One ."]]}
    nothing = make_text_build(tmp_path / "1", "lm1b", "text", texts)
    with pytest.raises(InputError, match="the split train has no rows"):
        Ngrams(NgramsConfig(str(nothing)))
    items = make_text_build(tmp_path / "2", "entities", "text", {"train": [["One ."]]})
    with pytest.raises(InputError, match="entities have no running text"):
        Ngrams(NgramsConfig(str(items)))
    blank = make_text_build(
        tmp_path / "3", "lm1b", "text", {"train": [[" "]], "test": [["One ."]]}, {}
    )
    flags = ["--output", tmp_path, "--workers", 1, "--quiet"]
    assert run_cli("ngrams", "--corpus", blank, *flags) == 1
    assert not list(tmp_path.glob("ngrams/*/*/COMPLETED"))
