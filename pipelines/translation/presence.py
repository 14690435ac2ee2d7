"""Checks that every source sentence has a translation and every translation has a source sentence."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, Pair, excerpt, fold
from corpusmill.transforms.files.translation_records import Finding, SourceSentence, Translation

# Texts that are entered before a sentence is translated, in the form of `fold`: "TO DO", "[T.B.D.]", "n/a".
_PLACEHOLDERS = frozenset(
    {"fixme", "loremipsum", "na", "none", "null", "tba", "tbd", "todo", "translate", "translation"}
    | {"untranslated", "xx", "xxx"}
)
_MAX_NAME_WORDS = 3  # "To do" may be translated with "Todo"
# Minimum letters and digits of a translation for each one of its source. The smallest share in 19 released
# devtest files is 0.195, for a Chinese line; in 16 of them, no line is below 0.45.
_MIN_SHARE = 0.1


def find_missing(
    sources: Sequence[SourceSentence], translations: Mapping[str, Translation]
) -> Iterator[Finding]:
    """Yields an error for each source without a translation, and for each translation without a source.

    The errors are called `missing` and `unknown-id`. Sources and translations are matched by their ids.
    """
    for source in sources:
        if source.id not in translations:
            message = f"no translation of {source.id}, {excerpt(source.text)}"
            yield Finding(source.id, "missing", ERROR, message, "", 0)
    for unknown in sorted(translations.keys() - {source.id for source in sources}):
        translation = translations[unknown]
        message = f"{excerpt(unknown)} is not the id of a source sentence; ids must not be changed"
        yield Finding(unknown, "unknown-id", ERROR, message, translation.file, translation.line)


def find_empty(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields an error `empty` for each pair without a real translation.

    This is the case if the translation has neither letters nor digits: it is empty, or only a dash, for
    example. If the source has more than 3 words, an error is also reported for placeholders such as "TODO",
    and for translations that are much too short for the source.
    """
    for pair in pairs:
        if is_empty(pair):
            text = pair.translation.text
            found = f"only {excerpt(text)}" if is_text(text) else "empty"
            message = (
                f"the translation is {found}; expected a translation of {excerpt(pair.source.text)}"
            )
            yield pair.finding("empty", ERROR, message)


def is_empty(pair: Pair) -> bool:
    """Returns True if a pair has no real translation, by the rules of `find_empty`."""
    text = fold(pair.translation.text)
    if not is_text(text):
        return True
    source = pair.source.text
    is_short = text in _PLACEHOLDERS or len(text) < _MIN_SHARE * len(fold(source))
    return is_short and len(source.split()) > _MAX_NAME_WORDS


def is_text(text: str) -> bool:
    """Returns True if the text has a letter or a digit of any script."""
    return any(unicodedata.category(char)[0] in "LN" for char in text)
