import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.news.perl_text import compose, members_of

MARKS = "\u0301\u0323\u0327\u0344\u0345\u0f71\u0f72\u0f73\u3099"
KNOWN = members_of("assigned", "5.14")
texts = st.text(
    st.one_of(st.sampled_from(MARKS + "aeAco"), st.characters(exclude_categories=["Cn"]))
)


@given(texts.filter(lambda text: all(KNOWN[ord(character)] for character in text)))
def test_characters_of_old_compose_as_python_has_it(text: str) -> None:
    assert compose(text, "5.14") == unicodedata.normalize("NFC", text)
    assert compose(text, "5.36") == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "in_5_14", "in_5_36"),
    [
        # Chakma vowels, of Unicode 6.1
        ("\U00011131\U00011127", "\U00011131\U00011127", "\U0001112e"),
        # a mark of Unicode 7.0 (class 230) before one of class 220
        ("a\u1ab0\u0323", "a\u1ab0\u0323", "\u1ea1\u1ab0"),
        ("e\u0301\u1ab0\u0323e\u0301", "é\u1ab0\u0323é", "ẹ\u0301\u1ab0é"),
    ],
)
def test_a_version_does_not_touch_what_is_younger(text: str, in_5_14: str, in_5_36: str) -> None:
    assert compose(text, "5.14") == in_5_14
    assert compose(text, "5.36") == unicodedata.normalize("NFC", in_5_36)


@given(st.text(st.sampled_from(MARKS + "a☃"), min_size=150, max_size=400))
def test_many_marks_are_sorted_as_few_are(text: str) -> None:
    assert compose(text, "5.36") == unicodedata.normalize("NFC", text)


def test_many_marks_take_no_quadratic_time() -> None:
    acute, dot = "\u0301", "\u0323"
    expected = "ạ" + dot * 199_999 + acute * 200_000
    assert compose("a" + (acute + dot) * 200_000, "5.36") == expected
