"""Finds translations that are on the wrong line.

Two lines may have been exchanged, or all lines after a lost line may be shifted. Files with one sentence per
line have no ids, so only the content shows where a line belongs. A model that scores how well a translation
fits a source is learned from the file itself (see pair_fit). Each translation is scored with its own source
and with the other sources.

Computes a feature vector for each line, from the words and character n-grams of the line.

The features are tf-idf weights, hashed into a fixed number of columns.

Finds translations in a file that are shifted up or down because an earlier line was lost or added.

Scores how well any translation fits any source, with a model learned from the other pairs in the file.

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
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files.records import Finding, SourceSentence, Translation

from .check_numbers import with_ascii_digits
from .sentence_pairs import ERROR, WARNING, Pair, excerpt, is_text
from .target_languages import TargetLanguage

Matrix = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]

_SMALLEST = np.finfo(np.float32).tiny
_COLUMNS = 8192  # hash collisions cost little, and rows stay short
_WORD_PIECES = (3, 4)
_UNSPACED_PIECES = (1, 2, 3)
_UNSPACED = frozenset("Hani Hira Kana Khmr Laoo Mymr Thai Tibt".split())
_WORD = re.compile(
    r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u1000-\u109f\u1780-\u17ff]+[^\W_]*)*"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")


def weigh_lines(lines: Sequence[str], is_unspaced: bool) -> Rows:
    """Returns one row per line: the tf-idf weights of its words and of the character n-grams of the words.

    The words and n-grams are hashed into 8,192 columns, and each row is normalised to length 1. A line
    without words has a row of zeros.

    Args:
      lines: the lines.
      is_unspaced: True if the script has no spaces between words.
    """
    counts = np.zeros((len(lines), _COLUMNS), np.float32)
    for row, line in enumerate(lines):
        for piece, count in Counter(_pieces(line, is_unspaced)).items():
            counts[row, zlib.crc32(piece.encode("utf-8", "surrogatepass")) % _COLUMNS] += count
    rarity = np.log((len(lines) + 1) / ((counts > 0).sum(axis=0) + 1))
    weights = np.log1p(counts, out=counts)  # in place, because 3,001 rows take 98 MB
    weights *= rarity.astype(np.float32)
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), _SMALLEST)
    return weights


def words_of(line: str) -> list[str]:
    """Returns the case-folded words of a line.

    In scripts without spaces, each run of letters counts as a word.
    """
    return _WORD.findall(unicodedata.normalize("NFKC", _INVISIBLE.sub("", line)).casefold())


def _pieces(line: str, is_unspaced: bool) -> Iterator[str]:
    for word in words_of(line):
        if is_unspaced:
            yield from _runs(word, _UNSPACED_PIECES)
        else:
            yield f"={word}"
            yield from _runs(f"^{word}$", _WORD_PIECES)


def _runs(word: str, lengths: Sequence[int]) -> Iterator[str]:
    for length in lengths:
        for start in range(max(len(word) - length, 0) + 1):
            yield word[start : start + length]


MAX_OFFSET = 3
OFFSETS = tuple(range(-MAX_OFFSET, MAX_OFFSET + 1))


class Run(NamedTuple):
    """A run of source lines whose translations are `offset` lines too low in the file.

    If `offset` is negative, they are too high. `first` and `last` are the first and the last line of the run,
    counted from 0.
    """

    first: int
    last: int
    offset: int
    # Sum of the scores at this offset minus the sum of the scores at offset 0.
    gain: float

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)


def find_offsets(scores: Matrix, change_cost: float) -> npt.NDArray[np.intp]:
    """Estimates by how many lines the translation of each line is shifted.

    Returns the offset of each line. The Viterbi algorithm finds the offsets for which the sum of the scores,
    minus the cost of all changes of the offset, is greatest.

    Args:
        scores: scores[line, offset + MAX_OFFSET] says how well source line `line` fits the translation in
            line `line + offset`.
        change_cost: the cost if the offset changes from one line to the next, or if the first offset is not
            0.
    """
    lines, states = scores.shape
    best = scores[0] - change_cost * (np.array(OFFSETS) != 0)
    steps = np.zeros((lines, states), np.intp)
    for line in range(1, lines):
        from_best = int(best.argmax())
        changes = best < best[from_best] - change_cost
        steps[line] = np.where(changes, from_best, np.arange(states))
        best = np.where(changes, best[from_best] - change_cost, best) + scores[line]
    path = np.zeros(lines, np.intp)
    state = int(best.argmax())
    for line in range(lines - 1, -1, -1):
        path[line] = state
        state = int(steps[line, state])
    return path - MAX_OFFSET


def runs_of(offsets: npt.NDArray[np.intp], scores: Matrix) -> Iterator[Run]:
    """Yields each run of lines with the same offset, except runs with offset 0.

    Args:
        offsets: for each source line, by how many lines its translation is shifted.
        scores: scores[line, offset + MAX_OFFSET] says how well source line `line` fits the translation in
            line `line + offset`.
    """
    edges = np.flatnonzero(np.diff(offsets)) + 1
    for first, end in zip([0, *edges], [*edges, len(offsets)], strict=True):
        if offset := int(offsets[first]):
            gains = scores[first:end, offset + MAX_OFFSET] - scores[first:end, MAX_OFFSET]
            yield Run(int(first), int(end) - 1, offset, float(gains.sum()))


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
    return set(_SHARED_WORD.findall(with_ascii_digits(" ".join(words_of(line)))))


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


_RULE = "swapped-lines"

MIN_LINES = 100  # files with fewer lines are too small to learn from
_MAX_LINES = 3500  # memory grows with the square of the lines, so longer files are checked in parts

# The unit of gains is the usual score, the median score of the pairs of the file. In the 16 released devtest
# files the greatest gain of an exchange is 0.26 within an article and 0.45 between articles. Of 100 pairs
# exchanged on purpose in each file, all had 0.06 or more and 19 of 20 had 0.5 or more.
_MIN_NEAR_GAIN = 0.35
_MIN_FAR_GAIN = 0.6
# there is a warning if an exchange has at least this share of the gain that an error needs
_DOUBTFUL = 0.8
# Each of the two lines of an exchange needs a greater gain than this.
_MIN_GAIN_OF_ONE = 0.0

# Minimum gain of a stray: a translation that fits another source, while neither line fits its own source. The
# greatest gain of a wrong finding is 0.52; the one stray in these files (the Nepali translation of
# devtest-0102 is at devtest-0103) has 1.67.
_MIN_STRAY_GAIN = 0.8

# Minimum usual score. Real files have 0.06 or more. Below this limit, nothing was learned.
_MIN_USUAL = 0.02

# Costs of a change of the offset, for learned scores and for static scores. The unit for learned scores is
# the usual score, of which a wrong line loses about 1.
_CHANGE_COST = 1.0
_STATIC_CHANGE_COST = 0.5
_MIN_RUN_GAIN = 1.2  # a run must also have two lines or more; single lines are reported as strays


class _Scores:
    """Scores how well any target of a file fits any source.

    The scores come from a model that is learned from pairs of lines. `offsets` has for each source the
    estimated number of lines by which its target is shifted, so source n and target n + offsets[n] are a
    pair.
    """

    def __init__(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        offsets: npt.NDArray[np.intp],
        is_unspaced: bool,
    ) -> None:
        pairs = [
            (line, line + offset)
            for line, offset in enumerate(offsets)
            if 0 <= line + offset < len(targets) and is_text(targets[line + offset])
        ]
        pair_of_target = {target: line for line, target in reversed(pairs)}  # each target once
        self.lines = [(line, target) for target, line in sorted(pair_of_target.items())]
        self.fit: PairFit = learn_fit(
            [sources[line] for line, _ in self.lines],
            [targets[target] for _, target in self.lines],
            is_unspaced,
        )
        self._row_of = np.full(len(sources), -1)
        self._column_of = np.full(len(targets), -1)
        for place, (line, target) in enumerate(self.lines):
            self._row_of[line], self._column_of[target] = place, place
        self._lone = self.fit.lone_scores()
        self.usual = float(np.median(self._lone))

    def band(self) -> Matrix:
        """Returns how well each source fits the targets on its own line and on the lines near it.

        The result has one row per source, and one column for each number of lines in OFFSETS, from -3 to 3,
        by which the target is below the source. Scores are divided by the median score of the pairs. The
        score is 0 if the model does not have the source or the target.
        """
        count = len(self._row_of)
        band = np.zeros((count, len(OFFSETS)))
        for state, offset in enumerate(OFFSETS):
            lines = np.arange(max(0, -offset), min(count, count - offset))
            rows, columns = self._row_of[lines], self._column_of[lines + offset]
            own = (rows == columns) & (rows >= 0)
            other = (rows != columns) & (rows >= 0) & (columns >= 0)
            band[lines[own], state] = self._lone[rows[own]]
            band[lines[other], state] = self.fit.score(rows[other], columns[other], columns[other])
        return band / self.usual

    def compare(self, place: int) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Compares the pair at the index `place` and each later pair.

        Returns four arrays with one score per later pair. They are the scores of:
          this source with this target,
          the later source with the later target,
          this source with the later target,
          the later source with this target.

        Scores are divided by the median score of the pairs.
        """
        later = np.arange(place + 1, len(self.lines))
        this = np.full(len(later), place)
        return (
            self.fit.score(this, this, later) / self.usual,
            self.fit.score(later, later, this) / self.usual,
            self.fit.score(this, later, later) / self.usual,
            self.fit.score(later, this, this) / self.usual,
        )


