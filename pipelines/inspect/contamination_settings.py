"""Settings of `corpusmill contamination`."""

from collections.abc import Sequence
from typing import NamedTuple

NGRAM_WORDS = 8
PASSAGES = 3


class Search(NamedTuple):
    """The settings of a search for evaluation texts in training texts."""

    train: Sequence[str]  # command-line arguments, see text_sources.py
    evaluation: Sequence[str]
    ngram_words: int = NGRAM_WORDS
    passages: int = PASSAGES  # maximum number of passages per item in the report
    train_id: str = ""
    evaluation_id: str = ""
    whole_files: bool = False
