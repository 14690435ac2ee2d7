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
  Only the table of the years of all books of a library:
    corpusmill pg19 --books mirror/ --catalog rdf-files.tar.bz2 --dates-only --output corpora

what you get, in <output>/pg19/<edition>/<date>-<version>/:
  train-*.parquet validation-*.parquet test-*.parquet, and the same as TFRecord: book_id, book_link,
            book_text, book_title, publication_date as in TensorFlow Datasets; date_source, date_confidence;
            latest_year: the year by which a book without a publication_date was probably published
  dates-*.tsv     the years of every book in every source
  missing-*.tsv   with --metadata: the released books that are not in the build
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
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.run.settings import EDITION, MANIFEST, Config, Group
from corpusmill.transforms.books import book_accounts
from corpusmill.transforms.books.publication_dates import BEFORE
from corpusmill.transforms.books.text_screening import MIN_WORDS
from corpusmill.transforms.files.builds.manifest import Description, Release
from corpusmill.transforms.files.builds.paper_figures import PG19
from corpusmill.transforms.files.text import SPLITS

LANGUAGE = "en"

INPUTS = Group(
    "inputs",
    "file names, patterns or folders, on any file system of Beam's (gs://, s3://, hdfs://)",
)


@dataclasses.dataclass(frozen=True)
class BooksConfig(Config):
    """The settings that all builds from books have in common. Invalid settings raise ValueError."""

    books: Sequence[str] = INPUTS.setting(
        help="text files of Project Gutenberg, folders, or archives (.zip, .tar, .tgz, .tar.zip), also nested"
    )
    catalog: Sequence[str] = INPUTS.setting(
        (),
        "pg_catalog.csv, or the RDF archive; without it, titles are taken from the files, and genres are"
        " detected from the text alone",
    )
    dump_date: str = INPUTS.dump_date(
        'the newest date in the names of the files; "undated" if there is none'
    )
    on_corrupt: str = INPUTS.on_corrupt()
    shard_bytes: int = Group().setting(128 << 20, part_of=MANIFEST, at_least=1)
    formats: str = Group().formats()


CORPUS = "pg19"
VERSION = "1.5.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "Line feeds are counted; the card has the figures of the paper. The texts are the same.",
    "1.1.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
    "1.2.0": (
        "`publication_date` is empty for books of which only the latest possible year is known, which was the"
        " date before; the new column `latest_year` has it. The books, texts, splits and order are the same."
    ),
    "1.3.0": (
        "Texts that say that they are copyrighted, or not free for every use, are rejected, also by notes and"
        " by RDF. Dates are read from RDF, notes and words, too; dates-*.tsv has the words with the year."
        " More notes of makers are removed; footnotes below them stay. A repeated START line rejects no book."
    ),
    "1.4.0": (
        "More notes of makers are removed. Years below lists of other books are read. missing-*.tsv lists the"
        " released books that are not in the build."
    ),
    "1.5.0": (
        "More notes of makers are removed: those without a heading above the title, marks of proofreaders and"
        " of holes, names of files of pictures. The volume of a magazine gives a year; the months of a"
        " chapter give none."
    ),
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)

DESCRIPTION = Description(
    title="PG-19",
    about=(
        "Whole English books that were published before 1919, from Project Gutenberg, without its notes and"
        " those of preparers; rebuilt with corpusmill after Rae et al., 2020."
        " The texts are in the public domain in the USA."
    ),
    citation=(
        "@inproceedings{rae-etal-2020-compressive,\n"
        "  title = {Compressive Transformers for Long-Range Sequence Modelling},\n"
        "  author = {Rae, Jack W. and Potapenko, Anna and Jayakumar, Siddhant M. and Hillier, Chloe and"
        " Lillicrap, Timothy P.},\n  booktitle = {ICLR 2020},\n  year = {2020}\n}"
    ),
    license_id="other",
    features=book_accounts.SCHEMA.names,
    numbers=book_accounts.NUMBERS,
    splits=SPLITS,
    tags=("project-gutenberg", "books", "long-context"),
)
DATES = DESCRIPTION._replace(
    title="Years of publication of the books of Project Gutenberg",
    about="The year of each book, its source, its confidence and the words that have it, in `dates-*.tsv`.",
    features=(),
    numbers=(),
    splits=(),
    tasks=(),
)
ACCOUNTS = book_accounts.BookAccounts(SPLITS, whole=SPLITS, template="pg19", paper=PG19)
VARIANTS = Group("variants", "all are part of the signature of the build", EDITION)
OF_BOOKS = ("members", "split_ids", "before", "min_words", "near_duplicates", "mask_words")
"""Settings without effect on the table of dates, with `formats`."""


@dataclasses.dataclass(frozen=True)
class Pg19Config(BooksConfig):
    """The settings of a build of PG-19. Invalid settings raise ValueError."""

    metadata: Sequence[str] = INPUTS.setting(
        (), "metadata.csv of the released PG-19, which lists its books and their years"
    )
    members: str = VARIANTS.setting(
        "",
        "released: the books of --metadata, in their released splits (default with --metadata); hash: all"
        " books, of which a hash of the id puts 90 %% into train, 5 %% into validation, 5 %% into test",
        choices=book_accounts.MEMBERS,
    )
    split_ids: Sequence[str] = INPUTS.setting(
        (),
        "tables with the columns book_id and split, which override all other rules for splits",
        part_of=EDITION,
    )
    before: int = VARIANTS.setting(
        BEFORE,
        "keep only books from before this year (default %(default)s)",
        at_least=1,
        metavar="YEAR",
    )
    min_words: int = VARIANTS.setting(
        MIN_WORDS,
        "reject books with fewer words; the default is about the length of the shortest released book"
        " (default %(default)s)",
        at_least=0,
    )
    near_duplicates: float = VARIANTS.near_duplicates(
        "keep only the largest of the books that share at least this part of their eight-word sequences"
        " (default: keep all)"
    )
    mask_words: Sequence[str] = VARIANTS.setting(
        (), "lists of words, one per line, which are replaced by <DW>"
    )
    dates_only: bool = VARIANTS.setting(
        False,
        "write only the table of the years of all books, in any language and of any length and year, with the"
        " words that have the year (dates-*.tsv)",
        omit_default=True,
    )
    limit: int = INPUTS.limit("books")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members == book_accounts.RELEASED and not self.metadata:
            raise ValueError(
                "members='released' needs metadata: the file metadata.csv of the release"
            )
        given = [
            f"`{name}`"
            for name in (*OF_BOOKS, "formats")
            if getattr(self, name) not in (getattr(Pg19Config, name), [])
        ]
        if self.dates_only and given:
            raise ValueError(
                f"`dates_only` cannot be used with {', '.join(given)}: no book is written"
            )

    def edition(self) -> str:
        """Returns "": only the inputs say which books are members."""
        return ""

    def original(self) -> dict[str, Any]:
        return super().original() | {
            "members": book_accounts.RELEASED,
            "split_ids": "",
            "mask_words": "",
        }
