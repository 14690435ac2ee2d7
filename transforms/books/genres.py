"""Rejects genres that are not running prose: poems, plays, manuals, recipes, nonsense, reference.

Nguyen, "SimpleBooks", section 2, leaves out "mal-formatted books and books of poems, plays, manuals, recipes,
and the literary nonsense", and does not say how. Here a genre must be indicated by the catalogue and
confirmed by the text, as far as the text can show it. The catalogue alone may be wrong: prose versions of
epics are catalogued as poetry, and many books have no subjects.

- Verse and speech are measured (text_screening.py). A large share of either is enough to reject a book; the
  threshold is lower if the catalogue names the genre.
- Manuals, recipes and works of reference are detected by catalogue or title, unless the text is a narrative.
  Manuals and recipes are also detected by the frequency of typical words. A manual in the form of
  a tale or a dialogue is kept, such as The Complete Angler, which is read as literature.
- Literary nonsense is detected by the catalogue alone: books that the Library of Congress calls nonsense,
  nonsense verse or limericks. Without subjects, such verse is rejected as poems. Alice, catalogued as
  fantasy, is kept.

Measures how much a text narrates, gives instructions, or lists quantities.

The frequencies of a few kinds of words are counted in samples of the text; see manner.toml.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..files.markup import read_toml
from ..files.records import Book, Reason
from .text_screening import (
    Shape,
    malformed,
    measure_shape,
    stage_directions,
    stage_words,
    take_samples,
)

_MANNERS = "manner.toml"
_WORD = re.compile(r"[^\W\d_]+")
_NUMBERED = re.compile(r"^[ \t]*(?:\(?\d{1,4}[.)]|\([a-z]\))[ \t]", re.MULTILINE)
"""A numbered rule or step: "12. ", "(3) ", "(b) "."""


class Manner(NamedTuple):
    """Frequencies of words of narration, words of instruction, numbered lines and quantities in a text.

    All values are numbers per 1,000 words of the text.
    """

    narrating: float  # "he", "said"
    obliging: float  # "should", "must"
    numbered: float  # lines that begin with a number, or with a letter in parentheses
    measured: float  # "2 ounces", "half a pint"


def measure_manner(samples: Sequence[str]) -> Manner:
    """Returns the values of Manner for a text, from samples of it. All are 0 if the samples have no words."""
    words: Counter[str] = Counter()
    for sample in samples:
        words.update(_WORD.findall(sample.lower()))
    counts = (
        sum(words[word] for word in _words_of("narrating")),
        sum(words[word] for word in _words_of("obliging")),
        sum(len(_NUMBERED.findall(sample)) for sample in samples),
        _count_measured(samples, words),
    )
    return Manner(*(count * 1000 / max(1, words.total()) for count in counts))


def _count_measured(samples: Sequence[str], words: Mapping[str, int]) -> int:
    """Returns the number of quantities with a unit, such as "2 ounces".

    `words` is word → number of occurrences, for all words of the samples, in lower case.
    """
    measures = _words_of("measures")
    if not any(word in words or f"{word}s" in words for word in measures):
        return 0
    return sum(len(_measured_pattern().findall(sample)) for sample in samples)


@functools.cache
def _measured_pattern() -> re.Pattern[str]:
    numbers = "|".join(sorted(_words_of("numbers")))
    measures = "|".join(sorted(_words_of("measures")))
    return re.compile(
        rf"(?:[\d¼½¾] ?|\b(?:{numbers})[ -])(?:of an? |an? )?(?:{measures})s?\b", re.IGNORECASE
    )


@functools.cache
def _words_of(kind: str) -> frozenset[str]:
    return frozenset(read_toml(__package__, _MANNERS)[kind].split())


MIN_VERSE = 0.4
"""Smallest share of verse in a book that is rejected as poems, whatever the catalogue says.

