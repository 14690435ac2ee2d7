"""Takes samples of a text, for measurements that would take too long on the whole text.

Rejects texts that are not running text (digits, file names, lists) and texts that are too short.

Detects speakers in a text: names that begin many paragraphs.

The name of a speaker is before the speech ("HAMLET. ", "_Nora._ ", "  Ham. ") or on a line of its own above
the speech.

Measures the layout of a text: the shares of verse, of speech in plays, and of lists.

Lines of verse begin with a capital letter, lines of prose only by chance. (First lines of paragraphs are not
counted.) In the English prose that we measured, 3 to 30 % of the lines begin with a capital letter, in books
of verse 80 % or more.

A share is the part of all characters that belongs to verse, speech or lists. White space at the start and end
of lines does not count.

Detects books in English from the catalogue, the file's header and the text.

Catalogue and header may be missing or wrong, so they must agree with the text. The text is examined in
samples. The language of a sample is the one whose frequent words (language.toml) occur most often in it.
"""

import dataclasses
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ..files.markup import read_toml
from ..files.records import Book, Reason

NUMBER = 40
CHARACTERS = 4000


def take_samples(text: str, number: int = NUMBER, characters: int = CHARACTERS) -> list[str]:
    """Returns `number` parts of a text with `characters` characters each, evenly spaced.

    If the text is not longer than these parts together, consecutive parts of the whole text are returned.
    Parts may begin and end in the middle of a word.
    """
    if len(text) <= number * characters:
        return [text[start : start + characters] for start in range(0, len(text), characters)]
    last = len(text) - characters
    starts = [last * part // (number - 1) for part in range(number)] if number > 1 else [0]
    return [text[start : start + characters] for start in starts]


MIN_LETTERS = 0.79
"""Smallest share of letters among the characters that are not white space.

Prose has 0.9 and more, plays and poems with many notes 0.8; a book on logic with diagrams has 0.73, a
glossary 0.62, a page of digits 0.
"""

WORD_LETTERS = 2.5, 8.0
"""Smallest and largest average number of letters per word. English books have 3.6 to 5."""

SENTENCE_WORDS = 200
"""Largest number of words per mark that ends a sentence.

Prose has 15 to 40, verse and the writing of children up to 100; lists of words, names or files have nearly
no such marks.
"""

MAX_REPEATED = 0.5
"""Largest share of repeated lines among the lines that are not short. Books of songs reach 0.2."""

MIN_TOKENS = 20
"""Smallest number of tokens in a text. Shorter texts are only notes, such as where the book can be found."""

MIN_WORDS = 200
"""Default of TooShort.

The paper on PG-19 does not define "short texts", and its release does not show a limit: it has The Story of
a Fierce Bad Rabbit, of 225 words, and lacks longer books of the same series.
"""

_REPEATED_FROM_CHARACTERS = 20
_LETTERS = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]_*]*(?=\s|--|—|$)")


def malformed(book: Book, text: str) -> Reason | None:
    """Returns None for running text, otherwise the reason `malformed`, which says what is wrong."""
    samples = take_samples(text)
    problem = (
        _too_few_tokens(text) or _no_words(samples) or _no_sentences(samples) or _repeats(text)
    )
    return Reason("malformed", problem) if problem else None


def _too_few_tokens(text: str) -> str:
    tokens = len(text[: 100 * MIN_TOKENS].split())
    return f"{tokens} tokens in all" if tokens < MIN_TOKENS else ""


def _no_words(samples: Sequence[str]) -> str:
    printed = sum(len(part) for sample in samples for part in sample.split())
    words = [word for sample in samples for word in _LETTERS.findall(sample)]
    letters = sum(map(len, words))
    if letters < MIN_LETTERS * printed:
        return f"{letters / printed:.2f} of the characters are letters"
    shortest, longest = WORD_LETTERS
    if not shortest <= letters / len(words) <= longest:
        return f"words have {letters / len(words):.1f} letters"
    return ""


def _no_sentences(samples: Sequence[str]) -> str:
    words = sum(len(sample.split()) for sample in samples)
    sentences = sum(len(_SENTENCE_END.findall(sample)) for sample in samples)
    if words > SENTENCE_WORDS * (sentences + 1):
        return f"{sentences} sentences end in {words} words"
    return ""


