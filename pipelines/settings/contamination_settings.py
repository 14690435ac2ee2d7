"""Settings of `corpusmill contamination`."""

from collections.abc import Sequence
from typing import NamedTuple

NGRAM_WORDS = 8
PASSAGES = 3


class Search(NamedTuple):
    """The settings of a search."""

    train: Sequence[str]  # arguments, see text_sources.py
    evaluation: Sequence[str]
    ngram_words: int = NGRAM_WORDS
    passages: int = PASSAGES  # of each item in the report
    train_id: str = ""
    evaluation_id: str = ""
    whole_files: bool = False
