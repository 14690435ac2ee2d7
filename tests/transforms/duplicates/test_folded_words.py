import sys
import unicodedata

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.folded_words import (
    fold_text,
    fold_words,
    hash_folded,
    normalize,
    places_in,
    weigh_words,
)
from tests.tools.case_tables import read_cases

# Quotation marks, a mark, letters that become two, half of a pair, letters that are words, a soft hyphen.
TEXTS = st.text(st.sampled_from("aZ9 -\n'’“é\u0301ßﬁ\ud800語のกั\u00ad½İ\U0001f600"), max_size=40)


@pytest.mark.parametrize(
    ("text", "words"),
    [*read_cases("duplicates/folded_words", "words"), (" ´ _START_ \ud800", "start")],
)
def test_words(text: str, words: str) -> None:
    assert fold_words(text) == words.split()


@pytest.mark.parametrize(
    ("text", "weights"), read_cases("duplicates/folded_words", "weights_of_words")
)
def test_weights_of_words(text: str, weights: list[int]) -> None:
    words = fold_words(text)
    ends = numpy.cumsum([0, *map(len, words)])
    characters = numpy.frombuffer("".join(words).encode("utf-32-le"), "<u4")
    sizes, found = weigh_words(characters, ends)
    assert found.tolist() == weights
    assert sizes.tolist() == [weight or 4 for weight in weights]


@pytest.mark.parametrize(
    ("text", "cut"), read_cases("duplicates/folded_words", "cuts_after_second_word")
)
def test_a_word_ends_after_its_removed_characters(text: str, cut: str) -> None:
    assert text[fold_text(text).spans()[1][1] :] == cut


@given(TEXTS)
def test_words_are_at_their_spans(text: str) -> None:
    folded = fold_text(text)
    normal = normalize(text)
    assert folded.text == normal
    for word, (start, end) in zip(folded.words(), folded.spans(), strict=True):
        assert word in fold_words(normal[start:end])  # with "½" there is another one
    assert folded.word_starts().tolist() == [start for start, _ in folded.spans()]
    for word in folded.words():
        assert all(unicodedata.category(one)[0] in "LMN" for one in word)


@given(
    st.text(
        st.sampled_from("aeo \u0301\u0323\u0958\u1100\u1161\u11a8é\u1fb4;&#x\u0f71\u0f73"),
        max_size=20,
    ),
    st.sampled_from([1, 3, 256]),
)
def test_the_text_before_a_position_has_the_characters_before_it_in_nfc(
    text: str, piece: int
) -> None:
    normal = [len(normalize(text[:end])) for end in range(len(text) + 1)]
    places = range(normal[-1] + 1)
    wanted = [max(end for end, size in enumerate(normal) if size <= at) for at in places]
    assert places_in(text, places, piece) == wanted


@given(TEXTS, st.sampled_from([1, 3, 1 << 16]))
def test_the_hash_of_a_word_depends_on_the_word_alone(text: str, span: int) -> None:
    folded = fold_text(text)
    assume(all(normalize(word) == word for word in folded.words()))  # "ﬁ" before an accent is not
    alone = [hash_folded(fold_text(word), span)[0] for word in folded.words()]
    assert hash_folded(folded, span).tolist() == alone


def test_every_text_that_nfc_changes_is_normalised() -> None:
    for character in map(chr, range(sys.maxunicode + 1)):
        apart = unicodedata.normalize("NFD", character)
        if apart != character:
            assert fold_text(apart).text == normalize(apart)
            assert fold_text(character).text == normalize(character)


def test_different_words_have_different_hashes() -> None:
    words = [f"{a}{b}{c}" for a in "abé" for b in ("", "b", "ж") for c in range(300)]
    assert len(numpy.unique(hash_folded(fold_text(" ".join(words))))) == len(words)
