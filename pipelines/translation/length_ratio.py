"""Finds translations whose length, compared with the source, is unusual for the language."""

import math
import statistics
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, fold
from corpusmill.pipelines.translation.presence import is_text
from corpusmill.transforms.files.translation_records import Finding

_RULE = "length-ratio"

# The log ratio of the lengths (in letters) is compared with the median. Its distance from the median is
# measured in standard deviations, estimated from the median distance, which faults hardly change. The worst
# line of each of 16 released devtest files is at 3.3 to 5.9. Of the 13 lines above 4.5, two are translations
# of another sentence, and most others say more or less than their source.
_MAX_DEVIATIONS = 6.0
_HIGH_DEVIATIONS = 4.5
_TO_STANDARD_DEVIATION = 1.4826
# A lower limit: in a very regular file, a small difference would count as a fault.
_MIN_SPREAD = 0.12
# Added to each length, because one word changes the ratio of a short line much.
_EXTRA_CHARS = 10
_MIN_LINES = 30  # with fewer lines, the median is not reliable, so the fixed bounds are used
# length ratios: from that of Chinese, the shortest of the 16 files, to that of the longest
_FIXED_BOUNDS = (0.15, 4.0)


def find_odd_lengths(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields `length-ratio` findings for translations that are unusually long or short for their source.

    A finding is an error if the length ratio is more than 6 standard deviations from the median of the file.
    It is a warning if the ratio is more than 4.5, but at most 6 standard deviations from the median. In a
    file of fewer than 30 lines, a ratio outside fixed bounds is reported instead, as a warning.
    """
    filled = [pair for pair in pairs if is_text(pair.translation.text)]
    ratios = [_log_ratio(pair) for pair in filled]
    if len(filled) < _MIN_LINES:
        yield from _outside_fixed_bounds(filled, ratios)
        return
    middle = statistics.median(ratios)
    distance = statistics.median(abs(ratio - middle) for ratio in ratios)
    spread = max(distance * _TO_STANDARD_DEVIATION, _MIN_SPREAD)
    for pair, ratio in zip(filled, ratios, strict=True):
        deviations = (ratio - middle) / spread
        if abs(deviations) > _HIGH_DEVIATIONS:
            severity = ERROR if abs(deviations) > _MAX_DEVIATIONS else WARNING
            usual = round(_length(pair.source.text) * math.exp(middle))
            yield pair.finding(_RULE, severity, _message(pair, usual))


def _outside_fixed_bounds(pairs: Sequence[Pair], ratios: Sequence[float]) -> Iterator[Finding]:
    shortest, longest = (math.log(bound) for bound in _FIXED_BOUNDS)
    for pair, ratio in zip(pairs, ratios, strict=True):
        if not shortest <= ratio <= longest:
            yield pair.finding(_RULE, WARNING, _message(pair, _length(pair.source.text)))


def _log_ratio(pair: Pair) -> float:
    return math.log(_length(pair.translation.text) / _length(pair.source.text))


def _length(text: str) -> int:
    return len(fold(text)) + _EXTRA_CHARS


def _message(pair: Pair, usual: int) -> str:
    length = len(fold(pair.translation.text))
    expected = max(usual - _EXTRA_CHARS, 1)
    kind = "short: is something left out?" if length < expected else "long: is something added?"
    return f"the line has {length} letters and digits, but about {expected} are usual; it is very {kind}"
