"""Scores of language models, and sizes of corpora, as printed in the papers.

They were measured on the published corpora. A build from inputs of another date contains other texts, so the
same model has a different score on it. They are not shown beside builds with other settings than those of the
paper (transforms/files/builds/paper_settings.py).
"""

from collections.abc import Mapping
from typing import NamedTuple

from corpusmill.transforms.files.builds.paper_figures import PAPER, VOCABULARIES
from corpusmill.transforms.files.builds.paper_settings import (
    PAPER_BOOKS,
    PAPER_WORDS,
    parse_signature,
)

_KN5 = "Chelba et al. 2013, table 1, interpolated Kneser-Ney 5-gram"
_RNN = "Chelba et al. 2013, table 1, RNN-1024 + MaxEnt 9-gram"
_ALL = "Chelba et al. 2013, table 2, all models"
_XL = "Rae et al. 2020, Transformer-XL, 36 layers"
_COMPRESSIVE = "Rae et al. 2020, Compressive Transformer, 36 layers"
_WIKI40B_TABLES = dict(zip(VOCABULARIES, (7, 8, 9), strict=True))


class PaperScore(NamedTuple):
    """The score of a language model, as printed in a paper."""

    metric: str  # "bpc" or "perplexity"
    model: str  # name of the model, with the paper and the table
    value: float
    decimals: int  # number of decimals printed in the paper

    @property
    def printed(self) -> str:
        return f"{self.value:.{self.decimals}f}"


def _simplebooks(size: str, *scores: tuple[str, float]) -> tuple[PaperScore, ...]:
    return tuple(
        PaperScore("perplexity", f"Nguyen 2019, table 2, {model}, {size}", value, 2)
        for model, value in scores
    )


def _perplexities(*scores: tuple[str, float]) -> tuple[PaperScore, ...]:
    return tuple(PaperScore("perplexity", model, value, 1) for model, value in scores)


_SCORES = {
    ("lm1b", "paper_test"): _perplexities((_KN5, 67.6), (_RNN, 51.3), (_ALL, 43.8)),
    ("pg19", "validation"): _perplexities((_XL, 45.5), (_COMPRESSIVE, 43.4)),
    ("pg19", "test"): _perplexities((_XL, 36.3), (_COMPRESSIVE, 33.6)),
    ("simplebooks", "validation"): (
        *_simplebooks("trained on SimpleBooks-2", ("AWD-LSTM", 17.16), ("Transformer-XL", 17.27)),
        *_simplebooks("trained on SimpleBooks-92", ("AWD-LSTM", 21.45), ("Transformer-XL", 9.3)),
    ),
    ("simplebooks", "test"): (
        *_simplebooks("trained on SimpleBooks-2", ("AWD-LSTM", 16.78), ("Transformer-XL", 16.41)),
        *_simplebooks("trained on SimpleBooks-92", ("AWD-LSTM", 20.64), ("Transformer-XL", 8.92)),
    ),
}


OTHER_TEXT = (
    "the scores of the paper were measured on the published corpus; scores on other text cannot be compared"
    " with them"
)


def paper_scores(signature: str, split: str) -> tuple[PaperScore, ...]:
    """Returns the scores that the paper of a corpus reports for a split; empty if there are none.

    `signature` identifies the build with the split, as in "wiki40b|lang:uk|dump:20261101|v:1.3.0".
    """
    corpus, settings = parse_signature(signature)
    language = settings.get("lang", "")
    if corpus == "wiki40b" and language in PAPER:
        scores = PAPER[language].scores
        return tuple(
            PaperScore(
                "bpc",
                f"Guo et al. 2020, table {_WIKI40B_TABLES[size]}, {size} pieces",
                scores[size, split].bits_per_character,
                3,
            )
            for size in VOCABULARIES
            if (size, split) in scores
        )
    return _SCORES.get((corpus, split), ())


PAPER_DOCUMENTS: Mapping[str, Mapping[str, int]] = {
    # README of the benchmark; the sentences of TensorFlow Datasets, which are all of it
    "lm1b": {"train": 30_301_028, "test": 306_688},
    "pg19": PAPER_BOOKS,  # Rae et al. 2020, table 2
    "simplebooks": {"train": 1_563, "validation": 5, "test": 5},  # Nguyen 2019, section 2
    "flores101": {"dev": 997, "devtest": 1_012, "test": 992},  # Goyal et al. 2022, table 3
}
"""Corpus → split → number of documents in the paper, or in the published corpus."""

PAPER_SPLIT_WORDS: Mapping[str, Mapping[str, int]] = {
    "lm1b": {"paper_test": 159_658},  # Chelba et al. 2013, section 3, with the ends of sentences
    "pg19": PAPER_WORDS,
}
"""Corpus → split → number of words by which the paper divides to compute word-level perplexity."""
