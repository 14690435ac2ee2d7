r"""Rebuilds SimpleBooks-92 and SimpleBooks-2 from Project Gutenberg.

examples:
  From the weekly archive (gutenberg.org/cache/epub/feeds: txt-files.tar.zip, pg_catalog.csv):
    corpusmill simplebooks --books txt-files.tar.zip --catalog pg_catalog.csv --output corpora
  All books with at least a given ratio, whatever the size of the corpus:
    corpusmill simplebooks --books txt-files.tar.zip --catalog pg_catalog.csv \
      --min-ratio 0.24 --target-tokens 0 --output corpora
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
  vocabulary-92.tsv vocabulary-2.tsv stats.json manifest.json README.md rejected/ COMPLETED
The name of the edition has the language and every setting that differs from the default.

how books are chosen: only English prose is used, no poems, plays, manuals or recipes. A book is simple if
the ratio of its length L (in tokens) to its vocabulary V (different words), as given by --formula, is at
least --min-ratio. From the largest to the smallest, each simple book is kept, unless half of its
eight-word sequences occur in larger books that were kept. Of these books, the simplest are used, up to
--target-tokens and --max-vocabulary. The result does not depend on the number of workers.
  The default formula, L/V^1.35, gives 0.22 for an average book of any length, and at least 0.35 for the
books of the paper that are known. Such a book has at most 71 % of the average number of different words:
1,998 in 10,000 tokens, or 7,348 in 58,000. An input of some hundred books has too few of these. Then the
simplest ones are used that fill SimpleBooks-2, unless --min-ratio is given.

memory and disk: a worker needs some 500 MB, or 20 times the largest book if that is more. Until the build
is done, texts between two steps, and 8 bytes for each eight-word sequence of a simple book, are stored
beside it.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import dataclasses
from fractions import Fraction
from typing import Any

from corpusmill.pipelines.run.settings import EDITION, Group
from corpusmill.transforms.books import book_overlap, simplebooks_rows, simplicity
from corpusmill.transforms.books.book_accounts import BookAccounts
from corpusmill.transforms.files.builds.manifest import Description, Release
from corpusmill.transforms.files.builds.paper_figures import SIMPLEBOOKS
from corpusmill.transforms.files.text import SPLITS

from .pg19_settings import INPUTS, BooksConfig

CORPUS = "simplebooks"
VERSION = "3.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "2.0.0": (
        "Books are chosen by L/V^1.35, a measure of simplicity that does not depend on their length; overlap"
        " compares plain words; the ends of lines (<eos>) are tokens of the figures beside the paper; line"
        " feeds are counted."
    ),
    "2.0.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
    "2.1.0": (
        "Texts that say that they are copyrighted, or not free for every use, are rejected. More notes of"
        " makers and tables of contents with summaries are removed. Words broken at line ends are joined if"
        " the book has the whole word. Dialogues are not taken for plays; lists of quotations and more works"
        " of reference are rejected, as are plays with few stage words but stage directions."
    ),
    "2.2.0": "More notes of makers are removed.",
    "3.0.0": (
        "Books are as simple as those of the paper (L/V^1.35 of at least 0.35) if the input has enough of"
        " these. Of books that do not overlap, the simplest are used, up to the paper's 92 M tokens."
        " Dashes are tokens of their own, and the underscores of italics are no tokens, as in the release."
    ),
    "3.1.0": "More notes of makers are removed.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
FOLDER_NAME = {
    simplicity.NEUTRAL: "L-V1.35",
    simplicity.SQUARED: "L-V2",
    simplicity.PRINTED: "L-sqrtV",
}  # by formula

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
    features=simplebooks_rows.SCHEMA.names,
    numbers=simplebooks_rows.NUMBERS,
    splits=simplebooks_rows.SPLITS_WITH_SMALL,
    tags=("project-gutenberg", "books"),
)
ACCOUNTS = BookAccounts(
    simplebooks_rows.SPLITS_WITH_SMALL, whole=SPLITS, template="simplebooks", paper=SIMPLEBOOKS
)
CHOICE = Group("choice of books", "all are part of the signature of the build", EDITION)
FORM = Group("form of the corpus", "all are part of the signature of the build", EDITION)


@dataclasses.dataclass(frozen=True)
class SimpleBooksConfig(BooksConfig):
    """The settings of a build of SimpleBooks. Invalid settings raise ValueError."""

    formula: str = CHOICE.setting(
        simplicity.NEUTRAL,
        "formula of the ratio (default %(default)s, which does not depend on the length of a book); the"
        " paper prints the last one, which accepts every book",
        choices=simplicity.FORMULAS,
    )
    min_ratio: str = CHOICE.setting(
        simplicity.AUTO,
        "least ratio of a simple book; auto (default) is 0.35, or 0.0012 with the other formulas, or less if"
        " the books would not fill SimpleBooks-2",
        metavar="R",
    )
    target_tokens: int = CHOICE.setting(
        simplicity.TARGET_TOKENS,
        "use the books with the highest ratios, up to N tokens (default %(default)s); 0: no limit",
        at_least=0,
    )
    max_vocabulary: int = CHOICE.setting(
        simplicity.MAX_VOCABULARY,
        "with --target-tokens: maximum number of words in the vocabulary (default %(default)s)",
        at_least=1,
    )
    overlap: str = CHOICE.setting(
        book_overlap.THRESHOLD,
        "drop a book if at least this share of its word sequences occurs in larger books that are kept"
        " (default %(default)s)",
        metavar="SHARE",
    )
    overlap_words: str = CHOICE.setting(
        book_overlap.PLAIN,
        "how words are compared for --overlap: plain, in lower case and without punctuation (default), or"
        " exact, unchanged between white space",
        choices=book_overlap.OVERLAP_WORDS,
    )
    ngram_words: int = CHOICE.setting(
        book_overlap.NGRAM_WORDS,
        "number of words in a sequence for --overlap (default %(default)s)",
        at_least=1,
    )
    estimate: int = CHOICE.setting(
        1,
        "estimate --overlap from one of N sequences, which needs N times less memory (default 1: exact)",
        at_least=1,
    )
    min_words: int = CHOICE.setting(
        0,
        "reject books with fewer words; the paper has no such limit (default %(default)s)",
        at_least=0,
    )
    number_style: str = FORM.setting(
        simplebooks_rows.DISTINCT,
        "distinct: 300 @,@ 000 and 1 @.@ 93 (default); comma: @,@ for both, as the paper prints",
        choices=simplebooks_rows.NUMBER_STYLES,
    )
    heldout_books: int = FORM.setting(
        simplebooks_rows.HELDOUT_BOOKS,
        "number of books in validation, and in test (default %(default)s)",
        at_least=1,
    )
    small_tokens: int = FORM.setting(
        simplebooks_rows.SMALL_TOKENS,
        "maximum number of training tokens in SimpleBooks-2 (default %(default)s)",
        at_least=1,
    )
    min_count: int = FORM.setting(
        3,
        "a word in the vocabulary occurs at least N times in training (default %(default)s)",
        at_least=1,
    )
    limit: int = INPUTS.limit("books")
    map_unknown: bool = FORM.setting(False, "write <unk> for tokens that are not in the vocabulary")

    def __post_init__(self) -> None:
        super().__post_init__()
        simplicity.NotSimple(self.formula, self.min_ratio)
        book_overlap.parse_threshold(self.overlap)

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish corpora made from the same input.

        The maximum size of the vocabulary is one of them if there is a target.
        """
        is_auto = self.min_ratio == simplicity.AUTO
        written = {
            "formula": FOLDER_NAME[self.formula],
            "min_ratio": self.min_ratio if is_auto else str(float(Fraction(self.min_ratio))),
            "overlap": str(float(book_overlap.parse_threshold(self.overlap))),
        }
        unused = () if self.target_tokens else ("max_vocabulary",)
        variant = super().variant() | written
        return {name: value for name, value in variant.items() if name not in unused}

    def original(self) -> dict[str, Any]:
        return super().original() | {"formula": FOLDER_NAME[simplicity.NEUTRAL]}
