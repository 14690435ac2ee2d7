"""Tokenises paragraphs with spaCy's English tokeniser, as in the paper of SimpleBooks.

spaCy splits a text at white space and applies its rules to each piece, here called a chunk. Chunks repeat, so
the tokens of a chunk are stored in a table. The result is the same as that of spaCy on whole paragraphs:

* As its last step, spaCy searches the tokens of the whole text for its special cases, such as "Mr.". They may
  extend over two chunks. special_cases.py finds the chunks whose neighbours could change the result.
  Paragraphs with such chunks are tokenised by spaCy as a whole.
* Chunks that are not in the table are tokenised by spaCy, except for the most frequent kind of chunk, which
  this module splits itself. Such a chunk has only letters and a few marks: hyphens and dashes inside, double
  quotation marks around it, and a punctuation mark such as a comma at its end. spaCy's rules treat all
  letters alike, except for their case before a period. Only special cases depend on particular letters. So
  chunks with a word that occurs in a special case are tokenised by spaCy, too.

spaCy's time grows with the square of the number of punctuation marks at the start or end of a chunk. So a
chunk of more than LONGEST_CHUNK characters, which is not English, becomes one token.
"""

import re
from collections.abc import Sequence

import spacy

from corpusmill.transforms.books.special_cases import Edges, SpecialCases

LONGEST_CHUNK = 1000  # characters; the longest chunk in 328 books has 80
MAX_KNOWN_CHUNKS = 1 << 19  # this many chunks take some 200 MB, including the caches of spaCy

DISTINCT = "distinct"
COMMA = "comma"
NUMBER_STYLES = (DISTINCT, COMMA)

_POINT = re.compile(r"(?<=[0-9])([.,])(?=[0-9])")
_MARKS = {DISTINCT: r" @\1@ ", COMMA: " @,@ "}

_PLAIN = re.compile(r'(["“]?)([A-Za-z]+(?:(?:--?|—)[A-Za-z]+)*)([,;:?!.]?["”]?)')
_DASH = re.compile(r"(--?|—)")


def separate_numbers(tokens: str, style: str = DISTINCT) -> str:
    """Separates the points and commas between two digits: "300,000" becomes "300 @,@ 000".

    "1.2.1900" and "3,4" are separated, too; hyphens are not changed. The paper does the same.

    Args:
      tokens: the tokens, separated by spaces.
      style: "distinct" writes "1.93" as "1 @.@ 93", like WikiText, so that the number can be restored;
        "comma" writes "1 @,@ 93", as printed in the paper.
    """
    return _POINT.sub(_MARKS[style], tokens)


def check_style(style: str) -> None:
    """Raises ValueError if `style` is not a style of numbers that `separate_numbers` knows."""
    if style not in NUMBER_STYLES:
        raise ValueError(f"number_style must be one of {NUMBER_STYLES}, not {style!r}")


class EnglishTokenizer:
    """Tokenises paragraphs. Not thread-safe.

    Args:
      number_style: see `separate_numbers`.
    """

    def __init__(self, number_style: str = DISTINCT):
        self._number_style = number_style
        self._chunks = _Chunks(number_style)

    def tokenize(self, paragraph: str) -> str:
        """Returns the tokens of a paragraph, separated by single spaces."""
        if len(self._chunks) > MAX_KNOWN_CHUNKS:  # spaCy's own tables grow, too
            self._chunks = _Chunks(self._number_style)
        chunks = paragraph.split()
        tokens = " ".join(map(self._chunks.__getitem__, chunks))
        return self._chunks.tokenize_whole(paragraph) if self._chunks.may_meet(chunks) else tokens


class _Chunks(dict[str, str]):
    """A mapping: chunk (a piece of text without white space) → its tokens, separated by single spaces.

    A missing chunk is tokenised and added when it is looked up.
    """

    def __init__(self, number_style: str):
        super().__init__()
        self._number_style = number_style
        self._spacy = spacy.blank("en").tokenizer
        self._cases = SpecialCases(self._spacy)
        self._edges: dict[str, Edges] = {}  # chunk → its edges, only for chunks that have edges
        self._followers: set[str] = set()  # chunks that have `edges.first`
        self._known: dict[Edges, Edges] = {}  # saves memory: only some hundred values are different

    def __missing__(self, chunk: str) -> str:
        found = self._cut(chunk)
        edges = self._cases.edges_of(found)
        if edges.first or edges.last:
            self._edges[chunk] = self._known.setdefault(edges, edges)
        if edges.first:
            self._followers.add(chunk)
        tokens = self[chunk] = self._write(found)
        return tokens

    def may_meet(self, chunks: Sequence[str]) -> bool:
        """Returns True if one of spaCy's special cases could match tokens of two neighbouring chunks."""
        followers = self._followers
        if followers.isdisjoint(chunks):
            return False
        places = [place for place, chunk in enumerate(chunks) if chunk in followers]
        return any(self._may_meet(*chunks[place - 1 : place + 1]) for place in places if place)

    def _may_meet(self, before: str, behind: str) -> bool:
        edges = self._edges.get(before)
        return edges is not None and self._cases.may_meet(edges, self._edges[behind])

    def tokenize_whole(self, paragraph: str) -> str:
        """Lets spaCy tokenise a whole paragraph. Returns the tokens, separated by single spaces."""
        chunks = paragraph.split()
        if max(map(len, chunks)) > LONGEST_CHUNK:
            return " ".join([self[chunk] for chunk in chunks])
        return self._write(self._run(paragraph))

    def _write(self, tokens: Sequence[str]) -> str:
        return separate_numbers(" ".join(tokens), self._number_style)

    def _cut(self, chunk: str) -> tuple[str, ...]:
        if len(chunk) > LONGEST_CHUNK:
            return (chunk,)
        plain = _PLAIN.fullmatch(chunk)
        if plain:
            opening, words, closing = plain.groups()
            is_period_apart = "." not in closing or words[-1].islower()
            parts = _DASH.split(words)
            if is_period_apart and self._cases.words.isdisjoint(parts):
                return (*opening, *parts, *closing)
        return self._run(chunk)

    def _run(self, text: str) -> tuple[str, ...]:
        return tuple([token.text for token in self._spacy(text) if not token.is_space])
