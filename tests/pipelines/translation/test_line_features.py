import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.swapped_lines import weigh_lines, words_of
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(("line", "words"), read_cases("translation/line_features", "words"))
def test_words(line: str, words: list[str]) -> None:
    assert words_of(line) == words


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6), st.booleans())
def test_rows_have_length_1_or_0(lines: list[str], is_unspaced: bool) -> None:
    norms = np.linalg.norm(weigh_lines(lines, is_unspaced), axis=1)
    assert np.all(np.isclose(norms, 1, atol=1e-5) | (norms == 0))


def test_lines_with_the_same_rare_word_are_alike() -> None:
    rows = weigh_lines(["a zebra ran", "a zebra slept", "a horse slept", "a dog sat"], False)
    likeness = rows @ rows.T
    assert likeness[0, 1] > 5 * likeness[0, 3]
    assert likeness[1, 2] > likeness[0, 2]


def test_without_blanks_parts_of_a_run_count() -> None:
    rows = weigh_lines(["斑马在跑", "我见过斑马", "狗在家里坐"], True)
    likeness = rows @ rows.T
    assert likeness[0, 1] > likeness[1, 2]
