import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.text import Difference, describe_difference, find_difference

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"\xd0\xb6\n", b"\xff"]), max_size=8)


@given(LINES, LINES, LINES)
def test_the_first_line_that_differs(
    common: list[bytes], left: list[bytes], right: list[bytes]
) -> None:
    one, other = common + left, common + right
    found = find_difference(one, other)
    if one == other:
        assert found is None
        return
    assert found
    at = found.number - 1
    assert one[:at] == other[:at]
    assert [found.left] == (one[at : at + 1] or [b""])
    assert [found.right] == (other[at : at + 1] or [b""])
    assert found.left != found.right


@pytest.mark.parametrize(
    ("left", "right", "sentence"),
    [
        ("One .\n", "One !\n", "“One .” in A, “One !” in B"),
        ("caf\u00e9 .\n", "cafe\u0301 .\n", r"“caf\xe9 .\n” in A, “cafe\u0301 .\n” in B"),  # alike
        ("a\u00a0b\n", "a b\n", r"“a\xa0b\n” in A, “a b\n” in B"),
        ("a\tb\n", "a\n", r"“a\tb\n” in A, “a\n” in B"),
        ("a\n", "a", r"“a\n” in A, “a” in B"),
        ("a\n", "", "“a” in A, nothing in B"),
        (b"a\xed\xa0\x80\n", b"a\n", r"“a\xed\xa0\x80” in A, “a” in B"),
        (
            "ж" * 60 + "a" + "я" * 60,
            "ж" * 60 + "я" * 60,
            f"“…{'ж' * 40}a{'я' * 39}…” in A, “…{'ж' * 40}{'я' * 40}…” in B",
        ),
    ],
)
def test_a_difference_in_words(left: str | bytes, right: str | bytes, sentence: str) -> None:
    one, other = (text.encode() if isinstance(text, str) else text for text in (left, right))
    found = Difference(1234, one, other)
    assert describe_difference(found, "A", "B") == f"line 1,234: {sentence}"
