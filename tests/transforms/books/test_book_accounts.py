import collections
from typing import Any

import pytest

from corpusmill.pipelines.pg19_settings import ACCOUNTS
from corpusmill.transforms.books import book_accounts
from corpusmill.transforms.books.catalog import released_splits
from corpusmill.transforms.books.publication_dates import PublicationDate
from corpusmill.transforms.files.builds import ledger
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.builds.paper_figures import Beside
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.records import OutputFile, Reason
from tests.makers.made_books import make_book, make_dated
from tests.tools.error_of import error_of


def test_a_book_is_counted() -> None:
    assert book_accounts.measure_book("Дві\u00a0 книги,\n\nй усе.\n") == book_accounts.BookStats(
        1, 4, 20, 33, 3
    )
    assert book_accounts.measure_book("") == book_accounts.BookStats(1, 0, 0, 0)


def test_counts_add_up() -> None:
    assert book_accounts.add_book_stats(
        [book_accounts.BookStats(1, 2, 3, 4), book_accounts.BookStats(10, 20, 30, 40)]
    ) == book_accounts.BookStats(11, 22, 33, 44)
    assert book_accounts.add_book_stats([]) == book_accounts.BookStats()


def test_identity() -> None:
    assert book_accounts.identity_of(84) == "gutenberg:84"


PROVENANCE = Provenance("tales", "en", "20261101", "1.0.0", {}, {}, (), {})
STATS = {
    "train": book_accounts.BookStats(4, 40, 400, 410),
    "test": book_accounts.BookStats(2, 20, 200, 200),
    "train_2": book_accounts.BookStats(1, 9, 90, 90),
}


def files(**records: int) -> list[OutputFile]:
    return [
        OutputFile(f"{split}-00000-of-00001.{kind}", split, kind, count, 1, "00")
        for split, count in {"train": 4, "test": 2, "train_2": 1, **records}.items()
        for kind in ("parquet", "tfrecord")
    ]


def account_for(**changed: Any) -> ledger.Accounts:
    accounts = {
        "files": 10,
        "rejected": [(("screen-books", "poems"), 3), (("read-books", "html-page"), 1)],
        "outputs": files(),
        "stats": list(STATS.items()),
        "lengths": [(("train", 6), 4), (("test", 8), 2), (("train_2", 6), 1)],
        "facts": [("sizes", {"tokens": 1060}), ("masked", 5)],
    } | changed
    account = book_accounts.BookAccounts(tuple(STATS), ("train", "test"))
    return account(ledger.Ledger(accounts), PROVENANCE)


def test_less_simple_books_are_a_caveat() -> None:
    facts = ("less_simple_books", {"as_simple_as_the_paper": 8, "needed": 1035})
    (caveat,) = account_for(facts=[facts]).caveats
    assert caveat.startswith("Only 8 books of the input are as simple as those of the paper.")
    assert "the 1,035 simplest" in caveat
    assert account_for().caveats == ()


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
        "\nTexts are rejected as `copyrighted` if the RDF catalogue, the head or the licence of the file, or"
        " a note in it says that they are copyrighted or not free for every use: a copyright from 1964 or"
        " later, non-commercial use, Creative Commons licences other than CC0, public domain in other"
        " countries only. `pg_catalog.csv` has no rights.\n\n"
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
    assert error_of(ledger.AccountingError, account_for, **changed) == message


def test_a_corpus_without_a_book() -> None:
    none = files(train=0, test=0, train_2=0)
    with pytest.raises(ledger.NothingLeftError) as raised:
        account_for(stats=[], outputs=none, files=4)
    assert str(raised.value) == "no book is left of 4 files: 3 poems, 1 html-page"
    assert raised.value.roles == ["books"]


@pytest.mark.parametrize(
    ("source", "confidence", "published", "latest"),
    [
        ("released", "exact", "1899", None),
        ("copyright", "exact", "1899", None),
        ("preface", "likely", "1899", None),
        ("author-death", "bound", "", 1899),
        ("reprint", "bound", "", 1899),
    ],
)
def test_a_bound_is_no_publication_date(
    source: str, confidence: str, published: str, latest: int | None
) -> None:
    dated = make_dated(book_id=90_001)._replace(date=PublicationDate(1899, source, confidence))
    row = book_accounts.make_row(dated, book_accounts.Membership("hash", {90_001: "test"}))
    assert (row.split, row.book_id) == ("test", 90_001)
    assert dict(zip(book_accounts.SCHEMA.names, row.values, strict=True)) == {
        "book_id": 90_001,
        "book_link": "http://www.gutenberg.org/ebooks/90001",
        "book_text": b"",
        "book_title": "Tale 90001",
        "publication_date": published,
        "date_source": source,
        "date_confidence": confidence,
        "latest_year": latest,
    }
    assert book_accounts.SCHEMA.names[book_accounts.TEXT] == "book_text"


def test_released_books_are_in_their_released_splits() -> None:
    released = book_accounts.Membership("released")
    counts = collections.Counter(map(released.split_of, [*released_splits(), 84, 90_001]))
    assert counts == {"validation": 50, "test": 100, "train": 2}
    assert released.reason_to_reject(make_book(), "") == Reason("not-in-release")
    assert released.reason_to_reject(make_book(released_year=1899), "") is None


def test_by_hash_all_are_in_the_corpus_and_nine_of_ten_in_train() -> None:
    by_hash = book_accounts.Membership("hash")
    assert by_hash.reason_to_reject(make_book(), "") is None
    counts = collections.Counter(map(by_hash.split_of, range(1, 20_001)))
    assert counts["train"] == pytest.approx(18_000, rel=0.02)
    assert counts["validation"] == pytest.approx(1_000, rel=0.1)
    assert counts["test"] == pytest.approx(1_000, rel=0.1)
    assert [by_hash.split_of(number) for number in (84, 1342, 2701)] == ["train", "train", "train"]


def test_a_table_of_ones_own_has_the_last_word() -> None:
    assert book_accounts.Membership("hash", {84: "test"}).split_of(84) == "test"
    assert book_accounts.Membership("released", {555: "train"}).split_of(555) == "train"


def test_other_memberships_are_refused() -> None:
    with pytest.raises(ValueError, match="members must be one of"):
        book_accounts.Membership("all")


def test_the_card_shows_the_paper_beside() -> None:
    counts = {"books": 2, "words": 2_000, "text_bytes": 1_234_567_890}
    stats = {
        **dict.fromkeys(("train", "validation", "test", "total"), counts),
        "dates": {
            "dated_by": {"copyright": 3},
            "latest_year_by": {"author-death": 84},
            "without_released_years": {"undated": 2},
        },
        "masked_words": 1_234,
    }
    facts = {"kept": ["total"], "paper": ACCOUNTS.paper, "read": 2, "unit": "files", "rejected": {}}
    card = "\n".join(render("pg19", stats=stats, beside=Beside("other settings"), **facts))
    assert "28,602" not in card
    assert "\n\nNo figures of the paper: other settings.\n\n" in card
    card = "\n".join(render("pg19", stats=stats, beside=Beside(differs="input of 1999"), **facts))
    assert "| train | 2 | 28,602 | 2,000 | 1,973,136,207 | input of 1999 |" in card
    assert "1,000 | 1.23 | open | input of 1999 |\n| paper | 69K | 10.9 | open | – |" in card
    assert "| copyright | 3 |" in card
    assert "Then `latest_year` has a year" in card
    assert "| author-death | 84 |" in card
    assert "| undated | 2 |" in card
    assert "Words masked as `<DW>`: 1,234." in card
