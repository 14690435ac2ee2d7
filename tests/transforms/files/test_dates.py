import pytest

from corpusmill.transforms.files.text import checked_date, days_between, iso_date, plain_date


@pytest.mark.parametrize(
    ("text", "plain", "iso", "checked"),
    [
        ("20261101", "20261101", "2026-11-01", "20261101"),
        ("2026-11-01", "20261101", "2026-11-01", "20261101"),
        ("20261301", "20261301", "2026-13-01", ""),
        ("2007-2011", "2007-2011", "2007-2011", ""),
        ("2026-W45", "2026-W45", "2026-W45", ""),
        ("latest", "latest", "latest", ""),
        ("undated", "undated", "undated", ""),
        ("", "", "", ""),
    ],
)
def test_dates(text: str, plain: str, iso: str, checked: str) -> None:
    assert (plain_date(text), iso_date(text), checked_date(text)) == (plain, iso, checked)


def test_days_between() -> None:
    assert days_between("20261001", "20261101") == 31 == -days_between("20261101", "20261001")
    assert days_between("", "20261101") == days_between("20261101", "") == 0
