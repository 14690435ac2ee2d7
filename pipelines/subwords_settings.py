r"""Trains one SentencePiece vocabulary for many languages (Goyal et al. 2022, section 5.2; Guo et al. 2020).

examples:
  256,000 pieces for all corpora that were built, as in the FLORES-101 paper:
    corpusmill subwords --corpora corpora --evaluate flores101 --output corpora
  With your own text, one sentence per line, and a small vocabulary:
    corpusmill subwords --corpora corpora/wiki40b 'sw=texts/sw-*.txt.gz' --size 32000 \
      --sentences 10000000 --output corpora
  64,000 lossless pieces over all languages of Wiki-40B that were built, as in the Wiki-40B paper:
    corpusmill subwords --corpora corpora/wiki40b --articles 10000 --size 64000 --output corpora

how sentences are sampled: --sentences is the size of the sample (at most the number of all sentences).
The share of a language in it is proportional to (its sentences / all sentences)^(1 / temperature). If a
language has more sentences than its share, those with the smallest fingerprints (hashes) are used. If it
has fewer, its sentences are repeated: all of them equally often, except that those with the smallest
fingerprints may be used once more. Sentences are the lines of files, and the sentences in the split train
of Wiki-40B, One Billion Word, PG-19 and SimpleBooks, from the newest build of each edition. Several
corpora of one language are combined.

how articles are sampled: with --articles N, the first N articles of train of each build of Wiki-40B are
used, which are a random sample, because they are in the order of a hash. Each language must have one
build. Articles are not divided into sentences. As in the vocabulary of each build, a marker with its
line feeds is one piece, the text is not normalised, and characters without a piece are spelled in
bytes, so that pieces give the text again.

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
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.run.settings import EDITION, Config, Group
from corpusmill.pipelines.translation.target_languages import language_key
from corpusmill.transforms.files.builds.manifest import Release
from corpusmill.transforms.models.sentence_sampling import check_temperature
from corpusmill.transforms.models.subword_models import PieceSettings, SubwordSettings

_NAMED = re.compile(r"([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*)=(.+)")

CORPUS = "subwords"
VERSION = "1.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "A vocabulary can be learned from whole articles, without loss, as in the Wiki-40B paper.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
PAPER_LANGUAGES = 101
WIKI40B_LANGUAGES = 41
UNDATED = "latest"
MOST_SENTENCES = 10**12  # the counts of words are 63 bits wide
SAMPLE = Group("sample of sentences", part_of=EDITION)
MODEL = Group("vocabulary", part_of=EDITION)
_OF_SENTENCES = (
    "temperature",
    "sentences",
    "character_coverage",
    "normalization",
    "byte_fallback",
    "seed",
)


@dataclasses.dataclass(frozen=True)
class SubwordsConfig(Config):
    """The settings of a vocabulary. The defaults are those of FLORES-101 (Goyal et al. 2022).

    Invalid settings raise ValueError.
    """

    doubts = ()

    corpora: Sequence[str] = Group().setting(
        help="finished builds, or folders with builds below; or LANG=FILE for a file with one sentence per"
        " line",
        metavar="[LANG=]PATH",
    )
    evaluate: Sequence[str] = Group().setting(
        (),
        "data sets with the layout of FLORES (devtest/ukr.devtest), to count unknown tokens in",
        metavar="DIR",
    )
    dump_date: str = Group().dump_date("the date of the newest build")
    temperature: str = SAMPLE.setting(
        "5",
        "1 keeps the proportions of the languages; higher values make their shares more equal"
        " (default %(default)s)",
        metavar="T",
    )
    sentences: int = SAMPLE.setting(
        100_000_000,
        "maximum number of sentences of all languages (default %(default)s)",
        at_least=1,
        at_most=MOST_SENTENCES,
    )
    articles: int = SAMPLE.setting(
        0,
        "learn from the first N articles of train of each build of Wiki-40B instead of sentences, without"
        " loss; 10000 in the paper of Wiki-40B",
        omit_default=True,
        at_least=0,
    )
    size: int = MODEL.setting(256_000, "number of pieces (default %(default)s)", part_of="")
    character_coverage: float = MODEL.setting(
        0.9995,
        "share of the text whose characters must have a piece (default %(default)s)",
        metavar="SHARE",
    )
    normalization: str = MODEL.setting(
        "nmt_nfkc", "%(default)s (default), nfkc, nmt_nfkc_cf, nfkc_cf or identity", metavar="RULE"
    )
    byte_fallback: bool = MODEL.setting(
        False, "spell characters without a piece in bytes, so that there are no unknown tokens"
    )
    min_count: int = SAMPLE.setting(
        1,
        "to save memory, leave out words that occur less often in the sample (default %(default)s)",
    )
    seed: int = SAMPLE.setting(0, "seed of the choice of sentences (default %(default)s)")

    def __post_init__(self) -> None:
        super().__post_init__()
        for argument in self.corpora:
            parse_argument(argument)
        check_temperature(self.temperature)
        for name in _OF_SENTENCES if self.articles else ():
            if getattr(self, name) != getattr(SubwordsConfig, name):
                flag = name.replace("_", "-")
                raise ValueError(f"--{flag} is for sentences: it cannot be used with --articles")
        self.pieces()

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish vocabularies of the same corpora and size."""
        unused = _OF_SENTENCES if self.articles else ()
        return {name: value for name, value in super().variant().items() if name not in unused}

    def pieces(self) -> PieceSettings:
        """Returns the settings for the training of the vocabulary."""
        if self.articles:  # as in the vocabulary of each build
            coverage = SubwordSettings.character_coverage
            return PieceSettings(self.size, coverage, "identity", True, self.min_count, True)
        return PieceSettings(
            self.size,
            self.character_coverage,
            self.normalization,
            self.byte_fallback,
            self.min_count,
        )


def parse_argument(argument: str) -> tuple[str, str]:
    """Parses an argument of --corpora, such as "uk=texts/*.gz" or "corpora/lm1b".

    Returns (code of the language, folder or pattern of files). The code is "" to use the language of the
    builds in the folder. Raises ValueError for an unknown language.
    """
    match = _NAMED.fullmatch(argument)
    if not match:
        return "", argument
    language_key(match[1])
    return match[1], match[2]