Books of poems with introduction and notes have 0.42 and more, prose with many poems in it up to 0.32.
"""

MIN_CATALOGUED_VERSE = 0.2
"""The same for a book that is poetry according to the catalogue, and not also fiction."""

MIN_SPEECH = 0.25
MIN_STAGE_WORDS = 0.4
"""Smallest share of speech, and smallest number of stage words per 1,000 words, in a play."""

MOST_SPEECH = 0.6
MIN_DIRECTIONS = 1.0
"""Smallest share of speech, and smallest number of stage directions per 1,000 words, in a play with few stage
words.

Such plays have 1.2 directions and more, dialogues of philosophers have 0.5 at most.
"""

DIALOGUE_SPEAKERS = 4
"""Largest number of speakers in a dialogue that is catalogued as drama, but has no other sign of a play."""

MIN_SORTED = 0.85
"""Smallest share of paragraphs in alphabetical order in a work of reference or a list of quotations.

A list of quotations has 0.91, other books have up to 0.73, even with a long index.
"""

MAX_NARRATING = 45.0
"""Largest number of narrating words per 1,000 words in a manual that is detected by its title.

For a manual that is detected by the catalogue, the limit is twice as large.
"""

INSTRUCTING_NARRATES = 20.0
MIN_OBLIGING = 9.0
MIN_NUMBERED = 10.0
"""Limits for a manual that is detected by its text alone, per 1,000 words.

