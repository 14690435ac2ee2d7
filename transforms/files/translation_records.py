"""Records of a translation benchmark: source sentences, their translations, and faults that checks found."""

from typing import NamedTuple

SPLITS = ("dev", "devtest", "test")  # in the order of a release; test is withheld
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
    """Raised if a file has a wrong format.

    `line` is the line of the error, counted from 1; 0 means the whole file.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line, self.message = line, message


class SourceSentence(NamedTuple):
    """An English sentence to be translated into all languages of the benchmark."""

    id: str  # the split, and the position in it from 1: "devtest-0042"
    split: str  # one of SPLITS
    article: str  # domain and page id, "wikinews:4711"; the sentences of an article are neighbours
    text: str
    url: str  # of the article
    domain: str  # one of DOMAINS, or the name of a domain of the user's documents
    topic: str  # one of TOPICS, or a topic that an editor has entered
    has_image: bool  # True if the article shows a picture
    has_hyperlink: bool  # True if the sentence links to another page
    licence: str = ""  # licence of the article; "" in a build without documents of the user


class Translation(NamedTuple):
    """A translation exactly as it was returned, including leading and trailing spaces."""

    id: str  # of the source sentence
    text: str
    file: str  # name of the returned file; "" if there was none
    line: int  # line in that file, from 1


class Finding(NamedTuple):
    """A fault that a check found in a translation."""

    id: str  # id of the source sentence; "" for a finding about a whole file
    rule: str  # name of the check: "numbers-differ"
    # "error": the translation is returned to the translator; "warning": a person should look at it
    severity: str
    message: str  # one line for the translator: what is wrong and what was expected
    file: str  # see Translation
    line: int
