import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.files.markup import protect, to_line, unprotect


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("https://a.example")', '\'=HYPERLINK("https://a.example")'),
        ("+1", "'+1"),
        ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("＝1", "'＝1"),
        (' "=1"', '\' "=1"'),  # a spreadsheet takes the marks away
        ("'=1", "''=1"),
        ("-0.25", "-0.25"),
        ("’s avonds", "’s avonds"),
        ("'s avonds", "'s avonds"),
        ('"Yes," she said.', '"Yes," she said.'),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_cells_that_a_spreadsheet_would_evaluate(cell: str, written: str) -> None:
    assert protect(cell) == written
    assert unprotect(written) == cell


@given(st.text(st.sampled_from("'\"=+-@\t\r\n ＝1a")))
@example("''\t")
@example("'-1")
def test_each_cell_is_had_again(cell: str) -> None:
    assert unprotect(protect(cell)) == cell


def test_a_row_is_a_line() -> None:
    assert to_line((-3, "=a\tb\r\nc", " d")) == "-3\t'=a b c\td\n"
