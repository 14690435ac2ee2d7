import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import SCHEMA, block_of, lines_of, make_table

LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))


@given(LINES)
@example([])
@example([""])
@example(["", "", "a", ""])
@example([" a ", "\ta\r", "a\0b", "\ufeff", "\x85\u2028\x0c", "富士山 — дві"])
def test_a_line_is_a_text_without_its_line_feed(lines: list[str]) -> None:
    block = block_of([line.encode("utf-8") for line in lines])
    made = make_table(block)
    assert made.table.schema == SCHEMA
    assert made.table["text"].to_pylist() == lines
    assert (made.block, made.replaced) == (block, 0)


@pytest.mark.parametrize(
    ("line", "text", "replaced"),
    [
        (b"\xed\xa0\x80", "\ufffd", 1),  # the first surrogate
        (b"\xed\xbf\xbf", "\ufffd", 1),  # and the last
        (b"\xed\x9f\xbf\xee\x80\x80", "\ud7ff\ue000", 0),  # their neighbours
        (b"\xed\xa0\xbd\xed\xb8\x80", "\ufffd\ufffd", 2),  # a pair is two characters to Perl
        (b"\xf4\x8f\xbf\xbf", "\U0010ffff", 0),
        (b"\xf4\x90\x80\x80", "\ufffd", 1),  # U+110000
        (b"a\xf5\x80\x80\x80b", "a\ufffdb", 1),
        (b"a\xf7\xbf\xbf\xbfb", "a\ufffdb", 1),
        (b"a\xf8\x88\x80\x80\x80b", "a\ufffdb", 1),
        (b"a\xfc\x84\x80\x80\x80\x80b", "a\ufffdb", 1),
        (b"a\xfd\xbf\xbf\xbf\xbf\xbfb", "a\ufffdb", 1),
        (b"a\xfe\x82\x80\x80\x80\x80\x80b", "a\ufffdb", 1),
        (b"a\xff\x80\x80\x80\x80\x80\x81\x80\x80\x80\x80\x80\x80b", "a\ufffdb", 1),
        ("\ufffd \ufffe \uffff é".encode(), "\ufffd \ufffe \uffff é", 0),  # all of Unicode
    ],
)
def test_characters_that_only_perl_knows(line: bytes, text: str, replaced: int) -> None:
    made = make_table(block_of(["é".encode(), line, b"z"]))
    assert made.table["text"].to_pylist() == ["é", text, "z"]
    assert lines_of(made.block) == ["é".encode(), text.encode("utf-8"), b"z"]
    assert made.replaced == replaced


@pytest.mark.parametrize("line", [b"\xff", b"\x80", b"\xc0\x80", b"caf\xe9", b"\xed\xa0"])
def test_what_is_no_utf8_at_all_is_refused(line: bytes) -> None:
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        make_table(block_of([b"a", line]))
