"""Makes the rows of PG-19. They have the features of the dataset pg19 in TensorFlow Datasets.

Two more columns give the source of the publication date and its confidence.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from transforms.records import Book, BookRow, Reason
from transforms.text.books.book_stats import book_schema, identity_of
from transforms.text.books.dating.publication_dates import DatedBook
from transforms.text.books.files.released_splits import released_splits
from transforms.text.files.markdown import make_table
from transforms.text.fingerprint import SPLITS, split_of

NUMBERS = ("book_id",)
SCHEMA = book_schema(
    "book_link",
    "book_text",
    "book_title",
    "publication_date",  # a year as text, as in TensorFlow Datasets
    "date_source",
    "date_confidence",
)
TEXT = SCHEMA.get_field_index("book_text")

RELEASED, HASH = MEMBERS = ("released", "hash")

PAPER_BOOKS = {"train": 28_602, "validation": 50, "test": 100}  # Rae et al. 2020, table 2
PAPER_WORDS = {"train": 1_973_136_207, "validation": 3_007_061, "test": 6_966_499}


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
    values = (book.book_id, link, book.packed_text, book.title, str(date.year), *date[1:])
    return BookRow(membership.split_of(book.book_id), book.book_id, values)


def make_sections(stats: Mapping[str, Any]) -> list[str]:
    """Returns the lines of the sections that only the dataset card of PG-19 has.

    `stats` has the contents of stats.json.
    """
    dates, total = stats["dates"], stats["total"]
    lines = [
        "",
        "Beside the paper, table 2 (words normalise word-level perplexity, e^(L / words)):",
        "",
        *make_table(
            ["split", "books", "books of the paper", "words", "words of the paper"],
            (
                [
                    split,
                    stats[split]["books"],
                    PAPER_BOOKS[split],
                    stats[split]["words"],
                    PAPER_WORDS[split],
                ]
                for split in SPLITS
            ),
        ),
        "",
        "Table 1:",
        "",
        *make_table(
            ["", "words of a book on average", "text of train, GB", "vocabulary"],
            [
                [
                    "this build",
                    round(total["words"] / total["books"]),
                    f"{stats['train']['text_bytes'] / 1e9:.3g}",
                    "open",
                ],
                ["paper", "69K", "10.9", "open"],
            ],
        ),
        "",
        "Sources of the dates of books, including books that are too new (`dates-*.tsv` lists all dates of"
        " each book):",
        "",
        *make_table(["source", "books"], dates["dated_by"].items()),
    ]
    if "without_released_years" in dates:
        lines += [
            "",
            "Comparison of the other sources with the years that PG-19 has released:",
            "",
            *make_table(["outcome", "books"], dates["without_released_years"].items()),
        ]
    if "masked_words" in stats:
        lines += ["", f"Words masked as `<DW>`: {stats['masked_words']:,}."]
    return lines
