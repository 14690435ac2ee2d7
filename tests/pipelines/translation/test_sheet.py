import csv
import io
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import (
    PacketName,
    Returned,
    read_sheet,
    write_sheet,
)
from corpusmill.transforms.files.records import ReadError, Translation
from tests.pipelines.translation.samples import (
    CONTROLS,
    TRICKY_TEXTS,
    check_returned,
    line,
    packet_of,
    tricky_packet,
)
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

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
        name=PacketName("flores", "zho_simpl", 2, 3),
        translations=(Translation("test-0002", "乙", "a.tsv", 3),),
        sources={"dev-0001": 'He "is".', "test-0002": "B"},
    )


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
@example([('"', '""'), ("\t\n\r", "\r\n"), ("a\x85\u2028", "\ufeff"), (" ", "'")])
def test_what_is_written_is_read(pairs: list[tuple[str, str]]) -> None:
    rows = (line(f"dev-{n:04d}", *pair, ("a\tb",)) for n, pair in enumerate(pairs))
    packet = packet_of(line("test-0001", "a", "b"), *rows)
    check_returned(read_sheet(write_sheet(packet), "a.tsv"), packet)


def test_no_cell_is_a_formula_and_texts_come_back() -> None:
    texts = ("=1", "'=1", "@a", "+1", "- 1", '"=1"', "\t=1", "\r", "＝1", "'s avonds")
    packet = packet_of(*(line(f"dev-{n:04d}", text, text, (text,)) for n, text in enumerate(texts)))
    sheet = write_sheet(packet)
    cells = [cell for row in fields_of(sheet)[1:] for cell in row]
    assert not [cell for cell in cells if cell.strip(' "')[:1] in tuple("=+-@\t\r＝") and cell]
    check_returned(read_sheet(sheet, "a.tsv"), packet)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("delimiter", "\t,;")
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_spreadsheets_that_quote(delimiter: str, quoting: Literal[0, 1, 3], end: str) -> None:
    sheet = saved(fields_of(write_sheet(PACKET)), delimiter, quoting, end)
    check_returned(read_sheet(sheet, "a.csv"), PACKET)


def test_excel_quotes_fields_with_commas_too() -> None:
    rows = fields_of(write_sheet(packet_of(line("dev-0001", "a", "b, c"))))
    sheet = saved(rows, "\t", csv.QUOTE_MINIMAL).replace("b, c", '"b, c"')
    assert read_sheet(sheet, "a.txt").translations[0].text == "b, c"


def test_spreadsheets_that_do_not_quote() -> None:
    """Quotation marks are text here: those of quoted speech, and those that somebody has doubled."""
    packet = tricky_packet((*TRICKY_TEXTS, '"a ""b"" c"', '""'))
    check_returned(
        read_sheet(saved(fields_of(write_sheet(packet)), "\t", csv.QUOTE_NONE), "a"), packet
    )


@pytest.mark.parametrize(
    ("header", "text"),
    read_cases("translation/sheet", "marks"),
)
def test_marks_are_undone_only_where_the_header_proves_them(header: str, text: str) -> None:
    (translation,) = read_sheet(f'{header}\ndev-0001\t"a ""b"""\n', "a.tsv").translations
    assert translation.text == text


def test_columns_moved_and_taken_away() -> None:
    returned = read_sheet('mine\t target "fra" \tid\n1\t A \tdev-0001\n', "a.tsv")
    translation = Translation("dev-0001", " A ", "a.tsv", 2)
    assert returned == Returned(PacketName("", "fra", 0, 0), (translation,), {"dev-0001": ""})


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
    read_cases("translation/sheet", "no_sheets"),
)
def test_what_is_no_sheet(sheet: str, line: int, message: str) -> None:
    assert error_of(ReadError, read_sheet, sheet, "a.tsv").startswith(f"line {line}: {message}")


@pytest.mark.parametrize(
    ("sheet", "faults", "ids"),
    read_cases("translation/sheet", "faulty_rows"),
)
def test_a_row_that_is_wrong_leaves_the_others(
    sheet: str, faults: list[list[str | int]], ids: list[str]
) -> None:
    returned = read_sheet(sheet, "a.tsv")
    assert [list(fault) for fault in returned.faults] == faults
    assert [each.id for each in returned.translations] == ids
