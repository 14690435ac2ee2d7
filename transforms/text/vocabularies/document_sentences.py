"""The sentences of the documents of a corpus, as a vocabulary is learned from them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from transforms.text.vocabularies.sentences import split_sentences
from transforms.text.vocabularies.subwords import BLANK, RESERVED
from transforms.text.wikimedia.article_markers import parse_article

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
# SentencePiece takes BLANK for a blank, and passes over a word with RESERVED; a tab or a line end would
# end the word in the table that it reads.
_TO_CLEAN = str.maketrans({BLANK: " ", RESERVED: None, "\t": " ", "\n": " ", "\r": " "})


class Layout(NamedTuple):
    """How a corpus holds its text."""

    column: str  # of its Parquet files
    paragraphs: Callable[[str], Iterable[str]] | None  # of a value; None where it is a sentence


def paragraphs_of_article(text: str) -> Iterator[str]:
    """The paragraphs of an article of Wiki-40B. Titles and headings are no sentences."""
    _, sections = parse_article(text)
    return (paragraph for section in sections for paragraph in section.paragraphs)


def paragraphs_of_book(text: str) -> list[str]:
    """The paragraphs of a book: between blank lines; within one, lines are wrapped."""
    return _BLANK_LINES.split(text)


LAYOUTS: Mapping[str, Layout] = {
    "wiki40b": Layout("text", paragraphs_of_article),
    "lm1b": Layout("text", None),  # a tokenised sentence
    "pg19": Layout("book_text", paragraphs_of_book),
    "simplebooks": Layout("raw_text", str.splitlines),  # a paragraph a line
}


def sentences_of_texts(texts: Iterable[str], layout: Layout, language: str) -> Iterator[str]:
    """The sentences of values of the column, cleaned, without empty ones. `language` is an ISO 639 code."""
    for text in texts:
        if layout.paragraphs is None:
            yield from clean_sentences([text])
            continue
        for paragraph in layout.paragraphs(text):
            offsets = split_sentences(paragraph, language)
            yield from clean_sentences(paragraph[start:end] for start, end in offsets)


def clean_sentences(sentences: Iterable[str]) -> Iterator[str]:
    """Each in one line, with what SentencePiece has another meaning for taken out; without empty ones."""
    for sentence in sentences:
        cleaned = sentence.translate(_TO_CLEAN).strip(" ")
        if cleaned:
            yield cleaned
