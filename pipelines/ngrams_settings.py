"""Settings of n-gram models."""

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from corpusmill.transforms.files.builds.build_manifest import Release

CORPUS = "ngrams"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)

MOST_WORDS = 5  # maximum number of words in an n-gram
SMOOTHINGS = ("kneser-ney", "stupid-backoff")
PAPER_MIN_COUNTS = {"lm1b": 3}
"""Corpus → how often a word must occur in train to be in the paper's vocabulary. Other corpora
keep all words.
"""


@dataclasses.dataclass(frozen=True)
class NgramsConfig:
    """The settings of an n-gram model. Invalid settings raise ValueError."""

    corpus: str  # folder of a finished build
    order: int = 5  # words of the longest n-grams
    smoothing: str = "kneser-ney"
    min_count: int = 0  # rarer words are not in the vocabulary; 0 uses the value of the paper
    prune: Sequence[int] = ()  # largest dropped count for each order; the last is used for the rest
    splits: Sequence[str] = ()  # splits to score; () is all except train

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MOST_WORDS:
            raise ValueError(f"`order` must be from 1 to {MOST_WORDS}, not {self.order}")
        if self.smoothing not in SMOOTHINGS:
            raise ValueError(
                f"smoothing must be one of {', '.join(SMOOTHINGS)}, not {self.smoothing!r}"
            )
        if self.min_count < 0:
            raise ValueError(f"min_count must be 0 or more, not {self.min_count}")
        self._check_prune()
        if "train" in self.splits:
            raise ValueError(
                "`splits` must not contain 'train': a model is not scored on its training split"
            )

    def _check_prune(self) -> None:
        prune = tuple(self.prune)
        if len(prune) > self.order:
            raise ValueError(
                f"`prune` must have at most {self.order} counts, one per order, but has {len(prune)}"
            )
        if any(later < earlier for earlier, later in pairwise((0, *prune))):
            raise ValueError(
                f"the counts of `prune` must not decrease, got {' '.join(map(str, prune))}"
            )
        if prune[:1] > (0,):
            raise ValueError("`prune` must begin with 0: use `min_count` to drop rare words")

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish models made from the same build."""
        return {
            "order": self.order,
            "smoothing": self.smoothing,
            "min_count": self.min_count,
            "prune": "-".join(map(str, self.prune)),
        }
