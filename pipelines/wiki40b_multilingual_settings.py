r"""Trains multilingual SentencePiece vocabularies on finished builds of Wiki-40B.

examples:
  64k and 128k pieces over all languages that were built, as in the paper:
    corpusmill multilingual --corpora corpora --output corpora
  For three languages, from 20,000 articles of each:
    corpusmill multilingual --corpora corpora/wiki40b/uk corpora/wiki40b/pl corpora/wiki40b/cs \
      --sample-articles 20000 --vocabulary-sizes 48000 --output slavic

The newest finished build of each language is used. The vocabularies are learned from the first articles
in train, the same number for each language. One worker trains the vocabularies; the other workers count
words.

what you get, in <output>/wiki40b/multilingual-<languages>/<newest dump date>-<version>/:
  sentencepiece/multilingual-64k.model   SentencePieceProcessor(model_file=…)
  sentencepiece/multilingual-64k.vocab   the pieces and their scores, as text
  stats.json                             pieces and characters: vocabulary → language → split
  manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run.settings import Config, Group
from corpusmill.transforms.files.builds.manifest import Release
from corpusmill.transforms.models.subword_models import SubwordSettings

CORPUS = "wiki40b"
PREFIX = "multilingual"
VERSION = "1.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "A marker with its line feeds is one piece, and one character.",
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
SETTINGS = Group()


@dataclasses.dataclass(frozen=True)
class MultilingualConfig(Config):
    """The settings of a build of multilingual vocabularies. Invalid settings raise ValueError."""

    doubts = ()

    corpora: Sequence[str] = SETTINGS.setting(
        help="finished builds, or folders with builds below", metavar="DIR"
    )
    vocabulary_sizes: Sequence[int] = SETTINGS.setting(
        (64_000, 128_000), "number of pieces of each vocabulary (default 64000 128000)", metavar="N"
    )
    sample_articles: int = SETTINGS.setting(
        10_000, "number of articles of each language to learn from (default %(default)s)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
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
