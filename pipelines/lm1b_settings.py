"""Settings of One Billion Word."""

import argparse
import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.run import flags
from corpusmill.transforms.duplicates.minhash import LINE_NGRAM_WORDS, LINE_PERMUTATIONS
from corpusmill.transforms.files.builds.manifest import (
    Description,
    Release,
    check_dump_settings,
    limit_setting,
    name_edition,
)
from corpusmill.transforms.files.line_blocks import FEATURE
from corpusmill.transforms.news.artefacts import SPLITS
from corpusmill.transforms.news.perl_text import CURRENT_PERL, PERL_VERSIONS

CORPUS = "lm1b"
VERSION = "1.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "The card has the figures of the paper. The texts are the same.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)

DEDUPLICATE = ("raw", "tokenized")
MOST_COUNT = 2**62
MINHASH = {"permutations": LINE_PERMUTATIONS, "ngram_words": LINE_NGRAM_WORDS}
DESCRIPTION = Description(
    title="One Billion Word",
    about=(
        "News sentences, each once, tokenised and shuffled, with a held-out part; rebuilt with corpusmill"
        " after Chelba et al., 2013. The sentences are those of the input, under its terms."
    ),
    citation=(
        "@article{chelba-etal-2013-one,\n"
        "  title = {One Billion Word Benchmark for Measuring Progress in Statistical Language Modeling},\n"
        "  author = {Chelba, Ciprian and Mikolov, Tomas and Schuster, Mike and Ge, Qi and Brants, Thorsten"
        " and Koehn, Phillipp and Robinson, Tony},\n"
        "  journal = {arXiv:1312.3005},\n  year = {2013}\n}"
    ),
    license_id="other",
    features=(FEATURE,),
    splits=SPLITS,
    tags=("news",),
)


@dataclasses.dataclass(frozen=True)
class Lm1bConfig:
    """The settings of a build of One Billion Word. Invalid settings raise ValueError.

    The defaults are those of the original scripts; any other value gives another edition of the corpus.
    """

    input: Sequence[str]  # patterns of files with one sentence per line, or of tar archives of them
    language: str = "en"  # language of the tokeniser's rules and abbreviations
    perl: str = CURRENT_PERL  # version whose Unicode tables are used; 5.14 in the published corpus
    members: Sequence[str] = ()  # patterns of names in archives; () is the news of the language
    dump_date: str = ""  # "2007-2011"; "" takes the years from the names of the files
    on_corrupt: str = "fail"
    deduplicate: str = "raw"  # "raw" lines as in the scripts, or "tokenized" as in the paper
    near_duplicates: float = 0.0  # least Jaccard similarity of dropped lines; 0 keeps all
    lower_case: bool = False
    min_count: int = 3  # least count in the training set of a word of the vocabulary
    map_unknown: bool = False  # write words outside the vocabulary as <UNK>
    shards: int = 100  # number of shards of the corpus; the first is held out
    heldout_shards: int = 50  # parts of the held-out shard
    limit: int = 0  # lines that are read; 0 reads all
    checkpoints: bool = False  # also write the intermediate files of the original scripts

    def __post_init__(self) -> None:
        check_dump_settings(self.input, self.dump_date, self.on_corrupt)
        if not re.fullmatch("[a-z]{2,3}", self.language):
            raise ValueError(f"language must be a code like en, not {self.language!r}")
        if self.perl not in PERL_VERSIONS:
            raise ValueError(f"perl must be one of {PERL_VERSIONS}, not {self.perl!r}")
        if self.deduplicate not in DEDUPLICATE:
            raise ValueError(f"deduplicate must be one of {DEDUPLICATE}, not {self.deduplicate!r}")
        if not 0 <= self.near_duplicates < 1:
            raise ValueError(
                f"near_duplicates must be at least 0 and below 1, not {self.near_duplicates}"
            )
        if not 0 < self.min_count <= MOST_COUNT:
            raise ValueError(f"min_count must be from 1 to {MOST_COUNT}, not {self.min_count}")
        if self.shards < 2 or self.heldout_shards < 1:
            raise ValueError(
                "`shards` must be at least 2 and `heldout_shards` at least 1,"
                f" not {self.shards} and {self.heldout_shards}"
            )
        if self.checkpoints and self.deduplicate != "raw":
            raise ValueError("`checkpoints` needs `deduplicate='raw'`, as in the original scripts")

    def variant(self) -> dict[str, Any]:
        """Returns the settings, except the language, that distinguish corpora made from the same input."""
        return {
            "perl": self.perl,
            "deduplicate": self.deduplicate,
            "near_duplicates": self.near_duplicates,
            "lower_case": self.lower_case,
            "min_count": self.min_count,
            "map_unknown": self.map_unknown,
            "shards": self.shards,
            "heldout_shards": self.heldout_shards,
            **limit_setting(self.limit),
        }

    def edition(self) -> str:
        """Returns the name of the edition: the language, and the settings that differ from those of
        the original scripts.

        Examples are "en" and "en-shards-10".
        """
        return name_edition(self.language, self.variant(), Lm1bConfig(self.input).variant())


def add(commands: flags.Commands) -> None:
    r"""Rebuilds the One Billion Word benchmark from files with one sentence per line.

    examples:
      The published corpus, from the archive of WMT 2011 (download it from statmt.org/wmt11, 11 GB):
        corpusmill lm1b --input training-monolingual.tgz --dump-date 2007-2011 --perl 5.14 --output corpora
      A check, with the checksums in the original repository, whether it equals the published corpus byte for
      byte (this input was not built in the tests; the output of the scripts on other inputs was compared):
        corpusmill verify corpora/lm1b/en-perl-5.14/2007-2011-1.1.0 \
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
    between two steps is written beside the build, and takes 3 times the size of the (uncompressed) input
    until the build is done. On object stores it is sent through the shuffle of the runner instead.

    A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
    input, 2 wrong settings.
    """  # noqa: E501
    parser = flags.add_command(commands, "lm1b", "", add.__doc__)
    files = flags.Flags(parser, "inputs", flags.STORES)
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
    flags.add_output(parser)
    flags.add_runner(parser)


def _add_variants(parser: argparse.ArgumentParser) -> None:
    variants = flags.Flags(
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
        type=flags.language,
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
