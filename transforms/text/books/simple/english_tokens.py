"""Paragraphs → tokens, as the paper of SimpleBooks has them: those of spaCy's English tokeniser.

spaCy cuts a text at white space, and then each piece, here called a chunk, by its rules. Words repeat, so
what a chunk gives is kept in a table. That comes to the same as spaCy on whole paragraphs:

* Last of all spaCy looks for its special cases in the tokens of the whole text. Chunks whose neighbours could
  change what it finds are known (see special_cases.py); paragraphs that have such neighbours go to spaCy
  whole.
* Chunks that are not in the table go to spaCy, but for the most frequent kind: words of letters alone, joined
  by hyphens and dashes, maybe between double quotation marks and with a point or a comma behind. The rules do
  not distinguish one letter from another but for their case before a period; only the special cases do, and
  words that occur in one go to spaCy, too.

spaCy's time grows with the square of the punctuation that a chunk begins or ends with: a chunk of more than
LONGEST_CHUNK characters, which is not English, is one token.
"""

import re
from collections.abc import Sequence

import spacy

from transforms.text.books.simple.special_cases import Edges, SpecialCases

LONGEST_CHUNK = 1000  # characters; the longest of 328 books has 80
MAX_KNOWN_CHUNKS = 1 << 19  # some 200 MB, with what spaCy keeps of them

DISTINCT = "distinct"
COMMA = "comma"
NUMBER_STYLES = (DISTINCT, COMMA)

_POINT = re.compile(r"(?<=[0-9])([.,])(?=[0-9])")
_MARKS = {DISTINCT: r" @\1@ ", COMMA: " @,@ "}

_PLAIN = re.compile(r'(["“]?)([A-Za-z]+(?:(?:--?|—)[A-Za-z]+)*)([,;:?!.]?["”]?)')
_DASH = re.compile(r"(--?|—)")


def separate_numbers(tokens: str, style: str = DISTINCT) -> str:
    """Sets the points and commas between two digits of a token apart: "300,000" is "300 @,@ 000".

    It does so in "1.2.1900" and "3,4", too, and leaves hyphens, as the paper does.

    Args:
      tokens: with spaces between them.
      style: "distinct" makes "1 @.@ 93" of "1.93", as WikiText does, so that the number can be read again;
        "comma" makes "1 @,@ 93", as the paper prints it.
    """
    return _POINT.sub(_MARKS[style], tokens)


def check_style(style: str) -> None:
    """Raises ValueError for a style of numbers that there is not."""
    if style not in NUMBER_STYLES:
        raise ValueError(f"number_style is one of {NUMBER_STYLES}, not {style!r}")


class EnglishTokenizer:
    """Tokenises paragraphs. Not to be used by two threads at once.

    Args:
      number_style: see `separate_numbers`.
    """

    def __init__(self, number_style: str = DISTINCT):
        self._number_style = number_style
        self._chunks = _Chunks(number_style)

    def tokenize(self, paragraph: str) -> str:
        """The tokens of a paragraph, one space between them; white space is none."""
        if len(self._chunks) > MAX_KNOWN_CHUNKS:  # spaCy's own tables grow, too
            self._chunks = _Chunks(self._number_style)
        chunks = paragraph.split()
        tokens = " ".join(map(self._chunks.__getitem__, chunks))
        return self._chunks.tokenize_whole(paragraph) if self._chunks.may_meet(chunks) else tokens


class _Chunks(dict[str, str]):
    """Chunk → its tokens, one space between them. A chunk that is not there yet is added."""

    def __init__(self, number_style: str):
        super().__init__()
        self._number_style = number_style
        self._spacy = spacy.blank("en").tokenizer
        self._cases = SpecialCases(self._spacy)
        self._edges: dict[str, Edges] = {}  # of the chunks that have any
        self._followers: set[str] = set()  # the chunks whose first token matters
        self._known: dict[Edges, Edges] = {}  # there are some hundred different ones

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
        """Returns True if a special case could have tokens of two of these chunks."""
        followers = self._followers
        if followers.isdisjoint(chunks):
            return False
        places = [place for place, chunk in enumerate(chunks) if chunk in followers]
        return any(self._may_meet(*chunks[place - 1 : place + 1]) for place in places if place)

    def _may_meet(self, before: str, behind: str) -> bool:
        edges = self._edges.get(before)
        return edges is not None and self._cases.may_meet(edges, self._edges[behind])

    def tokenize_whole(self, paragraph: str) -> str:
        """The tokens of a paragraph as spaCy gives them, one space between them."""
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
