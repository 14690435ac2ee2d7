import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.text_screening import (
    Shape,
    is_list,
    is_stanza,
    measure_shape,
    paragraphs_of,
    spaced_lines,
    width_of,
)
from tests.tools.growth import call_linear_in
from tests.transforms.books.sample_texts import MANUAL, PLAY, PROSE, VERSE

STANZA = [
    "  The wind is up, the wind is down,",
    "    And nobody knows why,",
    "  It turns the mill,",
]


@pytest.mark.parametrize(
    ("lines", "width", "stanza"),
    [
        (STANZA, 60, True),
        # Three lines of prose that happen to begin with names: each line is full.
        (
            ["and so it was that at the house of", "Marigold they met with her cousin", "Tobias"],
            34,
            False,
        ),
        (["She went out.", "Nobody saw her."], 60, True),
        (["A line alone"], 60, False),
        ([*STANZA, "and turns it not,"], 60, False),  # two of three go on with a capital
        ([*STANZA, "'And turns it not,'", "--Or does."], 60, True),  # behind marks
        ([line * 8 for line in STANZA], 300, False),  # too long for verse
    ],
)
def test_stanzas(lines: list[str], width: int, stanza: bool) -> None:
    assert is_stanza(lines, width) == stanza


def test_in_a_book_of_verse_full_tercets_are_stanzas() -> None:
    lines = ["Midway upon the road I lost the way,", "Because it is a road that no one finds;"]
    assert not is_stanza(lines, 39)
    assert is_stanza(lines, 39, is_verse_book=True)


@pytest.mark.parametrize(
    ("lines", "listed"),
    [
        (["The Mill ....... 3", "The Flood ...... 17.", "Index"], True),
        (["The Mill", "The Flood 17", "Index"], False),
        (["1876"], False),
        (["Oats   12  14 |", "Barley  9  11 |"], True),
        # A poem with every fifth line numbered.
        ([*[f"line {place}," for place in "abcd"], "and the last     5"], False),
    ],
)
def test_lists(lines: list[str], listed: bool) -> None:
    assert is_list(lines) == listed


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
    assert list(spaced_lines([*heading, *long, *verse, *long, *prose])) == [(3, 7)]


def test_paragraphs_and_width() -> None:
    text = "\n\n  a\nb  \n \t\nc\x0c\n\n\n"
    assert list(paragraphs_of(text)) == [["  a", "b"], ["c"]]
    assert width_of([["x" * length for length in range(1, 11)]]) == 10
    assert width_of([]) == 0


def test_shapes_of_whole_texts() -> None:
    assert measure_shape("") == Shape(0, 0.0, 0.0, 0, 0.0)
    assert measure_shape(" \n \n") == Shape(0, 0.0, 0.0, 0, 0.0)
    assert measure_shape(PROSE)[1:] == (0.0, 0.0, 0, 0.0)
    assert measure_shape(VERSE)[1:] == (1.0, 0.0, 0, 0.0)
    assert measure_shape(MANUAL)[1:] == (0.0, 0.0, 0, 0.0)
    play = measure_shape(PLAY)
    assert play.speakers == 2
    assert 0.6 < play.speech < 0.8  # the rest is what the scene is


def test_half_verse_is_half() -> None:
    prose, verse = len(PROSE), len(VERSE)
    shape = measure_shape(PROSE + "\n" + VERSE)
    assert shape.verse == pytest.approx(verse / (prose + verse), abs=0.03)


@given(st.text(alphabet="aB.1 \n\u2003-*", max_size=200))
def test_shares_are_shares(text: str) -> None:
    shape = measure_shape(text)
    assert shape.characters == sum(len(line.strip()) for line in text.split("\n"))
    assert all(0 <= share <= 1 for share in (shape.verse, shape.speech, shape.listed))


@pytest.mark.parametrize(
    "text",
    [
        "*" * 10**6,
        "\n" * 10**6,
        " " * 10**6,
        " \n" * 10**6,
        "A" * 10**6,
        "A B " * 250_000,
        "A.(" * 300_000,
    ],
)
def test_hostile_texts_take_no_longer(text: str) -> None:
    call_linear_in(measure_shape, text)
