import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books.notes import strip_notes
from tests.transforms.books.read_cases import Case, read_cases

CHAPTER = "He walked on through the rain, and no lamp was lit in any house.\n" * 30
WORDS = st.lists(st.sampled_from(["The", "lamp", "was", "lit.", "He", "slept.", "(1)", "_so_"]))
PARAGRAPHS = st.lists(WORDS.map(" ".join).filter(bool), min_size=1)


@pytest.mark.parametrize("case", read_cases("notes"), ids=lambda case: case.label)
def test_case(case: Case) -> None:
    assert strip_notes(case.text).rstrip("\n") == case.expected


@settings(max_examples=50)
@given(PARAGRAPHS)
def test_text_without_notes_stays(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs) + "\n"
    assert strip_notes(text) == text


@settings(max_examples=50)
@given(PARAGRAPHS, PARAGRAPHS)
def test_a_bracketed_note_goes_wherever_it_stands(before: list[str], after: list[str]) -> None:
    note = "[Transcriber's Note: so printed.]"
    text = "\n\n".join([*before, note, *after]) + "\n"
    assert strip_notes(text) == "\n\n".join([*before, *after]) + "\n"


def test_a_chapter_after_a_heading_at_the_end_is_not_taken_for_a_note() -> None:
    book = f"{CHAPTER}\n\n{CHAPTER}\n\nTranscriber's Note\n\n{CHAPTER}"
    assert strip_notes(book) == book


def test_a_long_list_of_corrections_at_the_end_goes() -> None:
    notes = "\n\n".join(f'Page {page}, "lihgt" changed to "light".' for page in range(1, 200))
    book = f"{CHAPTER * 10}\n\n\nTRANSCRIBER'S NOTES\n\n{notes}\n"
    assert strip_notes(book).rstrip("\n") == (CHAPTER * 10).rstrip("\n")


def test_a_long_list_of_words_that_were_changed_goes() -> None:
    entry = "who held the lmap[lamp] and went with it up the old stairs to the door\n"
    table = "  Page          Change\n\n" + "".join(f"   {number}  {entry}" for number in range(40))
    intro = "Transcriber's Note: Blank pages have been deleted."
    book = f"{CHAPTER * 10}\n\n\nTranscriber's Amendments\n\n{intro}\n\n{table}"
    assert strip_notes(book).rstrip("\n") == (CHAPTER * 10).rstrip("\n")


def test_a_dialogue_after_a_heading_at_the_end_is_not_taken_for_a_note() -> None:
    note = "The oldest spelling was kept."
    dialogue = '"Who is there?"\n\n"I."\n\n"Who is that?"\n\n"The clerk."\n\n"Come in."\n\n' * 5
    book = f"{CHAPTER}\n\n\nTranscriber's Note\n\n{note}\n\n\n{dialogue}"
    assert strip_notes(book).rstrip("\n") == f"{CHAPTER}\n\n\n{dialogue}".rstrip("\n")