def find_misplaced(
    sources: Sequence[SourceSentence],
    translations: Mapping[str, Translation],
    language: TargetLanguage,
) -> Iterator[Finding]:
    """Yields `swapped-lines` findings for translations that are on the wrong line.

    A finding is an error if the translation is clearly on the wrong line, otherwise a warning.
    """
    pairs = [
        Pair(source, translations.get(source.id, Translation(source.id, "", "", 0)))
        for source in sources
    ]
    parts = -(-len(sources) // _MAX_LINES)
    for part in range(parts):
        start, end = (len(sources) * edge // parts for edge in (part, part + 1))
        yield from _find_misplaced(pairs[start:end], language)


def _find_misplaced(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    if sum(is_text(pair.translation.text) for pair in pairs) < MIN_LINES:
        return
    source_lines = [pair.source.text for pair in pairs]
    target_lines = [pair.translation.text for pair in pairs]
    offsets = _rough_offsets(source_lines, target_lines)
    scores = _Scores(
        source_lines, target_lines, offsets, not _UNSPACED.isdisjoint(language.scripts)
    )
    if scores.usual < _MIN_USUAL:
        return
    band = scores.band()
    exchanges, strays = _search(scores, [pair.source for pair in pairs])
    exchanged = {line for line, other, _ in exchanges for line in (line, other)}
    runs = [
        run
        for run in runs_of(find_offsets(band, _CHANGE_COST), band)
        if len(run.lines) > 1 and run.gain > _MIN_RUN_GAIN and not exchanged.issuperset(run.lines)
    ]
    shifted = {line for run in runs for line in run.lines}
    yield from _shift_findings(runs, pairs)
    for line, other, severity in exchanges:
        if not shifted & {line, other}:
            yield _exchange(pairs[line], pairs[other], severity)
            yield _exchange(pairs[other], pairs[line], severity)
    for line, other in strays:
        if not (shifted | exchanged) & {line, other}:
            yield from _stray(pairs[line], pairs[other])


def _rough_offsets(sources: Sequence[str], targets: Sequence[str]) -> npt.NDArray[np.intp]:
    """Estimates by how many lines the translation of each line is shifted, from scores that need no learning.

    The model is then learned from the pairs at these offsets, so it is reliable even if most of the file is
    shifted.
    """
    static = static_scores(sources, targets)
    band = np.full((len(sources), len(OFFSETS)), static.min())
    for state, offset in enumerate(OFFSETS):
        lines = np.arange(max(0, -offset), min(len(sources), len(sources) - offset))
        band[lines, state] = static[lines, lines + offset]
    band[[line for line, text in enumerate(targets) if not is_text(text)]] = 0
    return find_offsets(band, _STATIC_CHANGE_COST)


def _search(
    scores: _Scores, sources: Sequence[SourceSentence]
) -> tuple[list[tuple[int, int, str]], list[tuple[int, int]]]:
    """Searches for exchanged lines, and for strays: translations on another line than their source.

    Returns a list of exchanges (line, other line, severity), and a list of strays (line of the source, line
    of its translation). Both lists are sorted by the improvement of the score, the greatest first. A line is
    in at most one exchange and at most one stray.
    """
    articles = np.array([sources[line].article for line, _ in scores.lines])
    exchanges: list[tuple[float, int, int]] = []
    strays: list[tuple[float, int, int]] = []
    for place in range(len(scores.lines) - 1):
        own, other_own, to_other_target, from_other_source = scores.compare(place)
        gains, other_gains = to_other_target - own, from_other_source - other_own
        needed = np.where(articles[place + 1 :] == articles[place], _MIN_NEAR_GAIN, _MIN_FAR_GAIN)
        strength = (gains + other_gains) / needed
        both = np.minimum(gains, other_gains) > _MIN_GAIN_OF_ONE
        for later in np.flatnonzero(both & (strength > _DOUBTFUL)):
            exchanges.append((float(strength[later]), place, place + 1 + int(later)))
        worse_own = np.maximum(own, other_own)
        for fit, step in ((to_other_target, 1), (from_other_source, -1)):
            stray_gains = fit - worse_own
            for later in np.flatnonzero(stray_gains > _MIN_STRAY_GAIN):
                first, second = (place, place + 1 + int(later))[::step]
                strays.append((float(stray_gains[later]), first, second))
    line_of = [line for line, _ in scores.lines]
    return (
        [
            (line_of[place], line_of[other], ERROR if strength > 1 else WARNING)
            for strength, place, other in _each_once(exchanges)
        ],
        [(line_of[place], line_of[other]) for _, place, other in _each_once(strays)],
    )


def _each_once(found: list[tuple[float, int, int]]) -> Iterator[tuple[float, int, int]]:
    taken: set[int] = set()
    for gain, place, other in sorted(found, reverse=True):
        if not taken & {place, other}:
            taken |= {place, other}
            yield gain, place, other


def _stray(pair: Pair, holder: Pair) -> Iterator[Finding]:
    where = f"at {holder.source.id}, not in this line"
    message = f"the translation of this sentence seems to be {where}"
    yield pair.finding(_RULE, ERROR, message)
    message = f"this seems to be the translation of {pair.source.id}, {excerpt(pair.source.text)}"
    yield holder.finding(_RULE, ERROR, message)


def _exchange(pair: Pair, other: Pair, severity: str) -> Finding:
    message = (
        f"this seems to be the translation of {other.source.id}, {excerpt(other.source.text)},"
        " which in turn has the translation of this sentence"
    )
    return pair.finding(_RULE, severity, message)


def _shift_findings(runs: Sequence[Run], pairs: Sequence[Pair]) -> Iterator[Finding]:
    for run in runs:
        first, last = pairs[run.first].source.id, pairs[run.last].source.id
        where = "below" if run.offset > 0 else "above"
        lines = "1 line" if abs(run.offset) == 1 else f"{abs(run.offset)} lines"
        for line in run.lines:
            message = (
                f"the translation of this sentence seems to be {lines} {where}:"
                f" the translations of {first} to {last} are on the wrong lines"
            )
            yield pairs[line].finding(_RULE, ERROR, message)
