"""Detects books in English from the catalogue, the file's header and the text.

Catalogue and header may be missing or wrong, so they must agree with the text. The text is examined in
samples. The language of a sample is the one whose frequent words (language.toml) occur most often in it.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from corpusmill.transforms.books.samples import take_samples
from corpusmill.transforms.files.records import Book, Reason
from corpusmill.transforms.files.toml_tables import read_table

ENGLISH = "en"
UNKNOWN = "?"
"""The language of a sample with almost no frequent words of any language: figures, names, a glossary."""

MIN_WORDS = 40
"""Smallest number of words in a sample. Samples with fewer words are ignored."""

MIN_SHARE = 0.08
"""Smallest share of frequent words of a language in a sample that counts as this language.

English prose has 0.35 to 0.5; a glossary of Middle English has 0.1.
"""

ONLY_ENGLISH = 0.85
"""Smallest share of English, among the samples with a known language, in an English book.

The English books that we measured have 0.92 and more, even with many quotations; a book in two languages
side by side has about half.
"""

ALSO_SHARE = 0.1
"""Smallest share of frequent words of another language in a sample that counts as both languages.

Such samples have a text and its translation side by side. In English prose the share is below 0.03.
"""

MOSTLY_FOREIGN = 0.25
"""Largest share of English in a book of another language. A book with more counts as `several-languages`."""

OTHER_SCRIPT_SHARE = 0.3
"""Largest share of letters of other scripts in a sample of a language in Latin script."""

_TABLE = "language.toml"
_ENGLISH_AND = f"{ENGLISH}+"
_WORD = re.compile(r"[^\W\d_]+")
_NOT_LATIN = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")


class LanguageShares(NamedTuple):
    """The number of samples of a text in each language."""

    # language → samples; a key may be UNKNOWN, a script ("CJK", "GREEK"), or two languages ("en+fr")
    samples: Counter[str]

    def share_of_english(self) -> float | None:
        """The share of English among the samples whose language is known; None if no language is known.

        A sample in English and another language counts as half a sample.
        """
        known = self.samples.total() - self.samples[UNKNOWN]
        both = sum(count for name, count in self.samples.items() if name.startswith(_ENGLISH_AND))
        return (self.samples[ENGLISH] + both / 2) / known if known else None


def not_english(book: Book, text: str) -> Reason | None:
    """Returns None for a book in English, otherwise the reason `not-english` or `several-languages`.

    A book is rejected if too few samples of its text are English. If the language of no sample can be
    determined, the text counts as English. A book is also rejected if its catalogue entry or header names
    another language: an English text may be filed under a wrong number, or teach that language. The reason
    contains the evidence: the languages of catalogue and header, and of the samples.
    """
    declared = sorted({language.casefold() for language in book.languages})
    english = set(read_table(__package__, _TABLE)["declared"]["english"])
    found = read_languages(text)
    if len(declared) > 1 and not english.issuperset(declared):
        return Reason(
            "several-languages", f"declared: {', '.join(declared)}; text: {_render(found)}"
        )
    if declared and not english.issuperset(declared):
        return Reason("not-english", f"declared: {declared[0]}; text: {_render(found)}")
    share = found.share_of_english()
    if share is None or share >= ONLY_ENGLISH:
        return None
    slug = "not-english" if share <= MOSTLY_FOREIGN else "several-languages"
    return Reason(slug, f"declared: {', '.join(declared) or 'nothing'}; text: {_render(found)}")


def read_languages(text: str) -> LanguageShares:
    """Takes samples of a text, and counts them by language."""
    found = (read_language(sample) for sample in take_samples(text))
    return LanguageShares(Counter(language for language in found if language))


def read_language(sample: str) -> str:
    """Returns the language of a sample, such as "fr", or "" if the sample has too few words.

    A sample in English and French has the language "en+fr". For a sample in another script than Latin, the
    name of the script is returned, such as "CJK". UNKNOWN is returned if frequent words of all languages are
    rare in the sample.
    """
    script = _other_script(sample)
    if script:
        return script
    words = Counter(_WORD.findall(sample.lower()))
    total = words.total()
    if total < MIN_WORDS:
        return ""
    counts: Counter[str] = Counter()
    for word, times in words.items():
        for language in _languages_of_words().get(_without_accents(word), ()):
            counts[language] += times
    english = counts.pop(ENGLISH, 0)
    # With equal counts, the first language by name.
    other = min(counts, key=lambda language: (-counts[language], language), default=UNKNOWN)
    if max(english, counts[other]) < MIN_SHARE * total:
        return UNKNOWN
    if english < counts[other]:
        return other
    return _ENGLISH_AND + other if counts[other] >= ALSO_SHARE * total else ENGLISH


def _other_script(sample: str) -> str:
    """Returns the most frequent script other than Latin, or "" if nearly all letters are Latin."""
    others = _NOT_LATIN.findall(sample)
    if len(others) <= 10:
        return ""
    letters = sum(map(len, _WORD.findall(sample)))
    if len(others) <= OTHER_SCRIPT_SHARE * letters:
        return ""
    scripts = Counter(unicodedata.name(letter, UNKNOWN).split()[0] for letter in others)
    return max(scripts, key=lambda script: (scripts[script], script))


def _render(found: LanguageShares) -> str:
    """Formats the numbers of samples per language for messages: "en 38, la 2 of 40 samples"."""
    ranked = sorted(found.samples.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{language} {count}" for language, count in ranked)
    return f"{told or 'none'} of {found.samples.total()} samples"


@functools.cache
def _languages_of_words() -> Mapping[str, tuple[str, ...]]:
    """Returns word → languages in which it is frequent."""
    lists = {
        language: {_without_accents(word) for word in words.split()}
        for language, words in read_table(__package__, _TABLE).items()
        if language != "declared"
    }
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in lists.items():
        for word in words if language == ENGLISH else words - lists[ENGLISH]:
            languages[word] = (*languages.get(word, ()), language)
    return languages


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )
