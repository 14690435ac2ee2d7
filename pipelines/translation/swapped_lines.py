"""Finds translations that are on the wrong line.

Two lines may have been exchanged, or all lines after a lost line may be shifted. Files with one sentence per
line have no ids, so only the content shows where a line belongs. A model that scores how well a translation
fits a source is learned from the file itself (see pair_fit). Each translation is scored with its own source
and with the other sources.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.line_features import Matrix, has_no_blanks
from corpusmill.pipelines.translation.line_offsets import OFFSETS, Run, find_offsets, runs_of
from corpusmill.pipelines.translation.pair_fit import PairFit, learn_fit, static_scores
from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, excerpt
from corpusmill.pipelines.translation.presence import is_text
from corpusmill.transforms.files.translation_records import Finding, SourceSentence, Translation

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
    parts = -(-len(sources) // _MAX_LINES)
    for part in range(parts):
        start, end = (len(sources) * edge // parts for edge in (part, part + 1))
        yield from _find_misplaced(sources[start:end], translations, language)


def _find_misplaced(
    sources: Sequence[SourceSentence],
    translations: Mapping[str, Translation],
    language: TargetLanguage,
) -> Iterator[Finding]:
    pairs = [
        Pair(source, translations.get(source.id, Translation(source.id, "", "", 0)))
        for source in sources
    ]
    if sum(is_text(pair.translation.text) for pair in pairs) < MIN_LINES:
        return
    source_lines = [source.text for source in sources]
    target_lines = [pair.translation.text for pair in pairs]
    offsets = _rough_offsets(source_lines, target_lines)
    scores = _Scores(source_lines, target_lines, offsets, has_no_blanks(language.scripts))
    if scores.usual < _MIN_USUAL:
        return
    band = scores.band()
    exchanges, strays = _search(scores, sources)
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
    blank = [line for line, text in enumerate(targets) if not is_text(text)]
    band[blank] = 0
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
    message = (
        f"the translation of this sentence seems to be at {holder.source.id}, not in this line"
    )
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
