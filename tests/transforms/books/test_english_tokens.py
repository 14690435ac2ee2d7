import random
import re
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books import english_tokens
from corpusmill.transforms.books.english_tokens import (
    EnglishTokenizer,
    normalize_marks,
    separate_numbers,
    to_lines,
    to_paragraphs,
)
from corpusmill.transforms.books.simplebooks_rows import COMMA, DISTINCT
from tests.tools.growth import call_linear_in
from tests.tools.real_data import needs_real_data
from tests.tools.real_gutenberg import read_bodies
from tests.transforms.books.read_cases import read_table

CASES = read_table("english_tokens")

SPACY: Any = spacy.blank("en").tokenizer
TOKENIZER = EnglishTokenizer()


def run_spacy(text: str) -> str:
    """The tokens of spaCy on the whole text, without ours, but for marks."""
    text = " ".join(normalize_marks(text).split())
    tokens = [token.text for token in SPACY(text)]
    words = " ".join(token for token in tokens if token.strip())
    return re.sub(r"(?<=[0-9])([.,])(?=[0-9])", r" @\1@ ", words)


@pytest.mark.parametrize(("paragraph", "tokens"), CASES["tokens"])
def test_tokens(paragraph: str, tokens: str) -> None:
    assert TOKENIZER.tokenize(paragraph) == tokens == run_spacy(paragraph)


@pytest.mark.parametrize(("paragraph", "tokens", "apart"), CASES["neighbours"])
def test_neighbours_that_may_change_each_other(paragraph: str, tokens: str, apart: str) -> None:
    chunks = [TOKENIZER.tokenize(chunk) for chunk in paragraph.split()]
    assert " ".join(chunks) == apart
    assert TOKENIZER.tokenize(paragraph) == tokens == run_spacy(paragraph)


RULES = sorted(rule for rule in SPACY.rules if rule.strip())
WORDS = (
    "head it he goin doin a I o x D Mr. Ph.D. U.S. word sea-horse 1.5 300,000 $1.50 10km 3a.m. é ß 中文 "
    "http://a.b/c it's don't \\ _ -- — ... … “ ” ‘ ’ \" ' ( ) [ ] : ; , . ! ? - * / < > = ^ | @ # % & 8 3 "
    "\u200b \xad 😀 ° C."
).split()
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(RULES),
    st.tuples(st.sampled_from(RULES), st.integers(1, 3)).map(lambda cut: cut[0][: cut[1]]),
    st.tuples(st.sampled_from(RULES), st.integers(1, 3)).map(lambda cut: cut[0][-cut[1] :]),
    st.text(max_size=4),
)
SPACES = st.sampled_from([" "] * 8 + [""] * 8 + ["  ", "\t", "\n", "\xa0", "\u3000", "\x1c"])
PARAGRAPHS = st.lists(st.tuples(PIECES, SPACES), max_size=10).map(
    lambda pieces: "".join(piece + space for piece, space in pieces)
)


@given(PARAGRAPHS)
@settings(max_examples=300)
def test_odd_paragraphs_are_those_of_spacy(paragraph: str) -> None:
    assert TOKENIZER.tokenize(paragraph) == run_spacy(paragraph)


def test_words_between_marks_are_those_of_spacy() -> None:
    """All words that special cases have, and some more, with all that the short way takes around them."""
    chance = random.Random(1)
    words = sorted({word for rule in RULES for word in re.findall("[A-Za-z]+", rule)})
    words += ["hen", "Hen", "HEN", "sea-horse", "hen--Mr", "HEN—it", "I", "x"]
    for word in words:
        for _ in range(6):
            opening, closing = chance.choice(["", '"', "“"]), chance.choice(["", '"', "”"])
            chunk = opening + word + chance.choice(["", *",;:?!."]) + closing
            assert TOKENIZER.tokenize(chunk) == run_spacy(chunk)


def test_a_full_table_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english_tokens, "MAX_KNOWN_CHUNKS", 3)
    tokenizer = EnglishTokenizer()
    sizes = []
    for paragraph in ("The hen's egg.", "A wren, too.", "The hen's egg."):
        assert tokenizer.tokenize(paragraph) == run_spacy(paragraph)
        sizes.append(len(tokenizer._chunks))
    assert sizes == [3, 6, 3]


@pytest.mark.parametrize("before", ["", "( :>--hen "])
def test_what_is_too_long_for_a_word_is_one_token(before: str) -> None:
    chunk = "*" * 1_000_000
    tokens = TOKENIZER.tokenize(f"{before}a. {chunk} 1,5").split(" ")
    assert tokens[-5:] == ["a.", chunk, "1", "@,@", "5"]
    assert TOKENIZER.tokenize("*" * 100) == run_spacy("*" * 100)


@pytest.mark.parametrize(("tokens", "distinct", "comma"), CASES["numbers"])
def test_numbers(tokens: str, distinct: str, comma: str) -> None:
    assert separate_numbers(tokens) == separate_numbers(tokens, DISTINCT) == distinct
    assert separate_numbers(tokens, COMMA) == comma


@given(st.text(st.sampled_from("019.,a-$ "), max_size=30))
def test_separated_numbers_can_be_put_together(tokens: str) -> None:
    separated = separate_numbers(tokens)
    assert re.sub(r"(?<=[0-9]) @([.,])@ (?=[0-9])", r"\1", separated) == tokens
    assert separate_numbers(separated) == separated


def test_the_style_is_that_of_the_tokenizer() -> None:
    assert EnglishTokenizer(COMMA).tokenize("1.5 hens") == "1 @,@ 5 hens"


@needs_real_data
def test_real_paragraphs_are_those_of_spacy() -> None:
    """Every 40th paragraph of 100 books here; all of 328 were compared when this was written."""
    texts = read_bodies(limit=100).values()
    paragraphs = [paragraph for text in texts for paragraph in to_paragraphs(text)[::40]]
    assert len(paragraphs) > 1500
    different = [one for one in paragraphs if TOKENIZER.tokenize(one) != run_spacy(one)]
    assert different == []


TEXTS = st.text(
    st.sampled_from("aAbé1-—.“ \t\n\n\n\r\f\x00\x1a\x1c\x85\u00a0\u2028\u200b中"), max_size=60
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(("text", "paragraphs"), CASES["paragraphs"])
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


@pytest.mark.parametrize("piece", ["_", "_a", "a_", "a_a ", "_a ", "_a_a ", "_a a", "-", "---a"])
def test_hostile_marks_take_no_longer_than_others(piece: str) -> None:
    call_linear_in(normalize_marks, "_a" + piece * 200_000 + " " * 200_000)


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
