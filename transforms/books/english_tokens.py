"""Tokenises paragraphs with spaCy's English tokeniser, as in the paper of SimpleBooks.

spaCy splits a text at white space and applies its rules to each piece, here called a chunk. Chunks repeat, so
the tokens of a chunk are stored in a table. The result is the same as that of spaCy on whole paragraphs in
which dashes and italics are written as in the release (`normalize_marks`):

* As its last step, spaCy searches the tokens of the whole text for its special cases, such as "Mr.". They may
  extend over two chunks. `SpecialCases` finds the chunks whose neighbours could change the result.
  Paragraphs with such chunks are tokenised by spaCy as a whole.
* Chunks that are not in the table are tokenised by spaCy, except for the most frequent kind of chunk, which
  this module splits itself. Such a chunk has only letters and a few marks: hyphens inside, double quotation
  marks around it, and a punctuation mark such as a comma at its end. spaCy's rules treat all letters alike,
  except for their case before a period. Only special cases depend on particular letters. So chunks with a
  word that occurs in a special case are tokenised by spaCy, too.

spaCy's time grows with the square of the number of punctuation marks at the start or end of a chunk. So a
chunk of more than LONGEST_CHUNK characters, which is not English, becomes one token.

Finds chunks of text that spaCy must tokenise together, because of its special cases.

After spaCy has split a text into tokens, it searches them for special cases, such as "Mr.", and replaces
their tokens. A special case may also match the end of a chunk and the start of the next one: the tokens of
": (" match the special case ":(", although there is a space between them. Such a match changes no tokens,
since no special case has a space in it. But of overlapping matches, spaCy uses only the longest one. So a
match across a space may prevent another match within a chunk.

So two neighbouring chunks must be tokenised together if both of these conditions are met:

* The last token of the first chunk and the first token of the second chunk are consecutive tokens of a
  special case.
* At least one of the chunks has tokens that were made by a special case within the chunk.

Joins the lines of a book, of some 70 characters each, so that every paragraph is one line.

Books of Project Gutenberg are wrapped by hand, with empty lines between paragraphs. A stanza becomes one
paragraph, and its verses are joined like lines of prose. Verses could only be detected by their indentation.
But quotations of prose, letters, footnotes and glossaries are indented, too, and their paragraphs would be
torn apart. A heading of two lines becomes one paragraph, too.

The rules for joining lines are based on the line ends in 328 real files:

* A word with a hyphen is joined to the next line unchanged: "billiard-\\nroom" becomes "billiard-room".
  Broken words that the book also has whole are joined before (contents.py). Without such evidence, broken
  words and compounds cannot be distinguished, so the hyphen is kept. Before a capital letter the hyphen is
  mostly a dash ("asleep-\\nWhereto"; 423 of 470 places are in plays), and a space follows it.
* A dash after a word is joined to the next word: within lines, "--" has no spaces around it in 78,585 of
  79,708 places. Withheld names are an exception: a space follows the dash ("Minister D--\\nis known").
"""

import collections
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import spacy
from spacy.attrs import ORTH
from spacy.tokenizer import Tokenizer

from .simplebooks_rows import COMMA, DISTINCT

_WORD = re.compile("[A-Za-z]+")
_NOTHING: frozenset[str] = frozenset()


class Edges(NamedTuple):
    """The tokens at the start and end of a chunk that may form a special case with a neighbouring chunk."""

    first: frozenset[str] = _NOTHING  # first tokens that have a predecessor in a special case
    last: frozenset[str] = _NOTHING  # last tokens that have a successor in a special case
    is_special: bool = False  # True if a special case may have changed the chunk's tokens


NO_EDGES = Edges()


class SpecialCase(NamedTuple):
    """A special case of the tokeniser, which replaces a sequence of several tokens by others."""

    cut: tuple[str, ...]  # the tokens that are matched: "Mr", "."
    made: tuple[str, ...]  # the tokens that replace them: "Mr."


