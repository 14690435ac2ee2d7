import pytest

from corpusmill.transforms.files.text import checked_date, days_between, iso_date, plain_date
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(("text", "plain", "iso", "checked"), read_cases("files/dates", "dates"))
def test_dates(text: str, plain: str, iso: str, checked: str) -> None:
    assert (plain_date(text), iso_date(text), checked_date(text)) == (plain, iso, checked)


def test_days_between() -> None:
    assert days_between("20261001", "20261101") == 31 == -days_between("20261101", "20261001")
    assert days_between("", "20261101") == days_between("20261101", "") == 0
