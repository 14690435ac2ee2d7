from typing import Any

import pytest

from corpusmill.transforms.files.builds.ledger import AccountingError, Ledger
from corpusmill.transforms.files.records import OutputFile
from tests.tools.error_of import error_of


def table(number: int, count: int, records: int, kind: str = "parquet") -> OutputFile:
    name = f"test-{number:05d}-of-{count:05d}.parquet"
    if kind == "tfrecord":
        name = f"tales-test.tfrecord-{number:05d}-of-{count:05d}"
    return OutputFile(name, "test", kind, records, 1, "00")


def test_a_balance_names_its_parts() -> None:
    Ledger.balance(3, "pages", kept=1, rejected=2)
    error = error_of(
        AccountingError, Ledger.balance, 4, "pages that were read", kept=1, not_drawn=2
    )
    assert error == "1 kept + 2 not drawn do not add up to the 4 pages that were read"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([table(0, 1, 2)], ""),
        ([table(0, 2, 1), table(1, 2, 1)], ""),
        ([], "0 in parquet files do not add up to the 2 articles of test"),
        ([table(0, 1, 3)], "3 in parquet files do not add up to the 2 articles of test"),
        (
            [table(1, 2, 2)],  # the other one has no rows
            "1 written do not add up to the 2 parquet files of test (the number in their names)",
        ),
    ],
)
def test_the_files_hold_the_rows_of_a_split(files: list[OutputFile], message: str) -> None:
    frames = table(0, 1, 2, "tfrecord")
    ledger = Ledger({"outputs": [*files, frames]})
    if not message:
        ledger.check_files("test", 2, "articles")
        return
    assert error_of(AccountingError, ledger.check_files, "test", 2, "articles") == message
    with pytest.raises(AccountingError, match="in tfrecord files do not add up to the 9 rows"):
        ledger.check_files("test", 9, "rows", ["tfrecord"])


def test_accounts_without_entries_are_empty() -> None:
    ledger = Ledger({})
    assert (ledger.number("pages"), ledger.values("lost"), ledger.one("model")) == (0, [], None)
    assert ledger.per_split("stats", ["train"], 7) == {"train": 7}
    assert ledger.rejected == {"total": 0}
    assert ledger.often_rejected() == "there was none"


def test_reasons_are_sorted_and_the_most_frequent_come_first() -> None:
    reasons: list[Any] = [(("b", "x"), 1), (("a", "y"), 1000), (("a", "x"), 1), (("c", "z"), 2)]
    for order in (reasons, reasons[::-1]):
        ledger = Ledger({"rejected": order})
        assert list(ledger.rejected.items()) == [
            ("a/x", 1),
            ("a/y", 1000),
            ("b/x", 1),
            ("c/z", 2),
            ("total", 1004),
        ]
        assert ledger.often_rejected() == "1,000 y, 2 z, 1 x"
