r"""Finds near-duplicate documents in or between data sets, or writes MinHash signatures.

examples:
  Near-duplicates among the articles of a build:
    corpusmill overlap corpora/wiki40b/uk --output found
  Articles of a build that are also in web text:
    corpusmill overlap corpora/wiki40b/uk --with 'web/*.jsonl.gz' --similarity 0.5 --output found
  A new edition of PG-19 without near-duplicates of books in SimpleBooks:
    corpusmill overlap corpora/pg19 --with corpora/simplebooks --output found \
      --drop-from first --editions corpora
  Signatures of Parquet files of other tools:
    corpusmill overlap 'papers/*.parquet#abstract' --signatures-only --output signatures

data sets may be:
  a finished build of documents, or a folder with builds below; all splits are read
  Parquet or JSON lines   FILE#COLUMN names the column with texts (default: text); FILE may be a pattern
  NAME=PATH gives a data set a name

Pairs of documents whose MinHash signatures have an equal band are candidates. For each candidate, the
similarity is computed from all 8-grams of words, in lower case and without punctuation. About 2 % of the
pairs with a similarity of exactly --similarity may be missed.

what you get, in <output>/:
  pairs-*.parquet pairs-*.jsonl   data set, id and split of both documents, similarity, cluster
  signatures-*.parquet            with --signatures-only, instead of pairs (docs/overlap.md)
  stats.json                      number of documents with a near-duplicate, by data set and split
  manifest.json README.md COMPLETED
and with --drop-from, new builds in <editions>/, with removed-*.parquet, the list of dropped documents

Exit status: 0 done, 1 an input cannot be read, 2 wrong settings.
"""

import argparse
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_runner, runner_of


def add(commands: Commands) -> None:
    """Adds the command `corpusmill overlap` to the parser."""
    about = "finds pairs of near-duplicate documents, or writes MinHash signatures"
    parser = add_command(commands, "overlap", about, __doc__, _run)
    parser.add_argument("data_sets", nargs="+", metavar="DATA", help="data sets (see below)")
    flags = Flags(parser)
    flags.files(
        "--with",
        "compare DATA only with these data sets, not with each other",
        "DATA",
        dest="others",
    )
    flags.text("--output", "DIR", "new folder, on a disk that all workers share", required=True)
    flags.text(
        "--similarity", "S", "least similarity of near-duplicates (default 0.8)", default="0.8"
    )
    flags.text("--id-column", "COLUMN", "column with ids in Parquet and JSON lines (default: id)")
    flags.switch("--signatures-only", "write the signature of each document, and compare nothing")
    flags.choice(
        "--drop-from",
        ("", "first", "second"),
        "write new editions of the builds in DATA (first) or in --with (second), without near-duplicates."
        " Without --with, one document of each cluster is kept",
        metavar="{first,second}",
    )
    flags.text("--editions", "DIR", "parent folder of the new editions")
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.new_editions import find_builds_of, write_editions
    from corpusmill.pipelines.inspect.overlap import Comparison, find_overlap, print_overlap

    comparison = Comparison(
        settings.data_sets,
        settings.others,
        settings.similarity,
        settings.id_column,
        settings.signatures_only,
    )
    side = settings.drop_from
    if settings.signatures_only and (settings.others or side):
        raise ValueError("--signatures-only compares nothing: remove --with and --drop-from")
    if side == "second" and not settings.others:
        raise ValueError("--drop-from second needs --with")
    if bool(side) != bool(settings.editions):
        raise ValueError("--drop-from needs --editions, and --editions needs --drop-from")
    changed = {"": (), "first": settings.data_sets, "second": settings.others}[side]
    builds = find_builds_of(changed, passages=False)
    find_overlap(comparison, settings.output, **runner_of(settings, beam_flags))
    if not settings.signatures_only:
        print_overlap(settings.output, settings.similarity)
    how = runner_of(settings, beam_flags)
    kept = side if settings.others else ""
    write_editions(builds, settings.output, settings.editions, side=kept, **how)
