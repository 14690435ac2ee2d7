"""Scores how well any translation fits any source, with a model learned from the other pairs in the file.

A ridge regression predicts the features of translations from the features of their sources, and so learns
which words correspond. The prediction for a source is compared with the features of a target. Two pairs are
left out of the regression: the pair that contains the source and the pair that contains the target. Let K be
the kernel of the sources, L the kernel of the targets, λ the ridge parameter, A = (K + λI)⁻¹ and G = A L.
Then the prediction without pairs i and j follows from the 2 × 2 block of A at i and j (the block form of
leave-one-out), so the regression is computed only once.

The score also includes features that need no learning: shared numbers, shared Latin words and the length
ratio.
"""

import dataclasses
import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpusmill.pipelines.translation.line_features import Matrix, weigh_lines, words_of
from corpusmill.pipelines.translation.number_readings import with_ascii_digits

# Chosen on the devtest files of 8 languages with 80 exchanged pairs each, from λ 0.1, 0.3 and 1, weights 0
# and 0.1 of shared words, and 0 and 0.005 of lengths: values near these separate exchanged pairs best.
_RIDGE = 0.1
_SHARED_WEIGHT = 0.1
_LENGTH_WEIGHT = 0.004
_MAX_LENGTH_PENALTY = 16.0  # squared deviations from the median length ratio
_MIN_SPREAD = 0.05
_EXTRA_CHARS = 5
_TO_STANDARD_DEVIATION = 1.4826
_SHARED_WORD = re.compile(r"[0-9]+|[a-z]{2,}")

Indices = npt.NDArray[np.intp]


@dataclasses.dataclass(frozen=True)
class PairFit:
    """A model of n pairs of lines, which scores how well a target fits a source.

    Source i and target i are a pair. The model consists of four n × n matrices of 8-byte numbers. Row i and
    column i of each matrix belong to pair i; in `learned` and `static`, rows are sources and columns are
    targets. For 3,001 pairs, the matrices need 290 MB of memory; while they are learned, 0.9 GB is needed.
    """

    inverse: Matrix  # A of the module docstring
    targets: Matrix  # L, the similarity of each target to each other target
    learned: Matrix  # G of the module docstring
    static: Matrix  # the scores of `static_scores`

    def score(self, rows: Indices, columns: Indices, without: Indices) -> Matrix:
        """Returns for each k a score of how well target columns[k] fits source rows[k].

        For each score, the model leaves out two pairs: the pairs with the indexes rows[k] and without[k].

        Args:
          rows: indexes of sources.
          columns: indexes of targets. columns[k] must be equal to rows[k] or to without[k].
          without: for each k, the index of another pair than rows[k].
        """
        first, second = self.inverse[rows, rows], self.inverse[without, without]
        both = self.inverse[rows, without]
        learned = second * self.learned[rows, columns] - both * self.learned[without, columns]
        fit = self.targets[rows, columns] - learned / (first * second - both**2)
        return np.asarray(fit + self.static[rows, columns])

    def lone_scores(self) -> Matrix:
        """Returns for each pair a score of how well the target fits its source.

        The score of a pair is learned from all other pairs.
        """
        diagonal = np.diagonal(self.targets) - np.diagonal(self.learned) / np.diagonal(self.inverse)
        return np.asarray(diagonal + np.diagonal(self.static))


def learn_fit(sources: Sequence[str], targets: Sequence[str], is_unspaced: bool) -> PairFit:
    """Learns a model from pairs of lines: sources[n] and targets[n] are a pair.

    `is_unspaced` is True if the targets have no spaces between words.
    """
    source_rows = weigh_lines(sources, is_unspaced=False)
    likeness_of_sources = np.asarray(source_rows @ source_rows.T, np.float64)
    ridge = _RIDGE * np.eye(len(sources))
    inverse: Matrix = np.linalg.inv(likeness_of_sources + ridge).astype(float)
    target_rows = weigh_lines(targets, is_unspaced)
    likeness = np.asarray(target_rows @ target_rows.T, np.float64)
    return PairFit(inverse, likeness, inverse @ likeness, static_scores(sources, targets))


def static_scores(sources: Sequence[str], targets: Sequence[str]) -> Matrix:
    """Returns a score of how well each target (column) fits each source (row), without any learning.

    Shared numbers and Latin words raise the score; an unusual length ratio lowers it.
    """
    shared = _SHARED_WEIGHT * _shared_words(sources, targets)
    return np.asarray(shared - _LENGTH_WEIGHT * _length_penalties(sources, targets))


def _shared_words(sources: Sequence[str], targets: Sequence[str]) -> Matrix:
    """Returns for each source (row) and target (column) the similarity of their numbers and Latin words.

    This is the cosine similarity, from 0 to 1, with larger weights for rare words.
    """
    source_words, target_words = (
        [_latin_words(line) for line in side] for side in (sources, targets)
    )
    common = sorted(set().union(*source_words) & set().union(*target_words))
    column_of = {word: column for column, word in enumerate(common)}
    first, second = (_indicators(side, column_of) for side in (source_words, target_words))
    weights = np.sqrt(np.log((len(sources) + 1) / (first.sum(axis=0) + 1)))
    first, second = _unit_rows(first * weights), _unit_rows(second * weights)
    return np.asarray(first @ second.T, np.float64)


def _latin_words(line: str) -> set[str]:
    text = with_ascii_digits(" ".join(words_of(line)))
    return set(_SHARED_WORD.findall(text))


def _indicators(lines: Sequence[set[str]], column_of: dict[str, int]) -> Matrix:
    rows = np.zeros((len(lines), len(column_of)))
    for row, words in enumerate(lines):
        rows[row, [column_of[word] for word in words if word in column_of]] = 1
    return rows


def _unit_rows(rows: Matrix) -> Matrix:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, np.finfo(np.float64).tiny))


def _length_penalties(sources: Sequence[str], targets: Sequence[str]) -> Matrix:
    """Returns for each source (row) and target (column) a penalty for an unusual length ratio.

    The penalty is the squared deviation of the logarithm of the ratio from the median of the pairs, in units
    of the standard deviation, up to a limit.
    """
    first, second = (
        np.array([math.log(len(line.strip()) + _EXTRA_CHARS) for line in side])
        for side in (sources, targets)
    )
    usual = np.median(second - first)
    spread = np.median(np.abs(second - first - usual)) * _TO_STANDARD_DEVIATION
    deviations = (second[None, :] - first[:, None] - usual) / max(float(spread), _MIN_SPREAD)
    return np.asarray(np.minimum(deviations**2, _MAX_LENGTH_PENALTY))
