r"""Rebuilds the One Billion Word benchmark from files with one sentence per line.

examples:
  The published corpus, from the archive of WMT 2011 as it is downloaded (statmt.org/wmt11, 11 GB):
    corpusmill lm1b --input training-monolingual.tgz --dump-date 2007-2011 --perl 5.14 --output corpora
  and a check that it is the same, byte for byte, with the list in the original repository:
    corpusmill verify lm1b corpora/lm1b/en-perl-5.14/2007-2011-1.1.0 \
      --md5 README.corpus_generation_checkpoints
  Newer sentences, from any number of files with any compression:
    corpusmill lm1b --input 'news.20??.en.shuffled*' --output corpora --workers 8
  A smaller corpus for quick experiments, in lower case, with rare words as <UNK>:
    corpusmill lm1b --input news.2011.en.shuffled.gz --lower-case --map-unknown --shards 10 --output corpora
  German, without sentences that are nearly the same:
    corpusmill lm1b --input 'news.20??.de.shuffled*' --language de --near-duplicates 0.8 --output corpora

what you get, in <output>/lm1b/<edition>/<years>-<version>/:
  training-monolingual.tokenized.shuffled/   99 shards, a sentence per line, with published names
  heldout-monolingual.tokenized.shuffled/    the held-out shard and the 50 that it is split into
  md5sums                                    of all these files
  train-*.parquet test-*.parquet paper_test-*.parquet, and the same as TFRecord: one column `text`;
                                             paper_test is held-out shard 0, on which the paper measures
  vocabulary.tsv stats.json manifest.json README.md rejected/ COMPLETED
The edition is the language and every setting that differs from those of the original scripts.

memory and disk: a worker needs some 300 MB, or a few times the size of one shard if that is more. Data
between two steps is written beside the build, and takes 3 times the size of the (uncompressed) input until
the build is done. On object stores it is sent through the shuffle of the runner instead.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import argparse

from pipelines.commands.flags import (
    STORES,
    Commands,
    Flags,
    add_command,
    add_output,
    add_runner,
    language,
)


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "builds One Billion Word from news: deduplicated, tokenised, shuffled, held-out part"
    parser = add_command(commands, "lm1b", about, __doc__)
    files = Flags(parser, "inputs", STORES)
    files.files(
        "--input",
        "files of sentences, plain or .gz, .bz2, .xz; or .tar, .tgz of them",
        required=True,
    )
    files.files(
        "--members",
        "which files of an archive, by name or pattern (default: news.20??.<language>.shuffled*)",
        "NAME",
    )
    files.dump_date("the years in the names of the files")
    files.on_corrupt()
    files.limit("lines")
    _add_variants(parser)
    add_output(parser)
    add_runner(parser)


def _add_variants(parser: argparse.ArgumentParser) -> None:
    variants = Flags(
        parser,
        "variants",
        "the defaults are those of the original scripts; all are part of the signature",
    )
    variants.text(
        "--language",
        "CODE",
        "code or name of the language whose rules and abbreviations the tokeniser has (default en); the"
        " scripts have some of their own for en, de, el, fr, it, es, cs, and common ones with English"
        " abbreviations for all others",
        default="en",
        type=language,
    )
    variants.choice(
        "--perl",
        ("5.36", "5.14"),
        "the version of Perl, and so of Unicode, that the scripts would run on (default %(default)s);"
        " the published corpus was made with 5.14",
    )
    variants.choice(
        "--deduplicate",
        ("raw", "tokenized"),
        "leave out lines that are the same as they are read, as the scripts do (default), or when"
        " they are tokenised, as the paper has it",
    )
    variants.near_duplicates(
        "of sentences that share this part of their three-word sequences keep one (default: keep all;"
        " 0.8 is a good value); those left out are listed in rejected/",
    )
    variants.switch("--lower-case", "all words in lower case")
    variants.number("--min-count", "how often a word of the vocabulary must be in training", 3)
    variants.switch("--map-unknown", "write words outside the vocabulary as <UNK>")
    variants.number("--shards", "of all sentences, one of which is held out", 100)
    variants.number("--heldout-shards", "that the held-out shard is split into", 50)
    variants.switch(
        "--checkpoints",
        "keep the sorted and the tokenised text as well, which the published checksums name",
    )
