import pytest

from corpusmill.transforms.books.text_screening import TooShort, malformed
from corpusmill.transforms.files.records import Reason
from tests.makers.made_books import book
from tests.transforms.books.sample_texts import GERMAN, MANUAL, PLAY, PROSE, RECIPES, VERSE


@pytest.mark.parametrize("text", [PROSE, VERSE, PLAY, RECIPES, MANUAL, GERMAN])
def test_running_text_is_not_malformed(text: str) -> None:
    assert malformed(book(), text) is None


NAMES = "\n".join(f"reports of the year folder{number} readme text" for number in range(900))


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "0 tokens in all"),
        ("See the other volume.", "4 tokens in all"),
        ("3.1415926535 8979323846\n" * 50, "0.00 of the characters are letters"),
        ("| 1 | 0 | yes |\n" * 90, "0.33 of the characters are letters"),
        (
            "gattaca" * 12 + "\n" + "ga tca\n" * 3 + "acgtagcatcgatgatcg\n" * 100,
            "words have 17.7 letters",
        ),
        ("a b c d e f. " * 900, "words have 1.0 letters"),
        (NAMES, "0 sentences end in 6308 words"),
        ("Nobody knows the trouble.\n" * 300, "299 of 300 lines are there before"),
    ],
)
def test_malformed_texts(text: str, detail: str) -> None:
    assert malformed(book(), text) == Reason("malformed", detail)


def test_short_lines_may_be_repeated() -> None:
    refrain = "Heigh ho, says he.\n"
    text = "".join(
        f"The frog of town {number} went out to see.\n{refrain * 3}" for number in range(99)
    )
    assert malformed(book(), text) is None


def test_too_short() -> None:
    rule = TooShort(3)
    assert rule(book(), "one two  three") is None
    assert rule(book(), "one\ntwo") == Reason("too-short", "2 words")
    assert TooShort(0)(book(), "") is None
    assert TooShort()(book(), "word " * 199) == Reason("too-short", "199 words")
    assert TooShort()(book(), "word " * 200) is None
    with pytest.raises(ValueError, match="min_words must be 0 or more, not -1"):
        TooShort(-1)
