"""The sentences of the documents of a corpus, as a vocabulary is learned from them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from transforms.text.vocabularies.layout import Layout
from transforms.text.vocabularies.sentences import split_sentences
from transforms.text.vocabularies.subwords import BLANK, RESERVED
from transforms.text.wikimedia.article_markers import parse_article

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
# SentencePiece takes BLANK for a blank, and passes over a word with RESERVED; a tab or a line end would
# end the word in the table that it reads.
_TO_CLEAN = str.maketrans({BLANK: " ", RESERVED: None, "\t": " ", "\n": " ", "\r": " "})


def paragraphs_of_article(text: str) -> Iterator[str]:
    """The paragraphs of an article of Wiki-40B. Titles and headings are not sentences."""
    _, sections = parse_article(text)
    return (paragraph for section in sections for paragraph in section.paragraphs)


def paragraphs_of_book(text: str) -> list[str]:
    """The paragraphs of a book: between blank lines; within one, lines are wrapped."""
    return _BLANK_LINES.split(text)


PARAGRAPHS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "article": paragraphs_of_article,
    "book": paragraphs_of_book,
    "lines": str.splitlines,  # a paragraph a line
}
"""The ways to divide a text: name → its paragraphs."""


def sentences_of_texts(texts: Iterable[str], layout: Layout, language: str) -> Iterator[str]:
    """The sentences of values of the column, cleaned, without empty ones. `language` is an ISO 639 code."""
    for text in texts:
        if not layout.paragraphs:
            yield from clean_sentences([text])
            continue
        for paragraph in PARAGRAPHS[layout.paragraphs](text):
            offsets = split_sentences(paragraph, language)
            yield from clean_sentences(paragraph[start:end] for start, end in offsets)


def clean_sentences(sentences: Iterable[str]) -> Iterator[str]:
    """Each in one line, with what SentencePiece has another meaning for taken out; without empty ones."""
    for sentence in sentences:
        cleaned = sentence.translate(_TO_CLEAN).strip(" ")
        if cleaned:
            yield cleaned
