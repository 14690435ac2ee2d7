"""Linear mixtures of language models."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from corpusmill.pipelines.inspect.score import fit_weights, log_mixture
from tests.makers.finished_builds import make_build
from tests.makers.wiki_builds import run_cli

STATS = {"sentences": 2, "words": 5, "characters": 12, "text_bytes": 13, "pieces": 9}
NEWS = {"heldout_shards": [], "validation": STATS, "paper_test": STATS}
MODELS = {  # name of a model → probabilities of the words of both sentences
    "sure": [[0.5, 0.5], [0.5, 0.125, 0.125, 0.5, 0.5]],
    "unsure": [[0.25, 0.25], [0.25, 0.25, 0.5, 0.25, 0.25]],
}


def test_weights_maximise_the_likelihood() -> None:
    random = np.random.default_rng(1)
    of_models = random.dirichlet([1] * 5, size=3)
    tokens = random.choice(5, size=5_000, p=np.array([0.1, 0.6, 0.3]) @ of_models)
    values = np.log(of_models[:, tokens])
    weights = fit_weights(values)
    assert weights.sum() == pytest.approx(1)
    best = log_mixture(values, weights).mean()
    grid = np.arange(0, 1.01, 0.05)
    pairs = [(one, two) for one in grid for two in grid if one + two <= 1]
    others = [log_mixture(values, np.array([*pair, 1 - sum(pair)])).mean() for pair in pairs]
    assert best >= max(others) - 1e-7


def test_logarithms_of_tiny_probabilities_are_mixed() -> None:
    mixed = log_mixture(np.array([[-2000.0], [-2000.0]]), np.array([0.5, 0.5]))
    assert mixed.tolist() == [-2000.0]


def write_models(folder: Path, models: dict[str, list[list[float]]], split: str) -> None:
    for name, documents in models.items():
        rows = [
            {"document": number, "log_likelihood": [math.log2(one) for one in words]}
            for number, words in enumerate(documents)
        ]
        path = folder / f"{name}-{split}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def test_a_mixture_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = make_build(
        tmp_path, "en", {}, corpus="lm1b", stats=NEWS, signature="lm1b|lang:en|v:1.0.0"
    )
    for split in ("validation", "paper_test"):
        write_models(tmp_path, MODELS, split)
    patterns = [tmp_path / f"{name}-{{split}}.jsonl" for name in MODELS]
    flags = ["--corpus", build, "--split", "paper_test", "--base", "2", "--models"]
    assert run_cli("score", "mixture", *flags, *patterns) == 0
    shown = capsys.readouterr().out
    both = np.log([[one for document in model for one in document] for model in MODELS.values()])
    weights = fit_weights(both)
    assert re.search(rf"^  1 +{weights[0]:.4f} ", shown, re.MULTILINE)
    assert shown.endswith(f" = {math.exp(-log_mixture(both, weights).mean()):.4f}\n")
    for wrong, message in (
        ([patterns[0]], "a mixture needs at least two models"),
        ([*patterns, "x.jsonl"], "x.jsonl: write {split} in place of the name of the split"),
        ([*patterns, "--fit", "test"], "must not be fitted to test: it has text of paper_test"),
    ):
        assert run_cli("score", "mixture", *flags, *wrong) == 2
        assert message in capsys.readouterr().err
    pieces = {"sure": [[0.5] * 4, [0.5] * 5]}  # instead of 7 words and ends of lines
    write_models(tmp_path, pieces, "validation")
    assert run_cli("score", "mixture", *flags, *patterns) == 2
    assert "one number for each piece: a mixture needs a number" in capsys.readouterr().err
    write_models(tmp_path, {"sure": MODELS["sure"]}, "validation")
    write_models(tmp_path, {"unsure": [MODELS["unsure"][1], MODELS["unsure"][0]]}, "validation")
    assert run_cli("score", "mixture", *flags, *patterns) == 2
    assert "models can be mixed only if they predict the same words" in capsys.readouterr().err
