import collections

import pytest

from corpusmill.pipelines.pg19_settings import ACCOUNTS
from corpusmill.transforms.books.book_accounts import (
    SCHEMA,
    TEXT,
    Membership,
    make_row,
)
from corpusmill.transforms.books.publication_dates import PublicationDate
from corpusmill.transforms.books.released import released_splits
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.records import Reason
from tests.makers.made_books import make_book, make_dated


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
    row = make_row(dated, Membership("hash", {90_001: "test"}))
    assert (row.split, row.book_id) == ("test", 90_001)
    assert dict(zip(SCHEMA.names, row.values, strict=True)) == {
        "book_id": 90_001,
        "book_link": "http://www.gutenberg.org/ebooks/90001",
        "book_text": b"",
        "book_title": "Tale 90001",
        "publication_date": published,
        "date_source": source,
        "date_confidence": confidence,
        "latest_year": latest,
    }
    assert SCHEMA.names[TEXT] == "book_text"


def test_released_books_are_in_their_released_splits() -> None:
    released = Membership("released")
    counts = collections.Counter(map(released.split_of, [*released_splits(), 84, 90_001]))
    assert counts == {"validation": 50, "test": 100, "train": 2}
    assert released.reason_to_reject(make_book(), "") == Reason("not-in-release")
    assert released.reason_to_reject(make_book(released_year=1899), "") is None


def test_by_hash_all_are_in_the_corpus_and_nine_of_ten_in_train() -> None:
    by_hash = Membership("hash")
    assert by_hash.reason_to_reject(make_book(), "") is None
    counts = collections.Counter(map(by_hash.split_of, range(1, 20_001)))
    assert counts["train"] == pytest.approx(18_000, rel=0.02)
    assert counts["validation"] == pytest.approx(1_000, rel=0.1)
    assert counts["test"] == pytest.approx(1_000, rel=0.1)
    assert [by_hash.split_of(number) for number in (84, 1342, 2701)] == ["train", "train", "train"]


def test_a_table_of_ones_own_has_the_last_word() -> None:
    assert Membership("hash", {84: "test"}).split_of(84) == "test"
    assert Membership("released", {555: "train"}).split_of(555) == "train"


def test_other_memberships_are_refused() -> None:
    with pytest.raises(ValueError, match="members must be one of"):
        Membership("all")


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
    card = "\n".join(render("pg19", stats=stats, why_not="other settings", **facts))
    assert "28,602" not in card
    assert "\n\nNo figures of the paper: other settings.\n\n" in card
    card = "\n".join(render("pg19", stats=stats, why_not="", **facts))
    assert "| train | 2 | 28,602 | 2,000 | 1,973,136,207 |" in card
    assert "| this build | 1,000 | 1.23 | open |\n| paper | 69K | 10.9 | open |" in card
    assert "| copyright | 3 |" in card
    assert "Then `latest_year` has a year" in card
    assert "| author-death | 84 |" in card
    assert "| undated | 2 |" in card
    assert "Words masked as `<DW>`: 1,234." in card
