from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.translation.sentence_rules import (
    MAX_WORDS,
    MIN_WORDS,
    reason_to_reject_sentence,
)
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data


@pytest.mark.parametrize(
    "text",
    read_cases("translation/sentence_rules", "good"),
)
def test_good_sentences(text: str) -> None:
    assert reason_to_reject_sentence(text) is None


@pytest.mark.parametrize(
    ("text", "slug"),
    read_cases("translation/sentence_rules", "broken"),
)
def test_broken_sentences(text: str, slug: str) -> None:
    assert reason_to_reject_sentence(text) == slug


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        (MIN_WORDS - 1, "too-short"),
        (MIN_WORDS, None),
        (MAX_WORDS, None),
        (MAX_WORDS + 1, "too-long"),
    ],
)
def test_the_bounds_themselves_are_fit(words: int, slug: str | None) -> None:
    text = "The " + " ".join(["or"] * (words - 2)) + " hill."
    assert reason_to_reject_sentence(text) == slug


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    reason = reason_to_reject_sentence(text)
    assert reason is None or reason == reason.strip().lower()


@needs_real_data
def test_nearly_all_released_sentences_are_fit() -> None:
    path = DATA / "flores" / "flores101_dataset" / "devtest" / "eng.devtest"
    reasons = Counter(
        reason_to_reject_sentence(line.strip()) for line in path.read_text("utf-8").splitlines()
    )
    assert reasons.total() == 1012
    assert reasons[None] == 993
    assert dict(reasons) == {
        None: 993,
        "unbalanced": 5,  # halves of quotations, a bracket that is not closed
        "no-end": 5,  # three without any end, one that ends in "archipelago", one in "I"
        "dangling": 3,  # "(see example)", "the map above", "discussed here"
        "lower-case": 2,  # "he cave itself", "towards the end"
        "not-english": 2,  # lists of sports and of nominations
        "punctuation": 1,  # ". Scientists say"
        "control-character": 1,  # two of U+200B
    }
