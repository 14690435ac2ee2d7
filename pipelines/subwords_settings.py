"""Settings of vocabularies over many languages."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from corpusmill.pipelines.translation.language_keys import language_key
from corpusmill.transforms.files.builds.build_manifest import Release
from corpusmill.transforms.models.piece_model import PieceSettings
from corpusmill.transforms.models.temperature_sampling import check_temperature

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
