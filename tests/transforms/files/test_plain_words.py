import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.text import plain_words
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(("text", "words"), read_cases("files/plain_words", "words"))
def test_words(text: str, words: list[str]) -> None:
    assert plain_words(text).split() == words


@given(st.text(st.characters(codec="utf-8")))
def test_plain_words_stay_as_they_are(text: str) -> None:
    once = plain_words(text)
    assert plain_words(once).split() == once.split()


@given(st.text(st.sampled_from("aé日" + string.punctuation + "‘’“”—…«»、。！")))
def test_of_marks_nothing_is_left(text: str) -> None:
    assert all(unicodedata.category(char) in ("Ll", "Lo", "Zs") for char in plain_words(text))
