"""`corpusmill simplebooks`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.book_flags import add_books
from pipelines.commands.flags import add_output, add_runner, launch_build, settings_of

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  From the weekly archive (gutenberg.org/cache/epub/feeds: txt-files.tar.zip, pg_catalog.csv):
    corpusmill simplebooks --books txt-files.tar.zip --catalog pg_catalog.csv --output corpora
  The simplest books up to the size of the paper, instead of all above a ratio:
    corpusmill simplebooks --books txt-files.tar.zip --catalog pg_catalog.csv \\
      --target-tokens 92000000 --output corpora
  By the formula that the paper prints, and its marks for numbers:
    corpusmill simplebooks --books mirror/ --catalog pg_catalog.csv --formula 'L/sqrt(V)' \\
      --number-style comma --output corpora

what you get, in <output>/simplebooks/<edition>/<date>-<version>/:
  simplebooks-92/{train,valid,test}.txt      tokens, a paragraph a line
  simplebooks-92-raw/                        the same lines as they stand in the books
  simplebooks-2/ simplebooks-2-raw/          the same held-out books, 2 M tokens of training
  train-*.parquet validation-*.parquet test-*.parquet train_2-*.parquet, and the same as TFRecord: a book a
                                             record; train_2 is the training part of SimpleBooks-2
  books-*.tsv     every book that was considered: L, V, ratio, overlap, verdict, what covers it, its place
  vocabulary-92.tsv vocabulary-2.tsv stats.json manifest.json README.md rejected/ COMPLETED
The edition is the language and every setting that differs from the default.

how books are chosen: English prose that is no poem, play, manual or recipe; a ratio of length L to vocabulary
V of at least --min-ratio; then from the largest to the smallest, unless half of its eight-word sequences are
in larger kept books: exactly, whatever the number of workers.

memory and disk: a worker holds some 500 MB, or 20 times the largest book where that is more. Texts that
wait between two steps, and 8 bytes for each eight-word sequence of a simple book, are written beside the
build until it is done.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "simplebooks",
        help="Project Gutenberg → SimpleBooks: long books in simple English, no two alike",
        description="Rebuilds SimpleBooks-92 and SimpleBooks-2 from Project Gutenberg.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    add_books(parser)
    _add_choice(parser)
    _add_form(parser)
    add_output(parser)
    add_runner(parser)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_argument_group("which books", "all are part of the signature")
    choice.add_argument(
        "--formula",
        choices=("L/V^2", "L/sqrt(V)"),
        default="L/V^2",
        help="of the ratio (default %(default)s); the paper prints the other one, which passes every book",
    )
    choice.add_argument(
        "--min-ratio", default="0.0012", metavar="R", help="of a simple book (default %(default)s)"
    )
    choice.add_argument(
        "--target-tokens",
        type=int,
        default=0,
        metavar="N",
        help="instead of --min-ratio: the books with the best ratios, until there are so many tokens",
    )
    choice.add_argument(
        "--max-vocabulary",
        type=int,
        default=100_000,
        metavar="N",
        help="with --target-tokens, words of the vocabulary at most (default %(default)s)",
    )
    choice.add_argument(
        "--overlap",
        default="0.5",
        metavar="SHARE",
        help="share of a book's word sequences in larger kept ones that is too much (default %(default)s)",
    )
    choice.add_argument(
        "--ngram-words",
        type=int,
        default=8,
        metavar="N",
        help="words of such a sequence (default %(default)s)",
    )
    choice.add_argument(
        "--estimate",
        type=int,
        default=1,
        metavar="N",
        help="decide by one of N sequences, which takes N times less memory (default 1: exactly)",
    )
    choice.add_argument(
        "--min-words",
        type=int,
        default=0,
        metavar="N",
        help="words of a book that is not too short (default %(default)s, as in the paper)",
    )


def _add_form(parser: argparse.ArgumentParser) -> None:
    form = parser.add_argument_group("the corpus", "all are part of the signature")
    form.add_argument(
        "--number-style",
        choices=("distinct", "comma"),
        default="distinct",
        help="distinct: 300 @,@ 000 and 1 @.@ 93 (default); comma: @,@ for both, as the paper prints",
    )
    form.add_argument(
        "--heldout-books",
        type=int,
        default=5,
        metavar="N",
        help="of validation, and as many of test (default %(default)s)",
    )
    form.add_argument(
        "--small-tokens",
        type=int,
        default=2_000_000,
        metavar="N",
        help="training tokens of SimpleBooks-2, at most (default %(default)s)",
    )
    form.add_argument(
        "--min-count",
        type=int,
        default=3,
        metavar="N",
        help="how often a word of the vocabulary must be in training (default %(default)s)",
    )


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.settings.simplebooks_settings import SimpleBooksConfig
    from pipelines.simplebooks import SimpleBooks

    given = settings_of(SimpleBooksConfig, settings)
    launch_build(SimpleBooks(SimpleBooksConfig(**given)), settings, beam_flags)
