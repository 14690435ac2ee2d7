"""The columns of corpora that have the text."""

from typing import NamedTuple


class Layout(NamedTuple):
    """Column and format of the text of a corpus."""

    column: str  # column of its Parquet files
    paragraphs: (
        str  # format, of PARAGRAPHS in document_sentences.py; "" if each value is one sentence
    )
