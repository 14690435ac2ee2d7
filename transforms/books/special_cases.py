"""Finds chunks of text that spaCy must tokenise together, because of its special cases.

After spaCy has split a text into tokens, it searches them for special cases, such as "Mr.", and replaces
their tokens. A special case may also match the end of a chunk and the start of the next one: the tokens of
": (" match the special case ":(", although there is a space between them. Such a match changes no tokens,
since no special case has a space in it. But of overlapping matches, spaCy uses only the longest one. So a
match across a space may prevent another match within a chunk.

So two neighbouring chunks must be tokenised together if both of these conditions are met:

* The last token of the first chunk and the first token of the second chunk are consecutive tokens of a
  special case.
* At least one of the chunks has tokens that were made by a special case within the chunk.
"""

import collections
import re
from itertools import pairwise
from typing import NamedTuple

from spacy.attrs import ORTH
from spacy.tokenizer import Tokenizer

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
        if not (before.is_special or behind.is_special):
            return False
        pairs = (
            (last, first) in self._neighbours for last in before.last for first in behind.first
        )
        return any(pairs)


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
