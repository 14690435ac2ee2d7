"""Close the holes that templates without text leave, so that no debris stays around them.

Works on paragraphs whose white space is single blanks; several are joined by newlines. Blanks
and punctuation are only changed where a hole is, or where no writing system has them.
"""

import re
from typing import NamedTuple

from transforms.text.wikimedia.wikitext.marks import HOLE

_PUNCTUATION = ",;:،؛、，；"
_FILLER = rf"[ {_PUNCTUATION}{HOLE}–—-]"
_FILLER_NO_DASH = rf"[ {_PUNCTUATION}{HOLE}]"
_OPEN = r"[(（\[]"
_CLOSE = r"[)）\]]"


class _Rule(NamedTuple):
    needles: tuple[str, ...]  # the text holds one of these, or the pattern cannot match
    pattern: re.Pattern[str]
    replacement: str


def _rule(needles: str, pattern: str, replacement: str) -> _Rule:
    return _Rule(tuple(needles.split("|")), re.compile(pattern), replacement)


_HOLE_RUN = _rule(HOLE, rf"{HOLE}(?: ?{HOLE})+", HOLE)
# "( ; )": nothing but holes between brackets; what is left is a hole itself
_HOLE_IN_BRACKETS = _rule(HOLE, rf"{_OPEN}[ {_PUNCTUATION}–—-]*+{HOLE}{_FILLER}*+{_CLOSE}", HOLE)
_HOLE_RULES = (
    _rule(HOLE, rf"(^|\n){HOLE}+ ?", r"\1"),
    # "«»"
    _rule(HOLE, rf"(?:\"{HOLE}+\"|«{HOLE}+»|“{HOLE}+”|„{HOLE}+[“”]|‘{HOLE}+’|<{HOLE}+>)", HOLE),
    # "(; born 1900" and "(Latin; )"
    _rule(HOLE, rf"({_OPEN})[ {_PUNCTUATION}]*+{HOLE}[ {_PUNCTUATION}{HOLE}]*+", r"\1"),
    _rule(
        HOLE,
        rf"(?<!{_FILLER_NO_DASH})[ {_PUNCTUATION}]*+{HOLE}{_FILLER_NO_DASH}*+({_CLOSE})",
        r"\1",
    ),
    # "a, , b"
    _rule(HOLE, rf"[{_PUNCTUATION}] ?{HOLE}+ ?(?=[{_PUNCTUATION}.])", ""),
    # "a  b" and "a ."
    _rule(HOLE, rf" ?{HOLE}+(?= |\n|$|[.{_PUNCTUATION}])", ""),
    _rule(HOLE, rf" {HOLE}+ ?", " "),
    _rule(HOLE, HOLE, ""),
)
_RULES = (
    _rule("( |(,|(;|(:|（ |（，|（、|（；", r" ?[(（][ ,;:،؛、，；–—-]+[)）]", ""),
    _rule("( |(,|(;|(،|（ |（，|（、|（；", r"([(（])[ ,;،؛、，；]+", r"\1"),
    _rule(" )| ）", r" +([)）])", r"\1"),
    _rule(" ,| ،| 、| ，", r" +(?=[,،、，](?:[\s\w]|$))", ""),
    _rule(" .", r"(?<=\w) (?=\.(?:\s|$))", ""),
    _rule(",,|, ,|、、|，，|; ,|;,|;;", r"([,、，;]) ?[,、，](?= )", r"\1"),
)


def _apply(rule: _Rule, text: str) -> str:
    if any(needle in text for needle in rule.needles):
        return rule.pattern.sub(rule.replacement, text)
    return text


def tidy(text: str) -> str:
    """Return the text without holes and without the debris around them."""
    if HOLE in text:
        for rule in (_HOLE_RUN, _HOLE_IN_BRACKETS, _HOLE_RUN, _HOLE_IN_BRACKETS, *_HOLE_RULES):
            text = _apply(rule, text)
    for rule in _RULES:
        text = _apply(rule, text)
    return text
