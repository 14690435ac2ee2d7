import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import decode, encode, is_perl_utf8, malformed_lines
from tests.transforms.news.odd_lines import BEYOND

LAX = ["eda080", "edbfbf", *BEYOND]
STRICT = ["", "00", "7f", "c280", "efbfbf", "efb790", "f48fbfbf"]
OVERLONG = [
    *("c080", "c1bf", "e08080", "f08fbfbf", "f887bfbfbf", "fc83bfbfbfbf", "fe81bfbfbfbfbf"),
    *("ff808080808080bfbfbfbfbfbf", "ff8088808080808080808080 80"),
    *("ff8180808080808080808080 80", "ff80808080808180808080"),
]
MALFORMED = ["80", "bf", "c3", "c328", "e28228", "f4", "f49080", *OVERLONG]
characters = st.one_of(
    st.characters(codec=None).map(lambda character: character.encode("utf-8", "surrogatepass")),
    st.sampled_from(LAX).map(bytes.fromhex),
)


@pytest.mark.parametrize("code", [*STRICT, *LAX])
def test_what_perl_reads(code: str) -> None:
    assert is_perl_utf8(b"a" + bytes.fromhex(code) + b"b")


@pytest.mark.parametrize("code", MALFORMED)
def test_what_perl_does_not_read(code: str) -> None:
    line = b"a" + bytes.fromhex(code) + b"b"
    assert not is_perl_utf8(line)
    with pytest.raises(ValueError, match=r"malformed UTF-8 at byte 1 of b'a"):
        decode(line)


def test_the_malformed_lines_of_a_block_are_named() -> None:
    lines = [bytes.fromhex(code) for code in (*STRICT, *LAX, *MALFORMED, *STRICT)]
    first = len(STRICT) + len(LAX)
    block = b"".join(line + b"\n" for line in lines)
    assert malformed_lines(block) == list(range(first, first + len(MALFORMED)))
    assert malformed_lines(b"a\n" * 3) == []
    assert malformed_lines(b"") == []


def test_each_character_beyond_unicode_has_one_stand_in() -> None:
    held = b"a".join(map(bytes.fromhex, BEYOND))
    text, stand_ins = decode("\U00040000".encode() + held + held)
    assert len(text) == 1 + 2 * len("a".join("x" for _ in BEYOND))
    assert sorted(stand_ins.values()) == sorted(map(bytes.fromhex, BEYOND))
    assert "\U00040000" not in stand_ins  # it is in the line itself
    assert encode(text, stand_ins) == "\U00040000".encode() + held + held


@given(st.lists(characters))
def test_what_was_read_is_written_again(parts: list[bytes]) -> None:
    line = b"".join(parts)
    text, stand_ins = decode(line)
    assert len(text) == len(parts)
    assert encode(text, stand_ins) == line


@given(st.binary(max_size=8))
def test_reading_and_being_readable_are_one(line: bytes) -> None:
    if is_perl_utf8(line):
        assert encode(*decode(line)) == line
    else:
        with pytest.raises(ValueError, match="malformed"):
            decode(line)
