import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.file_text import MIXED, FileText, decode_file, tidy_text
from corpusmill.transforms.files.records import Reason


def declaring(encoding: str, text: str) -> str:
    return f"Title: A Book\n\nCharacter set encoding: {encoding}\n\n{text}\n"


FRENCH = declaring("ISO-8859-1", "Un été à la « Sorbonne », où l’on s’ennuie – dit-il.")
CZECH = declaring("ISO-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy.")
CHINESE = declaring("Big5", "紅樓夢第一回")


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        ("plain", "ascii", "ascii"),
        ("plain", "utf-8-sig", "ascii"),
        ("plain", "utf-16", "ascii"),
        (FRENCH, "utf-8", "utf-8"),  # the declaration is wrong, as in most such files
        (FRENCH, "utf-8-sig", "utf-8"),
        (FRENCH, "utf-16", "utf-16-le"),
        (FRENCH, "utf-32", "utf-32-le"),
        (FRENCH, "cp1252", "cp1252"),
        (declaring("ASCII", "über"), "latin-1", "cp1252"),
        (declaring("UTF-8", "über"), "latin-1", "cp1252"),
        (declaring("UTF-9", "über"), "latin-1", "cp1252"),
        (declaring("zlib", "über"), "latin-1", "cp1252"),
        (declaring("idna", "über"), "latin-1", "cp1252"),
        (CZECH, "iso8859-2", "iso8859-2"),
        (CZECH, "utf-8", "utf-8"),
        (CHINESE, "big5", "big5"),
        (declaring("Big5", "一嘅二"), "big5hkscs", "big5hkscs"),
        (declaring("GB2312", "朱镕基"), "gb18030", "gb18030"),
        (declaring("MacRoman", "déjà vu"), "mac_roman", "mac-roman"),
        (declaring("KOI8-R", "Война и мир"), "koi8-r", "koi8-r"),
        (CHINESE.replace("Character", "Chatacter"), "big5", "big5"),
    ],
)
def test_encodings(text: str, codec: str, encoding: str) -> None:
    assert decode_file(text.encode(codec)) == FileText(text, encoding)


def test_a_mark_in_the_other_order() -> None:
    content = codecs.BOM_UTF16_BE + "süß".encode("utf-16-be")
    assert decode_file(content) == FileText("süß", "utf-16-be")


def test_files_made_of_two() -> None:
    content = "“Où ça ?” – « là »".encode() + b"\x97 d\xe9j\xe0"
    assert decode_file(content) == FileText("“Où ça ?” – « là »— déjà", MIXED)
    marked = codecs.BOM_UTF8 + b"d\xe9j\xe0"
    assert decode_file(marked) == FileText("déjà", MIXED)
    # One pair that is UTF-8 by chance makes no such file.
    assert decode_file(b"d\xe9j\xe0 \xc3\xa9 \xfc") == FileText("déjà Ã© ü", "cp1252")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"a\r\nb\rc\nd\r\r\ne", "a\nb\nc\nd\ne"),
        (b"one\r\n\r\ntwo", "one\n\ntwo"),
        (b"the end\r\n\x1a", "the end\n"),
        (b"page\fpage\vline", "page\npage\nline"),
        (b"a\0b\x07c\x7f\td", "abc\td"),
        ("joined \ufefffiles".encode(), "joined files"),
        ("\u0093quoted\u0094\u0097and \u0081".encode(), "“quoted”—and "),
        (b"\x93quoted\x94\x97and \x81", "“quoted”—and "),
        ("ﬁ\u00adé\u200b\u2028".encode(), "ﬁ\u00adé\u200b\u2028"),
    ],
)
def test_line_ends_and_controls(content: bytes, text: str) -> None:
    decoded = decode_file(content)
    assert isinstance(decoded, FileText)
    assert decoded.text == text


@pytest.mark.parametrize(
    ("content", "slug", "detail"),
    [
        (b"", "empty-file", "0 bytes without a character"),
        (b"\r\n \x1a", "empty-file", "4 bytes without a character"),
        (bytes(1000), "empty-file", "1,000 bytes without a character"),
        (codecs.BOM_UTF8 + b"\n", "empty-file", "4 bytes without a character"),
        (bytes(range(256)) * 4, "binary-file", r"begins with b'\x00\x01\x02\x03\x04\x05\x06\x07'"),
        (b"%PDF-1.4 and so on", "binary-file", "begins with b'%PDF-1.4'"),
        ("abcdefghijk".encode("utf-16-le"), "binary-file", r"begins with b'a\x00b\x00c\x00d\x00'"),
        (
            b" \r\n<!DOCTYPE html>\n<head><title>404 |\n Not here</title>",
            "html-page",
            "404 | Not here",
        ),
        (b'<?xml version="1.0"?><!-- saved --><HTML lang="en">', "html-page", ""),
    ],
)
def test_what_is_no_text(content: bytes, slug: str, detail: str) -> None:
    assert decode_file(content) == Reason(slug, detail)


def test_a_text_about_tags_is_a_text() -> None:
    comments = "<!-- -->" * 60  # in linear time
    assert decode_file(comments.encode()) == FileText(comments, "ascii")
    assert decode_file(b"<htmlish> tags are none") == FileText("<htmlish> tags are none", "ascii")
    assert decode_file(b"A text on <html>") == FileText("A text on <html>", "ascii")


@given(st.text())
def test_tidying_is_idempotent(text: str) -> None:
    tidy = tidy_text(text)
    assert tidy_text(tidy) == tidy
    assert not set(tidy) & set("\r\f\v\0\x1a\x85\ufeff")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1))
def test_unicode_comes_back(text: str) -> None:
    text = f"A {text}".replace("\ufeff", "")
    for codec in ("utf-8", "utf-8-sig", "utf-16"):
        decoded = decode_file(text.encode(codec))
        assert isinstance(decoded, FileText)
        assert decoded.text == text


@given(st.binary(max_size=200))
def test_every_file_has_a_text_or_a_reason(content: bytes) -> None:
    assert isinstance(decode_file(content), FileText | Reason)
    decode_file(b"Character set encoding: Big5\n" + content)
