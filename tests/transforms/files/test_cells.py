import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.files.markup import protect, to_line, unprotect
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("cell", "written"), read_cases("files/cells", "cells_that_a_spreadsheet_would_evaluate")
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
