"""Settings of vocabularies over many languages."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines.settings.subword_sources import parse_argument
from corpusmill.transforms.text.builds.build_manifest import Release
from corpusmill.transforms.text.vocabularies.piece_model import PieceSettings
from corpusmill.transforms.text.vocabularies.temperature_sampling import check_temperature

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
