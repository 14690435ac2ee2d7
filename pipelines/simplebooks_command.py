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

how books are chosen: only English prose is used, no poems, plays, manuals or recipes. A book is simple if the
ratio of its length L (in tokens) to its vocabulary V (different words), as given by --formula, is at least
--min-ratio. From the largest to the smallest, each simple book is kept, unless half of its eight-word
sequences occur in larger books that were kept. The result does not depend on the number of workers. With
--overlap minhash, fewer books are compared, and small books that are part of much larger ones are missed.
The default formula, L/V^1.35, gives 0.22 for an average book of any length. The default of --min-ratio, 0.24,
accepts a book with at most 94 % of the average number of different words: at most 2,642 in 10,000 tokens, or
9,717 in 58,000. With --target-tokens, the simplest books are used until that size is reached, whatever their
ratios.

memory and disk: a worker needs some 500 MB, or 20 times the largest book if that is more. Until the build is
done, texts between two steps, and 8 bytes for each eight-word sequence of a simple book, are stored beside
it.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import argparse

from corpusmill.pipelines.book_flags import add_books
from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command `corpusmill simplebooks` to the parser."""
    about = (
        "builds SimpleBooks from Project Gutenberg: long books in simple English without overlap"
    )
    parser = add_command(commands, "simplebooks", about, __doc__)
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
