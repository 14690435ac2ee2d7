"""Settings of One Billion Word."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.run.dump_settings import check_dump_settings, limit_setting, name_edition
from corpusmill.transforms.duplicates.minhash import LINE_NGRAM_WORDS, LINE_PERMUTATIONS
from corpusmill.transforms.files.builds.build_manifest import Description, Release
from corpusmill.transforms.files.line_table import FEATURE
from corpusmill.transforms.news.character_classes import CURRENT_PERL, PERL_VERSIONS
from corpusmill.transforms.news.shard_names import SPLITS

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
