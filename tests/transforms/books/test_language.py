from collections import Counter

import pytest

from corpusmill.transforms.books.boilerplate import StrippedText, strip_boilerplate
from corpusmill.transforms.books.text_screening import (
    UNKNOWN,
    LanguageShares,
    not_english,
    read_language,
    read_languages,
)
from corpusmill.transforms.files.records import Reason
from tests.makers.made_books import book
from tests.tools.real_data import needs_real_data
from tests.transforms.books.real_books import book_rows, read_text
from tests.transforms.books.sample_texts import (
    BILINGUAL,
    FRENCH,
    GERMAN,
    MANUAL,
    PLAY,
    PROSE,
    RECIPES,
    VERSE,
    many,
)

LINES = {
    "en": "He said that they were not there, and that it was the last of them which she had.",
    "fr": "Il n'est pas dans la maison, mais elle est avec nous et les enfants sont sur la route.",
    "de": "Er ist nicht zu Hause, aber sie wird mit uns und den Kindern auf der Straße sein.",
    "nl": "Hij is niet naar huis, maar zij zijn met het kind en de hond op de weg, ook als het regent.",
    "es": "No está en la casa, pero ella está con los niños y con el perro por el camino, como su madre.",
    "it": "Non è nella casa, ma gli altri sono con il cane sulla strada, e la madre era più lenta di lui.",
    "la": "Non est in villa, sed cum amicis et cum cane est, quod nec pater nec mater ei nunc adest.",
    "tl": "Hindi siya nasa bahay, kung kaya ang mga bata ay wala na sa daan at ang aso ay nag-iisa.",
    "sv": "Han är inte i huset, men hon är med barnen och hunden på vägen, som var för lång till att gå.",
    "fi": "Hän ei ole talossa, mutta he ovat tiellä ja koira on siellä niin kuin se oli silloin kun tuli.",
}


@pytest.mark.parametrize("language", LINES)
def test_a_sample_reads_as_its_language(language: str) -> None:
    assert read_language(" ".join([LINES[language]] * 4)) == language


@pytest.mark.parametrize(
    ("sample", "language"),
    [
        ("", ""),
        ("The end of it.", ""),  # too few words to say
        ("3.14159 " * 500, ""),
        (" ".join(f"Zork{letter * 3}" for letter in "abcdefghijklmnopqrstuvwxyz" * 3), UNKNOWN),
        ("他說他們不在這裡，她也不在。" * 9, "CJK"),
        ("Ο πατέρας δεν είναι στο σπίτι και η μητέρα είναι στον δρόμο. " * 5, "GREEK"),
        (" ".join([LINES["en"], LINES["de"]] * 4), "en+de"),
        # Long vowels are marked: Latin all the same.
        (
            "Nōn est in vīllā, sed cum amīcīs et cum cane est, quod nec pater nec māter adest. "
            * 4,
            "la",
        ),
        # A word of Greek does not make a book Greek.
        (LINES["en"] * 5 + " ἀρχὴ ἥμισυ παντός", "en"),
    ],
)
def test_other_samples(sample: str, language: str) -> None:
    assert read_language(sample) == language


@pytest.mark.parametrize(
    ("samples", "share"),
    [
        ({}, None),
        ({UNKNOWN: 3}, None),
        ({"en": 3, UNKNOWN: 5}, 1.0),
        ({"en": 3, "fr": 1}, 0.75),
        ({"en+fr": 2}, 0.5),
        ({"CJK": 1}, 0.0),
    ],
)
def test_the_share_of_english(samples: dict[str, int], share: float | None) -> None:
    assert LanguageShares(Counter(samples)).share_of_english() == share


@pytest.mark.parametrize("text", [PROSE, VERSE, PLAY, RECIPES, MANUAL])
def test_english_is_english_whatever_the_genre(text: str) -> None:
    assert read_languages(text).share_of_english() == 1.0
    assert not_english(book(), text) is None
    assert not_english(book(languages=()), text) is None


SEVERAL = "several-languages"
ENGLISH_LINES = many(LINES["en"] + "\n", 400)
FRENCH_LINES = many(LINES["fr"] + "\n", 400)


@pytest.mark.parametrize(
    ("languages", "text", "reason"),
    [
        ((), GERMAN, Reason("not-english", "declared: nothing; text: de 3 of 3 samples")),
        (("en",), FRENCH, Reason("not-english", "declared: en; text: fr 3 of 3 samples")),
        (("fr",), FRENCH, Reason("not-english", "declared: fr; text: fr 3 of 3 samples")),
        (("it",), PROSE, Reason("not-english", "declared: it; text: en 4 of 4 samples")),
        (("en", "de"), PROSE, Reason(SEVERAL, "declared: de, en; text: en 4 of 4 samples")),
        (("fr", "de"), GERMAN, Reason(SEVERAL, "declared: de, fr; text: de 3 of 3 samples")),
        (("en",), BILINGUAL, Reason(SEVERAL, "declared: en; text: en+de 8 of 8 samples")),
        ((), "1 2 3 " * 900, None),  # in no language: not for this rule
        (("English",), PROSE, None),
        (("eng", "en"), PROSE, None),
    ],
)
def test_declared_and_read_language(
    languages: tuple[str, ...], text: str, reason: Reason | None
) -> None:
    assert not_english(book(languages=languages), text) == reason


def test_some_foreign_pages_are_no_matter_many_are() -> None:
    def mixed(french_share: float) -> str:
        foreign = int(len(FRENCH_LINES) * french_share)
        return ENGLISH_LINES * 8 + FRENCH_LINES[:foreign]

    assert not_english(book(), mixed(0.4)) is None
    much = not_english(book(), mixed(1.0) + FRENCH_LINES * 3)
    assert much is not None
    assert much.slug == "several-languages"


REAL = {
    **dict.fromkeys((4650, 44157, 2650, 24675, 31284, 47629, 20228), "not-english"),
    **dict.fromkeys((15845, 25558, 2000), "not-english"),
    14082: "several-languages",  # a poem and its translation into French
    31963: "several-languages",  # a libretto with a translation
    31894: "several-languages",  # Latin plays with an English preface and notes
    16119: "several-languages",  # Spanish and Tagalog with a long English introduction
    45806: "several-languages",  # a libretto in French and English, declared to be English
    1000: None,  # catalogued as Italian; the file has a translation
    38003: None,  # a field guide without sentences
    43737: None,  # a glossary of Middle English
    35190: None,  # a romance in Middle English
    28696: None,  # formulas
    17773: None,  # songs in dialect
    59121: None,  # tales in dialect
    26060: None,  # a song
}
"""The language of a book by its text alone, without catalogue and header."""


@needs_real_data
def test_real_books_are_told_by_their_text_alone() -> None:
    found: dict[int, str | None] = {}
    for row in book_rows():
        book_id = int(row["id"] or 0)
        if book_id in REAL.keys() - found.keys():
            stripped = strip_boilerplate(read_text(row))
            assert isinstance(stripped, StrippedText)
            reason = not_english(book(languages=()), stripped.text)
            found[book_id] = reason.slug if reason else None
    assert found == REAL
