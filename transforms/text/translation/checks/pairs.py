"""A source sentence with its translation, and how a finding about it is written."""

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.text.translation.records import Finding, SourceSentence, Translation

ERROR = "error"  # goes back to the translator
WARNING = "warning"  # somebody should look
_MAX_EXCERPT_CHARS = 60
_ELLIPSIS = "…"


class Pair(NamedTuple):
    """Both sides of a line."""

    source: SourceSentence
    translation: Translation

    def finding(self, rule: str, severity: str, message: str) -> Finding:
        """Returns the finding of a rule about the translation."""
        translation = self.translation
        return Finding(self.source.id, rule, severity, message, translation.file, translation.line)


def pair_up(
    sources: Sequence[SourceSentence], translations: Mapping[str, Translation]
) -> Iterator[Pair]:
    """The sources that have a translation, with it, in the order of the sources."""
    for source in sources:
        if source.id in translations:
            yield Pair(source, translations[source.id])


@functools.lru_cache(maxsize=2**14)  # several checks ask for the same lines
def fold(text: str) -> str:
    """The letters and digits alone, without case or forms: what texts with the same words have in common.

    Marks stay, as vowels of Indic scripts are marks.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in text if unicodedata.category(char)[0] in "LMN")


def excerpt(text: str) -> str:
    """The text for a message: in quotation marks, on one line, cut where it is long, nothing unseen."""
    if len(text) > _MAX_EXCERPT_CHARS:
        text = text[:_MAX_EXCERPT_CHARS] + _ELLIPSIS
    return '"' + "".join(_visible(char) for char in text) + '"'


def first_difference(text: str, other: str, separator: str | None = None) -> tuple[str, str]:
    """The words in which the texts first differ, parted by white space or the separator."""
    pairs = zip(text.split(separator), other.split(separator), strict=False)
    return next(((word, changed) for word, changed in pairs if word != changed), (text, other))


def name_characters(chars: Iterable[str]) -> str:
    """Characters by number and name, each once, in the order of their numbers: "U+00AD SOFT HYPHEN"."""
    return ", ".join(
        f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in sorted(set(chars))
    )


def _visible(char: str) -> str:
    return f"<U+{ord(char):04X}>" if unicodedata.category(char) in _UNSEEN else char


_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
