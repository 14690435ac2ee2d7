"""Bold and italics, as MediaWiki balances their marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.marks import strip_quotes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("plain 'a' text", "plain 'a' text"),
        ("''a''", "a"),
        ("'''a'''", "a"),
        ("'''''a'''''", "a"),
        ("''''a''''", "'a'"),
        ("''''''a''''''", "'a'"),
        ("''Iliad'''s story", "Iliad's story"),
        ("the ''Life'''s end and ''more''", "the Life's end and more"),
        ("''κ'''ώ'''μα,''", "κώμα,"),
        ("'''''n''-paraffins'''", "n-paraffins"),
        ("''a '''b''''' c", "a b c"),
        ("a ''b '''c''", "a b c"),
        ("''unclosed", "unclosed"),
        ("l'''amour''", "l'amour"),
    ],
)
def test_marks_vanish_and_apostrophes_stay(line: str, expected: str) -> None:
    assert strip_quotes(line) == expected


@given(st.text(alphabet="' ab", max_size=30))
def test_only_apostrophes_are_removed(line: str) -> None:
    assert strip_quotes(line).replace("'", "") == line.replace("'", "")
