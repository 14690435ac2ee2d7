import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files import line_blocks as line_stats
from corpusmill.transforms.files.line_blocks import (
    CLASSES,
    LineStats,
    add_line_stats,
    block_of,
    measure_lines,
)

LINES = st.lists(st.text("ab \téß語😀", max_size=60).map(str.encode), max_size=40)


def by_words(lines: dict[int, int]) -> tuple[int, ...]:
    counts = dict.fromkeys(CLASSES, 0)
    for words, count in lines.items():
        first = (words - 1) // 5 * 5 + 1
        wide = f"{first}-{first + 4}" if words > 20 else str(words)
        counts[">100" if words > 100 else wide] += count
    return tuple(counts.values())


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"", LineStats()),
        (b"\n", LineStats(1, 0, 1, 1, 0, by_words({0: 1}))),
        (b"one\n", LineStats(1, 1, 4, 4, 3, by_words({1: 1}))),
        (b"Two words .\nx\n", LineStats(2, 4, 14, 14, 11, by_words({3: 1, 1: 1}))),
        (b"  a  b  \n \n", LineStats(2, 2, 11, 11, 8, by_words({2: 1, 0: 1}))),
        (b"a\tb\rc d\n", LineStats(1, 2, 8, 8, 7, by_words({2: 1}))),
        ("тест 😀 語\n".encode(), LineStats(1, 3, 18, 9, 17, by_words({3: 1}))),
        # A surrogate, U+110000, and the longest form that Perl takes: one character each.
        (b"\xed\xa0\x80\n", LineStats(1, 1, 4, 2, 3, by_words({1: 1}))),
        (b"\xf4\x90\x80\x80\n", LineStats(1, 1, 5, 2, 4, by_words({1: 1}))),
        (b"\xff" + 12 * b"\x80" + b"\n", LineStats(1, 1, 14, 2, 13, by_words({1: 1}))),
        (b"w " * 20 + b"\n", LineStats(1, 20, 41, 41, 40, by_words({20: 1}))),
        (b"w " * 21 + b"\n", LineStats(1, 21, 43, 43, 42, by_words({21: 1}))),
        (b"w " * 100 + b"\n", LineStats(1, 100, 201, 201, 200, by_words({100: 1}))),
        (b"w " * 500 + b"\n", LineStats(1, 500, 1001, 1001, 1000, by_words({500: 1}))),
    ],
)
def test_counts(block: bytes, expected: LineStats) -> None:
    assert measure_lines(block) == expected


@given(LINES)
def test_counts_are_those_of_a_plain_count(lines: list[bytes]) -> None:
    texts = [line.decode() for line in lines]
    words = [len(re.findall("[^ ]+", text)) for text in texts]
    assert measure_lines(block_of(lines)) == LineStats(
        lines=len(lines),
        words=sum(words),
        bytes=sum(len(line) + 1 for line in lines),
        characters=sum(len(text) + 1 for text in texts),
        longest_line_bytes=max(map(len, lines), default=0),
        lines_by_words=by_words(Counter(words)),
    )


@given(LINES, LINES, LINES)
def test_counts_of_parts_add_up_in_any_order(
    first: list[bytes], second: list[bytes], third: list[bytes]
) -> None:
    parts = [measure_lines(block_of(lines)) for lines in (first, second, third)]
    whole = measure_lines(block_of([*first, *second, *third]))
    assert add_line_stats(parts) == whole
    assert add_line_stats([parts[2], add_line_stats([parts[1], parts[0]])]) == whole


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64])
def test_chunks_make_no_difference(chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    block = block_of([b"word " * (number % 30) for number in range(100)])
    expected = measure_lines(block)
    monkeypatch.setattr(line_stats, "_CHUNK_BYTES", chunk_bytes)
    assert measure_lines(block) == expected


def test_histogram_names_the_words() -> None:
    histogram = measure_lines(b"a b\n" + b"w " * 30 + b"\n").histogram()
    assert list(histogram)[:2] == ["0", "1"]
    assert list(histogram)[20:23] == ["20", "21-25", "26-30"]
    assert list(histogram)[-2:] == ["96-100", ">100"]
    assert {words: lines for words, lines in histogram.items() if lines} == {"2": 1, "26-30": 1}
