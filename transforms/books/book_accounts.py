"""Checks the counts of a corpus of books, and makes its statistics and the sections of its card.

Counts the books, words and characters of a corpus, and defines the order and the schema of its books.

Makes the rows of PG-19. They have the features of the dataset pg19 in TensorFlow Datasets.

More columns give the source of the publication date and its confidence, and the latest possible year of books
without a publication date.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ..files.builds.ledger import Accounts, Ledger, NothingLeftError
from ..files.builds.manifest import Provenance
from ..files.builds.paper_figures import NO_PAPER, Paper
from ..files.formats import formats_in
from ..files.markup import render
from ..files.records import Book, BookRow, Reason
from ..files.text import count_words, fingerprint, split_of
from .catalog import released_splits
from .publication_dates import DatedBook


class BookStats(NamedTuple):
    """The number of books, and the numbers of words, characters, bytes and line feeds in their texts."""

    books: int = 0
    # words separated by white space; word-level perplexity is computed from this number
    words: int = 0
    characters: int = 0  # Unicode code points
    text_bytes: int = 0  # UTF-8
    line_feeds: int = 0  # included in characters


def measure_book(text: str) -> BookStats:
    """Returns the counts for a single book with this text: its words, characters, bytes and line feeds."""
    return BookStats(1, count_words(text), len(text), len(text.encode("utf-8")), text.count("\n"))


def add_book_stats(stats: Iterable[BookStats]) -> BookStats:
    """Adds up the counts of several books or groups of books, field by field."""
    return BookStats(*(sum(column) for column in zip(BookStats(), *stats, strict=True)))


def identity_of(book_id: int) -> str:
    """Returns the text that determines the split, the shard and the position of a book: "gutenberg:84"."""
    return f"gutenberg:{book_id}"


def place_of(book_id: int) -> tuple[int, int]:
    """Returns the sort key of a book: its fingerprint, by which books are shuffled, and its id."""
    return fingerprint(identity_of(book_id)), book_id


def book_schema(*texts: str) -> pa.Schema:
    """Returns the schema of a corpus of books: book_id, a 32-bit integer, and a string column for each of
    `texts`.
    """
    names = {"book_id": pa.int32(), **dict.fromkeys(texts, pa.string())}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in names.items()])


LATEST_YEAR = "latest_year"
NUMBERS = ("book_id", LATEST_YEAR)
SCHEMA = book_schema(
    "book_link",
    "book_text",
    "book_title",
    "publication_date",  # a year as text, as in TensorFlow Datasets; "" if it is unknown
    "date_source",
    "date_confidence",
).append(pa.field(LATEST_YEAR, pa.int32()))  # null for books with a publication date
TEXT = SCHEMA.get_field_index("book_text")
RELEASED_SCHEMA = pa.schema([*SCHEMA][: SCHEMA.get_field_index("date_source")])
"""The columns of the released corpus."""

RELEASED, HASH = MEMBERS = ("released", "hash")
MISSING = "missing_books"  # key in stats.json
LESS_SIMPLE = "less_simple_books"  # key in stats.json


@dataclasses.dataclass(frozen=True)
class Membership:
    """Decides which books are in the corpus, and in which split.

    Attributes:
      members: "released" for the books that DeepMind released, in their splits; "hash" for all books, 90 % in
        train, 5 % in validation and 5 % in test by the fingerprint of the id.
      own_splits: book id → split chosen by the user, which is used instead of the split given by `members`.
    """

    members: str
    own_splits: Mapping[int, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.members not in MEMBERS:
            raise ValueError(f"members must be one of {MEMBERS}, not {self.members!r}")

    def reason_to_reject(self, book: Book, text: str) -> Reason | None:
        """Returns the reason `not-in-release` for a book that PG-19 did not release, otherwise None.

        If `members` is "hash", returns None for all books.
        """
        if self.members == RELEASED and not book.released_year:
            return Reason("not-in-release")
        return None

    def split_of(self, book_id: int) -> str:
        """Returns the split of a book that is in the corpus."""
        if book_id in self.own_splits:
            return self.own_splits[book_id]
        if self.members == RELEASED:
            return released_splits().get(book_id, "train")
        return split_of(identity_of(book_id))


def make_row(dated: DatedBook, membership: Membership) -> BookRow:
    """Returns the row of a book: its split, its id, and its values in the order of SCHEMA."""
    book, date = dated.book, dated.date
    link = f"http://www.gutenberg.org/ebooks/{book.book_id}"
    dates = (str(date.published or ""), date.source, date.confidence, date.latest)
    values = (book.book_id, link, book.packed_text, book.title, *dates)
    return BookRow(membership.split_of(book.book_id), book.book_id, values)


@dataclasses.dataclass(frozen=True)
class BookAccounts:
    """Computes the counts, statistics and card sections of a build of any corpus of books."""

    splits: Sequence[str]
    whole: Sequence[str]  # splits that together hold each book once; the totals are their sums
    template: str = "books"  # name of the template of the card's sections
    paper: Paper = NO_PAPER

    def __call__(self, ledger: Ledger, provenance: Provenance) -> Accounts:
        """Returns the counts, statistics and card sections of a build.

        In addition to the entries of every build, the ledger has:
          files: number of files that were examined as books.
          stats: (split, BookStats).
          lengths: ((split, class of lengths in words), number of books).
          facts: (name in stats.json, value), each name once.

        Raises AccountingError if the counts do not add up, and NothingLeftError if no book is left.
        """
        per_split = ledger.per_split("stats", self.splits, BookStats())
        total = add_book_stats(per_split[split] for split in self.whole)
        files, rejected = ledger.number("files"), ledger.rejected
        ledger.balance(files, "files that were read", kept=total.books, rejected=rejected["total"])
        for split, counts in per_split.items():
            ledger.check_files(split, counts.books, "books", formats_in(provenance.settings))
        if not total.books:
            reasons = ledger.often_rejected()
            raise NothingLeftError(["books"], f"no book is left of {files:,} files: {reasons}")
        splits = {**per_split, "total": total}
        kept = {split: counts.books for split, counts in splits.items()}
        lengths = ledger.histograms(kept, self.whole)
        stats = {
            **{
                split: {**counts._asdict(), "books_by_words": lengths[split]}
                for split, counts in splits.items()
            },
            **dict(sorted(ledger.values("facts"))),
        }
        return Accounts(
            counts={"files_read": files, "kept": kept, "rejected": rejected},
            stats=stats,
            sections=render(
                self.template,
                stats=stats,
                kept=kept,
                paper=self.paper,
                beside=self.paper.beside_new(provenance, ledger, kept),
                read=files,
                unit="files",
                rejected=rejected,
            ),
            caveats=tuple(_find_caveats(stats)),
            findings={"stats": stats},
        )


def _find_caveats(stats: Mapping[str, Any]) -> Iterator[str]:
    if missing := stats.get(MISSING):
        of_splits = ", ".join(f"{number:,} of {split}" for split, number in missing.items())
        yield (
            f"Books of the release that are not in this build: {of_splits}. They are listed in missing-*.tsv."
        )
    if less := stats.get(LESS_SIMPLE):
        yield (
            f"Only {less['as_simple_as_the_paper']:,} books of the input are as simple as those of the paper."
            f" To fill SimpleBooks-2, the {less['needed']:,} simplest are used if they do not overlap."
        )


def account_for_dates(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Computes the counts, statistics and card sections of a build that has only the table of dates."""
    stats = dict(ledger.values("facts"))
    dates = stats["dates"]
    books = sum(
        count for name in ("dated_by", "latest_year_by") for count in dates.get(name, {}).values()
    )
    kept = books - dates["dated_by"].get("nothing", 0)
    files, rejected = ledger.number("files"), ledger.rejected
    ledger.balance(files, "files that were read", kept=kept, rejected=rejected["total"])
    texts = {"stats": stats, "read": files, "unit": "files", "rejected": rejected}
    return Accounts(
        counts={"files_read": files, "kept": {"total": kept}, "rejected": rejected},
        stats=stats,
        sections=[*render("dates", **texts), "", *render("not_kept", **texts)],
    )
