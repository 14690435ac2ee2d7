"""Settings of the multilingual vocabularies of Wiki-40B."""

import dataclasses
from collections.abc import Sequence

from corpusmill.transforms.files.builds.build_manifest import Release
from corpusmill.transforms.models.subwords import SubwordSettings

CORPUS = "wiki40b"
PREFIX = "multilingual"
VERSION = "1.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "A marker with its line feeds is one piece, and one character.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
VOCABULARY_SIZES = (64_000, 128_000)
SAMPLE_ARTICLES = 10_000


@dataclasses.dataclass(frozen=True)
class MultilingualConfig:
    """The settings of a build of multilingual vocabularies. Invalid settings raise ValueError."""

    corpora: Sequence[str]  # folders of finished builds, or parent folders of builds
    vocabulary_sizes: Sequence[int] = VOCABULARY_SIZES
    sample_articles: int = SAMPLE_ARTICLES  # number from the train split of each language

    def __post_init__(self) -> None:
        if not self.corpora:
            raise ValueError(
                "the setting `corpora` is empty: give at least one folder with finished builds"
            )
        if not self.vocabulary_sizes:
            raise ValueError("vocabulary_sizes must have at least one size")
        if len(set(self.vocabulary_sizes)) < len(self.vocabulary_sizes):
            raise ValueError(f"vocabulary_sizes has a size twice: {self.vocabulary_sizes}")
        self.vocabularies()

    def vocabularies(self) -> dict[str, SubwordSettings]:
        """Returns name → settings of each vocabulary, the smallest first."""
        return {
            name_of(size): SubwordSettings(size, self.sample_articles)
            for size in sorted(self.vocabulary_sizes)
        }


def name_of(vocabulary_size: int) -> str:
    """Returns the name of a vocabulary, such as "64k" for 64,000 pieces."""
    thousands, rest = divmod(vocabulary_size, 1000)
    return str(vocabulary_size) if rest else f"{thousands}k"
