"""Checks that every source sentence has a translation and every translation has a source sentence."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from transforms.text.translation.checks.pairs import ERROR, Pair, excerpt
from transforms.text.translation.records import Finding, SourceSentence, Translation


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
    """Yields an error `empty` for each translation without letters and digits, such as spaces or a dash."""
    for pair in pairs:
        if not is_text(pair.translation.text):
            message = f"the translation is empty; it should say {excerpt(pair.source.text)}"
            yield pair.finding("empty", ERROR, message)


def is_text(text: str) -> bool:
    """Returns True if the text has a letter or a digit of any script."""
    return any(unicodedata.category(char)[0] in "LN" for char in text)
