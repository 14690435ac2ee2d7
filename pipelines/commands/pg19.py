r"""Rebuilds the PG-19 language-modelling benchmark from Project Gutenberg.

examples:
  The books that were released as PG-19, in their released splits, from the weekly archive
  (gutenberg.org/cache/epub/feeds: txt-files.tar.zip, pg_catalog.csv; metadata.csv: github.com/deepmind/pg19):
    corpusmill pg19 --books txt-files.tar.zip --catalog pg_catalog.csv --metadata metadata.csv \
      --output corpora
  All books before 1919 in the archive, with splits by a hash; the released years are still used for dates:
    corpusmill pg19 --books txt-files.tar.zip --catalog pg_catalog.csv --metadata metadata.csv \
      --members hash --output corpora
  A folder of files, without near-duplicates, up to 1927, with the words of a list as <DW>:
    corpusmill pg19 --books mirror/ --catalog pg_catalog.csv --near-duplicates 0.8 --before 1928 \
      --mask-words words.txt --output corpora

what you get, in <output>/pg19/<edition>/<date>-<version>/:
  train-*.parquet validation-*.parquet test-*.parquet, and the same as TFRecord: book_id, book_link,
            book_text, book_title, publication_date as in TensorFlow Datasets; date_source, date_confidence
  signatures-*.parquet   with --signatures: MinHash signatures (docs/overlap.md)
  dates-*.tsv     the year of every book in every source
  rejected/       each file that is not in the corpus, such as an undated book, with the reason
  stats.json manifest.json README.md COMPLETED
The words of each split, in stats.json, normalise word-level perplexity: corpusmill score perplexity.
The edition is the language and every setting that differs from the released corpus.

memory and disk: a worker needs some 300 MB, or 20 times the largest book if that is more. Texts between two
steps are written beside the build, compressed, until the build is done: about the size of the input as .zip.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

from pipelines.commands.book_flags import add_books
from pipelines.commands.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "builds PG-19 from Project Gutenberg: whole English books before 1919, dated"
    parser = add_command(commands, "pg19", about, __doc__)
    files = add_books(parser)
    files.files("--metadata", "metadata.csv of the released PG-19: which books, and their years")
    files.files(
        "--split-ids", "tables with a header book_id, split that have the last word on splits"
    )
    variants = Flags(parser, "variants", "all are part of the signature")
    variants.choice(
        "--members",
        ("released", "hash"),
        "released: the books of --metadata, in their released splits (default where it is given); hash:"
        " all books, 90 %% train, 5 %% validation, 5 %% test by a hash of the id",
        default="",
    )
    variants.number("--before", "year in which the first books are too new", 1919, metavar="YEAR")
    variants.number(
        "--min-words", "words of a book that is not too short, as of the shortest released", 200
    )
    variants.near_duplicates(
        "of books that share this part of their eight-word sequences keep the largest (default: keep all)"
    )
    variants.files("--mask-words", "lists of words, one a line, that are replaced by <DW>")
    Flags(parser).signatures("book")
    add_output(parser)
    add_runner(parser)