def _repeats(text: str) -> str:
    lines = [
        line for line in map(str.strip, text.split("\n")) if len(line) >= _REPEATED_FROM_CHARACTERS
    ]
    repeated = len(lines) - len(set(lines))
    if repeated > MAX_REPEATED * len(lines):
        return f"{repeated} of {len(lines)} lines are there before"
    return ""


@dataclasses.dataclass(frozen=True)
class TooShort:
    """Rejects books with fewer than `min_words` words. Words are separated by white space.

    Raises ValueError if `min_words` is negative.
    """

    min_words: int = MIN_WORDS

    def __post_init__(self) -> None:
        if self.min_words < 0:
            raise ValueError(f"min_words must be 0 or more, not {self.min_words}")

    def __call__(self, book: Book, text: str) -> Reason | None:
        """Returns the reason `too-short` if the text has fewer than `min_words` words, otherwise None."""
        words = len(text.split())
        return Reason("too-short", f"{words} words") if words < self.min_words else None


MIN_SPEECHES = 5
"""Smallest number of speeches of a speaker. A name with fewer is not a speaker."""

_SPEECH = "speech.toml"
_LOOKED_AT = (
    300  # characters of a line that are examined: a name and the manner of speaking are shorter
)
_PERIODS = (".", "._", ":")
_MARKS = r"[_=*]{0,2}"
_NAME = r"[A-Z][\w’'-]*(?:\.? [A-Z&][\w’'-]*){0,3}"
_MANNER = r"(?:,? ?_?[(\[][^)\]\n]{0,120}[)\]]_?)?"  # "(aside)"
_AT_START = re.compile(
    rf"\s*{_MARKS}({_NAME}){_MARKS}{_MANNER}(?:(?:[.:]|\.--){_MARKS}(?=[\s—(\[-]|$)|$)"
)
"""A name at the start of a paragraph: alone in its line, or with a period or colon after it."""

_INSIDE = re.compile(
    rf"(?:{_MARKS}([A-Z][A-Z’' -]{{2,30}})|\s+_?([A-Z][\w’' -]{{1,20}})){_MARKS}[.:]_?\s"
)
"""A name at the start of a later line of a paragraph: in capitals, or indented."""

_ROMAN = re.compile(r"[IVXLC]+")


class Speech(NamedTuple):
    """The number of characters of a text that are speech, and the number of its speakers."""

    # characters of speeches and of the names before them, without white space at the ends of lines
    characters: int
    speakers: int  # number of different speakers


def measure_speech(paragraphs: Sequence[Sequence[str]]) -> Speech:
    """Detects the speakers in a text, and counts the characters of their speeches.

    `paragraphs` has the lines of each paragraph of the text.
    """
    spoken = list(_spoken_in(paragraphs))
    times = Counter(name for name, _ in spoken)
    speakers = {name for name, count in times.items() if count >= MIN_SPEECHES and _may_speak(name)}
    return Speech(sum(size for name, size in spoken if name in speakers), len(speakers))


