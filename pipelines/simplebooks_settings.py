"""Settings of SimpleBooks."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner
from corpusmill.transforms.books.book_accounts import BookAccounts
from corpusmill.transforms.books.book_overlap import (
    NGRAM_WORDS,
    PLAIN,
    THRESHOLD,
    check_overlap_words,
    parse_overlap,
)
from corpusmill.transforms.books.english_tokens import DISTINCT, check_style
from corpusmill.transforms.books.simplebooks_rows import (
    HELDOUT_BOOKS,
    NUMBERS,
    PAPER,
    SCHEMA,
    SMALL_TOKENS,
    SPLITS_WITH_SMALL,
    check_sizes,
)
from corpusmill.transforms.books.simplicity import (
    MAX_VOCABULARY,
    NEUTRAL,
    PRINTED,
    SQUARED,
    NotSimple,
    check_target,
)
from corpusmill.transforms.files.builds.manifest import (
    Description,
    Release,
    limit_setting,
    name_edition,
)
from corpusmill.transforms.files.text import SPLITS

from .book_settings import LANGUAGE, add_books, check_book_settings

CORPUS = "simplebooks"
VERSION = "2.0.1"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "2.0.0": (
        "Books are chosen by L/V^1.35, a measure of simplicity that does not depend on their length; overlap"
        " compares plain words; the ends of lines (<eos>) are tokens of the figures beside the paper; line"
        " feeds are counted."
    ),
    "2.0.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
SHARD_BYTES = 128 << 20
FOLDER_NAME = {NEUTRAL: "L-V1.35", SQUARED: "L-V2", PRINTED: "L-sqrtV"}  # by formula

DESCRIPTION = Description(
    title="SimpleBooks",
    about=(
        "Books in simple English from Project Gutenberg, both tokenised and unchanged, for word-level and"
        " character-level language models; rebuilt with corpusmill after Nguyen, 2019. The texts are in"
        " the public domain in the USA."
    ),
    citation=(
        "@article{nguyen-2019-simplebooks,\n"
        "  title = {SimpleBooks: Long-term dependency book dataset with simplified English vocabulary for"
        " word-level language modeling},\n"
        "  author = {Nguyen, Huyen},\n  journal = {arXiv:1911.12391},\n  year = {2019}\n}"
    ),
    license_id="other",
    features=SCHEMA.names,
    numbers=NUMBERS,
    splits=SPLITS_WITH_SMALL,
    tags=("project-gutenberg", "books"),
)
ACCOUNTS = BookAccounts(SPLITS_WITH_SMALL, whole=SPLITS, template="simplebooks", paper=PAPER)


@dataclasses.dataclass(frozen=True)
class SimpleBooksConfig:
    """The settings of a build of SimpleBooks. Invalid settings raise ValueError."""

    books: Sequence[str]  # folders, or patterns of files
    catalog: Sequence[str] = ()  # patterns of pg_catalog.csv, or of archives of RDF
    formula: str = NEUTRAL  # formula for the ratio of length to vocabulary
    min_ratio: str = ""  # least ratio of a simple book; "" is the default of the formula
    target_tokens: int = 0  # take the simplest books up to this size; 0 uses min_ratio instead
    max_vocabulary: int = MAX_VOCABULARY  # largest vocabulary, with target_tokens
    overlap: str = (
        THRESHOLD  # a book with this share of its n-grams in larger kept books is dropped
    )
    overlap_words: str = PLAIN  # form of the words in these n-grams
    ngram_words: int = NGRAM_WORDS
    estimate: int = 1  # if 10, only one of 10 n-grams is compared; 1 compares all
    min_words: int = 0  # shorter books are dropped
    number_style: str = DISTINCT
    heldout_books: int = HELDOUT_BOOKS  # number of books in validation, and also in test
    small_tokens: int = SMALL_TOKENS  # largest size of the training set of SimpleBooks-2
    min_count: int = 3  # least count in the training set of a word of the vocabulary
    limit: int = 0  # books that are read; 0 reads all
    map_unknown: bool = False  # write <unk> for tokens that are not in the vocabulary
    dump_date: str = ""  # "20261101"; "" is taken from the names of the files
    on_corrupt: str = "fail"
    shard_bytes: int = SHARD_BYTES  # approximate UTF-8 bytes of text in one output file
    signatures: bool = False  # write the MinHash signature of each book

    def __post_init__(self) -> None:
        check_book_settings(self.books, self.dump_date, self.on_corrupt, self.min_words)
        NotSimple(self.formula, self.min_ratio)
        check_target(self.target_tokens or 1, self.max_vocabulary, self.min_count, self.formula)
        rule = parse_overlap(self.overlap)
        check_overlap_words(self.overlap_words)
        check_style(self.number_style)
        check_sizes(self.heldout_books, self.small_tokens)
        for name in ("ngram_words", "estimate", "shard_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if rule.by_minhash and self.estimate > 1:
            raise ValueError(
                "`estimate` cannot be used with `overlap='minhash'`: set `overlap` to a share, such as 0.5"
            )

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish corpora made from the same input."""
        least = NotSimple(self.formula, self.min_ratio).least
        ratio = {"min_ratio": str(float(least))} if not self.target_tokens else {}
        target = {"target_tokens": self.target_tokens, "max_vocabulary": self.max_vocabulary}
        return {
            "formula": FOLDER_NAME[self.formula],
            **(ratio or target),
            "overlap": parse_overlap(self.overlap).name,
            "overlap_words": self.overlap_words,
            "ngram_words": self.ngram_words,
            "estimate": self.estimate,
            "min_words": self.min_words,
            "number_style": self.number_style,
            "heldout_books": self.heldout_books,
            "small_tokens": self.small_tokens,
            "min_count": self.min_count,
            **limit_setting(self.limit),
            "map_unknown": self.map_unknown,
        }

    def edition(self) -> str:
        """Returns the name of the edition: the language, and the settings that differ from the defaults.

        Examples are "en" and "en-target-tokens-92000000".
        """
        original = SimpleBooksConfig(self.books).variant()
        if not self.target_tokens:
            original["min_ratio"] = str(float(NotSimple(self.formula).least))
        variant = self.variant()
        default = dict.fromkeys(variant) | {"max_vocabulary": MAX_VOCABULARY} | original
        return name_edition(LANGUAGE, variant, default)


