import gzip
import hashlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.news import line_tokenizer
from corpusmill.transforms.news.line_tokenizer import BlockTokenizer, LineTokenizer, PeriodTable
from corpusmill.transforms.news.punctuation import frame, normalize_line, unframe
from corpusmill.transforms.news.wmt_tokenizer import tokenize_line
from tests.tools.case_tables import read_tables
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.news.cases import CASES, by_line
from tests.transforms.news.odd_lines import make_lines, make_long_lines

LINES = read_tables("news/doubtful_lines")
LANGUAGES = ["en", "de", "fr", "cs"]
TOKENIZERS = {
    (language, perl): LineTokenizer(language, perl=perl)
    for language in LANGUAGES
    for perl in ("5.36", "5.14")
}
ALPHABET = " .,'\"`()<>-%:;’“…Ââ€aAsé15²Ⅷ\t\x0b\u00a0\u0301DOTMULTI"
lists_of_lines = st.lists(
    st.one_of(st.text(ALPHABET), st.text(st.characters(exclude_characters="\n", codec="utf-8")))
).map(lambda lines: [line.encode() for line in lines])


def md5(block: bytes) -> str:
    return hashlib.md5(block).hexdigest()


def assert_as_by_line(
    tokenizer: LineTokenizer, lines: list[bytes], language: str, perl: str
) -> None:
    block = block_of(lines)
    normalized = by_line(normalize_line, lines, language, perl)
    assert lines_of(tokenizer.normalize(block)) == normalized
    assert lines_of(tokenizer.tokenize(block)) == by_line(tokenize_line, lines, language, perl)
    assert lines_of(tokenizer(block)) == by_line(tokenize_line, normalized, language, perl)


def test_lines_come_out_as_perl_writes_them() -> None:
    for case in CASES:
        tokenizer = LineTokenizer(case.language, perl=case.perl)
        line, normalized, tokenized = (
            f"{text}\n".encode("utf-8", "surrogatepass") for text in case[3:]
        )
        assert tokenizer.normalize(line) == normalized, case
        assert tokenizer.tokenize(normalized) == tokenized, case
        assert tokenizer(line) == tokenized, case


@pytest.mark.parametrize("key", TOKENIZERS)
@given(lines=lists_of_lines)
def test_a_block_comes_out_as_its_lines_do(key: tuple[str, str], lines: list[bytes]) -> None:
    assert_as_by_line(TOKENIZERS[key], lines, *key)


@pytest.mark.parametrize("key", TOKENIZERS)
def test_so_do_odd_lines_in_one_block(key: tuple[str, str]) -> None:
    lines = list(make_lines(list(TOKENIZERS).index(key), 1_000))  # others for each
    assert_as_by_line(TOKENIZERS[key], lines, *key)
    strict = [line for line in lines if line.decode(errors="ignore").encode() == line]
    assert 500 < len(strict) < 1_000
    assert_as_by_line(TOKENIZERS[key], strict, *key)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_so_do_long_lines(language: str) -> None:
    assert_as_by_line(TOKENIZERS[language, "5.36"], list(make_long_lines()), language, "5.36")


def test_a_block_is_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list(make_lines(8, 3_000))
    whole = TOKENIZERS["en", "5.36"](block_of(lines))
    monkeypatch.setattr(line_tokenizer, "_PIECE_BYTES", 100)
    assert TOKENIZERS["en", "5.36"](block_of(lines)) == whole
    assert TOKENIZERS["en", "5.36"](b"") == b""


@pytest.mark.parametrize("last", ["A", "\ud800 É"])
def test_lower_case_is_written_after_all_rules(last: str) -> None:
    lines = ["Mr. X. The END. Then", "ÉCOLE İ ΟΔΟΣ", "1,000 (A,B,C)", "<B>", last]
    tokenizer = LineTokenizer("en", lower_case=True)
    block = block_of([line.encode("utf-8", "surrogatepass") for line in lines])
    expected = [tokenize_line(normalize_line(line)).lower() for line in lines]
    assert expected[:2] == ["mr. x. the end . then", "école i̇ οδος"]
    assert lines_of(tokenizer(block)) == [
        line.encode("utf-8", "surrogatepass") for line in expected
    ]
    assert tokenizer.normalize(b"The END\n") == b"The END\n"


def test_a_word_ends_with_its_line() -> None:
    block = "No.\n5\na.\nb\né No.\n5 é\né a.\nb é\n1,\n000\na'\nb\n".encode()
    lines = lines_of(block)
    assert_as_by_line(TOKENIZERS["en", "5.36"], lines, "en", "5.36")
    assert TOKENIZERS["en", "5.36"](block).startswith(b"No .\n5\na .\nb\n")


def test_characters_beyond_unicode_are_special() -> None:
    greatest = bytes.fromhex("ff8087bfbfbfbfbfbfbfbfbfbf")
    line = b"don't" + greatest + "’s 1,".encode() + greatest + b"\n"
    expected = b"don 't " + greatest + b" ' s 1 , " + greatest + b"\n"
    assert TOKENIZERS["en", "5.36"](line) == expected


def test_malformed_lines_raise() -> None:
    for change in (TOKENIZERS["en", "5.36"].normalize, TOKENIZERS["en", "5.36"].tokenize):
        with pytest.raises(ValueError, match="malformed UTF-8 at byte 1 of b'b"):
            change(b"a\nb\x80\nc\n")


def test_a_tokenizer_goes_to_workers() -> None:
    tokenizer = pickle.loads(pickle.dumps(TOKENIZERS["en", "5.36"]))
    assert tokenizer(b"It's Mr. X.\n") == b"It 's Mr. X.\n"


def test_an_unknown_perl_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no rules for Perl"):
        LineTokenizer("en", perl="6")


@pytest.mark.parametrize("line", LINES["plain"])
def test_ordinary_lines_are_not_doubtful(line: str) -> None:
    text = frame(f"x\n{line}\ny\n".encode())
    assert BlockTokenizer("en", "5.36").tokenize_ascii(text).doubtful == []
    assert BlockTokenizer("en", "5.36").tokenize_text(text.decode()).doubtful == []


@pytest.mark.parametrize("line", LINES["doubtful"])
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
