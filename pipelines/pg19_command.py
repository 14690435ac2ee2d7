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
stats.json. The name of the edition has the language and every setting that differs from the released corpus.

memory and disk: a worker needs some 300 MB, or 20 times the largest book if that is more. Texts between two
steps are written beside the build, compressed, until the build is done: about the size of the input as .zip.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

from corpusmill.pipelines.book_flags import add_books
from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner


def add(commands: Commands) -> None:
    """Adds the command `corpusmill pg19` to the parser."""
    about = "builds PG-19 from Project Gutenberg: whole English books before 1919, dated"
    parser = add_command(commands, "pg19", about, __doc__)
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
