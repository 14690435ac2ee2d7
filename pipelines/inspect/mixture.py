"""Mixes the word probabilities of several language models linearly, as in Chelba et al. 2013, section 5.2.

The weights are those that maximise the likelihood of one split, found by expectation maximisation. Another
split is scored with them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.read_files import match_inputs
from corpusmill.transforms.files.terminal import draw, screen_columns

from . import language_model_scores as scores
from .score import Score, normalisers_of, print_score, read_log_likelihoods

SPLIT = "{split}"  # in the name of a model's files
_NESTED = (
    {"paper_test", "test"},
    {"dev", "test"},
    {"train_2", "train"},
)  # one is a part of the other
STEPS = 1_000
LEAST_GAIN = 1e-9  # nats per token
_TOKENS = 1 << 20  # processed at once

Values = npt.NDArray[np.float64]


class Tokens(NamedTuple):
    """The log-likelihoods of the tokens of a split by several models, in the order of the documents."""

    values: Values  # [models, tokens], natural logarithms
    unit: str  # "word", or "word and end of line"


class Mixture(NamedTuple):
    """A linear mixture of models."""

    models: Sequence[str]  # patterns of files
    weights: Values  # of the models; they add up to 1
    fitted: Tokens  # on which the weights were found
    scored: Tokens


def mix_models(corpus: str, models: Sequence[str], fit: str, split: str, base: str = "e") -> None:
    """Finds the weights of a mixture on one split, scores another split with it, and prints both.

    Args:
      corpus: folder of a finished build.
      models: for each model, a pattern of files with log-likelihoods; "{split}" stands for the split.
      fit: split on which the weights are found.
      split: split to score.
      base: base of the logarithms: "e", "2" or "10".

    Raises InputError if a folder or file cannot be read, ValueError for files that cannot be mixed.
    """
    if len(models) < 2:
        raise ValueError("a mixture needs at least two models")
    if fit == split or {fit, split} in _NESTED:
        raise ValueError(f"weights must not be fitted to {fit}: it has text of {split}")
    if bare := [name for name in models if SPLIT not in name]:
        raise ValueError(
            f"{bare[0]}: write {SPLIT} in place of the name of the split, as in 'scores/{SPLIT}-*.parquet'"
        )
    build = open_build(corpus)
    counts = {name: normalisers_of(build, name) for name in (fit, split)}
    fitted, scored = (read_tokens(models, name, counts[name], base) for name in (fit, split))
    found = Mixture(models, fit_weights(fitted.values), fitted, scored)
    for number, name in enumerate(models, 1):
        print(f"model {number}: {name}")
    print(draw(("model", "weight", fit, split), _rows(found), numbers=3, width=screen_columns()))
    total = float(log_mixture(scored.values, found.weights).sum())
    print_score(
        Score(
            "perplexity",
            _perplexity(scored, found.weights),
            build,
            split,
            total,
            scored.unit,
            counts[split],
        )
    )


def read_tokens(models: Sequence[str], split: str, counts: scores.Normalisers, base: str) -> Tokens:
    """Reads the log-likelihoods of all words of a split, for all models.

    Raises ValueError for files without a number for each word, and for models with different words.
    """
    found = [_read_model(name.replace(SPLIT, split), counts) for name in models]
    first, *others = found
    for name, (unit, lengths, _) in zip(models[1:], others, strict=True):
        if unit != first[0] or not np.array_equal(lengths, first[1]):
            raise ValueError(
                f"{name}: its documents have other numbers of log-likelihoods than those of {models[0]}:"
                " models can be mixed only if they predict the same words"
            )
    values = np.stack([values for _, _, values in found]) * np.log(scores.BASES[base])
    return Tokens(values, first[0])


def _read_model(
    pattern: str, counts: scores.Normalisers
) -> tuple[str, npt.NDArray[np.int64], Values]:
    documents: dict[int, Values] = {}

    def rows() -> Iterator[tuple[int, scores.LogLikelihood]]:
        for document, given in read_log_likelihoods(match_inputs([pattern])):
            if not isinstance(given, list):
                raise ValueError(
                    "has one number for each document: a mixture needs a list with a number for each word"
                )
            documents[document] = np.array(given)
            yield document, given

    try:
        unit = scores.sum_log_likelihoods(rows(), counts).unit
        if unit == "piece":
            raise ValueError(
                "has one number for each piece: a mixture needs a number for each word"
            )
    except ValueError as error:
        raise ValueError(f"{pattern}: {error}") from None
    in_order = [documents[number] for number in range(len(documents))]
    return unit, np.array([len(one) for one in in_order]), np.concatenate(in_order)


def fit_weights(values: Values) -> Values:
    """Returns the weights with which a linear mixture gives tokens the highest likelihood.

    They are found by expectation maximisation, which starts with equal weights. It ends when a step gains
    less than LEAST_GAIN per token, or after STEPS steps.

    Args:
      values: [models, tokens], natural logarithms of probabilities.
    """
    models, tokens = values.shape
    weights, before = np.full(models, 1 / models), -np.inf
    for _ in range(STEPS):
        shares, total = np.zeros(models), 0.0
        for start in range(0, tokens, _TOKENS):
            part = values[:, start : start + _TOKENS]
            highest = part.max(axis=0)
            weighted = weights[:, np.newaxis] * np.exp(part - highest)
            mixed = weighted.sum(axis=0)
            shares += (weighted / mixed).sum(axis=1)
            total += float((np.log(mixed) + highest).sum())
        weights = shares / tokens
        if total / tokens - before < LEAST_GAIN:
            break
        before = total / tokens
    return weights


def log_mixture(values: Values, weights: Values) -> Values:
    """Returns the natural logarithms of the mixed probabilities of tokens."""
    highest = values.max(axis=0)
    mixed: Values = np.log(weights @ np.exp(values - highest)) + highest
    return mixed


def _perplexity(tokens: Tokens, weights: Values) -> float:
    return float(np.exp(-log_mixture(tokens.values, weights).mean()))


def _rows(found: Mixture) -> Iterator[tuple[str, ...]]:
    names = map(str, range(1, len(found.models) + 1))
    alone = np.eye(len(found.models))
    rows = [*zip(names, found.weights, alone, strict=True), ("mixture", 1.0, found.weights)]
    for name, weight, weights in rows:
        both = (_perplexity(tokens, weights) for tokens in (found.fitted, found.scored))
        yield name, f"{weight:.4f}", *(f"{value:.2f}" for value in both)
