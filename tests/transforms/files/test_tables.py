import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.files.markup import read_table, write_table
from corpusmill.transforms.files.records import ReadError
from tests.tools.case_tables import read_cases

COLUMNS = ("id", "text")
ROWS = st.lists(st.tuples(st.text(min_size=1), st.text()))


@given(ROWS)
@example([("a", "\t\n\r\\"), ("b", "\\t\\n\\r\\\\"), ("c", "\\"), ("d", "\\\t")])
@example([("\ufeff", " blanks \r"), ("\x85\u2028\x0b\x0c\x1c\0", ""), ("'", '"a ""b"""')])
@example([("=1", "'=1"), ("''@", "-\r")])
@example([("дві", "三"), ("สอง", "दो"), ("مثال \u200f", "e\u0301 é")])
def test_what_is_written_is_read(rows: list[tuple[str, str]]) -> None:
    text = write_table(COLUMNS, rows)
    assert text.count("\n") == len(rows) + 1
    assert "\r" not in text
    assert [tuple(row.values()) for _, row in read_table(text, COLUMNS)] == rows
    assert [line for line, _ in read_table(text, COLUMNS)] == list(range(2, len(rows) + 2))


@given(ROWS)
@example([("a", "b\r"), ("c\\", "")])
def test_crlf_and_a_byte_order_mark_change_nothing(rows: list[tuple[str, str]]) -> None:
    text = write_table(COLUMNS, rows)
    spoilt = "\ufeff" + text.replace("\n", "\r\n")
    assert list(read_table(spoilt, COLUMNS)) == list(read_table(text, COLUMNS))


@pytest.mark.parametrize(("row", "line"), read_cases("files/tables", "how_a_row_is_written"))
def test_how_a_row_is_written(row: tuple[str, str], line: str) -> None:
    assert write_table(COLUMNS, [row]) == "id\ttext\n" + line


def test_a_table_for_this_program_has_texts_as_they_are() -> None:
    rows = [("=1", "'@a")]
    text = write_table(COLUMNS, rows, for_people=False)
    assert text == "id\ttext\n=1\t'@a\n"
    read = read_table(text, COLUMNS, for_people=False)
    assert [tuple(row.values()) for _, row in read] == rows


@pytest.mark.parametrize(("line", "text"), read_cases("files/tables", "how_a_row_is_read"))
def test_how_a_row_is_read(line: str, text: str) -> None:
    assert list(read_table(f"id\ttext\n{line}\n", COLUMNS)) == [(2, {"id": "a", "text": text})]


def test_columns_in_any_order_and_more_of_them() -> None:
    table = "text\tid\tnote\nB\ta\tN\n"
    assert list(read_table(table, COLUMNS)) == [(2, {"text": "B", "id": "a", "note": "N"})]


def test_blank_lines_count_and_are_no_rows() -> None:
    table = "id\ttext\n\n\r\na\tb\n\nc\td"
    assert [(line, row["id"]) for line, row in read_table(table, COLUMNS)] == [(4, "a"), (6, "c")]


@pytest.mark.parametrize(
    ("table", "line", "message"), read_cases("files/tables", "what_is_no_table")
)
def test_what_is_no_table(table: str, line: int, message: str) -> None:
    with pytest.raises(ReadError) as raised:
        list(read_table(table, COLUMNS))
    assert (raised.value.line, str(raised.value)) == (line, f"line {line}: {message}")
