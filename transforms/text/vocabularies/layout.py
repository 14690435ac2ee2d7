"""How a corpus holds its text."""

from typing import NamedTuple


class Layout(NamedTuple):
    """Where the sentences of a corpus are."""

    column: str  # of its Parquet files
    paragraphs: str  # of a value: one of PARAGRAPHS in document_sentences.py; "" where a value is a sentence
