import gzip

import pytest

from corpusmill.transforms.files.line_blocks import lines_of
from corpusmill.transforms.news import line_tokenizer
from corpusmill.transforms.news.line_tokenizer import BlockTokenizer, PeriodTable
from corpusmill.transforms.news.punctuation import frame, unframe
from tests.tools.real_data import DATA, needs_real_data

PLAIN = [
    "",
    "a, b, 1,000 c",
    "it's 1990's O'Neil 'xy'",
    "Mr. X. Y. the end. Then ... e.g. a..b",
    '(a) "b" $5 a/b',
    "<a> b",
    "a  b ",
    " a",
    "a\tb\x0cc",
    "`a b`",
    "-.",
]
DOUBTFUL = [
    "'x'",
    "a,b,c",
    "a, ,b",
    "''",
    "`'a",
    "a'b'c",
    "' '",
    "<a>",
    "<a> b <c>",
    " ",
    "  a",
    "DOTMULTI",
]


@pytest.mark.parametrize("line", PLAIN)
def test_ordinary_lines_are_not_doubtful(line: str) -> None:
    text = frame(f"x\n{line}\ny\n".encode())
    assert BlockTokenizer("en", "5.36").tokenize_ascii(text).doubtful == []
    assert BlockTokenizer("en", "5.36").tokenize_text(text.decode()).doubtful == []


@pytest.mark.parametrize("line", DOUBTFUL)
def test_lines_decided_in_sequence_are_doubtful(line: str) -> None:
    text = frame(f"x\n{line}\ny\n{line}\n".encode())
    assert BlockTokenizer("en", "5.36").tokenize_ascii(text).doubtful == [1, 3]
    assert BlockTokenizer("en", "5.36").tokenize_text(text.decode()).doubtful == [1, 3]


def test_only_ascii_is_tokenized_as_bytes() -> None:
    text = frame("a.\né.\nb.\nñ\n".encode())
    words = BlockTokenizer("en", "5.36").tokenize_ascii(text)
    assert words.doubtful == [1, 3]
    assert lines_of(unframe(words.codes.tobytes()))[::2] == [b"a .", b"b ."]
    others = BlockTokenizer("en", "5.36").tokenize_text(text.decode())
    assert others.doubtful == []
    assert others.codes.tobytes().decode("utf-32-le") == "\na .\né .\nb .\nñ\n\n"


def test_the_table_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_tokenizer, "_MAX_KNOWN_WORDS", 10)
    table = PeriodTable("en", "5.36")
    kept = [table[b"a.%d" % number] for number in range(100)]
    assert len(set(kept)) == 1
    assert 0 < len(table) <= 10
    known = len(table)
    assert table["x" * 1_000] != kept[0]
    assert len(table) == known


@needs_real_data
def test_few_lines_of_news_are_doubtful() -> None:
    with gzip.open(DATA / "news" / "news.2010.en.shuffled.gz") as file:
        lines = file.readlines()
    text = frame(b"".join(line for line in lines if line.isascii()))
    words = BlockTokenizer("en", "5.36").tokenize_ascii(text)
    assert 0 < len(words.doubtful) < len(lines) / 100