def _spoken_in(paragraphs: Sequence[Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Yields each name that may be a speaker's, with the length of the speech that follows it.

    The length includes the name, if the speech begins in its line.

    The speech ends at the next name or at the end of the paragraph. If a name in capitals or without a period
    is a paragraph of its own, its speech is the next paragraph. There is no such speech if the next paragraph
    begins with a name.
    """
    above = ""
    for lines in paragraphs:
        name, above, size = above, "", 0
        first = _AT_START.match(lines[0][:_LOOKED_AT])
        if first:
            name = first[1]
            is_alone = len(lines) == 1 and first.end() == len(lines[0])
            # "Churchhill." is not a speaker, but the place where a letter was written.
            may_be_above = name.isupper() or not lines[0].endswith(_PERIODS)
            above = name if is_alone and may_be_above else ""
        for place, line in enumerate(lines):
            inside = _INSIDE.match(line[:_LOOKED_AT]) if place else None
            if inside:
                if name:
                    yield name, size
                name, size = inside[1] or inside[2], 0
            size += len(line.strip())
        if name:
            yield name, size


def _may_speak(name: str) -> bool:
    words = name.casefold().replace(".", " ").split()
    if len(name) < 2 or _ROMAN.fullmatch(name) or not words:
        return False
    # "EMMA TO ANNE" heads a letter
    return "to" not in words and not _never_speakers().issuperset(words)


def stage_words(text: str) -> float:
    """Returns the number of stage words, such as "exit", per 1,000 words of a text."""
    return _in_1000_words(_stage_pattern(), text)


def stage_directions(text: str) -> float:
    """Returns the number of stage directions, such as "[Sits down.]", per 1,000 words of a text.

    Only those in brackets are counted. In other texts, most brackets are notes.
    """
    return _in_1000_words(_direction_pattern(), text)


def _in_1000_words(pattern: re.Pattern[str], text: str) -> float:
    return len(pattern.findall(text)) * 1000 / max(1, text.count(" ") + text.count("\n"))


@functools.cache
def _never_speakers() -> frozenset[str]:
    return frozenset(read_toml(__package__, _SPEECH)["never_speakers"].split())


@functools.cache
def _stage_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(read_toml(__package__, _SPEECH)['stage'].split())})\b")


@functools.cache
def _direction_pattern() -> re.Pattern[str]:
    return re.compile(read_toml(__package__, _SPEECH)["direction"], re.VERBOSE | re.MULTILINE)


CAPITAL_LINES = 0.75
"""Smallest share of a stanza's lines, without the first, that begin with a capital letter."""

MAX_VERSE_CHARACTERS = 100
"""Largest average length of the lines of a stanza."""

LISTED_LINES = 0.5
"""Smallest share of lines that end in figures in a list: a table of contents, an index, a table."""

SPACED_LINES = 4
"""Smallest number of consecutive short paragraphs that are verse with an empty line after each line."""

UNENDED = 0.35
"""Smallest share of paragraphs in such verse that end in the middle of a sentence.

Paragraphs of prose hardly ever do.
"""

CAPITALS_OF_VERSE = 0.5
"""Smallest result of `capitals_of` for a book of verse.

In a book of verse, paragraphs of two and three lines may be stanzas, too.
"""

_SHORT_CHARACTERS = 170

MIN_SORTED_PAIRS = 20
"""Smallest number of pairs of paragraphs whose order is compared."""

_FIRST_LETTERS = re.compile(r"[\W_]*+([^\W\d_]{1,2})")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_CAPITAL = re.compile(r"[\W_]*[A-Z]")
_FIGURE_AT_END = re.compile(r"\d[\W_]*$")
_UNENDED = re.compile(r"[a-zà-ÿ,;][”’\"']?$|(?:--|—)$")


class Shape(NamedTuple):
    """The layout of a text: the shares of its parts, and its numbers of characters and speakers."""

    characters: int
    verse: float  # share of characters in stanzas
    speech: float  # share of characters in speeches
    speakers: int  # number of different speakers
    listed: float  # share of characters in lists and tables
    sorted: float  # share of paragraphs in alphabetical order, see `share_sorted`


def measure_shape(text: str) -> Shape:
    """Returns the shares of a text that are verse, speech and lists. The whole text is read."""
    paragraphs = list(paragraphs_of(text))
    sizes = [sum(map(len, map(str.strip, lines))) for lines in paragraphs]
    characters = sum(sizes)
    if not characters:
        return Shape(0, 0.0, 0.0, 0, 0.0, 0.0)
    width = width_of(paragraphs)
    is_verse_book = capitals_of(paragraphs) >= CAPITALS_OF_VERSE
    is_listed = [is_list(lines) for lines in paragraphs]
    is_versed = [
        not listed and is_stanza(lines, width, is_verse_book)
        for lines, listed in zip(paragraphs, is_listed, strict=True)
    ]
    for start, end in spaced_lines(paragraphs):
        is_versed[start:end] = [not listed for listed in is_listed[start:end]]
    speech = measure_speech(paragraphs)
    return Shape(
        characters,
        verse=sum(size for size, yes in zip(sizes, is_versed, strict=True) if yes) / characters,
        speech=speech.characters / characters,
        speakers=speech.speakers,
        listed=sum(size for size, yes in zip(sizes, is_listed, strict=True) if yes) / characters,
        sorted=share_sorted(paragraphs),
    )


def paragraphs_of(text: str) -> Iterator[list[str]]:
    """Yields the lines of each paragraph, without trailing white space. Empty lines separate paragraphs."""
    for paragraph in _BLANK_LINES.split(text):
        lines = [line.rstrip() for line in paragraph.split("\n")]
        lines = [line for line in lines if line]
        if lines:
            yield lines


def width_of(paragraphs: Sequence[Sequence[str]]) -> int:
    """Returns the 90th percentile of the lengths of all lines, in characters; 0 if there are no lines."""
    lengths = sorted(len(line.strip()) for lines in paragraphs for line in lines)
    return lengths[len(lengths) * 9 // 10] if lengths else 0


def capitals_of(paragraphs: Sequence[Sequence[str]]) -> float:
    """Returns the share of lines that begin with a capital letter.

    First lines of paragraphs are not counted.
    """
    capital = sum(_capitals_in(lines[1:]) for lines in paragraphs)
    return capital / max(1, sum(len(lines) - 1 for lines in paragraphs))


def is_stanza(lines: Sequence[str], width: int, is_verse_book: bool = False) -> bool:
    """Returns True if a paragraph is verse: its lines are short, and most begin with a capital letter.

    Two or three lines of prose often begin with capital letters by chance. So outside a book of verse, such
    a short paragraph must meet one more condition: at the end of each line but the last, there is room for
    the first word of the next line.

    Args:
      lines: the lines of the paragraph.
      width: the line length of the text, from `width_of`.
      is_verse_book: True if the book consists of verse.
    """
    rest = lines[1:]
    if not rest or sum(map(len, lines)) > MAX_VERSE_CHARACTERS * len(lines):
        return False
    if _capitals_in(rest) < CAPITAL_LINES * len(rest):
        return False
    return (len(rest) > 2 or is_verse_book) or all(
        len(line.strip()) + 1 + len(following.split(maxsplit=1)[0]) <= width
        for line, following in pairwise(lines)
    )


def _capitals_in(lines: Sequence[str]) -> int:
    return sum(1 for line in lines if _CAPITAL.match(line))


def share_sorted(paragraphs: Sequence[Sequence[str]]) -> float:
    """Returns the share of paragraphs that are in alphabetical order with the paragraph before.

    Only the first two letters are compared, and paragraphs that begin with the same ones as the paragraph
    before are left out. So a long index, which has few changes of these letters, has little influence. In
    running text, the share is about 0.5. If there are fewer than MIN_SORTED_PAIRS pairs, the result is 0.
    """
    found = [_FIRST_LETTERS.match(lines[0]) for lines in paragraphs]
    all_firsts = [one[1].casefold() for one in found if one]
    firsts = [letters for letters, _ in groupby(all_firsts)]
    if len(firsts) <= MIN_SORTED_PAIRS:
        return 0.0
    ascending = sum(1 for first, second in pairwise(firsts) if first < second)
    return ascending / (len(firsts) - 1)


def is_list(lines: Sequence[str]) -> bool:
    """Returns True if a paragraph is a list or a table: at least half of its lines end in digits.

    A paragraph of one line is not a list. Poems with numbered lines are not lists either, because only every
    fifth or tenth line of them ends in a number.
    """
    figures = sum(1 for line in lines if _FIGURE_AT_END.search(line[-4:]))
    return len(lines) > 1 and figures >= LISTED_LINES * len(lines)


def spaced_lines(paragraphs: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Finds verse that has an empty line after each line, so that each line is a paragraph.

    Yields (index of the first paragraph, index after the last paragraph) for each such piece of verse.
    """
    place = 0
    for is_short, run in groupby(paragraphs, key=_is_short):
        lines = list(run)
        end = place + len(lines)
        if is_short and len(lines) >= SPACED_LINES:
            unended = sum(1 for one in lines if _UNENDED.search(one[-1]))
            if unended >= UNENDED * len(lines):
                yield place, end
        place = end


def _is_short(lines: Sequence[str]) -> bool:
    return len(lines) <= 2 and sum(map(len, lines)) <= _SHORT_CHARACTERS


ENGLISH = "en"
UNKNOWN = "?"
"""The language of a sample with almost no frequent words of any language: figures, names, a glossary."""

MIN_LANGUAGE_WORDS = 40
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

_LANGUAGES = "language.toml"
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
    english = set(read_toml(__package__, _LANGUAGES)["declared"]["english"])
    found = read_languages(text)
    share = found.share_of_english()
    if not english.issuperset(declared):
        is_foreign = len(declared) == 1
    elif share is None or share >= ONLY_ENGLISH:
        return None
    else:
        is_foreign = share <= MOSTLY_FOREIGN
    slug = "not-english" if is_foreign else "several-languages"
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
    if script := _other_script(sample):
        return script
    words = Counter(_WORD.findall(sample.lower()))
    total = words.total()
    if total < MIN_LANGUAGE_WORDS:
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
        for language, words in read_toml(__package__, _LANGUAGES).items()
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