def add(commands: Commands) -> None:
    r"""Rebuilds SimpleBooks-92 and SimpleBooks-2 from Project Gutenberg.

    examples:
      From the weekly archive (gutenberg.org/cache/epub/feeds: txt-files.tar.zip, pg_catalog.csv):
        corpusmill simplebooks --books txt-files.tar.zip --catalog pg_catalog.csv --output corpora
      The simplest books up to the paper's size, instead of all books with at least a given ratio:
        corpusmill simplebooks --books txt-files.tar.zip --catalog pg_catalog.csv \
          --target-tokens 92000000 --output corpora
      With the formula and the notation of numbers (1 @,@ 93) that are printed in the paper:
        corpusmill simplebooks --books mirror/ --catalog pg_catalog.csv --formula 'L/sqrt(V)' \
          --number-style comma --output corpora

    what you get, in <output>/simplebooks/<edition>/<date>-<version>/:
      simplebooks-92/{train,valid,test}.txt      tokens, one paragraph per line
      simplebooks-92-raw/                        the same lines, not tokenised
      simplebooks-2/ simplebooks-2-raw/          the same held-out books, and 2 M tokens of training text
      train-*.parquet validation-*.parquet test-*.parquet train_2-*.parquet, and the same as TFRecord: one record
                          per book; train_2 is the training part of SimpleBooks-2
      books-*.tsv     every considered book: L, V, ratio, overlap, verdict, the books that contain its sequences,
                      its location
      signatures-*.parquet   with --signatures: MinHash signatures (docs/overlap.md)
      vocabulary-92.tsv vocabulary-2.tsv stats.json manifest.json README.md rejected/ COMPLETED
    The name of the edition has the language and every setting that differs from the default.

    how books are chosen: only English prose is used, no poems, plays, manuals or recipes. A book is simple if
    the ratio of its length L (in tokens) to its vocabulary V (different words), as given by --formula, is at
    least --min-ratio. From the largest to the smallest, each simple book is kept, unless half of its
    eight-word sequences occur in larger books that were kept. The result does not depend on the number of
    workers. With --overlap minhash, fewer books are compared, and small books that are part of much larger
    ones are missed. The default formula, L/V^1.35, gives 0.22 for an average book of any length. The default
    of --min-ratio, 0.24, accepts a book with at most 94 % of the average number of different words: at most
    2,642 in 10,000 tokens, or 9,717 in 58,000. With --target-tokens, the simplest books are used until that
    size is reached, whatever their ratios.

    memory and disk: a worker needs some 500 MB, or 20 times the largest book if that is more. Until the build
    is done, texts between two steps, and 8 bytes for each eight-word sequence of a simple book, are stored
    beside it.

    A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
    input, 2 wrong settings.
    """  # noqa: E501
    parser = add_command(commands, "simplebooks", "", add.__doc__)
    add_books(parser)
    _add_choice(parser)
    _add_form(parser)
    Flags(parser).signatures("book")
    add_output(parser)
    add_runner(parser)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    choice = Flags(parser, "choice of books", "all are part of the signature of the build")
    choice.choice(
        "--formula",
        ("L/V^1.35", "L/V^2", "L/sqrt(V)"),
        "formula of the ratio (default %(default)s, which does not depend on the length of a book); the"
        " paper prints the last one, which accepts every book",
    )
    choice.text(
        "--min-ratio",
        "R",
        "least ratio of a simple book (default 0.24; 0.0012 with the other formulas)",
    )
    choice.number(
        "--target-tokens",
        "instead of --min-ratio: use the books with the highest ratios, until there are N tokens",
    )
    choice.number(
        "--max-vocabulary",
        "with --target-tokens: maximum number of words in the vocabulary",
        100_000,
    )
    choice.text(
        "--overlap",
        "SHARE",
        "drop a book if at least this share of its word sequences occurs in larger books that are kept"
        " (default 0.5); minhash, or minhash:SHARE, compares only books that MinHash finds similar",
        default="0.5",
    )
    choice.choice(
        "--overlap-words",
        ("plain", "exact"),
        "how words are compared for --overlap: plain, in lower case and without punctuation (default), or"
        " exact, unchanged between white space",
    )
    choice.number("--ngram-words", "number of words in a sequence for --overlap", 8)
    choice.number(
        "--estimate",
        "estimate --overlap from one of N sequences, which needs N times less memory (default 1: exact)",
    )
    choice.number("--min-words", "reject books with fewer words; the paper has no such limit", 0)


def _add_form(parser: argparse.ArgumentParser) -> None:
    form = Flags(parser, "form of the corpus", "all are part of the signature of the build")
    form.choice(
        "--number-style",
        ("distinct", "comma"),
        "distinct: 300 @,@ 000 and 1 @.@ 93 (default); comma: @,@ for both, as the paper prints",
    )
    form.number("--heldout-books", "number of books in validation, and in test", 5)
    form.number("--small-tokens", "maximum number of training tokens in SimpleBooks-2", 2_000_000)
    form.number("--min-count", "a word in the vocabulary occurs at least N times in training", 3)
    form.switch("--map-unknown", "write <unk> for tokens that are not in the vocabulary")
