"""Describes the shapes of corpora: their splits, and the columns with ids, titles and texts."""

from typing import NamedTuple

TITLE_IN_TEXT = "<text>"
"""Value of `title` if the title is the first line of the article, see wikimedia/article_markers.py."""


class CorpusShape(NamedTuple):
    """The columns and splits of a corpus, as needed to compare two of its editions."""

    unit: str  # noun for rows: "articles"
    id: str  # column; "" if rows have no id: then the fingerprint of the text is the id
    title: str  # column, TITLE_IN_TEXT, or "" for rows without a title
    # columns of text, which are compared and whose bytes are counted; () for all columns but the id
    texts: tuple[str, ...]
    facts: tuple[str, ...] = ()  # further columns that are compared
    # Splits that hold each document once. Subsets of other splits are not compared: paper_test of One Billion
    # Word is a part of test, train_2 of SimpleBooks a part of train.
    splits: tuple[str, ...] = ("train", "validation", "test")
    repeats: bool = False  # True if an id may be in several rows of one build
    withheld: str = ""  # name of a split that is not published; "" if there is none
    why_moves: str = ""  # reason why documents may change their split; "" if they may not
