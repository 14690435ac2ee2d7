r"""Rebuilds the One Billion Word benchmark from files with one sentence per line.

examples:
  The published corpus, from the archive of WMT 2011 (download it from statmt.org/wmt11, 11 GB):
    corpusmill lm1b --input training-monolingual.tgz --dump-date 2007-2011 --perl 5.14 --output corpora
  A check, with the checksums in the original repository, whether it equals the published corpus byte for
  byte (this input was not built in the tests; the output of the scripts on other inputs was compared):
    corpusmill verify corpora/lm1b/en-perl-5.14/2007-2011-* \
      --md5 README.corpus_generation_checkpoints
  Newer sentences, from any number of files with any compression:
    corpusmill lm1b --input 'news.20??.en.shuffled*' --output corpora --workers 8
  A smaller corpus for quick experiments, in lower case, with rare words replaced by <UNK>:
    corpusmill lm1b --input news.2011.en.shuffled.gz --lower-case --map-unknown --shards 10 --output corpora
  German:
    corpusmill lm1b --input 'news.20??.de.shuffled*' --language de --output corpora

what you get, in <output>/lm1b/<edition>/<years>-<version>/:
  training-monolingual.tokenized.shuffled/   99 shards, named as in the release, with a sentence per line
  heldout-monolingual.tokenized.shuffled/    the held-out shard and the 50 that it is split into
  md5sums                                    of all these files
  train-*.parquet test-*.parquet paper_test-*.parquet dev-*.parquet, and the same as TFRecord: one column
                                             `text` (other formats: --formats, docs/formats.md);
                                             paper_test is held-out shard 0, the test set of the paper;
                                             dev has the other held-out shards, test has all
  vocabulary.tsv stats.json manifest.json README.md rejected/ COMPLETED
The name of the edition has the language and every setting that differs from the original scripts.

memory and disk: a worker needs some 300 MB, or a few times the size of one shard if that is more. Data
between two steps is written beside the build, and takes 3 times the size of the (uncompressed) input
until the build is done. On object stores it is sent through the shuffle of the runner instead.

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run.settings import EDITION, STORES, Config, Group, language_code
from corpusmill.transforms.files.builds.ledger import EMPTY_TRAIN, OTHER_FORMAT, OTHER_LANGUAGE
from corpusmill.transforms.files.builds.manifest import Description, Release
from corpusmill.transforms.files.line_blocks import FEATURE
from corpusmill.transforms.news.punctuation import CURRENT_PERL, PERL_VERSIONS
from corpusmill.transforms.news.sentence_accounts import SPLITS

CORPUS = "lm1b"
VERSION = "1.3.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "The card has the figures of the paper. The texts are the same.",
    "1.2.0": (
        "The split `dev` has the held-out sentences that are not in `paper_test`. The texts are the same."
    ),
    "1.3.0": (
        "The setting `near_duplicates` and its count are gone. The texts are the same as without it."
    ),
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)

MOST_COUNT = 2**62
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
INPUTS = Group("inputs", STORES)
VARIANTS = Group(
    "variants",
    "the defaults are those of the original scripts; all are part of the signature of the build",
    EDITION,
)


def _check_code(name: str, code: str) -> None:
    if not (code.isascii() and code.isalpha() and code.islower() and len(code) in (2, 3)):
        raise ValueError(f"{name} must be a code like en, not {code!r}")


@dataclasses.dataclass(frozen=True)
class Lm1bConfig(Config):
    """The settings of a build of One Billion Word. Invalid settings raise ValueError.

    The defaults are those of the original scripts; any other value gives another edition of the corpus.
    """

    doubts = (EMPTY_TRAIN, OTHER_FORMAT, OTHER_LANGUAGE)

    input: Sequence[str] = INPUTS.setting(
        help="files with one sentence per line, uncompressed or .gz, .bz2, .xz; or .tar, .tgz archives of"
        " them"
    )
    language: str = VARIANTS.setting(
        "en",
        "code or name of the language whose rules and abbreviations the tokeniser uses (default en). The"
        " original scripts have rules for en, de, el, fr, it, es, cs; other languages use common rules with"
        " English abbreviations",
        part_of="",
        check=_check_code,
        metavar="CODE",
        type=language_code,
    )
    perl: str = VARIANTS.setting(
        CURRENT_PERL,
        "give the output of the original scripts with this version of Perl (default %(default)s); the"
        " published corpus was made with 5.14. The versions differ in characters newer than 2010, which are"
        " letters, digits or composed in 5.36 (Unicode 14.0) but unknown in 5.14 (Unicode 6.0), and in white"
        " space: only in 5.14 U+180E, only in 5.36 U+000B",
        choices=PERL_VERSIONS,
    )
    members: Sequence[str] = INPUTS.setting(
        (),
        "names or patterns of the files to read in archives (default: news.20??.<language>.shuffled*)",
        metavar="NAME",
    )
    dump_date: str = INPUTS.dump_date("the years in the names of the files")
    on_corrupt: str = INPUTS.on_corrupt()
    deduplicate: str = VARIANTS.setting(
        "raw",
        "remove lines that are equal before tokenisation (raw, the default), as the scripts do, or after it"
        " (tokenized), as the paper says",
        choices=("raw", "tokenized"),
    )
    lower_case: bool = VARIANTS.setting(False, "convert all words to lower case")
    min_count: int = VARIANTS.setting(
        3,
        "a word in the vocabulary occurs at least N times in training (default %(default)s)",
        at_least=1,
        at_most=MOST_COUNT,
    )
    map_unknown: bool = VARIANTS.setting(False, "write words outside the vocabulary as <UNK>")
    shards: int = VARIANTS.setting(
        100, "number of shards; one of them is held out (default %(default)s)", at_least=2
    )
    heldout_shards: int = VARIANTS.setting(
        50,
        "number of parts into which the held-out shard is split (default %(default)s)",
        at_least=1,
    )
    limit: int = INPUTS.limit("lines")
    formats: str = Group().formats()
    checkpoints: bool = VARIANTS.setting(
        False,
        "also keep the sorted and the tokenised text, for which there are published checksums",
        part_of="",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoints and self.deduplicate != "raw":
            raise ValueError("`checkpoints` needs `deduplicate='raw'`, as in the original scripts")
