"""Finds translations that are identical or nearly identical to the English source."""

import difflib
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, fold
from corpusmill.transforms.files.translation_records import Finding

# Minimum share of words that both lines have in common. The greatest share in 16 released devtest files is
# 0.67, for a French line that consists mostly of names.
MIN_SHARED_WORDS = 0.8
_MAX_NAME_WORDS = 3  # "Buenos Aires, Argentina" may be left unchanged


def find_copies(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields `source-copy` findings for translations that are identical or nearly identical to their source.

    A finding is an error. It is only a warning for a source of at most 3 words, because this may be a name.
    """
    if language.tag.split("-")[0] == "en":
        return
    for pair in pairs:
        source, target = pair.source.text.split(), pair.translation.text.split()
        if fold(pair.source.text) == fold(pair.translation.text):
            severity = WARNING if len(source) <= _MAX_NAME_WORDS else ERROR
            message = f"the source itself, not a translation into {language.name}"
            yield pair.finding("source-copy", severity, message)
        elif len(source) > _MAX_NAME_WORDS and _shared_words(source, target) >= MIN_SHARED_WORDS:
            message = f"nearly the source itself, not a translation into {language.name}"
            yield pair.finding("source-copy", ERROR, message)


def _shared_words(source: list[str], target: list[str]) -> float:
    if not set(source) & set(target):  # a quick test that excludes nearly all lines
        return 0.0
    matcher = difflib.SequenceMatcher(None, source, target, autojunk=False)
    if matcher.quick_ratio() < MIN_SHARED_WORDS:
        return 0.0
    return matcher.ratio()
