r"""Estimates an n-gram model from a finished build, and scores the held-out splits with it.

examples:
  5-grams of One Billion Word, as in its paper:
    corpusmill ngrams --corpus corpora/lm1b/en-perl-5.14/2007-2011-* --output corpora
  A 3-gram model without 3-grams that occur only once:
    corpusmill ngrams --corpus corpora/wiki40b/uk/20261101-* --output corpora \
      --order 3 --prune 0 0 1

The model is the same as that of KenLM's lmplz --discount_fallback for the same lines (interpolated modified
Kneser-Ney smoothing, Chen and Goodman 1998). It does not need to fit into memory: n-grams are kept in files.

A sentence of the model is a sentence of One Billion Word, a line of SimpleBooks or Wiki-40B, or a
paragraph of PG-19. Words are separated by spaces; the markers of Wiki-40B count as words. A word that
occurs less often than --min-count in train is <unk>; the default is 3 for One Billion Word, as in its
paper, and 1 for other corpora. --prune has a count for each order, as in lmplz: n-grams that occur at
most that often are left out; the last count is used for all higher orders. If a text is small or repeats
itself, lmplz refuses it without --discount_fallback; a note at the end says so. --smoothing
stupid-backoff uses relative frequencies. If an n-gram is missing, it uses 0.4 times the value of the
shorter n-gram. The values are normalised over all words, as in the One Billion Word paper.

The model scores the documents of the other splits. In One Billion Word and SimpleBooks, whose papers
predict the ends of sentences, a document gets a list with a log-likelihood for each word and each end of
a sentence. In other corpora, a document gets a single log-likelihood.

what you get, in <output>/ngrams/<corpus>-<edition>/<date>-<version>/:
  model.arpa                      for KenLM, SRILM and others
  log-likelihoods/test-*.parquet  for --log-likelihood of `corpusmill score perplexity` and `score bpc`
  stats.json                      n-grams, discounts, perplexity of each split
  manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from corpusmill.pipelines.run.settings import EDITION, Config, Group
from corpusmill.transforms.files.builds.manifest import Release

CORPUS = "ngrams"
VERSION = "1.2.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": (
        "Small texts give the model of `lmplz --discount_fallback`, and a note says if lmplz refuses the text"
        " without this flag. Tabs, carriage returns and NUL separate words of train; other control"
        " characters, `<S>` and `</S>` are parts of words. Discounts have 32 bits. Words are numbered in the"
        " order of their first occurrence."
    ),
    "1.2.0": (
        "The log-likelihoods of a split are in a file for each file of the split, such as each of the"
        " held-out parts of One Billion Word. The models are the same."
    ),
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)

SMOOTHINGS = ("kneser-ney", "stupid-backoff")
MOST_WORDS = 5  # maximum number of words in an n-gram
MODEL = Group("the model", part_of=EDITION)


@dataclasses.dataclass(frozen=True)
class NgramsConfig(Config):
    """The settings of an n-gram model. Invalid settings raise ValueError."""

    doubts = ()

    corpus: str = Group().setting(help="folder of a finished build", metavar="DIR")
    order: int = MODEL.setting(
        5,
        "number of words in the longest n-grams, 1 to 5 (default %(default)s)",
        at_least=1,
        at_most=MOST_WORDS,
    )
    smoothing: str = MODEL.setting(
        "kneser-ney",
        "interpolated modified Kneser-Ney (default), or normalised Stupid Backoff",
        choices=SMOOTHINGS,
    )
    min_count: int = MODEL.setting(
        0,
        "words that occur less often in train are <unk>; 0 means 3 for One Billion Word, 1 for others"
        " (default %(default)s)",
        at_least=0,
    )
    prune: Sequence[int] = MODEL.setting(
        (), "for each order, leave out n-grams that occur at most this often: 0 0 1", metavar="N"
    )
    splits: Sequence[str] = Group().setting(
        (), "splits to score (default: all but train)", metavar="SPLIT"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
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
        if "train" in self.splits:
            raise ValueError(
                "`splits` must not contain 'train': a model is not scored on its training split"
            )

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish models made from the same build."""
        return super().variant() | {"prune": "-".join(map(str, self.prune))}

    def original(self) -> dict[str, Any]:
        return super().original() | {"prune": ""}
