"""Splits the documents of a corpus into clean sentences, from which a vocabulary is learned."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from corpusmill.transforms.models.layout import Layout
from corpusmill.transforms.models.sentences import split_sentences
from corpusmill.transforms.models.subwords import BLANK, RESERVED
from corpusmill.transforms.wikitext.article_markers import parse_article

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
# SentencePiece reads BLANK as a space and skips words with RESERVED. A tab or line break would end the word
# in the table that the trainer reads.
_TO_CLEAN = str.maketrans({BLANK: " ", RESERVED: None, "\t": " ", "\n": " ", "\r": " "})


def paragraphs_of_article(text: str) -> Iterator[str]:
    """Returns the paragraphs of a Wiki-40B article, without its title and headings."""
    _, sections = parse_article(text)
    return (paragraph for section in sections for paragraph in section.paragraphs)


def paragraphs_of_book(text: str) -> list[str]:
    """Returns the paragraphs of a book, which are separated by empty lines."""
    return _BLANK_LINES.split(text)


PARAGRAPHS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "article": paragraphs_of_article,
    "book": paragraphs_of_book,
    "lines": str.splitlines,  # each line is a paragraph
}
"""Name of a format → function that splits a text into paragraphs."""


def sentences_of_texts(texts: Iterable[str], layout: Layout, language: str) -> Iterator[str]:
    """Yields the cleaned sentences of some texts (see `clean_sentences`).

    Args:
      texts: the texts of documents.
      layout: the format of the texts.
      language: the ISO 639 code of their language.
    """
    for text in texts:
        if not layout.paragraphs:
            yield from clean_sentences([text])
            continue
        for paragraph in PARAGRAPHS[layout.paragraphs](text):
            offsets = split_sentences(paragraph, language)
            yield from clean_sentences(paragraph[start:end] for start, end in offsets)


def clean_sentences(sentences: Iterable[str]) -> Iterator[str]:
    """Puts each sentence on one line, and removes the special characters of SentencePiece.

    Empty sentences are dropped.
    """
    for sentence in sentences:
        cleaned = sentence.translate(_TO_CLEAN).strip(" ")
        if cleaned:
            yield cleaned
