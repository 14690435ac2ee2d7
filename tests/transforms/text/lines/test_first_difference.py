import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.text.lines.first_difference import (
    SHOWN_BYTES,
    Difference,
    Side,
    describe_difference,
    find_difference,
)


def cut(text: bytes, size: int) -> Iterator[bytes]:
    return (text[start : start + size] for start in range(0, len(text), size))


def describe(left: str | bytes, right: str | bytes) -> str:
    one, two = (text.encode() if isinstance(text, str) else text for text in (left, right))
    found = find_difference([one], [two])
    assert found
    return describe_difference(found, "A", "B")


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        (
            b"a\nbc\n",
            b"a\nbd\n",
            Difference(2, Side(1, b"b", b"c\n", False, 2), Side(1, b"b", b"d\n", False, 2)),
        ),
        (
            b"a\n",
            b"a\nb\nc",
            Difference(2, Side(0, b"", b"", False, 1), Side(0, b"", b"b\n", False, 3)),
        ),
        (b"a\n", b"a", Difference(1, Side(1, b"a", b"\n", False, 1), Side(1, b"a", b"", False, 1))),
        (b"", b"\n", Difference(1, Side(0, b"", b"", False, 0), Side(0, b"", b"\n", False, 1))),
        (
            b"x" * 100 + b"a",
            b"x" * 100 + b"b" * 50 + b"\n",
            Difference(
                1,
                Side(100, b"x" * 40, b"a", False, 1),
                Side(100, b"x" * 40, b"b" * 40, True, 1),
            ),
        ),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_first_place(left: bytes, right: bytes, found: Difference, size: int) -> None:
    assert find_difference(cut(left, size), cut(right, 3)) == found
    assert find_difference(cut(right, 3), cut(left, size)) == (found.line, found.right, found.left)


TEXTS = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\xd0\xb6", b"x" * 45])).map(b"".join)


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 50), st.integers(1, 50))
def test_a_look_at_everything_finds_the_same(
    common: bytes, left_end: bytes, right_end: bytes, size: int, other_size: int
) -> None:
    left, right = common + left_end, common + right_end
    found = find_difference(cut(left, size), [b"", *cut(right, other_size), b""])
    if left == right:
        assert found is None
        return
    assert found
    pairs = enumerate(zip(left, right, strict=False))
    place = next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))
    assert found.line == left[:place].count(b"\n") + 1
    for side, text in ((found.left, left), (found.right, right)):
        on_line = text[:place].rpartition(b"\n")[2]
        assert (side.column, side.before) == (len(on_line), on_line[-SHOWN_BYTES:])
        rest = text[place:].partition(b"\n")
        line = rest[0] + rest[1]
        assert side.after == line[:SHOWN_BYTES]
        assert side.is_cut == (len(line) > SHOWN_BYTES)
        assert side.lines == len(text.splitlines())


def test_a_long_line_is_not_held() -> None:
    size, pieces = 1 << 20, 64
    tracemalloc.start()
    found = find_difference(
        (b"x" * size for _ in range(pieces)), (b"x" * (size - 7) for _ in range(pieces))
    )
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found
    assert found.left.column == (size - 7) * pieces
    assert most < 10 * size


@pytest.mark.parametrize(
    ("left", "right", "sentence"),
    [
        (
            "x\nOne .\n",
            "x\nOne !\n",
            "line 2, byte 5 (U+002E and U+0021): “One .” in A, “One !” in B; 2 and 2 lines",
        ),
        (  # equal looks
            "caf\u00e9 .\n",
            "cafe\u0301 .\n",
            "line 1, byte 4 (U+00E9 and U+0065): “café .” in A, “cafe\u0301 .” in B; 1 and 1 lines",
        ),
        (  # the place is inside a character
            "ж\n",
            "б\n",
            "line 1, byte 1 (U+0436 and U+0431): “ж” in A, “б” in B; 1 and 1 lines",
        ),
        (
            "a\u00a0b\n",
            "a b\n",
            "line 1, byte 2 (U+00A0 and U+0020): “a\\xa0b” in A, “a b” in B; 1 and 1 lines",
        ),
        (
            "a\tb\x00\u2028\n",
            "a\n",
            "line 1, byte 2 (U+0009 and the line feed): “a\\tb\\x00\\u2028” in A, “a” in B; 1 and 1 lines",
        ),
        (
            "a\n",
            "a",
            "line 1, byte 2 (the line feed and the end): “a” in A, “a” in B; 1 and 1 lines",
        ),
        ("a\n", "", "line 1, byte 1 (U+0061 and the end): “a” in A, “” in B; 1 and 0 lines"),
        (
            b"a\xed\xa0\x80\n",
            b"a\xed\xa0\x81\n",
            r"line 1, byte 4 (byte 80 and byte 81): “a\xed\xa0\x80” in A, “a\xed\xa0\x81” in B;"
            " 1 and 1 lines",
        ),
        (
            "ж" * 30 + "a" + "я" * 30,
            "ж" * 30 + "я" * 30,
            f"line 1, byte 61 (U+0061 and U+044F): “…{'ж' * 20}a{'я' * 19}…” in A,"
            f" “…{'ж' * 20}{'я' * 20}…” in B; 1 and 1 lines",
        ),
        (
            "x\n" * 1234 + "y\n",
            "x\n" * 1234,
            "line 1,235, byte 1 (U+0079 and the end): “y” in A, “” in B; 1,235 and 1,234 lines",
        ),
    ],
)
def test_sentences(left: str | bytes, right: str | bytes, sentence: str) -> None:
    assert describe(left, right) == sentence


@given(st.binary(max_size=120), st.binary(max_size=120))
def test_every_difference_can_be_told_in_a_line(left: bytes, right: bytes) -> None:
    found = find_difference([left], [right])
    if found:
        told = describe_difference(found, "A", "B")
        assert told.isprintable()
        assert len(told) < 100 + 2 * 4 * 2 * (SHOWN_BYTES + 2)
