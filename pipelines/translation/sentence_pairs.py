"""Pairs source sentences with their translations, and helps to describe findings about them.

Checks that every source sentence has a translation and every translation has a source sentence.

Finds different source sentences that have identical translations.

Finds translations that are identical or nearly identical to the English source.
"""

import difflib
import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.records import Finding, SourceSentence, Translation
from corpusmill.transforms.files.text import grouped

from .target_languages import TargetLanguage

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
    shown = (
        f"<U+{ord(char):04X}>" if unicodedata.category(char) in _UNSEEN else char for char in text
    )
    return f'"{"".join(shown)}"'


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


_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


# Texts that are entered before a sentence is translated, in the form of `fold`: "TO DO", "[T.B.D.]", "n/a".
_PLACEHOLDERS = frozenset(
    {"fixme", "loremipsum", "na", "none", "null", "tba", "tbd", "todo", "translate", "translation"}
    | {"untranslated", "xx", "xxx"}
)
_LOST_LETTERS = "??"
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
            expected = f"expected a translation of {excerpt(pair.source.text)}"
            yield pair.finding("empty", ERROR, f"the translation is {found}; {expected}")


def is_empty(pair: Pair) -> bool:
    """Returns True if a pair has no real translation, by the rules of `find_empty`."""
    if _LOST_LETTERS in pair.translation.text:
        return False  # letters lost in a wrong encoding, or a doubt of the translator
    text = fold(pair.translation.text)
    if not is_text(text):
        return True
    source = pair.source.text
    is_short = text in _PLACEHOLDERS or len(text) < _MIN_SHARE * len(fold(source))
    return is_short and len(source.split()) > _MAX_NAME_WORDS


def is_text(text: str) -> bool:
    """Returns True if the text has a letter or a digit of any script."""
    return any(unicodedata.category(char)[0] in "LN" for char in text)


# folded characters; shorter texts such as "Thank you." and "Thanks." may have one translation
_MIN_CHARS = 12


def find_repeats(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields a finding for each translation that is also the translation of another source sentence.

    The finding is called `duplicate`, or `dev-devtest-overlap` if the two source sentences are in different
    splits. Translations with the same letters and digits count as identical. All of them are reported,
    because any of them may be wrong. A finding is a warning if the translation is short, or if the source
    sentences are identical too. Otherwise it is an error.
    """
    folded = ((fold(pair.translation.text), pair) for pair in pairs)
    for text, repeats in grouped(one for one in folded if is_text(one[0])).items():
        for place, pair in enumerate(repeats):
            if len(repeats) > 1:
                yield _repeat(pair, repeats[0 if place else 1], text)


def _repeat(pair: Pair, other: Pair, text: str) -> Finding:
    is_same_source = fold(pair.source.text) == fold(other.source.text)
    severity = WARNING if is_same_source or len(text) < _MIN_CHARS else ERROR
    reason = "which has the same source text" if is_same_source else "which has another source text"
    message = f"the same translation as that of {other.source.id}, {reason}"
    if pair.source.split == other.source.split:
        return pair.finding("duplicate", severity, message)
    splits = " and ".join(sorted({pair.source.split, other.source.split}))
    return pair.finding("dev-devtest-overlap", severity, f"{message}: {splits} overlap")


# Minimum share of words that both lines have in common. The greatest share in 16 released devtest files is
# 0.67, for a French line that consists mostly of names.
MIN_SHARED_WORDS = 0.8
_MAX_COPIED_WORDS = 3  # "Buenos Aires, Argentina" may be left unchanged


_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MIN_COPIED_RUN = 4  # lower-case words in a row; the longest run of names has 3
_ENGLISH = frozenset(
    "a an and are as at be by for from in is it of on or that the to was with".split()
)


def find_copies(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields `source-copy` findings for translations that are identical or nearly identical to their source,
    or that contain a part of it.

    A finding is an error. It is only a warning for a source of at most 3 words, because this may be a name.
    """
    if language.tag.split("-")[0] == "en":
        return
    for pair in pairs:
        source, target = pair.source.text.split(), pair.translation.text.split()
        if fold(pair.source.text) == fold(pair.translation.text):
            severity = WARNING if len(source) <= _MAX_COPIED_WORDS else ERROR
            message = f"the source itself, not a translation into {language.name}"
            yield pair.finding("source-copy", severity, message)
        elif len(source) > _MAX_COPIED_WORDS and _shared_words(source, target) >= MIN_SHARED_WORDS:
            message = f"nearly the source itself, not a translation into {language.name}"
            yield pair.finding("source-copy", ERROR, message)
        elif run := _copied_run(pair):
            message = f"{excerpt(' '.join(run))} is not translated"
            yield pair.finding("source-copy", ERROR, message)


def _copied_run(pair: Pair) -> list[str]:
    """Returns the longest row of words of the source in the translation, if these are no names."""
    source, target = _WORDS.findall(pair.source.text), _WORDS.findall(pair.translation.text)
    if sum(map(str.islower, set(source) & set(target))) < _MIN_COPIED_RUN:
        return []
    matcher = difflib.SequenceMatcher(None, source, target, autojunk=False)
    runs = (source[block.a : block.a + block.size] for block in matcher.get_matching_blocks())
    longest = max(runs, key=lambda run: sum(map(str.islower, run)))
    is_long = sum(map(str.islower, longest)) >= _MIN_COPIED_RUN
    return longest if is_long and not _ENGLISH.isdisjoint(longest) else []


def _shared_words(source: list[str], target: list[str]) -> float:
    if not set(source) & set(target):  # a quick test that excludes nearly all lines
        return 0.0
    matcher = difflib.SequenceMatcher(None, source, target, autojunk=False)
    return 0.0 if matcher.quick_ratio() < MIN_SHARED_WORDS else matcher.ratio()
