import csv
import io
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import Packet, Returned, read_sheet, write_sheet
from corpusmill.transforms.files.records import ReadError, Translation
from tests.pipelines.translation.samples import (
    CONTROLS,
    TRICKY_TEXTS,
    line,
    packet_of,
    tricky_packet,
)
from tests.tools.real_data import DATA, needs_real_data

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
PACKET = tricky_packet(TRICKY_TEXTS + CONTROLS)


def fields_of(sheet: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(sheet.removeprefix("\ufeff"), newline=""), delimiter="\t"))


def saved(
    rows: Sequence[Sequence[str]], delimiter: str, quoting: Literal[0, 1, 3], end: str = "\r\n"
) -> str:
    """The rows as a spreadsheet saves them."""
    stream = io.StringIO()
    if quoting == csv.QUOTE_NONE:
        return "".join(delimiter.join(row) + end for row in rows)
    csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    return stream.getvalue()


def check(returned: Returned, packet: Packet) -> None:
    """The file holds all that the packet does."""
    assert returned[:4] == (packet.project, packet.language.code, packet.round, packet.number)
    assert returned.sources == {each.source.id: each.source.text for each in packet.lines}
    expected = [(each.source.id, each.target) for each in packet.lines if each.target]
    assert [(each.id, each.text) for each in returned.translations] == expected


def test_what_is_written() -> None:
    first = line("dev-0001", 'He "is".', reasons=("too long", "numbers-differ"))
    sheet = write_sheet(packet_of(first, line("test-0002", "B", "乙")))
    url = "https://en.wikinews.org/wiki/?curid=1&x='1'"
    assert sheet == (
        '\ufeff"id"\t"article"\t"domain"\t"topic"\t"url"\t"source"'
        '\t"target ""zho_simpl"""\t"notes"\t"packet"\n'
        f'"dev-0001"\t"wikinews:1"\t"wikinews"\t"politics"\t"{url}"\t"He ""is""."'
        '\t""\t"too long; numbers-differ"\t"flores/zho_simpl/round2/packet3"\n'
        f'"test-0002"\t"wikinews:1"\t"wikinews"\t"politics"\t"{url}"\t"B"'
        '\t"乙"\t""\t"flores/zho_simpl/round2/packet3"\n'
    )
    assert read_sheet(sheet, "a.tsv") == Returned(
        project="flores",
        language="zho_simpl",
        round=2,
        number=3,
        translations=(Translation("test-0002", "乙", "a.tsv", 3),),
        sources={"dev-0001": 'He "is".', "test-0002": "B"},
    )


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
@example([('"', '""'), ("\t\n\r", "\r\n"), ("a\x85\u2028", "\ufeff"), (" ", "'")])
def test_what_is_written_is_read(pairs: list[tuple[str, str]]) -> None:
    rows = (line(f"dev-{n:04d}", *pair, ("a\tb",)) for n, pair in enumerate(pairs))
    packet = packet_of(line("test-0001", "a", "b"), *rows)
    check(read_sheet(write_sheet(packet), "a.tsv"), packet)


def test_no_cell_is_a_formula_and_texts_come_back() -> None:
    texts = ("=1", "'=1", "@a", "+1", "- 1", '"=1"', "\t=1", "\r", "＝1", "'s avonds")
    packet = packet_of(*(line(f"dev-{n:04d}", text, text, (text,)) for n, text in enumerate(texts)))
    sheet = write_sheet(packet)
    cells = [cell for row in fields_of(sheet)[1:] for cell in row]
    assert not [cell for cell in cells if cell.strip(' "')[:1] in tuple("=+-@\t\r＝") and cell]
    check(read_sheet(sheet, "a.tsv"), packet)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("delimiter", "\t,;")
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_spreadsheets_that_quote(delimiter: str, quoting: Literal[0, 1, 3], end: str) -> None:
    sheet = saved(fields_of(write_sheet(PACKET)), delimiter, quoting, end)
    check(read_sheet(sheet, "a.csv"), PACKET)


def test_excel_quotes_fields_with_commas_too() -> None:
    rows = fields_of(write_sheet(packet_of(line("dev-0001", "a", "b, c"))))
    sheet = saved(rows, "\t", csv.QUOTE_MINIMAL).replace("b, c", '"b, c"')
    assert read_sheet(sheet, "a.txt").translations[0].text == "b, c"


