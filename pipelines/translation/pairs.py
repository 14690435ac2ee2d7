"""Pairs source sentences with their translations, and helps to describe findings about them."""

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.translation_records import Finding, SourceSentence, Translation

ERROR = "error"  # the translation is returned to the translator
WARNING = "warning"  # a person should look at the translation
_MAX_EXCERPT_CHARS = 60
_ELLIPSIS = "…"


class Pair(NamedTuple):
    """A source sentence and its translation."""

    source: SourceSentence
    translation: Translation

    def finding(self, rule: str, severity: str, message: str) -> Finding:
        """Returns a Finding: the check `rule` has found a fault in this pair's translation."""
        translation = self.translation
        return Finding(self.source.id, rule, severity, message, translation.file, translation.line)


def pair_up(
    sources: Sequence[SourceSentence], translations: Mapping[str, Translation]
) -> Iterator[Pair]:
    """Yields a pair for each source that has a translation, in the order of the sources."""
    for source in sources:
        if source.id in translations:
            yield Pair(source, translations[source.id])


@functools.lru_cache(maxsize=2**14)  # several checks fold the same lines
def fold(text: str) -> str:
    """Returns the letters, combining marks and digits of a text, case-folded and in NFKC.

    In this form, texts are equal if they differ only in case, spaces or punctuation. Combining marks are kept
    because vowels of Indic scripts are combining marks.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in text if unicodedata.category(char)[0] in "LMN")


def excerpt(text: str) -> str:
    """Quotes a text for a message.

    The text is put on one line and truncated to 60 characters. Invisible characters are written as <U+…>.
    """
    if len(text) > _MAX_EXCERPT_CHARS:
        text = text[:_MAX_EXCERPT_CHARS] + _ELLIPSIS
    return '"' + "".join(_visible(char) for char in text) + '"'


def first_difference(text: str, other: str, separator: str | None = None) -> tuple[str, str]:
    """Returns the first word of one text that differs from the word at the same position of the other text.

    The result is (word of `text`, word of `other`), or both whole texts if no words differ. Words are
    separated by white space, or by `separator` if it is given.
    """
    pairs = zip(text.split(separator), other.split(separator), strict=False)
    return next(((word, changed) for word, changed in pairs if word != changed), (text, other))


def name_characters(chars: Iterable[str]) -> str:
    """Lists the distinct characters in sorted order: "U+00AD SOFT HYPHEN, U+200B ZERO WIDTH SPACE"."""
    return ", ".join(
        f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in sorted(set(chars))
    )


def _visible(char: str) -> str:
    return f"<U+{ord(char):04X}>" if unicodedata.category(char) in _UNSEEN else char


_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
