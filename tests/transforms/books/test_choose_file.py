import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.file_text import choose_file
from corpusmill.transforms.files.records import BookFile, BookHeader


def file(name: str, encoding: str = "ascii", date: str = "", characters: int = 1000) -> BookFile:
    return BookFile(84, name, encoding, BookHeader(84, release_date=date), characters, b"@")


@pytest.mark.parametrize(
    ("better", "worse", "reason"),
    [
        (file("b", "utf-8"), file("a", "cp1252", "2020", 9999), "b is Unicode, this is 8-bit"),
        (file("b", "utf-16-le"), file("a", "utf-8+cp1252"), "b is Unicode, this is 8-bit"),
        (file("b", "cp1252"), file("a", "ascii", "2020"), "b is 8-bit, this is ASCII"),
        (
            file("b", date="2008-06-27"),
            file("a", date="2008-06-25"),
            "b is of 2008-06-27, this of 2008-06-25",
        ),
        (file("b", date="2008-06-01"), file("a", date="2008-06"), "b is of .*, this of 2008-06"),
        (file("b", date="1993"), file("a"), "b is of 1993, this of undated"),
        (file("b", characters=1001), file("a"), "b has 1,001 characters, this 1,000"),
        (file("a"), file("b"), "a has the same date and length"),
    ],
)
def test_the_better_one(better: BookFile, worse: BookFile, reason: str) -> None:
    for files in ([better, worse], [worse, better]):
        taken, [(other, why)] = choose_file(files)
        assert (taken, other) == (better, worse)
        assert why == reason or ".*" in reason


def test_of_two_that_differ_in_their_text_alone_it_is_always_the_same() -> None:
    files = [file("b")._replace(digest=1), file("a")._replace(digest=2)]
    assert choose_file(files) == choose_file(files[::-1])
    assert choose_file(files)[0] == files[0]


def test_one_is_taken() -> None:
    assert choose_file([file("a")]) == (file("a"), [])


@given(
    st.lists(
        st.builds(
            file,
            st.sampled_from("abcd"),
            st.sampled_from(["ascii", "utf-8", "cp1252", "big5"]),
            st.sampled_from(["", "1993", "1993-10", "2008-06-17"]),
            st.integers(1, 3),
        ),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_makes_no_difference(files: list[BookFile], chance: random.Random) -> None:
    taken, others = choose_file(files)
    assert sorted([taken, *(other for other, _ in others)]) == sorted(files)
    shuffled = chance.sample(files, len(files))
    assert choose_file(shuffled) == (taken, others)