class SpecialCases:
    """The special cases of one of spaCy's tokenisers."""

    def __init__(self, tokenizer: Tokenizer):
        cases = _cases_of(tokenizer)
        pairs = {pair for case in cases for pair in pairwise(case.cut)}
        self._neighbours = pairs
        self._firsts = {first for first, _ in pairs}
        self._seconds = {second for _, second in pairs}
        self._by_first = collections.defaultdict(list)
        for case in cases:
            self._by_first[case.made[0]].append(case)
        self._tokens = {*self._firsts, *self._seconds, *self._by_first}
        self.words = {word for text in tokenizer.rules for word in _WORD.findall(text)}
        """All words that occur in special cases, including cases of one token."""

    def edges_of(self, tokens: tuple[str, ...]) -> Edges:
        """Returns the tokens at the start and end of a chunk that may be part of a special case.

        The rest of the special case would be in a neighbouring chunk. `tokens` are all tokens of the chunk;
        there must be one or more.
        """
        if self._tokens.isdisjoint(tokens):
            return NO_EDGES
        firsts, lasts, is_special = {tokens[0]}, {tokens[-1]}, False
        for place, token in enumerate(tokens):
            for case in self._by_first.get(token, ()):
                end = place + len(case.made)
                if tokens[place:end] != case.made:
                    continue
                is_special = is_special or case.made != case.cut
                if place == 0:
                    firsts.add(case.cut[0])
                if end == len(tokens):
                    lasts.add(case.cut[-1])
        first, last = firsts & self._seconds, lasts & self._firsts
        return Edges(frozenset(first), frozenset(last), is_special)

    def may_meet(self, before: Edges, behind: Edges) -> bool:
        """Returns True if a special case could change tokens across the boundary of two chunks of text.

        `before` has the edges of the first chunk, `behind` those of the second.
        """
        return (before.is_special or behind.is_special) and any(
            (last, first) in self._neighbours for last in before.last for first in behind.first
        )


def _cases_of(tokenizer: Tokenizer) -> list[SpecialCase]:
    """Returns the special cases of more than one token.

    Special cases of one token, such as an apostrophe, change nothing.
    """
    without_cases = Tokenizer(
        tokenizer.vocab,
        {},
        tokenizer.prefix_search,
        tokenizer.suffix_search,
        tokenizer.infix_finditer,
        tokenizer.token_match,
        tokenizer.url_match,
    )
    cases = [
        SpecialCase(
            tuple(token.text for token in without_cases(text)),
            tuple(token[ORTH] for token in made),
        )
        for text, made in tokenizer.rules.items()
    ]
    return [case for case in cases if len(case.cut) > 1]


LONGEST_CHUNK = 1000  # characters; the longest chunk in 328 books has 80
MAX_KNOWN_CHUNKS = 1 << 19  # this many chunks take some 200 MB, including the caches of spaCy

_POINT = re.compile(r"(?<=[0-9])([.,])(?=[0-9])")
_MARKS = {DISTINCT: r" @\1@ ", COMMA: " @,@ "}

_PLAIN = re.compile(r'(["“]?)([A-Za-z]+(?:-[A-Za-z]+)*)([,;:?!.]?["”]?)')
_HYPHEN = re.compile("(-)")

_DASH = re.compile("--|(?<=--)-|—")
_INNER, _CLOSING = r"_(?<=[^\W_]_)(?=[^\W_])", r"_(?<=[^\s_]_)(?!\w)"
# Several underscores together are a blank to be filled in, not italics.
_ITALICS = re.compile(
    r"_(?:(?<!\w_)(?=[^\W_])|(?<!\S_)(?=[^\s_]))"  # opens italics
    rf"([^_]*+(?:{_INNER}(?=[^_]*+{_CLOSING}))?+)(?:{_INNER})?+"
    rf"|{_INNER}(?=[^_]*+{_CLOSING})|{_CLOSING}"
)


def normalize_marks(paragraph: str) -> str:
    """Puts spaces around dashes, and removes the underscores that mark italics.

    `_up_----"` becomes `up -- -- "`, as in the released texts of SimpleBooks, which have no underscores. By
    itself, spaCy separates dashes only between letters. `a---b` becomes `a -- - b`, as in the release.

    An underscore inside a word is kept (`file_name`), unless it closes italics (`_un_happy`) or opens them
    (`6_d._`): the underscore before it opens italics, or the one after it closes them, but not both.
    """
    return _DASH.sub(r" \g<0> ", _ITALICS.sub(r"\1", paragraph))


