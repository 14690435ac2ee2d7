r"""Rebuilds the One Billion Word benchmark from files with one sentence per line.

examples:
  The published corpus, from the archive of WMT 2011 (download it from statmt.org/wmt11, 11 GB):
    corpusmill lm1b --input training-monolingual.tgz --dump-date 2007-2011 --perl 5.14 --output corpora
  A check, with the checksums in the original repository, whether it equals the published corpus byte for
  byte (this input was not built in the tests; the output of the scripts on other inputs was compared):
    corpusmill verify lm1b corpora/lm1b/en-perl-5.14/2007-2011-1.1.0 \
      --md5 README.corpus_generation_checkpoints
  Newer sentences, from any number of files with any compression:
    corpusmill lm1b --input 'news.20??.en.shuffled*' --output corpora --workers 8
  A smaller corpus for quick experiments, in lower case, with rare words replaced by <UNK>:
    corpusmill lm1b --input news.2011.en.shuffled.gz --lower-case --map-unknown --shards 10 --output corpora
  German, without sentences that are nearly the same:
    corpusmill lm1b --input 'news.20??.de.shuffled*' --language de --near-duplicates 0.8 --output corpora

what you get, in <output>/lm1b/<edition>/<years>-<version>/:
  training-monolingual.tokenized.shuffled/   99 shards, named as in the release, with a sentence per line
  heldout-monolingual.tokenized.shuffled/    the held-out shard and the 50 that it is split into
  md5sums                                    of all these files
  train-*.parquet test-*.parquet paper_test-*.parquet, and the same as TFRecord: one column `text`;
                                             paper_test is held-out shard 0, the test set of the paper
  vocabulary.tsv stats.json manifest.json README.md rejected/ COMPLETED
The name of the edition has the language and every setting that differs from the original scripts.

memory and disk: a worker needs some 300 MB, or a few times the size of one shard if that is more. Data
between two steps is written beside the build, and takes 3 times the size of the (uncompressed) input until
the build is done. On object stores it is sent through the shuffle of the runner instead.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import argparse

from corpusmill.pipelines.run.flags import (
    STORES,
    Commands,
    Flags,
    add_command,
    add_output,
    add_runner,
    language,
)


def add(commands: Commands) -> None:
    """Adds the command `corpusmill lm1b` to the parser."""
    about = "builds One Billion Word from news: deduplicated, tokenised, shuffled, held-out part"
    parser = add_command(commands, "lm1b", about, __doc__)
    files = Flags(parser, "inputs", STORES)
    files.files(
        "--input",
        "files with one sentence per line, uncompressed or .gz, .bz2, .xz; or .tar, .tgz archives of them",
        required=True,
    )
    files.files(
        "--members",
        "names or patterns of the files to read in archives (default: news.20??.<language>.shuffled*)",
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
        "the defaults are those of the original scripts; all are part of the signature of the build",
    )
    variants.text(
        "--language",
        "CODE",
        "code or name of the language whose rules and abbreviations the tokeniser uses (default en). The"
        " original scripts have rules for en, de, el, fr, it, es, cs; other languages use common rules with"
        " English abbreviations",
        default="en",
        type=language,
    )
    variants.choice(
        "--perl",
        ("5.36", "5.14"),
        "give the output of the original scripts with this version of Perl (default %(default)s); the"
        " published corpus was made with 5.14. The versions differ in characters newer than 2010, which are"
        " letters, digits or composed in 5.36 (Unicode 14.0) but unknown in 5.14 (Unicode 6.0), and in white"
        " space: only in 5.14 U+180E, only in 5.36 U+000B",
    )
    variants.choice(
        "--deduplicate",
        ("raw", "tokenized"),
        "remove lines that are equal before tokenisation (raw, the default), as the scripts do, or after it"
        " (tokenized), as the paper says",
    )
    variants.near_duplicates(
        "keep only one of the sentences that share at least this part of their three-word sequences (default:"
        " keep all; 0.8 is a good value); the dropped ones are listed in rejected/",
    )
    variants.switch("--lower-case", "convert all words to lower case")
    variants.number(
        "--min-count", "a word in the vocabulary occurs at least N times in training", 3
    )
    variants.switch("--map-unknown", "write words outside the vocabulary as <UNK>")
    variants.number("--shards", "number of shards; one of them is held out", 100)
    variants.number(
        "--heldout-shards", "number of parts into which the held-out shard is split", 50
    )
    variants.switch(
        "--checkpoints",
        "also keep the sorted and the tokenised text, for which there are published checksums",
    )
