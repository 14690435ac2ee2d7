"""The columns in which corpora hold their text."""

from typing import NamedTuple


class Layout(NamedTuple):
    """The place of the sentences of a corpus."""

    column: str  # of its Parquet files
    paragraphs: str  # of a value: one of PARAGRAPHS in document_sentences.py; "" where a value is a sentence