def separate_numbers(tokens: str, style: str = DISTINCT) -> str:
    """Separates the points and commas between two digits: "300,000" becomes "300 @,@ 000".

    "1.2.1900" and "3,4" are separated, too; hyphens are not changed. The paper does the same.

    Args:
      tokens: the tokens, separated by spaces.
      style: "distinct" writes "1.93" as "1 @.@ 93", like WikiText, so that the number can be restored;
        "comma" writes "1 @,@ 93", as printed in the paper.
    """
    return _POINT.sub(_MARKS[style], tokens)


class EnglishTokenizer:
    """Tokenises paragraphs. Not thread-safe.

    Args:
      number_style: see `separate_numbers`.
    """

    def __init__(self, number_style: str = DISTINCT):
        self._number_style = number_style
        self._chunks = _Chunks(number_style)

    def tokenize(self, paragraph: str) -> str:
        """Returns the tokens of a paragraph, separated by single spaces. See `normalize_marks`."""
        if len(self._chunks) > MAX_KNOWN_CHUNKS:  # spaCy's own tables grow, too
            self._chunks = _Chunks(self._number_style)
        chunks = normalize_marks(paragraph).split()
        tokens = " ".join(map(self._chunks.__getitem__, chunks))
        return self._chunks.tokenize_whole(chunks) if self._chunks.may_meet(chunks) else tokens


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

    def tokenize_whole(self, chunks: Sequence[str]) -> str:
        """Lets spaCy tokenise a whole paragraph. Returns the tokens, separated by single spaces."""
        if max(map(len, chunks)) > LONGEST_CHUNK:
            return " ".join([self[chunk] for chunk in chunks])
        return self._write(self._run(" ".join(chunks)))

    def _write(self, tokens: Sequence[str]) -> str:
        return separate_numbers(" ".join(tokens), self._number_style)

    def _cut(self, chunk: str) -> tuple[str, ...]:
        if len(chunk) > LONGEST_CHUNK:
            return (chunk,)
        plain = _PLAIN.fullmatch(chunk)
        if plain:
            opening, words, closing = plain.groups()
            is_period_apart = "." not in closing or words[-1].islower()
            parts = _HYPHEN.split(words)
            if is_period_apart and self._cases.words.isdisjoint(parts):
                return (*opening, *parts, *closing)
        return self._run(chunk)

    def _run(self, text: str) -> tuple[str, ...]:
        return tuple([token.text for token in self._spacy(text) if not token.is_space])


# Matches the last character, which is fast to find; the characters before it are checked afterwards.
_LINE_END = re.compile(r"[-—][ \t]*\n[ \t]*(?=\S)")
_ENDS_IN_HYPHEN = re.compile(r"[^\W\d_]-\Z")
# A dash must follow two characters other than spaces and dashes. After a single one, it may be a withheld
# name.
_ENDS_IN_DASH = re.compile(r"[^\s\-—]{2}(?:--|—)\Z")
_BLANK_LINES = re.compile(r"\n\s*\n")
# Control characters other than white space. Old files end in U+001A.
_CONTROLS = dict.fromkeys(
    code for code in (*range(0x20), *range(0x7F, 0xA0)) if not chr(code).isspace()
)
_CONTROL = re.compile("[" + "".join(map(chr, _CONTROLS)) + "]")


def to_paragraphs(text: str) -> list[str]:
    """Returns the paragraphs of a text in order, each on one line with single spaces. Empty ones are omitted.

    Control characters are removed. All other characters that are not white space are kept.
    """
    if _CONTROL.search(text):
        text = text.translate(_CONTROLS)
    text = _LINE_END.sub(_join, text)
    joined = (" ".join(block.split()) for block in _BLANK_LINES.split(text))
    return [paragraph for paragraph in joined if paragraph]


def _join(match: re.Match[str]) -> str:
    """Returns the text that replaces the hyphen or dash at the end of a line and the line feed after it."""
    place = match.start() + 1
    end = match.string[max(0, place - 4) : place]
    following = match.string[match.end()]
    is_hyphen = following.islower() and _ENDS_IN_HYPHEN.search(end)
    is_dash = following not in "-—" and _ENDS_IN_DASH.search(end)
    return match[0][0] if is_hyphen or is_dash else match[0]


def to_lines(paragraphs: list[str]) -> str:
    """Joins paragraphs to a text in which each paragraph is a line that ends with a line feed."""
    return "".join([f"{paragraph}\n" for paragraph in paragraphs])
