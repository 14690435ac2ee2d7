"""The shapes of corpora: names and content of documents, and splits."""

from typing import NamedTuple

TITLE_IN_TEXT = "<text>"
"""For `title`: the first line of an article, see wikimedia/article_markers.py."""


class CorpusShape(NamedTuple):
    """The rows of a corpus, as far as two editions of it can be compared."""

    unit: str  # what a row is: "articles"
    id: str  # column; "" where a text is its own identity, and ids are fingerprints of texts
    title: str  # column, TITLE_IN_TEXT, or "" for rows without a title
    texts: tuple[str, ...]  # columns that are compared, and whose bytes count; () is all but the id
    facts: tuple[str, ...] = ()  # columns that are compared as well
    # Splits in which each document is once. Those that hold documents of others are not compared: paper_test
    # of One Billion Word is a part of test, train_2 of SimpleBooks of train.
    splits: tuple[str, ...] = ("train", "validation", "test")
    repeats: bool = False  # whether an id may stand in several rows of one build
    withheld: str = ""  # split that is not for release
    why_moves: str = ""  # why documents may change their split; "" where none may
