"""Makes the rows of SimpleBooks in Parquet and TFRecord."""

from collections.abc import Iterator, Mapping
from typing import Any

from corpusmill.transforms.books.book_stats import book_schema
from corpusmill.transforms.files.builds.paper_settings import say_why_not
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.files.records import BookRow, TokenizedBook

NUMBERS = ("book_id",)
# "text" has tokens, one paragraph per line; "raw_text" has the same lines before tokenisation.
SCHEMA = book_schema("book_title", "text", "raw_text")
TEXT, RAW_TEXT = map(SCHEMA.get_field_index, ("text", "raw_text"))
TRAIN_2 = "train_2"
SPLITS_WITH_SMALL = (*SPLITS, TRAIN_2)
"""All splits. "train_2" has the training books of SimpleBooks-2, which are in "train" as well."""

LARGE, SMALL = SIZES = ("simplebooks-92", "simplebooks-2")

PAPER = {  # Nguyen 2019, table 1: tokens, vocabulary, share of tokens outside the vocabulary, FREQ
    LARGE: ("91.5M", "98,304", "0.11 %", "931.40"),
    SMALL: ("2.2M", "11,492", "0.47 %", "195.43"),
}


UNKNOWN = b"<unk>"
SIGNS = 2
"""Number of words of a vocabulary that are not in the text: <unk> for other words, <eos> for line ends."""


def make_rows(
    book: TokenizedBook, split: str, is_small: bool, packed_small: bytes = b""
) -> Iterator[BookRow]:
    """Yields the rows of a book, one for each split that contains it. Values are in the order of SCHEMA.

    Args:
      book: the tokenised book.
      split: its split.
      is_small: True if the book is also in SimpleBooks-2.
      packed_small: tokens of the book in SimpleBooks-2, packed like `book.packed_tokens`; b"" if they are the
        same as in SimpleBooks-92.
    """
    yield BookRow(split, book.book_id, _values(book, book.packed_tokens))
    if is_small and split == "train":
        yield BookRow(TRAIN_2, book.book_id, _values(book, packed_small or book.packed_tokens))


def _values(book: TokenizedBook, packed_tokens: bytes) -> tuple[int, str, bytes, bytes]:
    return book.book_id, book.title, packed_tokens, book.packed_raw


def make_sections(stats: Mapping[str, Any], why_not: str) -> list[str]:
    """Returns the lines of the sections that only the dataset card of SimpleBooks has.

    Args:
      stats: the contents of stats.json.
      why_not: why the figures of the paper cannot stand beside this build; "" if they can.
    """
    return [
        "",
        "`text` is tokenised; `raw_text` has the same lines unchanged. `train_2`, the training split of"
        " SimpleBooks-2, is part of `train`; both have the same held-out books.",
        "",
        "Comparison with table 1 of the paper (FREQ: training tokens per word of the vocabulary):",
        "",
        *make_table(
            ["corpus", "tokens", "vocabulary", "out of vocabulary", "FREQ"],
            (
                row
                for size in SIZES
                for row in (_figures(size, stats[size]), _of_paper(size, why_not))
            ),
        ),
        *say_why_not(why_not),
        "",
        f"The vocabulary is the words that occur {stats[LARGE]['min_count']:,} times or more in training,"
        " with `<unk>` and `<eos>`; the ends of lines (`<eos>`) are tokens, as in the paper. Share"
        " of the tokens that are not in the vocabulary:",
        "",
        *make_table(
            ["corpus", *SPLITS],
            ([size, *_shares(stats[size])] for size in SIZES),
        ),
        "",
        *_note_on_sizes(stats),
        "`books-*.tsv` lists every book that was considered: where its text begins, or why it was rejected.",
    ]


def _note_on_sizes(stats: Mapping[str, Any]) -> list[str]:
    """Returns the lines of a note for the dataset card if SimpleBooks-2 and SimpleBooks-92 are the same.

    They are the same if all training books fit into SimpleBooks-2. Otherwise returns [].
    """
    large, small = (stats[size]["splits"]["train"]["tokens"] for size in (LARGE, SMALL))
    if large != small:
        return []
    note = f"{LARGE} and {SMALL} are the same text: all training books fit into the small size."
    return [f"**Note:** {note}", ""]


def _figures(size: str, figures: Mapping[str, Any]) -> list[str | int]:
    train = figures["splits"]["train"]
    share = f"{train['out_of_vocabulary_share']:.2%}".replace("%", " %")
    frequency = f"{figures['tokens_per_vocabulary_word']:,.2f}"
    words = figures["vocabulary_with_unk_and_eos"]
    return [size, train["tokens_with_eos"], words, share, frequency]


def _of_paper(size: str, why_not: str) -> list[str]:
    figures = ("–" for _ in PAPER[size]) if why_not else PAPER[size]
    return [f"{size} of the paper", *figures]


def _shares(figures: Mapping[str, Any]) -> list[str]:
    splits = figures["splits"]
    return [
        f"{splits[split]['out_of_vocabulary_share']:.2%}".replace("%", " %")
        if split in splits
        else "–"
        for split in SPLITS
    ]
