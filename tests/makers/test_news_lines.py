"""The sample of news, and the lines that benchmarks recombine."""

import bz2
import gzip
import itertools
import lzma
import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.makers import news_lines
from tests.makers.news_lines import YEARS, OddLine, new_word, recombined_lines, sample_lines
from tests.tools.pack_samples import NEWS_ARCHIVE, SAMPLES

NEWS = SAMPLES / "news"
LINES = sample_lines(NEWS)
ODD_LINES = news_lines.read_odd_lines(NEWS)
SOURCE = [b"one two three", b"Reuter", b"four five", b"", b"six seven eight nine", b" ", b"x "]


def packed_texts() -> dict[str, bytes]:
    """Name → text of every file of the sample, and of every member of its archive."""
    with tarfile.open(NEWS / NEWS_ARCHIVE) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    name = "news.{}.en.shuffled"
    return members | {
        name.format(2007): gzip.decompress((NEWS / "news.2007.en.shuffled.gz").read_bytes()),
        name.format(2008): bz2.decompress((NEWS / "news.2008.en.shuffled.bz2").read_bytes()),
        name.format(2009): lzma.decompress((NEWS / "news.2009.en.shuffled.xz").read_bytes()),
        name.format(2010): (NEWS / "news.2010.en.shuffled").read_bytes(),
    }


def test_the_packed_files_hold_the_lines() -> None:
    texts = packed_texts()
    german = texts.pop("training-monolingual/news.2011.de.shuffled")
    assert german.decode().count("\n") == 3
    texts["news.2011.en.shuffled"] = texts.pop("training-monolingual/news.2011.en.shuffled")
    expected = {
        f"news.{year}.en.shuffled": b"".join(line + b"\n" for line in LINES[year]) for year in YEARS
    }
    assert texts == expected


def test_packed_files_say_nothing_of_when_and_by_whom() -> None:
    for name in ("news.2007.en.shuffled.gz", NEWS_ARCHIVE):
        assert (NEWS / name).read_bytes()[4:8] == bytes(4), name
    with tarfile.open(NEWS / NEWS_ARCHIVE) as archive:
        assert {(member.mtime, member.uid, member.uname) for member in archive} == {(0, 0, "")}


def test_the_sample_is_as_large_as_its_tests_suppose() -> None:
    assert {year: len(lines) for year, lines in LINES.items()} == {
        2007: 265,
        2008: 307,
        2009: 324,
        2010: 320,
        2011: 315,
    }
    assert len({line for lines in LINES.values() for line in lines}) == 1324
    assert sum(path.stat().st_size for path in NEWS.iterdir()) < 120_000


def test_lines_are_repeated_within_and_across_years() -> None:
    within = [line for lines in LINES.values() for line, n in Counter(lines).items() if n > 1]
    across = [
        pair for pair in itertools.combinations(map(set, LINES.values()), 2) if pair[0] & pair[1]
    ]
    assert len(within) > 50
    assert len(across) >= 5


def test_every_odd_line_is_in_its_years() -> None:
    for odd in ODD_LINES:
        found = tuple(year for year in YEARS if odd.line in LINES[year])
        assert found == odd.years, odd


def test_rejected_lines_are_those_perl_could_not_read() -> None:
    rejected = {odd.line for odd in ODD_LINES if odd.is_rejected}
    lax = {b"A lone surrogate \xed\xa0\x80 stands here."}
    lax.add(b"A character \xf4\x90\x80\x80 above U+10FFFF stands here.")
    assert len(rejected) == 2
    broken = {odd.line for odd in ODD_LINES if not decodes(odd.line)}
    assert broken == rejected | lax


def decodes(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


ODDITIES = "\r \t \x00 \ufeff <HTML> â€œ Â\xa0 1990's Corp.~said No.~5 ,,, '' `` ★ … １２３ o\u0308 .... (\""


@pytest.mark.parametrize("pattern", [part.replace("~", " ") for part in ODDITIES.split(" ")])
def test_every_oddity_is_there(pattern: str) -> None:
    assert any(pattern.encode() in line for lines in LINES.values() for line in lines)


def test_there_are_a_blank_line_a_blank_and_a_long_line() -> None:
    lines = [line for of_year in LINES.values() for line in of_year]
    assert (lines.count(b""), lines.count(b"  ")) == (2, 1)
    assert [len(line) > news_lines.LONG_LINE_BYTES for line in lines].count(True) == 1
    assert LINES[2007][0].startswith(b"\xef\xbb\xbf")
    assert not any(b"\n" in line for line in lines)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (b"2007\tkept\tA\\x0d\\x00b", OddLine((2007,), False, b"A\r\x00b")),
        (b"2007 2011\trejected\t\\xe9", OddLine((2007, 2011), True, b"\xe9")),
        (b"2009\tkept\t", OddLine((2009,), False, b"")),
    ],
)
def test_an_odd_line_is_read(tmp_path: Path, row: bytes, expected: OddLine) -> None:
    (tmp_path / "odd_lines.txt").write_bytes(b"# why\n\n" + row + b"\n")
    assert news_lines.read_odd_lines(tmp_path) == [expected]


def test_a_line_must_be_kept_or_rejected(tmp_path: Path) -> None:
    (tmp_path / "odd_lines.txt").write_bytes(b"2007\tdropped\tA\n")
    with pytest.raises(ValueError, match="neither kept nor rejected"):
        news_lines.read_odd_lines(tmp_path)


def taken(lines: Sequence[bytes], size: int, **settings: float) -> list[bytes]:
    return list(itertools.chain.from_iterable(recombined_lines(lines, size, **settings)))  # type: ignore[arg-type]


def test_recombined_lines_are_a_head_and_a_tail() -> None:
    made = taken(SOURCE, 3_000, repeated=0, with_new_word=0)
    heads = {b"one ", b"one two ", b"four ", b"six ", b"six seven ", b"six seven eight "}
    tails = {b"two three", b"three", b"five", b"seven eight nine", b"eight nine", b"nine"}
    assert set(made) <= {head + tail for head in heads for tail in tails}
    assert len(set(made)) == 9  # each of the three lines was cut once


@given(st.integers(1, 60_000), st.integers(0, 5))
def test_recombined_lines_come_to_the_size_and_repeat_by_seed(size: int, seed: int) -> None:
    made = taken(LINES[2007], size, seed=seed)
    total = sum(map(len, made)) + len(made)
    assert size <= total < size + 12_000
    assert made == taken(LINES[2007], size, seed=seed)


def test_shares_are_as_asked_for() -> None:
    source = [b"w%d x%d" % (number, number) for number in range(5_000)]
    made = taken(source, 3_000_000, repeated=0.2, with_new_word=0.1)
    assert 1 - len(set(made)) / len(made) == pytest.approx(0.2, abs=0.02)
    known = {word for line in source for word in line.split(b" ")}
    fresh = [line for line in set(made) if not set(line.split(b" ")) <= known]
    assert len(fresh) / len(set(made)) == pytest.approx(0.1, abs=0.02)


def test_no_new_word_comes_twice() -> None:
    numbers = [*range(20_000), 10**8, 10**8 + 1]
    assert new_word(0) == b"babababa"
    assert len({new_word(number) for number in numbers}) == len(numbers)
