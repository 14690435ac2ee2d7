"""Removes the spaces and punctuation that are left over around templates without text.

The cleaner puts a mark, called a hole, in place of each such template. The given text must have single spaces
only, and one paragraph per line. Spaces and punctuation are changed only next to a hole, with one exception:
spaces before commas are removed everywhere.
"""

import re

from corpusmill.transforms.wikitext.marks import FORMULA_END, HOLE

_PUNCTUATION = ",;:،؛、，；"
_STOP = ".।॥։。．۔"
_FILLER = rf"[ {_PUNCTUATION}{HOLE}–—-]"
_FILLER_NO_DASH = rf"[ {_PUNCTUATION}{HOLE}]"
_OPEN = r"[(（\[]"
_CLOSE = r"[)）\]]"


_Rule = tuple[re.Pattern[str], str]


def _rule(pattern: str, replacement: str) -> _Rule:
    return re.compile(pattern), replacement


_HOLE_RUN = _rule(rf"{HOLE}(?: ?{HOLE})+", HOLE)
# "( ; )": only holes in brackets; they become one hole
_HOLE_IN_BRACKETS = _rule(rf"{_OPEN}[ {_PUNCTUATION}–—-]*+{HOLE}{_FILLER}*+{_CLOSE}", HOLE)
_HOLE_RULES = (
    # "(equivalent to $_ in 2020)": an amount in today's money
    _rule(rf" ?\([^()$£€¥₹]*+(?:[$£€¥₹](?!{HOLE})[^()$£€¥₹]*+)*+[$£€¥₹]{HOLE}[^()]*+\)", ""),
    _HOLE_RUN,
    _HOLE_IN_BRACKETS,
    _HOLE_RUN,
    _HOLE_IN_BRACKETS,
    # "end.[image]Next"
    _rule(rf"(?<=[.!?…]){HOLE}+(?=\w)", " "),
    _rule(rf"^{HOLE}+ ?", ""),
    # "«»"
    _rule(rf"(?:\"{HOLE}+\"|«{HOLE}+»|“{HOLE}+”|„{HOLE}+[“”]|‘{HOLE}+’|<{HOLE}+>)", HOLE),
    # "(; born 1900" and "(Latin; )"
    _rule(rf"({_OPEN})[ {_PUNCTUATION}]*+{HOLE}[ {_PUNCTUATION}{HOLE}]*+", r"\1"),
    _rule(rf"(?<!{_FILLER_NO_DASH})[ {_PUNCTUATION}]*+{HOLE}{_FILLER_NO_DASH}*+({_CLOSE})", r"\1"),
    # "a, , b"
    _rule(rf"[{_PUNCTUATION}] ?{HOLE}+ ?(?=[{_PUNCTUATION}.])", ""),
    # "a  b" and "a ."
    _rule(rf" ?{HOLE}+(?= |$|[{_STOP}{_PUNCTUATION}])", ""),
    _rule(rf" {HOLE}+ ?", " "),
    _rule(HOLE, ""),
)
# Most holes are notes after a word or sentence: for all lines at once. The fixed start is found fast.
_HOLE_AFTER_TEXT = re.compile(
    rf"{HOLE}(?<=[\w.!?…%\"'”»’)]{HOLE}){HOLE}*+(?=[ {_STOP}{_PUNCTUATION}\n]|$)"
)
# "a {{cn}} .": the space separated the note from the full stop
_BLANK_AFTER_HOLE = re.compile(rf"{HOLE} (?=[。．]|[{_STOP}](?:\s|$))")
# A typing error. Other spaces around punctuation are kept as the authors wrote them.
_BLANK_BEFORE_COMMA = re.compile(rf"(?<=[\w{FORMULA_END}]) +(?=[,、，](?:\s|$))")


def _pull_comma(line: str, comma: str) -> str:
    return _BLANK_BEFORE_COMMA.sub("", line) if comma in line else line


def _close_holes(line: str) -> str:
    line = line.lstrip(HOLE + " ")  # most holes are images in front of a paragraph
    if HOLE in line:
        for pattern, replacement in _HOLE_RULES:
            line = pattern.sub(replacement, line)
            if HOLE not in line:
                break
    return line


def tidy(text: str) -> str:
    """Removes holes (the marks for missing text), and the spaces and punctuation left over around them."""
    if HOLE in text:
        text = _HOLE_AFTER_TEXT.sub("", _BLANK_AFTER_HOLE.sub(HOLE, text))
        lines = text.split("\n")
        text = "\n".join([_close_holes(line) if HOLE in line else line for line in lines])
    for comma in (" ,", " 、", " ，"):
        if comma[1] in text and comma in text:
            text = "\n".join([_pull_comma(line, comma) for line in text.split("\n")])
    return text
