"""Finds lines that are not in the target language, but in English or a related language.

English is detected from the file itself: the letter triples of an English line are more similar to those of
the sources than to those of the other translations. Other languages are detected by py3langid, if it knows
the target language.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair
from corpusmill.pipelines.translation.wrong_script import without_names
from corpusmill.transforms.files.language_of_text import (
    CERTAIN_DISTANCE,
    distance,
    identifier,
    label_of,
    name_of,
)
from corpusmill.transforms.files.translation_records import Finding

_RULE = "wrong-language"
_LATIN = "Latn"

# Log likelihood per letter triple under the sources, minus that under the other translations. In 8 files in
# Latin and Greek script no translation has more than -0.09, and no English line has less than 0.28.
_MIN_ENGLISH = 0.1
_MIN_LINES = 100  # files with fewer lines are too small to learn from
_SMOOTHING = 0.5

# log(p / p of the right language) of py3langid. No line of 19 languages has more than 1.8 for another
# language, except one Xhosa line with 2.9 for Zulu. 19 of 20 Hindi lines in a Nepali file, and the reverse,
# have more than 1.8.
_MIN_MARGIN = 3.5
_DOUBTFUL_MARGIN = 2.0
_MIN_CHARS = 25
# Language distance of CLDR. Nearer languages are too similar to distinguish (Bosnian and Croatian, 8);
# languages that are a little farther apart give only warnings (Malay and Indonesian, 34; Norwegian and
# Danish, 12; Czech and Slovak, 24). These limits were not measured, for lack of data.
_MIN_DISTANCE = 10
_SMALLEST = 1e-12


def find_foreign_lines(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields `wrong-language` findings: errors if the wrong language is certain, warnings if it is likely.

    Short lines are not checked.
    """
    # In other scripts, English is reported as wrong script, and Latin letters are often names.
    may_hide_english = language.scripts == (_LATIN,) and language.tag.split("-")[0] != "en"
    english = set(_english_places(pairs)) if may_hide_english else set()
    identify = identifier()
    own = label_of(language.tag)
    for place, pair in enumerate(pairs):
        text = without_names(pair.translation.text, pair.source.text)
        if place in english:
            message = f"English; expected {language.name}"
            yield pair.finding(_RULE, ERROR, message)
        elif own and sum(map(str.isalpha, text)) >= _MIN_CHARS:
            finding = _identified(pair, language, own, identify(pair.translation.text.strip()))
            if finding:
                yield finding


def _identified(
    pair: Pair, language: TargetLanguage, own: str, likelihoods: Mapping[str, float]
) -> Finding | None:
    best = max(likelihoods, key=lambda label: likelihoods[label])
    margin = math.log(max(likelihoods[best], _SMALLEST) / max(likelihoods[own], _SMALLEST))
    apart = distance(best, own)
    if margin < _DOUBTFUL_MARGIN or apart < _MIN_DISTANCE:
        return None
    name = name_of(best)
    if margin < _MIN_MARGIN or apart < CERTAIN_DISTANCE:
        return pair.finding(_RULE, WARNING, f"perhaps {name}; expected {language.name}")
    return pair.finding(_RULE, ERROR, f"{name}; expected {language.name}")


def _english_places(pairs: Sequence[Pair]) -> Iterator[int]:
    """Yields the index of each pair whose translation is English."""
    if len(pairs) < _MIN_LINES:
        return
    sources = [Counter(_triples(pair.source.text)) for pair in pairs]
    targets = [Counter(_triples(pair.translation.text)) for pair in pairs]
    english, translated = _Triples(sources), _Triples(targets)
    different = len(english.counts.keys() | translated.counts.keys())
    for place, pair in enumerate(pairs):
        words = Counter(_triples(without_names(pair.translation.text, pair.source.text)))
        words &= targets[place]  # drops triples across the gap of a removed name
        length = words.total()
        likeness = english.log_likelihood(words, sources[place], different)
        likeness -= translated.log_likelihood(words, targets[place], different)
        if length >= _MIN_CHARS and likeness / length > _MIN_ENGLISH:
            yield place


class _Triples:
    """Counts of the letter triples in lines of one language."""

    def __init__(self, lines: Sequence[Counter[str]]) -> None:
        self.counts: Counter[str] = Counter()
        for line in lines:
            self.counts.update(line)
        self._total = self.counts.total()

    def log_likelihood(self, line: Counter[str], left_out: Counter[str], different: int) -> float:
        """Returns the log-likelihood of a line, given the counts of the triples in all lines except one.

        Args:
          line: the triples of the line whose log-likelihood is returned.
          left_out: the triples of the line that is left out of the counts.
          different: the number of distinct triples in sources and translations together, for smoothing.
        """
        total = self._total - left_out.total() + _SMOOTHING * different
        return sum(
            count * math.log((self.counts[triple] - left_out[triple] + _SMOOTHING) / total)
            for triple, count in line.items()
        )


def _triples(text: str) -> list[str]:
    text = f" {' '.join(text.casefold().split())} "
    return [text[start : start + 3] for start in range(len(text) - 2)]
