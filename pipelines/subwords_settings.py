"""Settings of vocabularies over many languages."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_output, add_runner
from corpusmill.pipelines.translation.target_languages import language_key
from corpusmill.transforms.files.builds.manifest import Release
from corpusmill.transforms.models.sentence_sampling import check_temperature
from corpusmill.transforms.models.subword_models import PieceSettings

_NAMED = re.compile(r"([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*)=(.+)")

CORPUS = "subwords"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
PAPER_LANGUAGES = 101
UNDATED = "latest"
MOST_SENTENCES = 10**12  # the counts of words are 63 bits wide


@dataclasses.dataclass(frozen=True)
class SubwordsConfig:
    """The settings of a vocabulary. The defaults are those of FLORES-101 (Goyal et al. 2022).

    Invalid settings raise ValueError.
    """

    corpora: Sequence[
        str
    ]  # folders of finished builds, LANG=folder, or LANG=pattern of files of lines
    evaluate: Sequence[str] = ()  # folders with dev/*.dev or devtest/*.devtest, as in FLORES
    dump_date: str = ""  # "" takes the date of the newest build
    size: int = 256_000  # maximum number of pieces
    temperature: str = "5"  # temperature of the sampling of languages, a decimal number
    sentences: int = 100_000_000  # maximum number of sentences to learn from, in all languages
    character_coverage: float = 0.9995
    normalization: str = "nmt_nfkc"
    byte_fallback: bool = False
    min_count: int = 1  # words with a smaller count in the sample are not used
    seed: int = 0  # seed of the sampling of sentences

    def __post_init__(self) -> None:
        if not self.corpora:
            raise ValueError("`corpora` must have at least one folder or file")
        for argument in self.corpora:
            parse_argument(argument)
        check_temperature(self.temperature)
        if not 1 <= self.sentences <= MOST_SENTENCES:
            raise ValueError(
                f"`sentences` must be from 1 to {MOST_SENTENCES}, not {self.sentences}"
            )
        if not all(letter.isalnum() or letter in ".-_" for letter in self.dump_date):
            raise ValueError(
                f"dump_date must consist of letters, digits, '.', '_' and '-', got {self.dump_date!r}"
            )
        self.pieces()

    def pieces(self) -> PieceSettings:
        """Returns the settings for the training of the vocabulary."""
        return PieceSettings(
            self.size,
            self.character_coverage,
            self.normalization,
            self.byte_fallback,
            self.min_count,
        )

    def variant(self) -> dict[str, Any]:
        """Returns the settings, except the size, that distinguish vocabularies made from the same corpora."""
        return {
            "temperature": self.temperature,
            "sentences": self.sentences,
            "character_coverage": self.character_coverage,
            "normalization": self.normalization,
            "byte_fallback": self.byte_fallback,
            "min_count": self.min_count,
            "seed": self.seed,
        }


class Named(NamedTuple):
    """A parsed argument of --corpora."""

    language: str  # code of the language; "" to use the language of the builds in the folder
    path: str  # a folder, or a pattern of files


def parse_argument(argument: str) -> Named:
    """Parses an argument of --corpora, such as "uk=texts/*.gz" or "corpora/lm1b".

    Raises ValueError for an unknown language.
    """
    match = _NAMED.fullmatch(argument)
    if not match:
        return Named("", argument)
    language_key(match[1])
    return Named(*match.groups())


def add(commands: Commands) -> None:
    r"""Trains one SentencePiece vocabulary for many languages (Goyal et al. 2022, section 5.2).

    examples:
      256,000 pieces for all corpora that were built, as in the FLORES-101 paper:
        corpusmill subwords --corpora corpora --evaluate flores101 --output corpora
      With your own text, one sentence per line, and a small vocabulary:
        corpusmill subwords --corpora corpora/wiki40b 'sw=texts/sw-*.txt.gz' --size 32000 \
          --sentences 10000000 --output corpora

    how sentences are sampled: --sentences is the size of the sample (at most the number of all sentences).
    The share of a language in it is proportional to (its sentences / all sentences)^(1 / temperature). If a
    language has more sentences than its share, those with the smallest fingerprints (hashes) are used. If it
    has fewer, its sentences are repeated: all of them equally often, except that those with the smallest
    fingerprints may be used once more. Sentences are the lines of files, and the sentences in the split train
    of Wiki-40B, One Billion Word, PG-19 and SimpleBooks, from the newest build of each edition. Several
    corpora of one language are combined.

    how the vocabulary is trained: by one worker, from words and their counts; no worker has the whole text in
    memory. To find the first candidates for pieces, the trainer writes out each word as often as it occurs,
    500 MB at a time. For 100 million sentences this is more than 10 GB of text, and takes tens of minutes
    (estimated, not measured). Use FLORES only for --evaluate: a vocabulary learned from it cannot be
    evaluated on it.

    what you get, in <output>/subwords/multilingual-<languages>-<size>/<newest dump date>-<version>/:
      sentencepiece.model   for `corpusmill score spbleu --model`, or sentencepiece.SentencePieceProcessor
      sentencepiece.vocab   the pieces and their scores, as text
      stats.json            per language: sentences, sampled sentences, pieces and unknown pieces of held-out text
      rejected/ manifest.json README.md COMPLETED

    Exit status: 0 done, 1 bad input, 2 wrong settings.
    """  # noqa: E501
    parser = add_command(commands, "subwords", "", add.__doc__)
    corpora = Flags(parser)
    corpora.files(
        "--corpora",
        "finished builds, or folders with builds below; or LANG=FILE for a file with one sentence per line",
        "[LANG=]PATH",
        required=True,
    )
    add_output(parser)
    corpora.files(
        "--evaluate",
        "data sets with the layout of FLORES (devtest/ukr.devtest), to count unknown tokens in",
        "DIR",
    )
    corpora.dump_date("the date of the newest build")
    sample = Flags(parser, "sample of sentences")
    sample.number(
        "--temperature",
        "1 keeps the proportions of the languages; higher values make their shares more equal",
        "5",
        metavar="T",
    )
    sample.number("--sentences", "maximum number of sentences of all languages", 100_000_000)
    sample.number("--seed", "seed of the choice of sentences", 0)
    sample.number(
        "--min-count", "to save memory, leave out words that occur less often in the sample", 1
    )
    model = Flags(parser, "vocabulary")
    model.number("--size", "number of pieces", 256_000)
    model.number(
        "--character-coverage",
        "share of the text whose characters must have a piece",
        0.9995,
        metavar="SHARE",
    )
    model.text(
        "--normalization",
        "RULE",
        "%(default)s (default), nfkc, nmt_nfkc_cf, nfkc_cf or identity",
        default="nmt_nfkc",
    )
    model.switch(
        "--byte-fallback",
        "spell characters without a piece in bytes, so that there are no unknown tokens",
    )
    add_runner(parser)
