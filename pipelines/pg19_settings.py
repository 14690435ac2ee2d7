"""Settings of PG-19."""

import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner
from corpusmill.transforms.books.book_accounts import (
    MEMBERS,
    NUMBERS,
    RELEASED,
    SCHEMA,
    BookAccounts,
)
from corpusmill.transforms.books.publication_dates import BEFORE
from corpusmill.transforms.books.text_screening import MIN_WORDS
from corpusmill.transforms.duplicates.minhash import parse_similarity
from corpusmill.transforms.files.builds.manifest import Description, Release
from corpusmill.transforms.files.builds.paper_figures import PAPER_BOOKS, PAPER_WORDS
from corpusmill.transforms.files.text import SPLITS

from .book_settings import add_books, check_book_settings

CORPUS = "pg19"
VERSION = "1.2.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "Line feeds are counted; the card has the figures of the paper. The texts are the same.",
    "1.1.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
    "1.2.0": (
        "`publication_date` is empty for books of which only the latest possible year is known, which was the"
        " date before; the new column `latest_year` has it. The books, texts, splits and order are the same."
    ),
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
SHARD_BYTES = 128 << 20

DESCRIPTION = Description(
    title="PG-19",
    about=(
        "English books that were published before 1919, whole and unchanged, from Project Gutenberg;"
        " rebuilt with corpusmill after Rae et al., 2020. The texts are in the public domain in the USA."
    ),
    citation=(
        "@inproceedings{rae-etal-2020-compressive,\n"
        "  title = {Compressive Transformers for Long-Range Sequence Modelling},\n"
        "  author = {Rae, Jack W. and Potapenko, Anna and Jayakumar, Siddhant M. and Hillier, Chloe and"
        " Lillicrap, Timothy P.},\n  booktitle = {ICLR 2020},\n  year = {2020}\n}"
    ),
    license_id="other",
    features=SCHEMA.names,
    numbers=NUMBERS,
    splits=SPLITS,
    tags=("project-gutenberg", "books", "long-context"),
)
ACCOUNTS = BookAccounts(
    SPLITS, whole=SPLITS, template="pg19", paper={"books": PAPER_BOOKS, "words": PAPER_WORDS}
)


@dataclasses.dataclass(frozen=True)
class Pg19Config:
    """The settings of a build of PG-19. Invalid settings raise ValueError."""

    books: Sequence[str]  # folders, or patterns of files
    catalog: Sequence[str] = ()  # patterns of pg_catalog.csv, or of archives of RDF
    metadata: Sequence[str] = ()  # patterns of metadata.csv of the released PG-19
    members: str = ""  # one of MEMBERS; "" is "released" if metadata is given
    split_ids: Sequence[str] = ()  # patterns of tables (book_id, split) that override the splits
    before: int = BEFORE  # books published in this year or later are dropped
    min_words: int = MIN_WORDS  # shorter books are dropped
    near_duplicates: float = 0.0  # least similarity of dropped books; 0 keeps all
    mask_words: Sequence[str] = ()  # patterns of files of words to replace by <DW>
    limit: int = 0  # books that are read; 0 reads all
    dump_date: str = ""  # "20261101"; "" is taken from the names of the files
    on_corrupt: str = "fail"
    shard_bytes: int = SHARD_BYTES  # approximate UTF-8 bytes of text in one output file
    signatures: bool = False  # write the MinHash signature of each book

    def __post_init__(self) -> None:
        check_book_settings(self.books, self.dump_date, self.on_corrupt, self.min_words)
        if self.members not in ("", *MEMBERS):
            raise ValueError(f"members must be one of {MEMBERS}, not {self.members!r}")
        if self.members == RELEASED and not self.metadata:
            raise ValueError(
                "members='released' needs metadata: the file metadata.csv of the release"
            )
        if self.near_duplicates:
            parse_similarity(self.near_duplicates)
        for name in ("before", "shard_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")


ORIGINAL = {
    "members": RELEASED,
    "split_ids": "",
    "before": BEFORE,
    "min_words": MIN_WORDS,
    "near_duplicates": 0.0,
    "mask_words": "",
}


def add(commands: Commands) -> None:
    r"""Rebuilds the PG-19 language-modelling benchmark from Project Gutenberg.

    examples:
      The books that were released as PG-19, in their released splits, from the weekly archive
      (gutenberg.org/cache/epub/feeds: txt-files.tar.zip, pg_catalog.csv; metadata.csv: github.com/deepmind/pg19):
        corpusmill pg19 --books txt-files.tar.zip --catalog pg_catalog.csv --metadata metadata.csv \
          --output corpora
      All books before 1919 in the archive, with splits by a hash; --metadata still supplies the released years:
        corpusmill pg19 --books txt-files.tar.zip --catalog pg_catalog.csv --metadata metadata.csv \
          --members hash --output corpora
      A folder of files: books up to 1927 without near-duplicates, with the words of a list replaced by <DW>:
        corpusmill pg19 --books mirror/ --catalog pg_catalog.csv --near-duplicates 0.8 --before 1928 \
          --mask-words words.txt --output corpora

    what you get, in <output>/pg19/<edition>/<date>-<version>/:
      train-*.parquet validation-*.parquet test-*.parquet, and the same as TFRecord: book_id, book_link,
                book_text, book_title, publication_date as in TensorFlow Datasets; date_source, date_confidence;
                latest_year: the year by which a book without a publication_date was probably published
      signatures-*.parquet   with --signatures: MinHash signatures (docs/overlap.md)
      dates-*.tsv     the years of every book in every source
      rejected/       each file that is not in the corpus, such as an undated book, with the reason
      stats.json manifest.json README.md COMPLETED
    `corpusmill score perplexity` computes the perplexity per word, with the number of words of a split in
    stats.json. The name of the edition has the language and every setting that differs from the released
    corpus.

    memory and disk: a worker needs some 300 MB, or 20 times the largest book if that is more. Texts between
    two steps are written beside the build, compressed, until the build is done: about the size of the input
    as .zip.

    A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
    input, 2 wrong settings.
    """  # noqa: E501
    parser = add_command(commands, "pg19", "", add.__doc__)
    files = add_books(parser)
    files.files(
        "--metadata", "metadata.csv of the released PG-19, which lists its books and their years"
    )
    files.files(
        "--split-ids",
        "tables with the columns book_id and split, which override all other rules for splits",
    )
    variants = Flags(parser, "variants", "all are part of the signature of the build")
    variants.choice(
        "--members",
        ("released", "hash"),
        "released: the books of --metadata, in their released splits (default with --metadata); hash: all"
        " books, of which a hash of the id puts 90 %% into train, 5 %% into validation, 5 %% into test",
        default="",
    )
    variants.number("--before", "keep only books from before this year", 1919, metavar="YEAR")
    variants.number(
        "--min-words",
        "reject books with fewer words; the default is about the length of the shortest released book",
        200,
    )
    variants.near_duplicates(
        "keep only the largest of the books that share at least this part of their eight-word sequences"
        " (default: keep all)"
    )
    variants.files("--mask-words", "lists of words, one per line, which are replaced by <DW>")
    Flags(parser).signatures("book")
    add_output(parser)
    add_runner(parser)
