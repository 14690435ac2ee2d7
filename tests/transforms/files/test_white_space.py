import sys

from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.text import NARROW_SPACES, WIDE_SPACES, count_words

ALL_SPACES = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]


def test_the_white_space_is_that_of_python() -> None:
    assert sorted(NARROW_SPACES + WIDE_SPACES) == ALL_SPACES


@given(st.text(st.sampled_from([*ALL_SPACES, "a", "\x1b", "é", "山", "\U0001f600", "\ud800"])))
def test_words_are_counted_as_split_does(text: str) -> None:
    assert count_words(text) == len(text.split())
