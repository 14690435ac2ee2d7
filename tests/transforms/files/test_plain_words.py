import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.text import plain_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("The HEN sat.\nÉtude", ["the", "hen", "sat", "étude"]),
        ('"Don\'t," she said--_twice_.', ["don", "t", "she", "said", "twice"]),
        ("“Don’t,” she said—_twice_…", ["don", "t", "she", "said", "twice"]),
        ("«Éa»\xa0: 1,5\u2003kg‐\u2060x", ["éa", "1", "5", "kg", "x"]),
        ("पानी हिन्दी", ["पानी", "हिन्दी"]),
        ("Київ, Ґанок", ["київ", "ґанок"]),
        ("東京、カナ。（五）", ["東", "京", "カ", "ナ", "五"]),
        ("서울 말", ["서울", "말"]),
        ("ไท ກ ម မ", ["ไ", "ท", "ກ", "ម", "မ"]),
        ("ＡＢ！ａ～", ["ａｂ", "ａ"]),
        ("a\x00b\x1cc", ["a", "b", "c"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert plain_words(text).split() == words


@given(st.text(st.characters(codec="utf-8")))
def test_plain_words_stay_as_they_are(text: str) -> None:
    once = plain_words(text)
    assert plain_words(once).split() == once.split()


@given(st.text(st.sampled_from("aé日" + string.punctuation + "‘’“”—…«»、。！")))
def test_of_marks_nothing_is_left(text: str) -> None:
    assert all(unicodedata.category(char) in ("Ll", "Lo", "Zs") for char in plain_words(text))
