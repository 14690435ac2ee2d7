import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.released import MARK, mask_words, read_words


@pytest.mark.parametrize(
    ("text", "masked", "count"),
    [
        ("A grumbler, GRUMBLER and Grumbler's.", "A <DW>, <DW> and <DW>'s.", 3),
        (
            "grumblers, ungrumbler and grumbler_s stay",
            "grumblers, ungrumbler and grumbler_s stay",
            0,
        ),
        ("an old\n  mudfoot and an old tree", "an <DW> and an old tree", 1),
        ("half-wug; wug; half wug", "<DW>; <DW>; half <DW>", 3),
        ("Ґедзь, ґедзь.", "<DW>, <DW>.", 2),
        ("", "", 0),
    ],
)
def test_whole_words_are_masked(text: str, masked: str, count: int) -> None:
    entries = read_words(["grumbler", "old mudfoot", "half-wug", "Wug", "ґедзь", "", "wug"])
    assert entries == ("grumbler", "half-wug", "old mudfoot", "wug", "ґедзь")
    assert mask_words(text, entries) == (masked, count)


@pytest.mark.parametrize("lines", [[], ["", "  "], ["wug", "--"]])
def test_a_list_without_words_is_an_error(lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"no word|no letter"):
        read_words(lines)


@given(
    st.text(alphabet="ab B\n-'"), st.sets(st.sampled_from(["a", "ab", "b a", "a-b"]), min_size=1)
)
def test_nothing_is_left_to_mask_and_all_else_stays(text: str, entries: set[str]) -> None:
    masked, replaced = mask_words(text, read_words(entries))
    assert masked.count(MARK) == replaced
    again = masked.replace(MARK, "<<>>")
    assert mask_words(again, read_words(entries)) == (again, 0)


def test_a_long_list_takes_no_longer_than_its_first_words() -> None:
    entries = read_words([f"wug{number} old" for number in range(20_000)] + ["'tis", "wug7"])
    text = "'Tis a wug7 old and a WUG7; wug19999\told. " * 500
    assert mask_words(text, entries) == ("<DW> a <DW> and a <DW>; <DW>. " * 500, 2000)
