import pytest

from corpusmill.transforms.books.text_screening import (
    Speech,
    measure_speech,
    paragraphs_of,
    stage_words,
)


def speech_of(text: str) -> Speech:
    return measure_speech(list(paragraphs_of(text)))


@pytest.mark.parametrize(
    "layout",
    [
        "{first}. Who is it?\n\n{second}. It is I.\n\n",
        "{first}: Who is it?\n\n{second}: It is I.\n\n",
        "_{first}._ Who is it?\n\n_{second}._ It is I.\n\n",
        "{first} (aside). Who is it?\n\n{second} [at the door]: It is I.\n\n",
        "{first}.--Who is it?\n\n{second}.--It is I.\n\n",
        "{first}.\nWho is it?\n\n{second}.\nIt is I.\n\n",
        "{first}\n\nWho is it?\n\n{second}\n\nIt is I.\n\n",
    ],
)
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
    assert speech_of(text) == Speech(5 * (15 + 13 + 13), 2)
    assert speech_of(text.replace("  ", "")).speakers == 0


def test_names_in_capitals_begin_a_speech_also_in_the_middle_of_a_scene() -> None:
    text = "ROSA. Come in.\nTHE CLERK. I will.\nAnd so I do.\n" * 5
    assert speech_of(text) == Speech(5 * (14 + 18 + 12), 2)


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Reed came in.\n\n" * 9,  # a title
        "XIV.\n\nHe went out.\n\n" * 9,  # a number
        "CHAPTER\n\nHe went out.\n\n" * 9,
        "MRS. REED TO LADY TOLL\n\nMy dear, I write.\n\n" * 9,  # the head of a letter
        "Churchtown.\n\nMy dear, I write to you again of what has been.\n\n" * 4,  # too few times
        "He said: it is. But she: no.\n\n" * 9,
        "ROSA. Come in.\n\n" * 4,
    ],
)
def test_what_is_no_speech(text: str) -> None:
    assert speech_of(text) == Speech(0, 0)


def test_the_place_of_a_letter_does_not_speak_the_letter() -> None:
    text = "Churchtown.\n\nMy dear, I write to you again of what has been.\n\n" * 6
    assert speech_of(text).characters == 6 * len("Churchtown.")


def test_words_of_the_stage() -> None:
    assert stage_words("Enter a king.\nExit he and another king\n") == 2000 / 8
    assert stage_words("They entered, and found the exit. Entering") == 0
    assert stage_words("") == 0
