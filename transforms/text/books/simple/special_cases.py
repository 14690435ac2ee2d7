"""The special cases of a tokeniser of spaCy, and where they could reach over a space.

When a text is cut into tokens, spaCy looks through them for its special cases, such as "Mr.", and puts
their own tokens in place of what it finds. It finds them across spaces, too: a colon and "(" behind a space
are ":(". Such a find changes nothing itself, because no special case has a space in it. But of finds that
overlap only the longest is used, and so it may keep another one, within a chunk, from being used.

On the two sides of each blank that a find reaches over there are tokens that are neighbours in a special
case. And where the find changes something, a chunk beside one of these spaces has, on its own, tokens that
a special case gave it.
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
    """Tokens that a chunk could share with its neighbours, as they were before the search."""

    first: frozenset[str] = _NOTHING  # first tokens that follow another one in a special case
    last: frozenset[str] = _NOTHING  # last tokens that another one follows in a special case
    is_special: bool = False  # whether a special case may have changed the chunk's tokens


NO_EDGES = Edges()


class SpecialCase(NamedTuple):
    """A special case that is searched for in the tokens: one that has more than one of them."""

    cut: tuple[str, ...]  # the tokens that are searched for: "Mr", "."
    made: tuple[str, ...]  # the tokens that it gives: "Mr."


class SpecialCases:
    """The special cases of a tokeniser."""

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
        """Words that occur in special cases, those of one token, too."""

    def edges_of(self, tokens: tuple[str, ...]) -> Edges:
        """The edges of a chunk that gave these tokens, one at least."""
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
        """Returns True if a match with tokens of both of two neighbours could change something."""
        if not (before.is_special or behind.is_special):
            return False
        pairs = (
            (last, first) in self._neighbours for last in before.last for first in behind.first
        )
        return any(pairs)


def _cases_of(tokenizer: Tokenizer) -> list[SpecialCase]:
    """Those of one token only (an apostrophe) give that token."""
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
