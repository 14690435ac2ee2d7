import pytest

from transforms.records import OutputFile
from transforms.text.books.book_accounts import (
    FoundBooks,
    check_accounts,
    make_counts,
    make_stats,
)
from transforms.text.books.book_stats import BookStats
from transforms.text.builds.build_manifest import AccountingError

FOUND = FoundBooks(
    files_read=10,
    rejections={("screen-books", "poems"): 3, ("read-books", "html-page"): 1},
    splits={
        "train": BookStats(4, 40, 400, 410),
        "test": BookStats(2, 20, 200, 200),
        "train_2": BookStats(1, 9, 90, 90),
    },
    whole=("train", "test"),
    facts={"simplebooks-92": {"tokens": 60}},
)


def files(**records: int) -> list[OutputFile]:
    return [
        OutputFile(f"{split}.{kind}", split, kind, count, 1, "00")
        for split, count in records.items()
        for kind in ("parquet", "tfrecord")
    ]


def test_sound_accounts() -> None:
    check_accounts(FOUND, files(train=4, test=2, train_2=1))
    assert make_counts(FOUND) == {
        "files_read": 10,
        "kept": {"train": 4, "test": 2, "train_2": 1, "total": 6},
        "rejected": {"read-books/html-page": 1, "screen-books/poems": 3, "total": 4},
    }
    stats = make_stats(FOUND)
    assert list(stats) == ["train", "test", "train_2", "total", "simplebooks-92"]
    assert stats["total"] == {"books": 6, "words": 60, "characters": 600, "text_bytes": 610}


def test_a_book_that_is_lost_is_an_error() -> None:
    with pytest.raises(AccountingError, match="6 kept \\+ 4 rejected are not the 11 files"):
        check_accounts(FOUND._replace(files_read=11), files(train=4, test=2, train_2=1))


@pytest.mark.parametrize("records", [{"train": 3}, {"test": 3}, {"train_2": 0}])
def test_files_hold_what_was_kept(records: dict[str, int]) -> None:
    with pytest.raises(AccountingError, match=r"parquet of .* holds"):
        check_accounts(FOUND, files(**({"train": 4, "test": 2, "train_2": 1} | records)))
