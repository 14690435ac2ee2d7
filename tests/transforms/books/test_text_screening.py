from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books import text_screening
from corpusmill.transforms.books.boilerplate import StrippedText, strip_boilerplate
from corpusmill.transforms.files.records import Reason
from tests.makers.made_books import book
from tests.tools.growth import call_linear_in
from tests.tools.real_data import needs_real_data
from tests.transforms.books.read_cases import read_table
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

CASES = read_table("text_screening", GERMAN=GERMAN, FRENCH=FRENCH, PROSE=PROSE, BILINGUAL=BILINGUAL)


@given(st.text(max_size=60), st.integers(1, 6), st.integers(1, 12))
def test_samples_are_parts_in_their_order(text: str, number: int, characters: int) -> None:
    samples = text_screening.take_samples(text, number, characters)
    assert len(samples) <= number
    if len(text) <= number * characters:
        assert "".join(samples) == text
        return
    assert [len(sample) for sample in samples] == [characters] * number
    assert text.startswith(samples[0])
    if number > 1:
        assert text.endswith(samples[-1])


def test_samples_are_spread_evenly() -> None:
    text = "".join(chr(0x4E00 + place) for place in range(100))
    starts = [text.index(sample) for sample in text_screening.take_samples(text, 4, 10)]
    assert starts == [0, 30, 60, 90]


@pytest.mark.parametrize("text", [PROSE, VERSE, PLAY, RECIPES, MANUAL, GERMAN])
def test_running_text_is_not_malformed(text: str) -> None:
    assert text_screening.malformed(book(), text) is None


@pytest.mark.parametrize(("text", "times", "detail"), CASES["malformed"])
def test_malformed_texts(text: str, times: int, detail: str) -> None:
    assert text_screening.malformed(book(), text * times) == Reason("malformed", detail)


def test_short_lines_may_be_repeated() -> None:
    refrain = "Heigh ho, says he.\n"
    text = "".join(
        f"The frog of town {number} went out to see.\n{refrain * 3}" for number in range(99)
    )
    assert text_screening.malformed(book(), text) is None


def test_too_short() -> None:
    rule = text_screening.TooShort(3)
    assert rule(book(), "one two  three") is None
    assert rule(book(), "one\ntwo") == Reason("too-short", "2 words")
    assert text_screening.TooShort(0)(book(), "") is None
    assert text_screening.TooShort()(book(), "word " * 199) == Reason("too-short", "199 words")
    assert text_screening.TooShort()(book(), "word " * 200) is None
    with pytest.raises(ValueError, match="min_words must be 0 or more, not -1"):
        text_screening.TooShort(-1)


def speech_of(text: str) -> text_screening.Speech:
    return text_screening.measure_speech(list(text_screening.paragraphs_of(text)))


@pytest.mark.parametrize("layout", CASES["layouts"])
@pytest.mark.parametrize(
    ("first", "second"), [("MARIGOLD", "SIR TOBY"), ("Mar", "Tob"), ("Mrs. Reed", "Dr. Toll")]
)
def test_the_layouts_of_plays(layout: str, first: str, second: str) -> None:
    text = layout.format(first=first, second=second) * 5
    characters = sum(len(line.strip()) for line in text.split("\n"))
    found = speech_of(text)
    assert found.speakers == 2
    assert found.characters >= 0.9 * (characters - 20)  # an opening line may have none before it


def test_indented_names_begin_a_speech_inside_a_paragraph() -> None:
    text = "  Mar. Who is it?\n  Tob. It is I.\n    And so it is.\n" * 5
    assert speech_of(text) == text_screening.Speech(5 * (15 + 13 + 13), 2)
    assert speech_of(text.replace("  ", "")).speakers == 0


def test_names_in_capitals_begin_a_speech_also_in_the_middle_of_a_scene() -> None:
    text = "ROSA. Come in.\nTHE CLERK. I will.\nAnd so I do.\n" * 5
    assert speech_of(text) == text_screening.Speech(5 * (14 + 18 + 12), 2)


@pytest.mark.parametrize(("text", "times"), CASES["no_speech"])
def test_what_is_no_speech(text: str, times: int) -> None:
    assert speech_of(text * times) == text_screening.Speech(0, 0)


def test_the_place_of_a_letter_does_not_speak_the_letter() -> None:
    text = "Churchtown.\n\nMy dear, I write to you again of what has been.\n\n" * 6
    assert speech_of(text).characters == 6 * len("Churchtown.")


@pytest.mark.parametrize(("text", "words", "directions"), CASES["stage"])
def test_stage_words_and_directions(text: str, words: int, directions: int) -> None:
    per_word = max(1, text.count(" ") + text.count("\n")) / 1000
    assert text_screening.stage_words(text) * per_word == pytest.approx(words)
    assert text_screening.stage_directions(text) * per_word == pytest.approx(directions)


@pytest.mark.parametrize(("paragraphs", "share"), CASES["sorted"])
def test_paragraphs_in_alphabetical_order(paragraphs: str, share: float) -> None:
    lines = [[word] for word in paragraphs.split()]
    assert text_screening.share_sorted(lines) == pytest.approx(share)


