"""Settings of SimpleBooks."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.book_settings import LANGUAGE, check_book_settings
from corpusmill.pipelines.run.dump_settings import limit_setting, name_edition
from corpusmill.transforms.books.book_accounts import BookAccounts
from corpusmill.transforms.books.english_tokens import DISTINCT, check_style
from corpusmill.transforms.books.overlap import (
    NGRAM_WORDS,
    PLAIN,
    THRESHOLD,
    check_overlap_words,
    parse_overlap,
)
from corpusmill.transforms.books.simplebooks_rows import (
    NUMBERS,
    SCHEMA,
    SPLITS_WITH_SMALL,
    make_sections,
)
from corpusmill.transforms.books.simplest_first import MAX_VOCABULARY, check_target
from corpusmill.transforms.books.simplicity import NEUTRAL, PRINTED, SQUARED, NotSimple
from corpusmill.transforms.books.sizes import HELDOUT_BOOKS, SMALL_TOKENS, check_sizes
from corpusmill.transforms.files.builds.build_manifest import Description, Release
from corpusmill.transforms.files.fingerprint import SPLITS

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
ACCOUNTS = BookAccounts(SPLITS_WITH_SMALL, whole=SPLITS, sections=make_sections)


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