def test_spreadsheets_that_do_not_quote() -> None:
    """Quotation marks are text here: those of quoted speech, and those that somebody has doubled."""
    packet = tricky_packet((*TRICKY_TEXTS, '"a ""b"" c"', '""'))
    check(read_sheet(saved(fields_of(write_sheet(packet)), "\t", csv.QUOTE_NONE), "a"), packet)


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ('id\ttarget "fra"', '"a ""b"""'),  # nobody has quoted the header
        ("id\ttarget", '"a ""b"""'),  # nothing shows that it is quoted
        ('id\t"target ""fra"""', 'a "b"'),
        ('"id"\t"target"', 'a "b"'),
    ],
)
def test_marks_are_undone_only_where_the_header_proves_them(header: str, text: str) -> None:
    (translation,) = read_sheet(f'{header}\ndev-0001\t"a ""b"""\n', "a.tsv").translations
    assert translation.text == text


def test_columns_moved_and_taken_away() -> None:
    returned = read_sheet('mine\t target "fra" \tid\n1\t A \tdev-0001\n', "a.tsv")
    translation = Translation("dev-0001", " A ", "a.tsv", 2)
    assert returned == Returned("", "fra", 0, 0, (translation,), {})


def test_rows_that_are_empty_or_short() -> None:
    sheet = 'id,"target ""fra""",source\n\n,,\ndev-0001\ndev-0002,B\ndev-0003,C,c,\n'
    returned = read_sheet(sheet, "a.csv")
    assert [each[:2] for each in returned.translations] == [("dev-0002", "B"), ("dev-0003", "C")]
    assert [each.line for each in returned.translations] == [5, 6]
    assert returned.sources == {"dev-0001": "", "dev-0002": "", "dev-0003": "c"}


def test_lines_are_those_of_the_file() -> None:
    sheet = 'id,target\ndev-0001,"a\nb\r\nc"\n\ndev-0002,d\ndev-0003,"\n"\n'
    lines = [(each.text, each.line) for each in read_sheet(sheet, "a.csv").translations]
    assert lines == [("a\nb\r\nc", 2), ("d", 6), ("\n", 7)]


@pytest.mark.parametrize(
    ("sheet", "line", "message"),
    [
        ("", 1, "the header needs one column `id` and one column `target`; found ''"),
        (
            "id\ttext\n",
            1,
            "the header needs one column `id` and one column `target`; found 'id\\ttext'",
        ),
        ("id\tid\ttarget\n", 1, "the header needs one column `id` and one column `target`"),
        (
            'id\ttarget\ttarget "fra"\n',
            1,
            "the header needs one column `id` and one column `target`",
        ),
        ("id\ttarget\ra\tb\rc\td", 1, "the header needs one column `id` and one column `target`"),
        ("id\ttarget\n\na\tb\tc\n", 3, "expected 2 fields, as in the header; found 3"),
        ("id\ttarget\na\tb\n\tc\n", 3, "the row has no id"),
        ("id\ttarget\na\tb\n\na\tc\n", 4, "the id a occurs twice: remove one of the rows"),
        ("id\ttarget\na\tb\nc\td\0\n", 3, "the line has a NUL character"),
        (
            'id,target\na,b\nc,"d\ne,f\n',
            3,
            "the row that begins in this line cannot be read: unexpected end of data",
        ),
        (
            'id,target\na,"b" c\n',
            2,
            "the row that begins in this line cannot be read: ',' expected after '\"'",
        ),
        (
            "id,target,packet\na,b,p/fra/round1/packet1\nc,d,p/fra/round1/packet2\n",
            3,
            "expected rows of one packet; found p/fra/round1/packet1, p/fra/round1/packet2",
        ),
    ],
)
def test_what_is_no_sheet(sheet: str, line: int, message: str) -> None:
    with pytest.raises(ReadError) as raised:
        read_sheet(sheet, "a.tsv")
    assert raised.value.line == line
    assert raised.value.message.startswith(message)


@needs_real_data
def test_released_translations() -> None:
    folder = DATA / "flores/flores101_dataset/devtest"
    sources = (folder / "eng.devtest").read_text("utf-8").splitlines()
    for code in ("fra", "ara", "zho_simpl", "ell"):
        targets = (folder / f"{code}.devtest").read_bytes().decode().split("\n")
        pairs = enumerate(zip(sources, targets, strict=False), 1)
        packet = packet_of(*(line(f"devtest-{n:04d}", *pair) for n, pair in pairs))
        assert len(packet.lines) == 1012
        sheet = write_sheet(packet)
        check(read_sheet(sheet, "a.tsv"), packet)
        check(read_sheet(saved(fields_of(sheet), "\t", csv.QUOTE_NONE), "a.tsv"), packet)
        check(read_sheet(saved(fields_of(sheet), "\t", csv.QUOTE_MINIMAL), "a.tsv"), packet)