@pytest.mark.parametrize(("lines", "width", "stanza"), CASES["stanzas"])
def test_stanzas(lines: list[str], width: int, stanza: bool) -> None:
    assert text_screening.is_stanza(lines, width) == stanza


def test_in_a_book_of_verse_full_tercets_are_stanzas() -> None:
    lines = ["Midway upon the road I lost the way,", "Because it is a road that no one finds;"]
    assert not text_screening.is_stanza(lines, 39)
    assert text_screening.is_stanza(lines, 39, is_verse_book=True)


@pytest.mark.parametrize(("lines", "listed"), CASES["lists"])
def test_lists(lines: list[str], listed: bool) -> None:
    assert text_screening.is_list(lines) == listed


def test_verse_with_a_blank_line_after_each_line() -> None:
    verse = [
        ["  The wind is up,"],
        ["  The wind is down--"],
        ["  It turns the mill"],
        ["And stops."],
    ]
    prose = [["He came."], ["She went."], ["'Who?' he asked."], ["Nobody."]]
    heading = [["CHAPTER I"], ["In which nothing is told"]]
    long = [["and so on"] * 3]
    assert list(text_screening.spaced_lines([*heading, *long, *verse, *long, *prose])) == [(3, 7)]


def test_paragraphs_and_width() -> None:
    text = "\n\n  a\nb  \n \t\nc\x0c\n\n\n"
    assert list(text_screening.paragraphs_of(text)) == [["  a", "b"], ["c"]]
    assert text_screening.width_of([["x" * length for length in range(1, 11)]]) == 10
    assert text_screening.width_of([]) == 0


def test_shapes_of_whole_texts() -> None:
    for empty in ("", " \n \n"):
        assert text_screening.measure_shape(empty) == text_screening.Shape(0, 0.0, 0.0, 0, 0.0, 0.0)
    for text, verse in ((PROSE, 0.0), (VERSE, 1.0), (MANUAL, 0.0)):
        assert text_screening.measure_shape(text)[1:5] == (verse, 0.0, 0, 0.0)
    play = text_screening.measure_shape(PLAY)
    assert play.speakers == 2
    assert 0.6 < play.speech < 0.8  # the rest is what the scene is


def test_half_verse_is_half() -> None:
    prose, verse = len(PROSE), len(VERSE)
    shape = text_screening.measure_shape(PROSE + "\n" + VERSE)
    assert shape.verse == pytest.approx(verse / (prose + verse), abs=0.03)


@given(st.text(alphabet="aB.1 \n\u2003-*", max_size=200))
def test_shares_are_shares(text: str) -> None:
    shape = text_screening.measure_shape(text)
    assert shape.characters == sum(len(line.strip()) for line in text.split("\n"))
    assert all(0 <= share <= 1 for share in (shape.verse, shape.speech, shape.listed))


@pytest.mark.parametrize("unit", ["*", "\n", " ", " \n", "A", "A B ", "A.(", "[A", "\n("])
def test_hostile_texts_take_no_longer(unit: str) -> None:
    for function in (text_screening.measure_shape, text_screening.stage_directions):
        call_linear_in(function, unit * (10**6 // len(unit)))


LINES = {language: text for text, times, language in CASES["samples"] if times == 4}


@pytest.mark.parametrize(("text", "times", "language"), CASES["samples"])
def test_a_sample_reads_as_its_language(text: str, times: int, language: str) -> None:
    assert text_screening.read_language(text * times) == language


@pytest.mark.parametrize(("samples", "share"), CASES["shares"])
def test_the_share_of_english(samples: dict[str, int], share: float | str) -> None:
    found = text_screening.LanguageShares(Counter(samples)).share_of_english()
    assert ("" if found is None else found) == share


@pytest.mark.parametrize("text", [PROSE, VERSE, PLAY, RECIPES, MANUAL])
def test_english_is_english_whatever_the_genre(text: str) -> None:
    assert text_screening.read_languages(text).share_of_english() == 1.0
    assert text_screening.not_english(book(), text) is None
    assert text_screening.not_english(book(languages=()), text) is None


ENGLISH_LINES = many(LINES["en"] + "\n", 400)
FRENCH_LINES = many(LINES["fr"] + "\n", 400)


@pytest.mark.parametrize(("languages", "text", "times", "slug", "detail"), CASES["declared"])
def test_declared_and_read_language(
    languages: list[str], text: str, times: int, slug: str, detail: str
) -> None:
    found = text_screening.not_english(book(languages=tuple(languages)), text * times)
    assert found == (Reason(slug, detail) if slug else None)


def test_some_foreign_pages_are_no_matter_many_are() -> None:
    def mixed(french_share: float) -> str:
        foreign = int(len(FRENCH_LINES) * french_share)
        return ENGLISH_LINES * 8 + FRENCH_LINES[:foreign]

    assert text_screening.not_english(book(), mixed(0.4)) is None
    much = text_screening.not_english(book(), mixed(1.0) + FRENCH_LINES * 3)
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
            reason = text_screening.not_english(book(languages=()), stripped.text)
            found[book_id] = reason.slug if reason else None
    assert found == REAL
