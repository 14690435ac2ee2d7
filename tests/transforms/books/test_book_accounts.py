from typing import Any

import pytest

from corpusmill.transforms.books.book_accounts import BookAccounts, BookStats
from corpusmill.transforms.files.builds.ledger import (
    AccountingError,
    Accounts,
    Ledger,
    NothingLeftError,
)
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.records import OutputFile

PROVENANCE = Provenance("tales", "en", "20261101", "1.0.0", {}, {}, (), {})
STATS = {
    "train": BookStats(4, 40, 400, 410),
    "test": BookStats(2, 20, 200, 200),
    "train_2": BookStats(1, 9, 90, 90),
}


def files(**records: int) -> list[OutputFile]:
    return [
        OutputFile(f"{split}-00000-of-00001.{kind}", split, kind, count, 1, "00")
        for split, count in {"train": 4, "test": 2, "train_2": 1, **records}.items()
        for kind in ("parquet", "tfrecord")
    ]


def account_for(**changed: Any) -> Accounts:
    accounts = {
        "files": 10,
        "rejected": [(("screen-books", "poems"), 3), (("read-books", "html-page"), 1)],
        "outputs": files(),
        "stats": list(STATS.items()),
        "lengths": [(("train", 6), 4), (("test", 8), 2), (("train_2", 6), 1)],
        "facts": [("sizes", {"tokens": 1060}), ("masked", 5)],
    } | changed
    account = BookAccounts(tuple(STATS), ("train", "test"))
    return account(Ledger(accounts), PROVENANCE)


def test_sound_accounts() -> None:
    accounts = account_for()
    assert accounts.counts == {
        "files_read": 10,
        "kept": {"train": 4, "test": 2, "train_2": 1, "total": 6},
        "rejected": {"read-books/html-page": 1, "screen-books/poems": 3, "total": 4},
    }
    assert list(accounts.stats) == ["train", "test", "train_2", "total", "masked", "sizes"]
    assert accounts.stats["total"] == {
        "books": 6,
        "words": 60,
        "characters": 600,
        "text_bytes": 610,
        "line_feeds": 0,
        "books_by_words": {"8-11": 4, "12-15": 0, "16-23": 2},
    }
    assert accounts.findings == {"stats": accounts.stats}
    assert "\n".join(accounts.sections) == (
        "| split | books | words | characters | text bytes | line feeds |\n|---|---:|---:|---:|---:|---:|\n"
        "| train | 4 | 40 | 400 | 410 | 0 |\n| test | 2 | 20 | 200 | 200 | 0 |\n"
        "| train_2 | 1 | 9 | 90 | 90 | 0 |\n| total | 6 | 60 | 600 | 610 | 0 |\n\n"
        "Words are separated by white space; characters are Unicode code points, bytes are of UTF-8.\n"
        "\n"
        "Not kept, of 10 files read (each is listed in `rejected/`):\n\n| reason | files |\n|---|---:|\n"
        "| read-books/html-page | 1 |\n| screen-books/poems | 3 |\n| total | 4 |"
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"files": 11}, "6 kept + 4 rejected do not add up to the 11 files that were read"),
        ({"outputs": files(train=3)}, "3 in parquet files do not add up to the 4 books of train"),
        (
            {"outputs": files(train_2=0)},
            "0 in parquet files do not add up to the 1 books of train_2",
        ),
    ],
)
def test_accounts_that_do_not_agree(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(AccountingError) as raised:
        account_for(**changed)
    assert str(raised.value) == message


def test_a_corpus_without_a_book() -> None:
    none = files(train=0, test=0, train_2=0)
    with pytest.raises(NothingLeftError) as raised:
        account_for(stats=[], outputs=none, files=4)
    assert str(raised.value) == "no book is left of 4 files: 3 poems, 1 html-page"
    assert raised.value.roles == ["books"]
