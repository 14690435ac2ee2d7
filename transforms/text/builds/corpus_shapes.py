"""How documents stand in the builds of each corpus: by what name, of what, and in which splits."""

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
    splits: tuple[str, ...] = ("train", "validation", "test")  # in which each document stands once
    repeats: bool = False  # whether an id may stand in several rows of one build
    why_moves: str = ""  # why documents may change their split; "" where none may


# Splits that hold documents of other splits are not compared: paper_test of One Billion Word is a part of
# test, train_2 of SimpleBooks of train.
SHAPES = {
    "wiki40b": CorpusShape("articles", "wikidata_id", TITLE_IN_TEXT, ("text",)),
    "pg19": CorpusShape(
        "books", "book_id", "book_title", ("book_text",), ("book_title", "publication_date")
    ),
    "simplebooks": CorpusShape(
        "books",
        "book_id",
        "book_title",
        ("text", "raw_text"),
        ("book_title",),
        why_moves="which books are held out depends on all books that are kept",
    ),
    "flores101": CorpusShape(
        "sentences",
        "article",
        "url",
        ("text",),
        ("topic", "has_image", "has_hyperlink"),
        ("dev", "devtest", "test"),
        repeats=True,
        why_moves="articles are drawn anew from all that have a passage",
    ),
    "lm1b": CorpusShape(
        "sentences",
        "",
        "",
        ("text",),
        splits=("train", "test"),
        repeats=True,
        why_moves="where the shuffle puts a sentence depends on all sentences",
    ),
    "entities": CorpusShape("items", "numeric_id", "", (), splits=("",)),
}


def shape_of(corpus: str) -> CorpusShape:
    """Raises ValueError for a corpus whose builds hold no documents."""
    if corpus not in SHAPES:
        raise ValueError(
            f"builds of {corpus} hold no documents to compare; those of {', '.join(SHAPES)} do"
        )
    return SHAPES[corpus]
