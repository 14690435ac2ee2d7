"""Documents that are made up, some of them alike, for tests of what is done with duplicates."""

from typing import NamedTuple

from corpusmill.transforms.duplicates.minhash import NGRAM_WORDS, Uint64s, hash_ngrams
from corpusmill.transforms.duplicates.similar_documents import DocumentFacts

WORDS = [f"w{number}" for number in range(4000)]


class Document(NamedTuple):
    """A document of no corpus."""

    key: int | str
    text: str
    rank: int = 0


def words(start: int, count: int = 100) -> str:
    """So many different words."""
    return " ".join(WORDS[start : start + count])


def describe(document: Document) -> DocumentFacts:
    """Its facts; the title is made from the key."""
    return DocumentFacts(document.key, f"Title {document.key}", document.rank)


def text_of(document: Document) -> str:
    """Its text."""
    return document.text


def ngrams_of(document: Document) -> Uint64s:
    """The hashes of its 8-grams."""
    return hash_ngrams(document.text, NGRAM_WORDS)
