"""Finds broken, invisible and look-alike characters.

Such characters cause problems in display, search and comparison.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, excerpt, name_characters
from corpusmill.transforms.files.translation_records import Finding

_RULE = "unicode-variants"

# Never part of a text: control characters, private use, surrogates, noncharacters, the replacement
# character, a byte order mark.
_BROKEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\ufffd\ufffc\ufeff"
    r"\U000f0000-\U0010ffff]"
)
# Presentation forms of letters, which fonts choose by themselves. The signs ﷲ … ﷼ and the ornate
# parentheses ﴾ ﴿ are not presentation forms.
_PRESENTATION = re.compile(r"[\ufb50-\ufd3d\ufd50-\ufdef\ufe70-\ufefe\ufb00-\ufb06]")
_FULL_WIDTH = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")  # digits and Latin letters
_HALF_WIDTH = re.compile(r"[\uff61-\uff9f\uffa0-\uffdc]")  # Katakana and Hangul
_INVISIBLE = re.compile(r"[\u00ad\u200c\u200d\u200b\u2060-\u2064\u180e\u202a-\u202e\u2066-\u2069]")
_MARKS_OF_DIRECTION = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_BETWEEN_WORDS = "\u200b"
_JOINERS = "\u200c\u200d"
# Scripts written with joiners, which shape letters, and scripts written with zero-width spaces between words.
_JOINED = frozenset(
    "Arab Beng Deva Gujr Guru Knda Mlym Mong Mymr Nkoo Orya Sinh Syrc Taml Telu Tibt".split()
)
_UNSPACED = frozenset("Khmr Laoo Mymr Thai Tibt".split())

# Similar letters of a related alphabet: language → wrong letter → right letter.
_YEH_AND_KAF = {"ي": "ی", "ى": "ی", "ك": "ک"}
_LOOKALIKES = {
    "fa": _YEH_AND_KAF,
    "ur": _YEH_AND_KAF,
    "ckb": _YEH_AND_KAF,
    "ps": {"ك": "ک"},
    "ar": {"ی": "ي", "ک": "ك"},
}
_EUROPEAN = r"A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_GREEK_AND_CYRILLIC = r"\u0370-\u052f\u1f00-\u1fff"
_LATIN = re.compile(f"[{_EUROPEAN}]")
# "Vітамін" with a Latin V. In correct text there is usually a hyphen between Latin and other letters.
_MIXED_WORD = re.compile(
    rf"\b(?:[{_EUROPEAN}]+[{_GREEK_AND_CYRILLIC}]|[{_GREEK_AND_CYRILLIC}]+[{_EUROPEAN}])\w*"
)


def find_odd_characters(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields `unicode-variants` findings for broken, invisible and look-alike characters.

    A finding about broken characters is an error; all others are warnings.
    """
    for pair in pairs:
        text = pair.translation.text
        broken = _BROKEN.findall(text)
        if broken:
            message = f"characters that are not text: {name_characters(broken)}"
            yield pair.finding(_RULE, ERROR, message)
        for message in _variants(text, language):
            yield pair.finding(_RULE, WARNING, message)


def _variants(text: str, language: TargetLanguage) -> Iterator[str]:
    forms = _PRESENTATION.findall(text) + _HALF_WIDTH.findall(text)
    # not for languages with Chinese characters, which use both widths
    if "Hani" not in language.scripts:
        forms = forms + _FULL_WIDTH.findall(text)
    if forms:
        plain = unicodedata.normalize("NFKC", "".join(sorted(set(forms))))
        yield f"special forms of characters instead of the usual ones ({plain}): {name_characters(forms)}"
    unseen = set(_INVISIBLE.findall(text)) - set(_usual_invisible(language))
    if unseen:
        yield f"invisible characters: {name_characters(unseen)}"
    lookalikes = _LOOKALIKES.get(language.tag.split("-")[0], {})
    foreign = sorted(set(text) & lookalikes.keys())
    if foreign:
        named = ", ".join(
            f"{name_characters(char)} instead of {lookalikes[char]}" for char in foreign
        )
        yield f"look-alike letters of another language: {named}"
    mixed = _MIXED_WORD.search(text)
    if mixed:
        letters = name_characters(_fewer(mixed[0]))
        yield f"letters of two scripts in one word, {excerpt(mixed[0])}: {letters}"


def _fewer(word: str) -> str:
    """Returns the Latin letters of a word or its letters of other scripts, whichever are fewer."""
    latin = "".join(_LATIN.findall(word))
    other = "".join(char for char in word if char.isalpha() and char not in latin)
    return latin if len(latin) <= len(other) else other


def _usual_invisible(language: TargetLanguage) -> str:
    usual = ""
    if language.is_right_to_left:
        usual += _MARKS_OF_DIRECTION
    if _JOINED.intersection(language.scripts):
        usual += _JOINERS
    if _UNSPACED.intersection(language.scripts):
        usual += _BETWEEN_WORDS
    return usual
