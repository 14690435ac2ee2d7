import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.english_tokens import to_lines, to_paragraphs
from tests.tools.growth import call_linear_in
from tests.tools.real_data import needs_real_data
from tests.tools.real_gutenberg import read_bodies

CASES = [
    ("", []),
    (" \n\t\n\n", []),
    ("One line", ["One line"]),
    ("The hen sat\non the wall.\nShe slept.\n", ["The hen sat on the wall. She slept."]),
    ("CHAPTER I\n\nThe hen\nsat.\n\n\n\nIt rained.", ["CHAPTER I", "The hen sat.", "It rained."]),
    ("CHAPTER I\nTHE HEN\n\nShe sat.", ["CHAPTER I THE HEN", "She sat."]),
    ("One.\n \t \nTwo.", ["One.", "Two."]),
    ("  A hen,\n    a wall,\n  no more.", ["A hen, a wall, no more."]),
    ("a\tb   c\n d \ne\u00a0f\u2003g\fh\ri", ["a b c d e f g h i"]),
    ("hen\x00s sat\x1a\n\x07\n\x85\n\x1a", ["hens sat"]),
    ("it\u200bself \ufeffand\u00ad more", ["it\u200bself \ufeffand\u00ad more"]),
    ("a billiard-\nroom", ["a billiard-room"]),
    ("they were politi-\ncal", ["they were politi-cal"]),
    ("a half-  \n\t way house-\nélan", ["a half-way house-élan"]),
    ("he slept-\nWhereto", ["he slept- Whereto"]),
    ("of 1914-\neighteen", ["of 1914- eighteen"]),
    ("a hen-\n\nroom", ["a hen-", "room"]),
    ("the hen--\nif it was one", ["the hen--if it was one"]),
    ("the hen!--\n  “Oh", ["the hen!--“Oh"]),
    ("the hen—\nthat one", ["the hen—that one"]),
    ("the hen --\nthat one", ["the hen -- that one"]),
    ("Miss W--\nis known. A——\nB", ["Miss W-- is known. A—— B"]),
    ("W—\nis. --\nhen---\nhen", ["W— is. -- hen--- hen"]),
    ("the hen--\n--that one—\n—and", ["the hen-- --that one— —and"]),
    ("the hen--\n\nthat one", ["the hen--", "that one"]),
    ("the hen\n--that one", ["the hen --that one"]),
    ("* * * * *\n-----\n\n-", ["* * * * * -----", "-"]),
    ("--\nhen", ["-- hen"]),
    ("-\nhen", ["- hen"]),
    ("渾身都\n遮蓋得。", ["渾身都 遮蓋得。"]),
    ("Це був\nпівень-\nвелетень", ["Це був півень-велетень"]),
]
TEXTS = st.text(
    st.sampled_from("aAbé1-—.“ \t\n\n\n\r\f\x00\x1a\x1c\x85\u00a0\u2028\u200b中"), max_size=60
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(("text", "paragraphs"), CASES)
def test_paragraphs(text: str, paragraphs: list[str]) -> None:
    assert to_paragraphs(text) == paragraphs


def check_laws(text: str) -> None:
    paragraphs = to_paragraphs(text)
    for paragraph in paragraphs:
        assert paragraph == " ".join(paragraph.split()) != ""
    assert not any(CONTROL.search(paragraph) for paragraph in paragraphs)
    assert CONTROL.sub("", "".join(text.split())) == "".join("".join(paragraphs).split())
    assert to_paragraphs("\n\n".join(paragraphs)) == paragraphs


@given(TEXTS)
def test_no_character_is_lost_and_paragraphs_stay_as_they_are(text: str) -> None:
    check_laws(text)


@given(TEXTS, TEXTS)
def test_texts_with_a_blank_line_between_them_are_paragraphs_apart(first: str, last: str) -> None:
    assert to_paragraphs(f"{first}\n\n{last}") == to_paragraphs(first) + to_paragraphs(last)


@pytest.mark.parametrize(
    "text",
    ["-" * 999_999, "\n" * 999_999, "a-" + " " * 999_999, "a-\n" * 300_000, "\n " * 500_000],
)
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    call_linear_in(check_laws, text)


def test_lines_end_in_line_feeds() -> None:
    assert to_lines(["a", "b c"]) == "a\nb c\n"
    assert to_lines([]) == ""


@needs_real_data
def test_real_books() -> None:
    bodies = read_bodies(limit=60)
    assert len(bodies) == 60
    for body in bodies.values():
        check_laws(body)
        assert len(to_paragraphs(body)) > 20
