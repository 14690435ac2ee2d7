"""`corpusmill lm1b`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_files, add_output, add_runner, launch_build, settings_of

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  The published corpus, from the archive of WMT 2011 as it is downloaded (statmt.org/wmt11, 11 GB):
    corpusmill lm1b --input training-monolingual.tgz --dump-date 2007-2011 --perl 5.14 --output corpora
  and whether it is the same, byte for byte, by the list in the original repository:
    corpusmill verify lm1b corpora/lm1b/en-perl-5.14/2007-2011-1.0.0 \\
      --md5 README.corpus_generation_checkpoints
  Newer sentences, compressed in any way, a file or a hundred:
    corpusmill lm1b --input 'news.20??.en.shuffled*' --output corpora --workers 8
  A smaller corpus for quick experiments, in lower case, rare words as <UNK>:
    corpusmill lm1b --input news.2011.en.shuffled.gz --lower-case --map-unknown --shards 10 --output corpora
  German, without sentences that are nearly the same:
    corpusmill lm1b --input 'news.20??.de.shuffled*' --language de --near-duplicates 0.8 --output corpora

what you get, in <output>/lm1b/<edition>/<years>-<version>/:
  training-monolingual.tokenized.shuffled/   99 shards of text, a sentence a line, named as published
  heldout-monolingual.tokenized.shuffled/    the held-out shard and the 50 that it is split into
  md5sums                                    of all these
  train-*.parquet test-*.parquet paper_test-*.parquet, and the same as TFRecord: one column `text`;
                                             paper_test is held-out shard 0, on which the paper measures
  vocabulary.tsv stats.json manifest.json README.md rejected/ COMPLETED
The edition is the language and every setting that differs from those of the original scripts.

memory and disk: a worker holds some 300 MB, or a few times the size of one shard where that is more. What
waits between two steps is written beside the build and takes 3 times the size of the (uncompressed) input
until the build is done. On object stores it goes through the shuffle of the runner instead.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "lm1b",
        help="news sentences → One Billion Word: unique, tokenised, shuffled, with a held-out part",
        description="Rebuilds the One Billion Word benchmark from files of sentences, one a line.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    _add_inputs(parser)
    _add_variants(parser)
    add_output(parser)
    add_runner(parser)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group(
        "inputs", "file names or patterns, on any file system of Beam's (gs://, s3://, hdfs://)"
    )
    add_files(
        files, "--input", "files of sentences, plain or .gz, .bz2, .xz; or .tar, .tgz of them", True
    )
    files.add_argument(
        "--members",
        nargs="+",
        default=(),
        metavar="NAME",
        help="which files of an archive, by name or pattern (default: news.20??.<language>.shuffled*)",
    )
    files.add_argument(
        "--dump-date",
        default="",
        metavar="YEARS",
        help="default: the years in the names of the files",
    )
    files.add_argument(
        "--on-corrupt",
        choices=("fail", "keep-good"),
        default="fail",
        help="what to do about damaged input: end with an error (default), or take what is whole",
    )


def _add_variants(parser: argparse.ArgumentParser) -> None:
    variants = parser.add_argument_group(
        "variants", "the defaults are those of the original scripts; all are part of the signature"
    )
    variants.add_argument(
        "--language",
        default="en",
        metavar="CODE",
        help="whose rules and abbreviations the tokeniser has (default en); the scripts have some of their"
        " own for en, de, el, fr, it, es, cs, and common ones with English abbreviations for all others",
    )
    variants.add_argument(
        "--perl",
        choices=("5.36", "5.14"),
        default="5.36",
        help="the version of Perl, and so of Unicode, that the scripts would run on (default %(default)s);"
        " the published corpus was made with 5.14",
    )
    variants.add_argument(
        "--deduplicate",
        choices=("raw", "tokenized"),
        default="raw",
        help="leave out lines that are the same as they are read, as the scripts do (default), or when"
        " they are tokenised, as the paper has it",
    )
    variants.add_argument(
        "--near-duplicates",
        type=float,
        default=0.0,
        metavar="SIMILARITY",
        help="of sentences that share this part of their three-word sequences keep one (default: keep all;"
        " 0.8 is a good value); those left out are listed in rejected/",
    )
    variants.add_argument("--lower-case", action="store_true", help="all words in lower case")
    variants.add_argument(
        "--min-count",
        type=int,
        default=3,
        metavar="N",
        help="how often a word of the vocabulary must be in training (default %(default)s)",
    )
    variants.add_argument(
        "--map-unknown", action="store_true", help="write words outside the vocabulary as <UNK>"
    )
    variants.add_argument(
        "--shards",
        type=int,
        default=100,
        metavar="N",
        help="of all sentences, one of which is held out (default %(default)s)",
    )
    variants.add_argument(
        "--heldout-shards",
        type=int,
        default=50,
        metavar="N",
        help="that the held-out shard is split into (default %(default)s)",
    )
    variants.add_argument(
        "--checkpoints",
        action="store_true",
        help="keep the sorted and the tokenised text as well, which the published checksums name",
    )


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.lm1b import Lm1b
    from pipelines.settings.lm1b_settings import Lm1bConfig

    given = settings_of(Lm1bConfig, settings)
    launch_build(Lm1b(Lm1bConfig(**given)), settings, beam_flags)
