"""Records of a translation benchmark: source sentences, their translations, and findings about them."""

from typing import NamedTuple

SPLITS = ("dev", "devtest", "test")  # in the order of a package; test is withheld
DOMAINS = ("wikinews", "wikibooks", "wikivoyage", "wikipedia")
TOPICS = (
    "crime",
    "disasters",
    "entertainment",
    "geography",
    "health",
    "nature",
    "politics",
    "science",
    "sports",
    "travel",
)


class ReadError(Exception):
    """A text that cannot be read as what it should be. `line` counts from 1; 0 is the file as a whole."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line, self.message = line, message


class SourceSentence(NamedTuple):
    """A sentence that is translated into all languages. Articles and their sentences are in order."""

    id: str  # split and place in it, from 1: "devtest-0042"
    split: str  # of SPLITS
    article: str  # domain and page id, "wikinews:4711": neighbours of one article belong together
    text: str
    url: str  # of the article
    domain: str  # of DOMAINS, or that of documents
    topic: str  # of TOPICS, or what an editor has put there
    has_image: bool  # the article shows a picture
    has_hyperlink: bool  # the sentence links to another page
    licence: str = ""  # of the article, where documents are among the sources; else ""


class Translation(NamedTuple):
    """A translation as it came back, to the letter: spaces around it are not taken away."""

    id: str  # of the source sentence
    text: str
    file: str  # name of the file that it came in; "" for one that came in none
    line: int  # of that file, from 1


class Finding(NamedTuple):
    """The finding of a check about a translation."""

    id: str  # of the source sentence; "" for what is said of a whole file
    rule: str  # a slug: "numbers-differ"
    severity: str  # "error": goes back to the translator; "warning": somebody should look
    message: str  # for the translator, in one line: what is wrong and what was expected
    file: str  # see Translation
    line: int
