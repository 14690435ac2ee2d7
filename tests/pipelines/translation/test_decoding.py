import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import decode_as, decode_sheet
from corpusmill.transforms.files.records import ReadError
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS)
def test_utf8_is_had_to_the_letter(text: str) -> None:
    assert decode_as(text.encode()) == text


def test_utf8_keeps_its_mark() -> None:
    assert decode_as(b"\xef\xbb\xbfa\r\n") == "\ufeffa\r\n"


@given(TEXTS.filter(lambda text: not text.startswith("\ufeff")))
def test_sheets_in_the_encodings_of_spreadsheets(text: str) -> None:
    for data in (
        text.encode("utf-8-sig"),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        text.encode(),
    ):
        assert decode_sheet(data) == text


@pytest.mark.parametrize(
    ("data", "line", "message"),
    read_cases("translation/sheet", "not_utf8"),
)
def test_not_utf8(data: str, line: int, message: str) -> None:
    for decode in (decode_as, decode_sheet):
        said = error_of(ReadError, decode, data.encode("latin-1"))
        assert said == f"line {line}: not UTF-8: {message}"


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        ("a\nb\n".encode("utf-16-le") + b"\0\xdc", 3, "illegal encoding, byte 10 of the file"),
        ("a\n".encode("utf-16-le") + b"b", 2, "truncated data, byte 6 of the file"),
    ],
)
def test_not_utf16(data: bytes, line: int, message: str) -> None:
    said = error_of(ReadError, decode_sheet, codecs.BOM_UTF16_LE + data)
    assert said == f"line {line}: not UTF-16: {message}"
