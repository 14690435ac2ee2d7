import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.spans import match_brackets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("no brackets (at all)", {}),
        ("[a]", {0: 3}),
        ("[a [b] c]", {0: 9, 3: 6}),
        ("[a [b] c", {3: 6}),
        ("a] [b]", {3: 6}),
        ("[a {b] c}", {0: 6, 3: 9}),
        ("{[}]", {0: 3, 1: 4}),
    ],
)
def test_which_closes_which(text: str, expected: dict[int, int]) -> None:
    assert match_brackets(text) == expected


@given(st.text(alphabet="[]{}a\n", max_size=60))
def test_places_are_those_of_brackets_and_none_is_used_twice(text: str) -> None:
    matched = match_brackets(text)
    assert len(set(matched.values())) == len(matched)
    for start, end in matched.items():
        assert text[start] + text[end - 1] in ("[]", "{}")
        inside = text[start + 1 : end - 1]
        assert inside.count(text[start]) == inside.count(text[end - 1])
