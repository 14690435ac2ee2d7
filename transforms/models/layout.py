"""Describes in which column and format the Parquet files of a corpus store its text."""

from typing import NamedTuple


class Layout(NamedTuple):
    """The column that contains the text of a corpus, and the format of the text."""

    column: str  # column of its Parquet files
    paragraphs: str  # format: a key of PARAGRAPHS in document_sentences.py; "" if each value is one sentence
