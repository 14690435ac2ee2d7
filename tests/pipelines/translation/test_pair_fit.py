"""The closed form against the regression made again without the pairs."""

import random

import numpy as np
import pytest

from corpusmill.pipelines.translation import swapped_lines
from corpusmill.pipelines.translation.swapped_lines import (
    Matrix,
    learn_fit,
    static_scores,
    weigh_lines,
)

WORDS = (
    "river stone bird house winter bread letter mountain song window tree night road fire".split()
)


def sentences(count: int) -> list[str]:
    chance = random.Random(5)
    return [" ".join(chance.choices(WORDS, k=7)) for _ in range(count)]


def cipher(text: str) -> str:
    return " ".join(word[::-1] + "o" for word in text.split())


SOURCES = sentences(12)
TARGETS = list(map(cipher, SOURCES))


def again(row: int, column: int, left_out: set[int]) -> float:
    """The regression without some pairs, as it is defined: y · Yᵀ(K + λI)⁻¹ k."""
    x, y = weigh_lines(SOURCES, False), weigh_lines(TARGETS, False)
    kept = [pair for pair in range(len(SOURCES)) if pair not in left_out]
    kernel = x[kept] @ x[kept].T + swapped_lines._RIDGE * np.eye(len(kept))
    expected: Matrix = (x[row] @ x[kept].T) @ np.linalg.inv(kernel) @ y[kept]
    return float(expected @ y[column] + static_scores(SOURCES, TARGETS)[row, column])


@pytest.mark.parametrize(("row", "column"), [(0, 1), (3, 11), (7, 2)])
def test_both_pairs_are_left_out(row: int, column: int) -> None:
    fit = learn_fit(SOURCES, TARGETS, False)
    rows, columns = np.array([row]), np.array([column])
    assert fit.score(rows, columns, columns)[0] == pytest.approx(again(row, column, {row, column}))
    assert fit.score(rows, rows, columns)[0] == pytest.approx(again(row, row, {row, column}))


def test_a_pair_is_left_out() -> None:
    fit = learn_fit(SOURCES, TARGETS, False)
    expected = [again(pair, pair, {pair}) for pair in range(len(SOURCES))]
    assert fit.lone_scores() == pytest.approx(np.array(expected))


def test_numbers_and_latin_words_that_both_have_speak_for_a_pair() -> None:
    sources = ["In 1945 Miller came.", "In 1871 nobody came.", "The bird sang."]
    targets = ["Το ۱۹۴۵ ήρθε ο Miller.", "Το 1871 κανείς.", "Το πουλί."]
    scores = static_scores(sources, targets)
    assert scores[0, 0] > scores[0, 1] + 0.05
    assert scores[1, 1] > scores[1, 0] + 0.05


def test_lengths_that_are_unusual_speak_against_it() -> None:
    sources = ["x" * length for length in (20, 40, 60, 80, 100)]
    scores = static_scores(sources, ["é" * length for length in (22, 39, 63, 81, 103)])
    assert scores[0, 0] > scores[0, 4]
    assert scores[4, 4] > scores[4, 0]
    assert scores.max() <= 0