Narrating words must be below the first limit, and obliging words at least at the second or numbered lines at
least at the third.
"""

MIN_MEASURED = 3.0
"""Smallest number of kitchen measures per 1,000 words in a book of recipes, if the text does not narrate."""

NONSENSE, RECIPES, PLAYS, POEMS = "nonsense", "recipes", "plays", "poems"
REFERENCE, MANUALS, FICTION = "reference", "manuals", "fiction"
_NOT = "not"
_GENRES = "genres.toml"


class _Text(NamedTuple):
    """The measurements of a text that the rules for genres use."""

    shape: Shape
    stage_words: float
    directions: float
    manner: Manner
    title: str


def genre_to_reject(book: Book, text: str) -> Reason | None:
    """Returns the reason to reject a book that is not running prose, with the evidence; else None.

    The reason is the first of these that applies: `malformed` (see text_screening.py), `nonsense`, `recipes`,
    `plays`, `reference`, `poems`, `manuals`.
    """
    if problem := malformed(book, text):
        return problem
    catalogued = catalogued_genres(book)
    if NONSENSE in catalogued:
        return Reason(NONSENSE, f"catalogue: {catalogued[NONSENSE]}")
    shape = measure_shape(text)
    in_speeches = text if shape.speech >= MIN_SPEECH else ""
    measured = _Text(
        shape,
        stage_words(in_speeches),
        stage_directions(in_speeches),
        measure_manner(take_samples(text)),
        book.title,
    )
    rules = (_recipes, _plays, _reference, _poems, _manuals)
    return next(filter(None, (rule(measured, catalogued) for rule in rules)), None)


def catalogued_genres(book: Book) -> dict[str, str]:
    """Returns genre → the first of the book's subjects and bookshelves that names this genre.

    genres.toml has the names of genres. Subjects such as "Fiction", and subjects about fiction, name the
    genre "fiction".
    """
    found: dict[str, str] = {}
    for subject in book.subjects:
        for genre in _genres_of_subject(subject):
            found.setdefault(genre, subject)
    for shelf in book.bookshelves:
        for genre, pattern in _patterns("shelves").items():
            if pattern.fullmatch(shelf):
                found.setdefault(genre, shelf)
    return found


def _genres_of_subject(subject: str) -> list[str]:
    parts = [part.strip() for part in subject.split("--")]
    patterns = _patterns("parts")
    if any(patterns[FICTION].fullmatch(part) for part in parts):
        return [FICTION]
    if any(patterns[_NOT].fullmatch(part) for part in parts):
        return []
    return [
        genre
        for genre, pattern in patterns.items()
        if any(pattern.fullmatch(part) for part in parts)
    ]


def _recipes(measured: _Text, catalogued: Mapping[str, str]) -> Reason | None:
    manner = measured.manner
    if manner.measured >= MIN_MEASURED and manner.narrating < MAX_NARRATING:
        return Reason(RECIPES, f"{manner.measured:.1f} measures in 1,000 words")
    return _by_name(RECIPES, measured, catalogued)


def _plays(measured: _Text, catalogued: Mapping[str, str]) -> Reason | None:
    speech, stage = measured.shape.speech, measured.stage_words
    detail = f"speech {speech:.2f}, words of the stage {stage:.1f} in 1,000"
    is_directed = measured.directions >= MIN_DIRECTIONS
    is_staged = stage >= MIN_STAGE_WORDS
    is_play = is_staged or is_directed or measured.shape.speakers > DIALOGUE_SPEAKERS
    if PLAYS in catalogued and speech >= MIN_SPEECH and is_play:
        return Reason(PLAYS, f"{detail}; catalogue: {catalogued[PLAYS]}")
    if speech >= MIN_SPEECH and is_staged:
        return Reason(PLAYS, detail)
    if speech >= MOST_SPEECH and is_directed:
        return Reason(PLAYS, f"{detail}, {measured.directions:.1f} directions")
    return None


def _reference(measured: _Text, catalogued: Mapping[str, str]) -> Reason | None:
    if measured.shape.sorted >= MIN_SORTED:
        return Reason(REFERENCE, f"{measured.shape.sorted:.2f} of the paragraphs are sorted")
    return _by_name(REFERENCE, measured, catalogued)


def _poems(measured: _Text, catalogued: Mapping[str, str]) -> Reason | None:
    verse = measured.shape.verse
    if verse >= MIN_VERSE:
        return Reason(POEMS, f"verse {verse:.2f}")
    if POEMS in catalogued and FICTION not in catalogued and verse >= MIN_CATALOGUED_VERSE:
        return Reason(POEMS, f"verse {verse:.2f}; catalogue: {catalogued[POEMS]}")
    return None


def _manuals(measured: _Text, catalogued: Mapping[str, str]) -> Reason | None:
    manner = measured.manner
    instructs = manner.obliging >= MIN_OBLIGING or manner.numbered >= MIN_NUMBERED
    if manner.narrating < INSTRUCTING_NARRATES and instructs:
        return Reason(
            MANUALS,
            f"in 1,000 words: {manner.narrating:.1f} narrate, {manner.obliging:.1f} oblige, "
            f"{manner.numbered:.1f} numbered lines",
        )
    return _by_name(MANUALS, measured, catalogued)


def _by_name(genre: str, measured: _Text, catalogued: Mapping[str, str]) -> Reason | None:
    """Returns a reason to reject a book if its catalogue entry or its title names `genre`.

    Returns None for other books, for fiction, and for a book whose text is a narrative.
    """
    narrating = measured.manner.narrating
    if genre in catalogued and FICTION not in catalogued and narrating < 2 * MAX_NARRATING:
        return Reason(genre, f"catalogue: {catalogued[genre]}")
    pattern = _title_patterns().get(genre)
    named = pattern.search(measured.title) if pattern else None
    if named and FICTION not in catalogued and narrating < MAX_NARRATING:
        return Reason(genre, f"title: {named[0]}; {narrating:.1f} words in 1,000 narrate")
    return None


@functools.cache
def _patterns(kind: str) -> Mapping[str, re.Pattern[str]]:
    """Returns genre → pattern of the catalogue entries that name this genre.

    `kind` is "parts" for the parts of a subject, which are separated by "--", or "shelves" for bookshelves.
    """
    return {
        genre: re.compile("|".join(f"(?:{one})" for one in table[kind]) or "(?!)", re.IGNORECASE)
        for genre, table in read_toml(__package__, _GENRES).items()
        if kind in table
    }


@functools.cache
def _title_patterns() -> Mapping[str, re.Pattern[str]]:
    return {
        genre: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)
        for genre, words in read_toml(__package__, _GENRES)["titles"].items()
    }
