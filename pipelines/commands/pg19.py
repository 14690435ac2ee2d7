"""`corpusmill pg19`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.book_flags import add_books
from pipelines.commands.flags import add_files, add_output, add_runner, launch_build, settings_of

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  The books that were released as PG-19, in their released splits, from the weekly archive
  (gutenberg.org/cache/epub/feeds: txt-files.tar.zip, pg_catalog.csv; metadata.csv: github.com/deepmind/pg19):
    corpusmill pg19 --books txt-files.tar.zip --catalog pg_catalog.csv --metadata metadata.csv \\
      --output corpora
  All books before 1919 that there are now, splits by a hash; the released years still date what they can:
    corpusmill pg19 --books txt-files.tar.zip --catalog pg_catalog.csv --metadata metadata.csv \\
      --members hash --output corpora
  A folder of files, no two books nearly the same, up to 1927, the words of a list as <DW>:
    corpusmill pg19 --books mirror/ --catalog pg_catalog.csv --near-duplicates 0.8 --before 1928 \\
      --mask-words words.txt --output corpora

what you get, in <output>/pg19/<edition>/<date>-<version>/:
  train-*.parquet validation-*.parquet test-*.parquet, and the same as TFRecord: book_id, book_link,
            book_text, book_title, publication_date as in TensorFlow Datasets; date_source, date_confidence
  dates-*.tsv     what every source says of the year of every book
  rejected/       each file that is not in the corpus, and why; undated books are quarantined here
  stats.json manifest.json README.md COMPLETED
The words of each split, in stats.json, normalise word-level perplexity: corpusmill score perplexity.
The edition is the language and every setting that differs from the released corpus.

memory and disk: a worker holds some 300 MB, or 20 times the largest book where that is more. Texts that
wait between two steps are written beside the build, compressed, until it is done: about the size of the
input as .zip.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "pg19",
        help="Project Gutenberg → PG-19: whole English books before 1919, dated",
        description="Rebuilds the PG-19 language-modelling benchmark from Project Gutenberg.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    _add_release(add_books(parser))
    _add_variants(parser)
    add_output(parser)
    add_runner(parser)


def _add_release(files: argparse._ArgumentGroup) -> None:
    add_files(
        files, "--metadata", "metadata.csv of the released PG-19: which books, and their years"
    )
    add_files(
        files,
        "--split-ids",
        "tables with a header book_id, split that have the last word on splits",
    )


def _add_variants(parser: argparse.ArgumentParser) -> None:
    variants = parser.add_argument_group("variants", "all are part of the signature")
    variants.add_argument(
        "--members",
        choices=("released", "hash"),
        default="",
        help="released: the books of --metadata, in their released splits (default where it is given); hash:"
        " all books, 90 %% train, 5 %% validation, 5 %% test by a hash of the id",
    )
    variants.add_argument(
        "--before",
        type=int,
        default=1919,
        metavar="YEAR",
        help="year in which the first books are too new (default %(default)s)",
    )
    variants.add_argument(
        "--min-words",
        type=int,
        default=200,
        metavar="N",
        help="words of a book that is not too short (default %(default)s, as of the shortest released)",
    )
    variants.add_argument(
        "--near-duplicates",
        type=float,
        default=0.0,
        metavar="SIMILARITY",
        help="of books that share this part of their eight-word sequences keep the largest (default: keep"
        " all)",
    )
    add_files(variants, "--mask-words", "lists of words, one a line, that are replaced by <DW>")


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.pg19 import Pg19
    from pipelines.settings.pg19_settings import Pg19Config

    given = settings_of(Pg19Config, settings)
    launch_build(Pg19(Pg19Config(**given)), settings, beam_flags)
