import codecs
import csv
import gzip
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.file_text import (
    MIXED,
    FileText,
    choose_file,
    decode_file,
    number_in_name,
    parse_date,
    parse_header,
    tidy_text,
)
from corpusmill.transforms.files.records import BookFile, BookHeader, Reason
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import read_table


def declaring(encoding: str, text: str) -> str:
    return f"Title: A Book\n\nCharacter set encoding: {encoding}\n\n{text}\n"


FRENCH = declaring("ISO-8859-1", "Un été à la « Sorbonne », où l’on s’ennuie – dit-il.")
CZECH = declaring("ISO-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy.")
CHINESE = declaring("Big5", "紅樓夢第一回")
CASES = read_table("file_text", FRENCH=FRENCH, CZECH=CZECH, CHINESE=CHINESE)


@pytest.mark.parametrize(("text", "codec", "encoding"), CASES["encodings"])
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


def file(name: str, encoding: str = "ascii", date: str = "", characters: int = 1000) -> BookFile:
    return BookFile(84, name, encoding, BookHeader(84, release_date=date), characters, b"@")


@pytest.mark.parametrize(
    ("better", "worse", "reason"),
    [
        (file("b", "utf-8"), file("a", "cp1252", "2020", 9999), "b is Unicode, this is 8-bit"),
        (file("b", "utf-16-le"), file("a", "utf-8+cp1252"), "b is Unicode, this is 8-bit"),
        (file("b", "cp1252"), file("a", "ascii", "2020"), "b is 8-bit, this is ASCII"),
        (
            file("b", date="2008-06-27"),
            file("a", date="2008-06-25"),
            "b is of 2008-06-27, this of 2008-06-25",
        ),
        (file("b", date="2008-06-01"), file("a", date="2008-06"), "b is of .*, this of 2008-06"),
        (file("b", date="1993"), file("a"), "b is of 1993, this of undated"),
        (file("b", characters=1001), file("a"), "b has 1,001 characters, this 1,000"),
        (file("a"), file("b"), "a has the same date and length"),
    ],
)
def test_the_better_one(better: BookFile, worse: BookFile, reason: str) -> None:
    for files in ([better, worse], [worse, better]):
        taken, [(other, why)] = choose_file(files)
        assert (taken, other) == (better, worse)
        assert why == reason or ".*" in reason


def test_of_two_that_differ_in_their_text_alone_it_is_always_the_same() -> None:
    files = [file("b")._replace(digest=1), file("a")._replace(digest=2)]
    assert choose_file(files) == choose_file(files[::-1])
    assert choose_file(files)[0] == files[0]


def test_one_is_taken() -> None:
    assert choose_file([file("a")]) == (file("a"), [])


@given(
    st.lists(
        st.builds(
            file,
            st.sampled_from("abcd"),
            st.sampled_from(["ascii", "utf-8", "cp1252", "big5"]),
            st.sampled_from(["", "1993", "1993-10", "2008-06-17"]),
            st.integers(1, 3),
        ),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_makes_no_difference(files: list[BookFile], chance: random.Random) -> None:
    taken, others = choose_file(files)
    assert sorted([taken, *(other for other, _ in others)]) == sorted(files)
    shuffled = chance.sample(files, len(files))
    assert choose_file(shuffled) == (taken, others)


@pytest.mark.parametrize(("text", "header"), CASES["heads"])
def test_heads(text: str, header: dict[str, Any]) -> None:
    found = parse_header(text)._asdict()
    assert found == BookHeader()._asdict() | header | {
        name: tuple(header.get(name, ())) for name in ("authors", "languages")
    }


def test_numbers_behind_the_head_are_those_of_other_books() -> None:
    text = "A story.\n" * 2000 + "End of the Project Gutenberg EBook [EBook #84]\n"
    assert parse_header(text).number == 0
    assert parse_header("A story\n*** END OF THE PROJECT ***\n[EBook #84]").number == 0


@pytest.mark.parametrize(("name", "number"), CASES["file_names"])
def test_numbers_in_names(name: str, number: int) -> None:
    assert number_in_name(name) == number


@pytest.mark.parametrize(("text", "date"), CASES["dates"])
def test_dates(text: str, date: str) -> None:
    assert parse_date(text) == date


LANGUAGES = {
    "English": ("en",),
    "French": ("fr",),
    "German": ("de",),
    "Tagalog": ("tl",),
    "Latin": ("la",),
    "Dutch": ("nl",),
    "Chinese": ("zh",),
    "Spanish": ("es",),
    "English, Spanish, Tagalog": ("en", "es", "tl"),
    "": (),
}
WRONG_IDS = {"books/1000.txt.gz": 1995, "oddities/no-ebook-number.txt.gz": 1096}
"""The ids in the files themselves: the table took a number from a remark, and overlooked one without "#"."""
ENCODINGS = {"ascii": "ascii", "utf-8": "utf-8", "cp1252": "latin-1/cp1252"}


@needs_real_data
def test_real_heads() -> None:
    folder = DATA / "gutenberg"
    with (folder / "books.tsv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 330
    for row in rows:
        decoded = decode_file(gzip.decompress((folder / row["file"]).read_bytes()))
        if "404" in row["file"]:
            assert not isinstance(decoded, FileText)
            continue
        assert isinstance(decoded, FileText), row
        header = parse_header(decoded.text)
        assert header.number == WRONG_IDS.get(row["file"]) or header.number == int(row["id"])
        assert ENCODINGS[decoded.encoding] == row["enc"], row
        assert header.languages == LANGUAGES[row["lang"]], row
        assert header.title.startswith(" ".join(row["title"].split())), row  # it has its first line
        assert ", ".join(header.authors).startswith(" ".join(row["author"].split())), row
        assert header.title, row
        assert header.release_date, row


def test_the_edition_that_was_transcribed_is_told_where_no_other_is() -> None:
    text = (
        "[EBook #90001]\n\nTranscribed from the 1886 Fernby & Co. edition by A. Wren\n\nA tale.\n"
    )
    assert (
        parse_header(text).original_publication == "Transcribed from the 1886 Fernby & Co. edition"
    )
    told = f"Original publication: London: Fernby, 1880\n\n{text}"
    assert parse_header(told).original_publication == "London: Fernby, 1880"
